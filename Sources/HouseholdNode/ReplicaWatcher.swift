internal import Glibc
internal import HouseholdTransport

/// Notices that some program wrote to the replica: inotify on the directory, and a slow look behind it.
///
/// On the replica's thread. An event comes with the write, and the commit can be seen only when the disk has it, which
/// makes no event; so after an event it looks again and again, each time after twice the pause.
final class ReplicaWatcher: @unchecked Sendable {
  private let loop: EventLoop
  private let descriptor: Int32
  private let look: () -> Void
  /// Counts events: looks that an earlier one made due are left out.
  private var events = 0
  private var isStopped = false

  /// The first and the longest pause after an event, in microseconds: a quick disk's commit, and a very slow one's.
  private static let pauses: ClosedRange<Int64> = 60...1_000_000
  /// How often to look without any event, in milliseconds.
  private static let slowLook: Int64 = 2000

  /// Watches from now on; on the loop only.
  ///
  /// - Parameter look: looks for captured edits.
  init(_ directory: DataDirectory, loop: EventLoop, look: @escaping () -> Void) throws {
    self.loop = loop
    self.look = look
    descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    let events = UInt32(IN_MODIFY) | UInt32(IN_CREATE)
    guard descriptor >= 0, unsafe inotify_add_watch(descriptor, directory.path, events) >= 0 else {
      throw NodeError(
        .dataDirectory, "The data directory cannot be watched (errno \(errno)).",
        remedy: "Raise fs.inotify.max_user_instances, or stop other programs that watch files.")
    }
    try loop.watchReading(descriptor) { [weak self] in self?.drain() }
    slowly()
  }

  private func drain() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    var heard = false
    while unsafe read(descriptor, &buffer, buffer.count) > 0 { heard = true }
    guard heard, !isStopped else { return }
    look()
    events += 1
    lookAgain(after: Self.pauses.lowerBound, event: events)
  }

  private func lookAgain(after pause: Int64, event: Int) {
    guard pause <= Self.pauses.upperBound else { return }
    _ = loop.schedule(afterMicroseconds: pause) { [weak self] in
      guard let self, !self.isStopped, self.events == event else { return }
      self.look()
      self.lookAgain(after: pause * 2, event: event)
    }
  }

  private func slowly() {
    _ = loop.schedule(afterMilliseconds: Self.slowLook) { [weak self] in
      guard let self, !self.isStopped else { return }
      self.look()
      self.slowly()
    }
  }

  /// Watches no more; on the loop only.
  func stop() {
    guard !isStopped else { return }
    isStopped = true
    loop.unwatchReading(descriptor)
    close(descriptor)
  }
}
