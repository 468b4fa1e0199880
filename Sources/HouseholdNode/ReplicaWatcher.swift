internal import Glibc
internal import HouseholdTransport

/// Notices that some program wrote to the replica: inotify on the directory, and a slow look behind it.
///
/// On the replica's thread. An event comes with the write, and the commit can be seen only when the disk has it, which
/// makes no event; so after an event it looks again and again, with longer and longer pauses, until it found something.
final class ReplicaWatcher: @unchecked Sendable {
  private let loop: EventLoop
  private let descriptor: Int32
  private let ownCommits: () -> Int
  private let look: () -> Bool
  /// Counts events: looks that an earlier one made due are left out.
  private var events = 0
  private var isStopped = false
  /// The commits of this process at the last event.
  private var knownCommits = 0

  /// The pauses after an event, in microseconds: from a quick disk's commit to a very slow one's.
  private struct Pauses {
    /// After the write of some other program: a quarter of the time that its commit takes is lost at most.
    static let close = Pauses(next: 30, dense: 2_000)
    /// After what may be our own write, which is most often followed by none.
    static let wide = Pauses(next: 60, dense: 0)
    private static let longest: Int64 = 1_000_000

    var next: Int64
    /// Up to which pause each is only a quarter longer than the one before.
    var dense: Int64

    /// The pauses after this one; nil after the last.
    var rest: Pauses? {
      let longer = next < dense ? next * 5 / 4 : next * 2
      return longer <= Self.longest ? Pauses(next: longer, dense: dense) : nil
    }
  }

  /// After how many seconds to look without any event.
  private static let slowLook: Int64 = 2
  private var seconds: Int64 = 0

  /// Watches from now on; on the loop only.
  ///
  /// - Parameters:
  ///   - hasTimer: whether it has a timer for the look without an event; without one its owner tells it the seconds.
  ///   - ownCommits: how often this process has committed to the file until now.
  ///   - look: looks for captured edits; returns whether all that had been written when it was called is dealt with.
  init(
    _ directory: DataDirectory, loop: EventLoop, hasTimer: Bool = true, ownCommits: @escaping () -> Int = { 0 },
    look: @escaping () -> Bool
  ) throws {
    self.loop = loop
    self.ownCommits = ownCommits
    self.look = look
    descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    let events = UInt32(IN_MODIFY) | UInt32(IN_CREATE)
    guard descriptor >= 0, unsafe inotify_add_watch(descriptor, directory.path, events) >= 0 else {
      throw NodeError(
        .dataDirectory, "The data directory cannot be watched (errno \(errno)).",
        remedy: "Raise fs.inotify.max_user_instances, or stop other programs that watch files.")
    }
    try loop.watchReading(descriptor) { [weak self] in self?.drain() }
    if hasTimer { slowly() }
  }

  private func drain() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    var heard = false
    while unsafe read(descriptor, &buffer, buffer.count) > 0 { heard = true }
    guard heard, !isStopped else { return }
    events += 1
    let commits = ownCommits()
    let pauses = commits == knownCommits ? Pauses.close : .wide
    knownCommits = commits
    if !look() { lookAgain(pauses, event: events) }
  }

  private func lookAgain(_ pauses: Pauses?, event: Int) {
    guard let pauses else { return }
    _ = loop.schedule(afterMicroseconds: pauses.next) { [weak self] in
      guard let self, !self.isStopped, self.events == event else { return }
      if !self.look() { self.lookAgain(pauses.rest, event: event) }
    }
  }

  /// A second has passed; an own timer would wake an idle machine half as often again.
  func secondPassed() {
    seconds += 1
    if seconds.isMultiple(of: Self.slowLook), !isStopped { _ = look() }
  }

  private func slowly() {
    _ = loop.schedule(afterMilliseconds: 1000 * Self.slowLook) { [weak self] in
      guard let self, !self.isStopped else { return }
      _ = self.look()
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
