package import HouseholdRecords
internal import HouseholdSync

/// When a device is called (P14): by its back-off, sooner where something has changed, and no sooner than its goodbye
/// asked for.
///
/// Pure: time and random numbers come in.
package struct CallPacing: Hashable, Sendable {
  private var retry = RetryPolicy()
  private var dueAt = Tick(milliseconds: 0)
  /// What a goodbye asked for: nothing but another session, or a change of who belongs, makes us call sooner.
  private var restsUntil = Tick(milliseconds: 0)

  package init() {}

  package func isDue(_ now: Tick) -> Bool { max(dueAt, restsUntil) <= now }

  /// A call goes out; if nothing comes of it, the next one waits twice as long.
  package mutating func called(_ now: Tick, random: UInt64) {
    dueAt = now.advanced(byMilliseconds: retry.next(random: random))
  }

  /// A session got into use: once it ends, the waits begin with the shortest.
  package mutating func gotIntoUse(_ now: Tick) {
    retry.reset()
    dueAt = now.advanced(byMilliseconds: RetryPolicy.shortest)
  }

  /// A link ended, whoever made it: the wait counts from here, and is no longer than after a call that failed.
  package mutating func ended(_ now: Tick, random: UInt64) {
    dueAt = max(dueAt, now.advanced(byMilliseconds: retry.wait(random: random)))
  }

  /// A goodbye said when to come back, or that it makes sense at once.
  package mutating func rest(_ now: Tick, milliseconds: UInt64) {
    restsUntil = now.advanced(byMilliseconds: Int64(clamping: min(milliseconds, UInt64(RetryPolicy.longest))))
  }

  /// What a goodbye said may be true no longer.
  package mutating func endRest() { restsUntil = Tick(milliseconds: 0) }

  /// There is reason to think that a call succeeds now, or something to tell.
  package mutating func hurry(_ now: Tick) {
    retry.reset()
    dueAt = min(dueAt, now)
  }

  /// What was kept for one address turns out to be for the same device: its goodbye holds for both.
  package mutating func join(_ other: Self) { restsUntil = max(restsUntil, other.restsUntil) }
}
