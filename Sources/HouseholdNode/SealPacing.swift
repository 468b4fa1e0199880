internal import HouseholdRecords

/// When a captured edit is sealed: at once when it is quiet, at most every 200 ms under load, so that many small
/// edits become few changesets.
struct SealPacing {
  /// How many seals may follow each other at once.
  private static let burst: Double = 20
  /// The pause between seals under load, in milliseconds.
  private static let pauseMilliseconds: Double = 200

  private var credit = Self.burst
  private var last: Tick?

  /// How many milliseconds to wait before sealing now; 0 takes the turn.
  mutating func wait(now: Tick) -> Int64 {
    if let last {
      // Half a pause earns one turn: a person's edits one after another are never held back.
      let earned = Double(now.milliseconds - last.milliseconds) / (Self.pauseMilliseconds / 2)
      credit = min(Self.burst, credit + max(0, earned))
    }
    last = now
    guard credit >= 1 else { return Int64(Self.pauseMilliseconds) }
    credit -= 1
    return 0
  }
}
