internal import FoundationEssentials
internal import Glibc
package import HouseholdRecords
internal import HouseholdReplica

/// A copy of the whole replica under `snapshots/`, made before a step that cannot be taken back; the last five are kept.
package enum SafetyCopy {
  /// How many copies are kept.
  static let kept = 5

  /// Makes one, complete and on the disk when this returns; the node may be running.
  ///
  /// - Parameter step: what is about to be done, one word; it is part of the file's name.
  /// - Returns: where the copy is.
  @discardableResult
  package static func take(_ directory: DataDirectory, before step: String, now: Instant) throws -> String {
    let time = now.rfc3339.filter { $0 != ":" && $0 != "." }
    let path = "\(directory.snapshots)/\(time)-before-\(step).sqlite"
    let unfinished = path + ".new"
    guard unsafe mkdir(directory.snapshots, 0o700) == 0 || errno == EEXIST else { throw failure(directory) }
    guard unsafe unlink(unfinished) == 0 || errno == ENOENT else { throw failure(directory) }
    try NodeError.guarding { try Replica.copy(directory.replica, to: unfinished) }
    guard unsafe chmod(unfinished, 0o600) == 0, flush(unfinished), unsafe rename(unfinished, path) == 0,
      flush(directory.snapshots)
    else { throw failure(directory) }
    try removeOld(directory)
    return path
  }

  private static func flush(_ path: String) -> Bool {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return fsync(descriptor) == 0
  }

  /// Names begin with the time, so the oldest come first.
  private static func removeOld(_ directory: DataDirectory) throws {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: directory.snapshots)
    } catch {
      throw failure(directory)
    }
    for name in names.filter({ $0.contains("-before-") && $0.hasSuffix(".sqlite") }).sorted().dropLast(kept) {
      guard unsafe unlink("\(directory.snapshots)/\(name)") == 0 || errno == ENOENT else { throw failure(directory) }
    }
  }

  private static func failure(_ directory: DataDirectory) -> NodeError {
    NodeError(
      .dataDirectory,
      "No copy of the replica could be put into \(directory.snapshots): \(unsafe String(cString: strerror(errno))).",
      remedy: "Nothing was changed. Make room or mend the permissions, and try again.")
  }
}
