internal import FoundationEssentials
internal import Glibc

/// Where a device keeps its household: the files of the contract (1.2), and nothing else.
package struct DataDirectory: Hashable, Sendable {
  /// The directory.
  package let path: String

  package init(_ path: String) { self.path = path }

  package var replica: String { path + "/replica.sqlite" }
  package var shareFolder: String { path + "/share" }
  package var shareCertificate: String { path + "/share/household.pem" }
  package var shareKey: String { path + "/share/household.key" }
  package var deviceCertificate: String { path + "/share/device.pem" }
  package var deviceKey: String { path + "/share/device.key" }
  package var controlSocket: String { path + "/node.sock" }
  package var snapshots: String { path + "/snapshots" }

  /// Where a household is made or joined before it is complete; renamed into place at the end.
  package var staging: DataDirectory { DataDirectory(path + ".joining") }

  /// In a directory that is being joined: tells for which code.
  var joiningMark: String { path + "/joining" }

  /// Takes the mark away once the join is in force; it is of no use then.
  func removeJoiningMark() throws {
    guard unsafe unlink(joiningMark) == 0 || errno == ENOENT else {
      throw Self.fault("\(joiningMark) cannot be removed")
    }
  }

  /// Whether there is a household here.
  package var hasHousehold: Bool { Self.exists(replica) }

  /// Throws unless there is a household here.
  package func requireHousehold() throws {
    guard hasHousehold else {
      throw NodeError(
        .noHousehold, "There is no household in \(path).",
        remedy: "Make one with `household init`, join one with `household join`, or name another --data-dir.")
    }
  }

  /// Throws if there is anything here that a new household would overwrite.
  package func requireFree() throws {
    if hasHousehold {
      throw NodeError(
        .householdExists, "There is a household in \(path) already.",
        remedy: "Use it, or name another --data-dir.")
    }
    guard Self.exists(path) else { return }
    let found: [String]
    do {
      found = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw NodeError(.dataDirectory, "\(path) cannot be read: \(error).", remedy: "Name another --data-dir.")
    }
    guard found.isEmpty else {
      throw NodeError(
        .dataDirectory, "\(path) is not empty and no household: it holds \(found.sorted()[0]).",
        remedy: "Name another --data-dir.")
    }
  }

  /// Makes the directory and its folders, readable by their owner only.
  package func make() throws {
    for folder in [path, shareFolder, snapshots] {
      do {
        try FileManager.default.createDirectory(
          atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      } catch {
        throw NodeError(
          .dataDirectory, "The folder \(folder) cannot be made: \(error).",
          remedy: "Check its permissions, or name another --data-dir.")
      }
    }
    // A folder that was there before keeps its mode otherwise.
    guard unsafe chmod(path, 0o700) == 0 else { throw Self.fault("The permissions of \(path) cannot be set") }
  }

  /// Takes the directory and all that is in it away.
  package func removeAll() throws {
    guard Self.exists(path) else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      throw NodeError(.dataDirectory, "\(path) cannot be removed: \(error).", remedy: "Remove it by hand.")
    }
  }

  /// Puts a complete staging directory in force, durably.
  package func adopt(_ staged: DataDirectory) throws {
    for folder in [staged.shareFolder, staged.path] { try Self.synchronize(folder) }
    // An empty directory may be in the place; `rename` replaces it.
    guard unsafe rename(staged.path, path) == 0 else { throw Self.fault("\(staged.path) cannot be renamed to \(path)") }
    let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    try Self.synchronize(parent.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : parent)
  }

  /// Moves the directory with all that is in it.
  func move(to place: String) throws {
    guard unsafe rename(path, place) == 0 else { throw Self.fault("\(path) cannot be moved to \(place)") }
  }

  private static func synchronize(_ folder: String) throws {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw fault("\(folder) cannot be opened") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw fault("\(folder) cannot be written to the disk") }
  }

  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  private static func fault(_ what: String) -> NodeError {
    let said = unsafe String(cString: strerror(errno))
    return NodeError(.dataDirectory, "\(what): \(said).", remedy: "Check the disk and the permissions.")
  }
}

/// Holds the data directory for one node: a second one is refused for as long as this lives.
final class DirectoryLock {
  private let descriptor: Int32

  init(_ directory: DataDirectory) throws {
    descriptor = unsafe open(directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw NodeError(.dataDirectory, "\(directory.path) cannot be opened.", remedy: "Check its permissions.")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw NodeError(
        .nodeRunning, "A node runs on \(directory.path) already.",
        remedy: "Use it (`household status`), or stop it first.")
    }
  }

  deinit { close(descriptor) }
}
