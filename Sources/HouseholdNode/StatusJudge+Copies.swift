internal import HouseholdRecords
internal import HouseholdReplica

/// Restored and copied data directories, in status.
extension StatusJudge {
  /// For how long it is mentioned after it was healed, in milliseconds: a day.
  private static let mentioned: Int64 = 86_400_000
  /// For how long after its last sign a copy is taken to run still, in milliseconds.
  private static let signOfLife: Int64 = 10 * 60_000

  mutating func judgeCopies() {
    if let at = facts.restoredAt, now.milliseconds(since: at) < Self.mentioned {
      inform(
        "restored", subject: "this device",
        "The data directory was put back, copied or moved; this device noticed on \(at.rfc3339) and goes on safely.")
    }
    if let at = lastSignOfCopy, now.milliseconds(since: at) < Self.signOfLife {
      add(
        "cloned", .broken, "A copy of this device's data directory is used too. Both are synced, and nothing is lost.",
        remedy: "Stop one of the two, and pair it again from an empty data directory (household invite --device).")
    } else if let at = lastSignOfCopy, now.milliseconds(since: at) < Self.mentioned {
      inform("cloned", subject: "this device", "A copy of this device's data directory was used until \(at.rfc3339).")
    }
    for device in others {
      let who = "\(device.name) of \(facts.membership.members[device.member]?.name ?? "")"
      if live?.peers[device.id.description]?.cloned == true {
        add(
          "cloned", .broken, subject: who,
          "Two nodes have the identity of \(who). Both are synced, and nothing is lost.",
          remedy: "Stop one of the two, and pair it again from an empty data directory (household invite --device).")
      } else if let at = contact(of: device.id).clonedAt,
        now.milliseconds(since: Instant(milliseconds: at)) < Self.mentioned
      {
        inform(
          "cloned", subject: who,
          "Two nodes had the identity of \(who), last on \(Instant(milliseconds: at).rfc3339).")
      }
    }
  }

  /// When what a copy of this device wrote came last, or its node itself was met.
  private var lastSignOfCopy: Instant? {
    let met = contact(of: facts.identity.device).clonedAt.map { Instant(milliseconds: $0) }
    return [facts.clonedAt, met].compactMap(\.self).max()
  }

  /// Says what does not worsen the verdict.
  mutating func inform(
    _ code: String, subject: String, _ summary: String, remedy: String = "Nothing needs to be done."
  ) {
    findings.append(
      StatusReport.Finding(code: code, severity: Self.information, subject: subject, summary: summary, remedy: remedy))
  }
}
