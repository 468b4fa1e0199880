import HouseholdKit
import HouseholdNode

/// `events`: what happens to sync, as it happens.
struct EventsCommand: Command {
  let description = CommandDescription(
    "events", group: .sync, summary: "Tell what happens to sync, line by line, until stopped.",
    discussion: """
      Begins with the devices that are connected and the verdict as they are. Then: devices that connect and go, how \
      many changes came from and went to each, new conflicts, another verdict or reason, the node's start and end. It \
      looks once a second, and what comes and goes again between two looks is not told. With --json each line is one \
      document. It goes on while the node is down, and ends when nobody reads it any more.
      """)

  /// How often it looks.
  private static let pauseMilliseconds: Int32 = 1000

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let directory = try invocation.directory()
    var before: SyncLook?
    while true {
      let now = try look(directory, before)
      for happening in SyncHappening.between(before, now) {
        try output.result(happening) { try output.line("\(happening.at) \(happening.sentence)") }
      }
      before = now
      try output.pause(milliseconds: Self.pauseMilliseconds)
    }
  }

  /// How it is now; where the file cannot be read, that is the verdict, and nothing is said of peers and conflicts.
  private func look(_ directory: DataDirectory, _ before: SyncLook?) throws -> SyncLook {
    let now = SystemClock.now
    do {
      let report = try HouseholdStatus.report(directory, now: now)
      let household = try Household(directory, readOnly: true)
      defer { household.close() }
      return SyncLook(report: report, conflicts: try household.conflicts(includingClosed: false))
    } catch {
      var report = try HouseholdStatus.verdict(directory, now: now)
      report.peers = before?.report.peers ?? []
      return SyncLook(report: report, conflicts: before?.conflicts ?? [])
    }
  }
}
