internal import Glibc

/// What the file system under a data directory says of itself.
package struct DiskFacts: Hashable, Sendable {
  /// Whether nothing can be written.
  package var isReadOnly: Bool
  /// Whether no space is left that a commit could need.
  package var isFull: Bool
  /// How many bytes this user may still write; nil if the file system does not say.
  package var freeBytes: UInt64?

  /// Less than this is full: a WAL frame and what SQLite needs beside it.
  private static let leastBytes: UInt64 = 256 << 10

  /// Throws if nothing can be written, with the reason rather than what would fail first.
  package func requireWritable(_ directory: DataDirectory) throws {
    guard isReadOnly else { return }
    throw NodeError(
      .store, "\(directory.path) is on a read-only file system.", remedy: "Make it writable again, then try again.")
  }

  /// Whether an error number of the system says that no space is left.
  static func meansFull(_ number: Int32) -> Bool { number == ENOSPC || number == EDQUOT }

  /// Asks the file system; a directory that cannot be asked is neither, its own errors tell more.
  package init(_ directory: DataDirectory) {
    var facts = statvfs()
    guard unsafe statvfs(directory.path, &facts) == 0 else {
      isReadOnly = false
      isFull = false
      return
    }
    isReadOnly = facts.f_flag & UInt(ST_RDONLY) != 0
    let free = UInt64(facts.f_bavail) * UInt64(facts.f_frsize)
    freeBytes = free
    isFull = !isReadOnly && free < Self.leastBytes
  }
}
