import Glibc
import HouseholdKit
import HouseholdNode
import HouseholdRecords

/// `status`: sync health, with an exit code.
struct StatusCommand: Command {
  let description = CommandDescription(
    "status", group: .sync, summary: "Show the health of sync and the next step.",
    discussion: """
      Exits with 0 when in sync, 1 pending, 2 degraded (needs attention), 3 broken. It works without the node. With \
      --wait-acked it waits until everything written here until now is confirmed, and exits with 0, or with 75 when \
      the time is up; with 77 on a device that belongs no longer, whose edits nobody will confirm.
      """,
    options: [
      .flag("watch", help: "Show it again whenever it changes, until Ctrl-C."),
      .value("peer", "PEER", help: "With --wait-acked: the member or device to wait for; default: all."),
      .value("wait-acked", "DURATION", kind: .duration, help: "Wait until edits made so far are confirmed."),
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let directory = try invocation.directory()
    if let patience = invocation.milliseconds("wait-acked") {
      return try waitAcknowledged(directory, peer: invocation.value("peer"), milliseconds: patience, output: output)
    }
    if invocation.value("peer") != nil {
      throw CommandError.usage(
        "--peer goes with --wait-acked.", remedy: "Add --wait-acked DURATION.", code: "waitAckedMissing")
    }
    if invocation.flag("watch") { return try watch(directory, output: output) }
    let report = try HouseholdStatus.verdict(directory, computesDigest: true, now: SystemClock.now)
    try output.result(report) { try StatusText.show(report, output: output) }
    return .verdict(report.verdict.exitCode)
  }

  private func watch(_ directory: DataDirectory, output: Output) throws -> ExitCode {
    var last: StatusReport?
    while true {
      let report = try HouseholdStatus.verdict(directory, now: SystemClock.now)
      var same = report
      same.asOf = last?.asOf ?? ""
      if same != last {
        try output.result(report) { try StatusText.show(report, output: output) }
        last = report
      }
      Pause.milliseconds(1000)
    }
  }

  private func waitAcknowledged(
    _ directory: DataDirectory, peer: String?, milliseconds: Int64, output: Output
  ) throws -> ExitCode {
    let end = SystemClock.now.advanced(byMilliseconds: milliseconds)
    while true {
      let report = try HouseholdStatus.report(directory, now: SystemClock.now)
      if let end = report.ending {
        throw CommandError(code: end.code, message: end.summary, remedy: end.remedy, exitCode: .notAllowed)
      }
      let waited = try peers(report, named: peer)
      if report.isNamed, report.changes.unsealed == 0, waited.allSatisfy(\.hasOurs.complete) {
        try output.result(["acknowledged": true]) { output.note("Everything written here is confirmed.") }
        return .done
      }
      guard SystemClock.now < end else {
        throw CommandError(
          code: "notAcknowledged", message: "Not everything is confirmed: \(report.summary)", remedy: report.remedy,
          exitCode: .tryAgain)
      }
      Pause.milliseconds(50)
    }
  }

  private func peers(_ report: StatusReport, named name: String?) throws -> [StatusReport.Peer] {
    guard let name else { return report.peers }
    let found = report.peers.filter { $0.member == name || $0.device == name || $0.deviceID == name }
    guard !found.isEmpty else {
      throw CommandError(
        code: "unknownPeer", message: "There is no member or device \(quoted(name)).",
        remedy: "List them: household members")
    }
    return found
  }
}

/// Waiting in a command, which has nothing else to do meanwhile.
enum Pause {
  static func milliseconds(_ count: Int) { usleep(UInt32(count) * 1000) }
}

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
    try output.line("\(output.styled(word, style)): \(report.summary)")
    if !report.remedy.isEmpty { try output.line("  next: \(report.remedy)") }
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
    for finding in report.findings.dropFirst(1) { try output.line("\(finding.severity): \(finding.summary)") }
  }

  private static func holding(_ holding: StatusReport.Holding) -> String {
    holding.complete ? "all" : "\(holding.missing) missing"
  }
}

extension StatusReport.Device {
  /// Member and device for people.
  fileprivate var device: String { "\(member)/\(name)" }
}
