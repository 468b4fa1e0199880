internal import FoundationEssentials
internal import Glibc
package import HouseholdReplica

/// Where a device keeps its household: the files of the contract (1.2), and nothing else.
package struct DataDirectory: Hashable, Sendable {
  /// The directory.
  package let path: String

  /// - Parameter path: as it was typed: a slash at the end, `.` and symbolic links are resolved.
  package init(_ path: String) {
    if let resolved = unsafe realpath(path, nil) {
      self.path = unsafe String(cString: resolved)
      unsafe free(resolved)
    } else {
      var trimmed = path
      while trimmed.utf8.count > 1, trimmed.hasSuffix("/") || trimmed.hasSuffix("/.") { trimmed.removeLast() }
      self.path = trimmed
    }
  }

  package var replica: String { path + "/replica.sqlite" }
  package var shareFolder: String { path + "/share" }
  package var shareCertificate: String { path + "/share/household.pem" }
  package var shareKey: String { path + "/share/household.key" }
  package var deviceCertificate: String { path + "/share/device.pem" }
  package var deviceKey: String { path + "/share/device.key" }
  package var controlSocket: String { path + "/node.sock" }
  /// What a node on this directory is told, if its owner wrote it down.
  package var settings: String { path + "/settings" }
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

  /// What to say where the keys of a household are and its records are not; nil elsewhere.
  package var lostReplica: ReplicaError? {
    guard !hasHousehold, Self.exists(deviceKey) else { return nil }
    return ReplicaError(.replicaMissing, "\(replica) is gone, and the keys of its household are still here.")
  }

  /// Throws unless there is a household here.
  package func requireHousehold() throws {
    if let loss = lostReplica { throw NodeError(.noHousehold, loss.message, remedy: loss.remedy) }
    guard unsafe access(replica, F_OK) == 0 else {
      // The next step is another one where there may be a household that cannot be looked at.
      if errno != ENOENT, errno != ENOTDIR { throw Self.fault("\(path) cannot be looked into") }
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
    let found = try contents()
    guard found.isEmpty else {
      throw NodeError(
        .dataDirectory, "\(path) is not empty and no household: it holds \(found.sorted()[0]).",
        remedy: "Name another --data-dir.")
    }
    guard !isCurrentFolder else {
      throw NodeError(
        .dataDirectory, "\(path) is the folder that you stand in, and it will be replaced.",
        remedy: "Go up with `cd ..`, and name it with --data-dir \(path)")
    }
    guard !isMountPoint else {
      throw NodeError(
        .dataDirectory, "A file system begins at \(path), which cannot be replaced.",
        remedy: "Name a folder inside it: --data-dir \(path)/household")
    }
  }

  private func contents() throws -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      var facts = stat()
      let isFolder = unsafe stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
      throw NodeError(
        .dataDirectory, isFolder ? "\(path) cannot be read." : "\(path) is no folder.",
        remedy: isFolder ? "Check its permissions, or name another --data-dir." : "Name another --data-dir.")
    }
  }

  /// Makes the directory and its folders, readable by their owner only.
  package func make() throws {
    var parents: [Substring] = []
    for part in path.split(separator: "/", omittingEmptySubsequences: false).dropLast() {
      parents.append(part)
      let folder = parents.joined(separator: "/")
      if !folder.isEmpty { try Self.makeFolder(folder) }
    }
    for folder in [path, shareFolder, snapshots] { try Self.makeFolder(folder) }
    try keepPrivate()
  }

  private static func makeFolder(_ folder: String) throws {
    guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw fault("The folder \(folder) cannot be made")
    }
  }

  /// Sees to it that nobody but the owner gets in, whatever the modes were.
  package func keepPrivate() throws {
    guard unsafe chmod(path, 0o700) == 0 else { throw Self.fault("The permissions of \(path) cannot be set") }
    for key in [shareKey, deviceKey] {
      guard unsafe chmod(key, 0o600) == 0 || errno == ENOENT else {
        throw Self.fault("The permissions of \(key) cannot be set")
      }
    }
  }

  /// Takes away what an earlier `init` or `join` left half-way; a folder that holds anything else is left alone.
  package func removeStaged() throws {
    guard Self.exists(path) else { return }
    let ours = ["share", "snapshots", "joining", "settings"]
    if let foreign = try contents().sorted().first(where: { !ours.contains($0) && !$0.hasPrefix("replica.sqlite") }) {
      throw NodeError(
        .dataDirectory, "\(path) is needed for a moment and holds something else: \(foreign).",
        remedy: "Move it away, or name another --data-dir.")
    }
    // A join that takes the place of a household puts that one here before its last step: then it is the only copy.
    if Self.exists(snapshots), let kept = try DataDirectory(snapshots).contents().min() {
      throw NodeError(
        .dataDirectory, "\(snapshots)/\(kept) holds the household that was here before a join that was cut off.",
        remedy: "Finish that join with the same code, or move the folder to a safe place.")
    }
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
    try Self.synchronize(parent)
  }

  /// Whether this is the folder that the shell stands in: it would be left standing in the one that was replaced.
  private var isCurrentFolder: Bool {
    var here = stat()
    var current = stat()
    return unsafe stat(path, &here) == 0 && stat(".", &current) == 0 && here.st_ino == current.st_ino
      && here.st_dev == current.st_dev
  }

  private var parent: String {
    let text = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    return text.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : text
  }

  /// Whether another file system begins here, whose root no other folder can replace.
  private var isMountPoint: Bool {
    var here = stat()
    var above = stat()
    return unsafe stat(path, &here) == 0 && stat(parent, &above) == 0 && here.st_dev != above.st_dev
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
    let number = errno
    if DiskFacts.meansFull(number) { return .diskFull("\(what): the disk is full.") }
    let said = unsafe String(cString: strerror(number))
    return NodeError(.dataDirectory, "\(what): \(said).", remedy: "Check the disk and the permissions.")
  }
}

/// Holds the data directory for one node: a second one is refused for as long as this lives.
final class DirectoryLock {
  private let descriptor: Int32
  private let path: String

  init(_ directory: DataDirectory) throws {
    path = directory.path
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

  deinit { Self.release(descriptor) }

  /// Gives a held folder free at once.
  ///
  /// To close it is not enough: a child that this process has forked and that has not yet run its program has the
  /// descriptor too, and would hold the folder a little longer.
  static func release(_ descriptor: Int32) {
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Where the directory is that is held.
  enum Place {
    /// Where it was.
    case there
    /// Moved away, or another one is in its place.
    case elsewhere
    /// It cannot come back.
    case deleted
  }

  /// Where the directory is now.
  var place: Place {
    var held = stat()
    var found = stat()
    guard unsafe fstat(descriptor, &held) == 0, held.st_nlink > 0 else { return .deleted }
    guard unsafe stat(path, &found) == 0, found.st_ino == held.st_ino, found.st_dev == held.st_dev else {
      return .elsewhere
    }
    return .there
  }
}
