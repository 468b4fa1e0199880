internal import Glibc
package import HouseholdRecords

/// This machine's wall clock.
package enum SystemClock {
  /// The time now, in milliseconds since 1970.
  package static var now: Instant {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
