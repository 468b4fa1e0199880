internal import HouseholdRecords
internal import HouseholdReplica

/// Who keeps the log from being collected (D9).
extension StatusJudge {
  /// Only what is older than the log is kept anyway is a matter; it worsens no verdict, as nothing is missing anywhere.
  mutating func judgeCompaction() {
    for blocker in facts.keptFor {
      guard let device = facts.membership.devices[blocker.device] else { continue }
      let who = "\(device.name) of \(facts.membership.members[device.member]?.name ?? "")"
      let since = blocker.lastHeard.map { "wrote or confirmed last on \($0.rfc3339)" } ?? "has confirmed nothing yet"
      findings.append(
        StatusReport.Finding(
          code: "compactionBlocked", severity: Self.information, subject: who,
          summary: "\(who) \(since): \(blocker.missing) old changes are kept in the log for it.",
          remedy: "Start its node for an hour; if it does not come back: household retire \(device.name)"))
    }
  }
}
