internal import Glibc

/// Holds the folder in which a household is being made, from its making until it is in its place: another `init` or
/// `join` on the same data directory is refused meanwhile.
final class StagingLock {
  private let descriptor: Int32

  /// Takes away what an earlier attempt left, and makes the folder anew.
  static func making(_ staging: DataDirectory) throws -> StagingLock {
    if DataDirectory.exists(staging.path) {
      let earlier = try StagingLock(holding: staging)
      try withExtendedLifetime(earlier) { try staging.removeStaged() }
    }
    try staging.make()
    return try StagingLock(holding: staging)
  }

  /// Holds a folder that is there.
  init(holding staging: DataDirectory) throws {
    descriptor = unsafe open(staging.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.busy(staging) }
    var (held, there) = (stat(), stat())
    // Whoever took the folder away before it was held here has the place.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, unsafe fstat(descriptor, &held) == 0,
      unsafe stat(staging.path, &there) == 0, held.st_ino == there.st_ino, held.st_dev == there.st_dev
    else {
      close(descriptor)
      throw Self.busy(staging)
    }
  }

  deinit { DirectoryLock.release(descriptor) }

  private static func busy(_ staging: DataDirectory) -> NodeError {
    NodeError(
      .busy, "Another init or join is at work in \(staging.path).", remedy: "Wait until it has ended, then try again.")
  }
}
