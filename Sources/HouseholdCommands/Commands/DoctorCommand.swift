import HouseholdKit
import HouseholdNode
import HouseholdRecords

/// `doctor`: looks at what sync rests on, and explains the first thing that is wrong.
struct DoctorCommand: Command {
  let description = CommandDescription(
    "doctor", group: .sync, summary: "Check disk, certificates, replica, membership, schema, clock and network.",
    discussion: """
      The checks are made in this order, as each rests on those before it; the first that fails is explained with what \
      to do about it. With --verify all are made and shown, and every changeset and index is read. It changes nothing, \
      works with the node down, and exits with 0 when all is well, else 1.
      """,
    options: [
      .value("peer", "PEER", help: "Try the addresses of this member or device only."),
      .flag("verify", help: "Make all checks, also those that read everything, and show each."),
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let directory = try invocation.directory()
    let isThorough = invocation.flag("verify")
    let report = try await Doctor(directory, isThorough: isThorough).examine(
      peer: invocation.value("peer"), digest: isThorough ? HouseholdStatus.computedDigest(directory) : nil,
      now: SystemClock.now)
    try output.result(report) { try Self.show(report, all: isThorough, output: output) }
    return report.ok ? .done : .failed
  }

  private static func show(_ report: DoctorReport, all: Bool, output: Output) throws {
    for check in report.checks where all && (check.state != .failed || check != report.firstFailure) {
      try line(check, output: output)
    }
    guard let failure = report.firstFailure else {
      return try output.line("\(output.styled("all is well", .green)): \(report.checks.count) checks were made.")
    }
    try output.line("\(output.styled("wrong", .red)): \(failure.summary)")
    try output.line("  next: \(failure.remedy)")
    if !all {
      for check in report.checks where check.area == failure.area && check != failure && check.state != .passed {
        try line(check, output: output)
      }
    }
  }

  private static func line(_ check: DoctorCheck, output: Output) throws {
    let word =
      switch check.state {
      case .passed: output.styled("ok", .green)
      case .failed: output.styled("wrong", .red)
      case .information: "note"
      case .skipped: "skipped"
      }
    try output.line("\(check.area.rawValue): \(word): \(check.summary)")
    if check.state == .failed { try output.line("  next: \(check.remedy)") }
  }
}
