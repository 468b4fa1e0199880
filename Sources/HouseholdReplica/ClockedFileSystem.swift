internal import CSQLite
package import HouseholdRecords

/// SQLite's own file system with another clock: what is written through it is captured at the time that a test says.
///
/// The files are the ordinary ones; connections with and without it share them. Unchecked: nothing in it changes, and
/// the clock may be asked from any thread.
@safe package final class ClockedFileSystem: @unchecked Sendable {
  /// What SQLite knows, with the way back to us behind it.
  @unsafe private struct System {
    var base: sqlite3_vfs
    var owner: Unmanaged<ClockedFileSystem>?
  }

  private let system: UnsafeMutablePointer<System>
  private let name: UnsafeMutablePointer<CChar>
  private let clock: @Sendable () -> Instant

  /// - Parameter clock: tells the time that SQLite takes for now.
  package init(clock: @escaping @Sendable () -> Instant) throws {
    guard let original = unsafe sqlite3_vfs_find(nil) else { throw ReplicaError(.other, "SQLite has no file system.") }
    self.clock = clock
    unsafe system = .allocate(capacity: 1)
    unsafe system.initialize(to: System(base: original.pointee, owner: nil))
    let number = unsafe UInt(bitPattern: system)
    let text = "clock-\(number)".utf8CString
    unsafe name = .allocate(capacity: text.count)
    for (index, byte) in text.enumerated() { unsafe (name + index).initialize(to: byte) }
    unsafe system.pointee.owner = .passUnretained(self)
    unsafe system.pointee.base.zName = UnsafePointer(name)
    unsafe system.pointee.base.pNext = nil
    unsafe system.pointee.base.xCurrentTimeInt64 = { system, result in
      guard let system = unsafe UnsafeMutableRawPointer(system)?.assumingMemoryBound(to: System.self),
        let owner = unsafe system.pointee.owner
      else { return SQLITE_ERROR }
      // Milliseconds since noon of 24 November 4714 before Christ, as SQLite counts.
      unsafe result?.pointee = unsafe owner.takeUnretainedValue().now.milliseconds + 210_866_760_000_000
      return SQLITE_OK
    }
    unsafe system.withMemoryRebound(to: sqlite3_vfs.self, capacity: 1) { _ = unsafe sqlite3_vfs_register($0, 0) }
  }

  deinit {
    unsafe system.withMemoryRebound(to: sqlite3_vfs.self, capacity: 1) { _ = unsafe sqlite3_vfs_unregister($0) }
    unsafe system.deallocate()
    unsafe name.deallocate()
  }

  /// The time now.
  package var now: Instant { clock() }

  /// What a connection opens to get to this file with this clock.
  func path(_ file: String) -> String {
    let escaped = file.flatMap { ["%": "%25", "?": "%3f", "#": "%23"][$0] ?? String($0) }
    return "file:\(String(escaped))?vfs=\(unsafe String(cString: name))"
  }
}
