internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTransport

/// Puts what the write-ahead log holds into its place while nothing is going on: the commit of some edit would have to do it
/// otherwise, on its way to the partner.
///
/// On the replica's thread only. Unchecked for that reason.
final class LogTidier: @unchecked Sendable {
  private let loop: EventLoop
  private let replica: Replica
  /// Called when the disk did not take it.
  var onFailure: (any Error) -> Void = { _ in }
  /// Counts events, so that a pause between them is noticed.
  private var events: UInt64 = 0
  private var isDue = false
  private var isStopped = false

  /// How long nothing must have happened, in milliseconds.
  private static let pause: Int64 = 50
  /// How many pages of the log are worth it after a second of quiet, after a pause, and in any case: another program's
  /// commit would tidy it at 1,000.
  private static let (quietPages, pausePages, busyPages) = (32, 200, 500)

  init(loop: EventLoop, replica: Replica) {
    self.loop = loop
    self.replica = replica
  }

  /// Something happened: after a moment in which nothing more does, the log is tidied.
  func happened() {
    events += 1
    guard !isDue, replica.logPages >= Self.pausePages else { return }
    isDue = true
    let count = events
    _ = loop.schedule(afterMilliseconds: Self.pause) { [self] in
      isDue = false
      guard !isStopped else { return }
      if count == events { tidy(from: Self.pausePages) } else { happened() }
    }
  }

  /// Another second has passed.
  func secondPassed(isQuiet: Bool) { tidy(from: isQuiet ? Self.quietPages : Self.busyPages) }

  /// Tidies no more; the replica is about to be closed.
  func stop() { isStopped = true }

  private func tidy(from pages: Int) {
    guard !isStopped, replica.logPages >= pages else { return }
    do {
      try replica.tidyLog()
    } catch {
      onFailure(error)
    }
  }
}
