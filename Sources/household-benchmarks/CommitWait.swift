import CEpoll
import Glibc

/// Waits for what another process commits to a file, without the grain of a poll in the time that is measured.
///
/// inotify tells of the write, which comes before the commit can be seen; then it looks every few microseconds.
final class CommitWait {
  private let descriptor: Int32
  /// How often to look once something was written, in microseconds.
  private static let pause: UInt32 = 15
  /// How long to look after each write, in milliseconds, before the next one is waited for.
  private static let lookMilliseconds = 20.0

  /// Watches from now on.
  ///
  /// - Parameter path: the SQLite file; its log is beside it.
  init(_ path: String) throws {
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0, unsafe inotify_add_watch(descriptor, folder, UInt32(IN_MODIFY)) >= 0 else {
      throw BenchmarkError(description: "\(folder) cannot be watched")
    }
    household_exact_timers()
  }

  deinit { close(descriptor) }

  /// Returns as soon as `isDone`, which only a commit to the file can bring about.
  func wait(for what: String, seconds: Double = 300, until isDone: () throws -> Bool) throws {
    let watch = Stopwatch()
    while try !isDone() {
      try Interruption.check()
      guard watch.milliseconds < seconds * 1000 else {
        throw BenchmarkError(description: "waited \(Int(seconds)) s in vain for \(what)")
      }
      var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard unsafe Glibc.poll(&poll, 1, 100) > 0 else { continue }
      var buffer = [UInt8](repeating: 0, count: 4096)
      while unsafe read(descriptor, &buffer, buffer.count) > 0 {}
      let look = Stopwatch()
      while look.milliseconds < Self.lookMilliseconds {
        if try isDone() { return }
        usleep(Self.pause)
      }
    }
  }
}
