internal import HouseholdKit
internal import HouseholdRecords

/// True time in a test's household: it stands still until somebody lets it go on.
///
/// It has a lock of its own, as a device that writes asks for the time while it holds its file. Unchecked: what changes
/// is behind that lock.
final class TestClock: @unchecked Sendable {
  private let lock = ReentrantLock()
  private var time: Instant
  private let start: Instant

  init(_ start: Instant) {
    time = start
    self.start = start
  }

  /// The time now.
  var now: Instant { lock.withLock { time } }

  /// Milliseconds since the start.
  var tick: Tick { Tick(milliseconds: now.milliseconds(since: start)) }

  func advance(milliseconds: Int64) { lock.withLock { time = time.advanced(byMilliseconds: milliseconds) } }
}

/// The clock of one device, which may be wrong.
///
/// Unchecked: what changes is behind the lock.
final class DeviceClock: @unchecked Sendable {
  private let clock: TestClock
  private let lock = ReentrantLock()
  private var offset: Int64 = 0

  init(_ clock: TestClock) { self.clock = clock }

  /// This device's time minus true time, in milliseconds.
  var offsetMilliseconds: Int64 {
    get { lock.withLock { offset } }
    set { lock.withLock { offset = newValue } }
  }

  /// The time that the device believes it is.
  var now: Instant { clock.now.advanced(byMilliseconds: offsetMilliseconds) }
}
