import HouseholdNode

/// The status for people.
enum StatusText {
  static func show(_ report: StatusReport, output: Output) throws {
    let style: Output.Style =
      switch report.verdict {
      case .inSync: .green
      case .pending, .degraded: .yellow
      case .broken: .red
      }
    let word =
      switch report.verdict {
      case .inSync: "in sync"
      case .pending: "pending"
      case .degraded: "needs attention"
      case .broken: "broken"
      }
    try tell(output.styled(word, style), report.summary, next: report.remedy, output)
    for finding in others(report) { try tell(finding.severity, finding.summary, next: finding.remedy, output) }
    guard !report.household.id.isEmpty else { return }
    try output.line(
      "\(report.household.name), \(report.device.device), \(report.records.total) records, schema "
        + "\(report.household.schema.name) \(report.household.schema.version)")
    let listening = report.node.listening.joined(separator: ", ")
    try output.line(report.node.running ? "node: running, listening on \(listening)" : "node: not running")
    try output.line("changes: \(report.changes.unsealed) unsealed, \(report.changes.unacknowledged) unacknowledged")
    guard !report.peers.isEmpty else { return }
    var table = TableOutput([
      .text("PEER"), .text("LINK"), .text("HAS OURS"), .text("WE HAVE THEIRS"), .text("LAST SYNC"), .text("LAST ERROR"),
    ])
    for peer in report.peers {
      table.add([
        "\(peer.member)/\(peer.device)", peer.connected ? "up" : peer.through.map { "through \($0)" } ?? "down",
        holding(peer.hasOurs),
        holding(peer.weHaveTheirs), peer.lastSync ?? "never", peer.lastError ?? "",
      ])
    }
    try output.table(table)
  }

  /// Ids may be any text, and stay on their line.
  private static func tell(_ word: String, _ summary: String, next remedy: String, _ output: Output) throws {
    try output.line("\(word): \(escapingControls(summary))")
    if !remedy.isEmpty { try output.line("  next: \(escapingControls(remedy))") }
  }

  /// The findings but the one that the verdict tells already.
  private static func others(_ report: StatusReport) -> [StatusReport.Finding] {
    var findings = report.findings
    let told = findings.firstIndex {
      $0.code == report.reason && $0.severity == report.verdict.rawValue && $0.summary == report.summary
    }
    if let told { findings.remove(at: told) }
    return findings
  }

  private static func holding(_ holding: StatusReport.Holding) -> String {
    holding.complete ? "all" : "\(holding.missing) missing"
  }
}

extension StatusReport.Device {
  /// Member and device for people.
  fileprivate var device: String { "\(member)/\(name)" }
}
