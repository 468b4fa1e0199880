internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTrust

/// Whether the replica's file is whole, and holds what its log says.
enum RecordsCheck {
  static func run(_ directory: DataDirectory, isThorough: Bool) -> [DoctorCheck] {
    var checks: [DoctorCheck] = []
    do {
      let parts = try ReplicaCheck.run(
        path: directory.replica, isThorough: isThorough, cryptography: OpenSSLCryptography())
      for (part, faults) in parts { checks.append(judge(part, faults)) }
      guard !checks.contains(where: { $0.state == .failed }) else { return checks }
      checks.append(
        references(
          try ReplicaCheck.danglingReferences(
            path: directory.replica, cryptography: OpenSSLCryptography())))
    } catch let error as ReplicaError {
      checks.append(unreadable(error))
    } catch {
      checks.append(.failed(.replica, "unreadable", "The replica cannot be read: \(error)", remedy: repair))
    }
    return checks
  }

  private static let repair =
    "Keep the file, restore the data directory's last good copy or pair this device again; partners have the records."

  private static func unreadable(_ error: ReplicaError) -> DoctorCheck {
    switch error.code {
    case .databaseLocked:
      .failed(.replica, error.code.rawValue, error.message, remedy: "Close the program that holds it.")
    case .newerVersion:
      .failed(.replica, error.code.rawValue, error.message, remedy: error.remedy)
    case .diskFull, .readOnlyFileSystem, .corrupt, .inputOutput, .notAReplica, .replicaMissing, .badValue, .notFound,
      .notAllowed,
      .other:
      .failed(.replica, error.code.rawValue, error.message, remedy: repair)
    }
  }

  private static func judge(_ part: ReplicaCheck.Part, _ faults: [ReplicaCheck.Fault]) -> DoctorCheck {
    guard let first = faults.first else { return .passed(.replica, part.rawValue, Self.promise(part)) }
    let more = faults.count > 1 ? " (and \(faults.count - 1) more of the kind)" : ""
    return .failed(.replica, part.rawValue, first.text + more, remedy: repair)
  }

  /// What holds when nothing was found.
  private static func promise(_ part: ReplicaCheck.Part) -> String {
    switch part {
    case .pages: "SQLite finds the file whole."
    case .chain: "Every changeset is signed by its device and follows on the one before it."
    case .records: "Every record was written by a changeset that is known."
    case .rows: "The tables show the records that are alive, and no others."
    }
  }

  private static func references(_ dangling: [(field: String, count: Int64)]) -> DoctorCheck {
    if dangling.isEmpty { return .passed(.replica, "references", "Every reference points to a record that is here.") }
    let list = dangling.map { "\($0.count) of \($0.field)" }.joined(separator: ", ")
    return .note(.replica, "references", "Some references point to records that are not here or were deleted: \(list).")
  }
}
