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
    let wrong = offsets.filter { abs($0.milliseconds) >= StatusJudge.skewMilliseconds }
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
        "The clock of \(offset.peer) is \(abs(offset.milliseconds) / 60_000) minutes "
          + (offset.milliseconds > 0 ? "ahead of ours." : "behind ours."), subject: offset.peer,
        remedy: "Set the clock of the device that is wrong; this one says \(now.rfc3339).")
    }
  }
}
