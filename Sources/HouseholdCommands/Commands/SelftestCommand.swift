import HouseholdRecords
import HouseholdSimulation

/// `selftest`: whole households of random events, simulated on this machine.
struct SelftestCommand: Command {
  let description = CommandDescription(
    "selftest", group: .program, summary: "Simulate random households on this machine.",
    discussion: """
      Each seed is a household of its own, in memory: devices that edit, meet, lose their links, go wrong by decades, die \
      and find their disks full. After each everybody must have the same records, and nothing may be lost. Your own \
      household is not touched.

      With --seed alone only that household is played: so a failure can be shown again.
      """,
    options: [
      .value("seed", "N", kind: .integer(0...Int.max), help: "The first household; default: any."),
      .value("minutes", "M", kind: .integer(1...10_000), help: "How long to go on; default: 1."),
    ])

  /// What `--json` says.
  private struct Result: Encodable {
    var passed = 0
    var failed = 0
    var events = 0
    var firstSeed: UInt64
    var failures: [Failure] = []
  }

  /// A household that broke a rule.
  private struct Failure: Encodable {
    var seed: UInt64
    var rule: String
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let seed = invocation.integer("seed").map(UInt64.init)
    let minutes = invocation.integer("minutes") ?? (seed == nil ? 1 : 0)
    let result = play(from: seed ?? UInt64.random(in: 0..<1 << 48), minutes: minutes, output: output)
    try output.result(result) {
      for failure in result.failures { try output.line("seed \(failure.seed): \(escapingControls(failure.rule))") }
      try output.line(
        "\(result.passed) passed, \(result.failed) failed (seeds from \(result.firstSeed), \(result.events) events)")
    }
    guard let first = result.failures.first else { return .done }
    throw CommandError(
      code: "selftestFailed", message: "The simulated household \(first.seed) broke a rule: \(first.rule)",
      remedy:
        "Report this seed with version \(CommandLineTool.version); household selftest --seed \(first.seed) shows it"
        + " again.")
  }

  /// Plays one household after another until the time is over, but at least one.
  private func play(from first: UInt64, minutes: Int, output: Output) -> Result {
    var result = Result(firstSeed: first)
    let start = ProgressBar.monotonicTick()
    let duration = Int64(minutes) * 60_000
    var bar = ProgressBar("Simulating", total: max(1, minutes * 60_000), output: output)
    var seed = first
    var elapsed: Int64 = 0
    repeat {
      do {
        let outcome = try RandomHousehold.run(seed: seed)
        result.events += outcome.events
        if let failure = outcome.failure { result.failures.append(Failure(seed: seed, rule: failure)) }
      } catch {
        result.failures.append(Failure(seed: seed, rule: "\(error)"))
      }
      result.failed = result.failures.count
      result.passed = Int(seed &- first) + 1 - result.failed
      seed &+= 1
      elapsed = ProgressBar.monotonicTick().milliseconds - start.milliseconds
      bar.update(Int(elapsed))
    } while elapsed < duration
    bar.finish()
    return result
  }
}
