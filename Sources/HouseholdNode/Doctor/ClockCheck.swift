package import HouseholdRecords

/// Whether the clock of this device can be right: it decides nothing (R6), and is what people see on their edits.
package enum ClockCheck {
  /// Before this the program did not exist: 2025-01-01, in milliseconds.
  private static let earliest: Int64 = 1_735_689_600_000

  /// - Parameter offsets: the names of peers, and how far their clocks are ahead of ours in milliseconds.
  package static func run(now: Instant, offsets: [(peer: String, milliseconds: Int64)]) -> [DoctorCheck] {
    if now.milliseconds < earliest {
      return [
        .failed(
          .clock, "clockWrong", "The clock of this device says \(now.rfc3339), which is long past.",
          remedy: "Set it, or let the system set it by the network.")
      ]
    }
    let wrong = offsets.filter { isSkewed($0.milliseconds) }
    let isOurs = wrong.count > 1 && wrong.count == offsets.count
    if isOurs {
      return [
        .failed(
          .clock, "clockSkew", "The clock of this device differs from those of all \(wrong.count) partners.",
          remedy: "Set the clock of this device; it says \(now.rfc3339).")
      ]
    }
    if wrong.isEmpty { return [.passed(.clock, "clockSkew", "The clocks agree, as far as is known.")] }
    return wrong.map { offset in
      .failed(
        .clock, "clockSkew",
        "The clock of \(offset.peer) is \(span(offset.milliseconds)) "
          + (offset.milliseconds > 0 ? "ahead of ours." : "behind ours."), subject: offset.peer,
        remedy: "Set the clock of the device that is wrong; this one says \(now.rfc3339).")
    }
  }

  /// Whether clocks are so far apart that somebody should set one: a peer's may say anything, also the least there is.
  static func isSkewed(_ milliseconds: Int64) -> Bool {
    milliseconds.magnitude >= UInt64(StatusJudge.skewMilliseconds)
  }

  /// How far clocks are apart, for people: in the largest unit of which there are two at least.
  package static func span(_ milliseconds: Int64) -> String {
    let units: [(name: String, milliseconds: Int64)] = [
      ("years", 31_556_952_000), ("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000),
    ]
    let distance = Int64(clamping: milliseconds.magnitude)
    let unit = units.first { distance >= 2 * $0.milliseconds } ?? (name: "seconds", milliseconds: 1000)
    return "\(distance / unit.milliseconds) \(unit.name)"
  }
}
