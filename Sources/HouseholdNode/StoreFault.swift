package import HouseholdReplica
internal import HouseholdTrust

extension ReplicaError {
  /// The next step for whoever ran into the fault.
  package var remedy: String {
    switch code {
    case .databaseLocked: "Try again in a moment, or close the program that holds the replica locked."
    case .diskFull: "Free some space, and try again."
    case .readOnlyFileSystem: "Make the data directory writable, and try again."
    case .corrupt: "Keep the file, and restore it from a copy or pair this device again."
    case .inputOutput: "Check the disk, and the permissions of the data directory."
    case .replicaMissing: "Put replica.sqlite back from where it went or from a copy, or pair this device again."
    case .notAReplica: "Name the right --data-dir, restore replica.sqlite from a copy, or pair this device again."
    case .newerVersion: "Update household on this device; until then nothing is read from the file or written into it."
    case .badValue: "Correct the value, and try again."
    case .notFound: "Check the words, and the data directory."
    case .notAllowed: "Ask an owner: household members shows them."
    case .other: "Check that replica.sqlite is there and can be read; report it if it is."
    }
  }
}

extension NodeError {
  /// What the store says, for whoever must act.
  init(_ error: ReplicaError) {
    let code: Code =
      switch error.code {
      case .databaseLocked: .databaseLocked
      case .diskFull: .diskFull
      case .notAllowed: .notAllowed
      default: .store
      }
    self.init(code, error.message, remedy: error.remedy)
  }

  /// What a file of keys or certificates says that could not be written or used.
  init(_ error: TrustError) {
    switch error {
    case .file(let path, let operation, let number) where DiskFacts.meansFull(number):
      self = .diskFull("Cannot \(operation) \(path): the disk is full.")
    case .file: self.init(.dataDirectory, error.description, remedy: "Check the disk and the permissions.")
    default: self.init(.keys, error.description, remedy: "Restore the folder share from a copy, or pair again.")
    }
  }

  /// Runs the body; what the store or a file of keys says comes out as an error of the node.
  static func guarding<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as ReplicaError {
      throw NodeError(error)
    } catch let error as TrustError {
      throw NodeError(error)
    }
  }
}
