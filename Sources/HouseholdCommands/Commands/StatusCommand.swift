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
      try output.pause(milliseconds: 1000)
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
