package import HouseholdRecords
package import HouseholdReplica

/// The report where the replica cannot be read: whoever asks gets a verdict all the same.
extension StatusJudge {
  /// - Parameter fault: what the store says.
  package static func report(
    unreadable fault: ReplicaError, node: NodeAnswer, disk: DiskFacts, now: Instant
  ) -> StatusReport {
    let isLock = fault.code == .databaseLocked
    let why =
      disk.isReadOnly
      ? (
        "readOnlyFileSystem", "The data directory is on a read-only file system, and the replica cannot be read there."
      )
      : (fault.code.rawValue, fault.message)
    let verdict: StatusReport.Verdict = isLock ? .degraded : .broken
    let finding = StatusReport.Finding(
      code: why.0, severity: verdict.rawValue, subject: "this device", summary: why.1, remedy: fault.remedy)
    let live = node.facts
    return StatusReport(
      verdict: verdict, reason: finding.code, summary: finding.summary, remedy: finding.remedy, asOf: now.rfc3339,
      household: .init(id: "", name: "", mode: "", schema: .init(name: "", version: 0)),
      device: .init(id: "", name: "", member: "", role: ""), node: StatusReport.Node(node),
      records: .init(total: 0, byType: [:]),
      changes: .init(unsealed: 0, unacknowledged: 0, parked: 0, held: 0, quarantined: 0, rejected: 0, waiting: 0),
      conflicts: 0, attention: 0, digest: nil, peers: [],
      findings: [finding] + (live?.storeError.map(Self.told) ?? []))
  }

  private static func told(_ error: LiveFacts.StoreError) -> [StatusReport.Finding] {
    [
      StatusReport.Finding(
        code: error.code, severity: information, subject: "the node", summary: "The node says: \(error.message)",
        remedy: "Nothing needs to be done besides.")
    ]
  }
}

extension StatusReport.Node {
  /// What is known of the node.
  init(_ node: NodeAnswer) {
    let live = node.facts
    let isRunning: Bool
    switch node {
    case .notRunning: isRunning = false
    case .silent, .facts: isRunning = true
    }
    self.init(
      running: isRunning, pid: live?.pid,
      startedAt: live.map { Instant(milliseconds: $0.startedAt).rfc3339 }, listening: live?.listening ?? [],
      version: live?.version)
  }
}
