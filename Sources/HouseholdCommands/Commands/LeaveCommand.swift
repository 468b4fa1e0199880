import HouseholdNode

/// `leave`: leaves the household.
struct LeaveCommand: Command {
  let description = CommandDescription(
    "leave", group: .household, summary: "Leave the household, with all devices of yours.",
    discussion: """
      Those who stay keep everything, and the history goes on naming you. This device keeps what --keep says, to read \
      and to export; a copy of all of it is made under snapshots/ first. Edits that no partner has yet do not reach \
      them any more. The last owner must make another member an owner first. Works with the node running or not.
      """,
    options: [
      .value("keep", "WHAT", kind: .choice(["all", "mine", "none"]), help: "all, mine or none; default: all."),
      .flag("dry-run", help: "Say what would happen, and change nothing."), .flag("yes", help: "Do not ask."),
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let keep = invocation.value("keep") ?? "all"
    let directory = try invocation.directory()
    try directory.requireHousehold()
    let preview = try ask(.leavePreview(keep: keep), directory, keep: keep, isDryRun: true)
    if invocation.flag("dry-run") {
      try output.result(preview) { try show(preview, "You would leave", output: output) }
      return .done
    }
    if !invocation.flag("yes") {
      for line in lines(preview, "You are about to leave") { output.note(line) }
      guard try Question.confirm("Leave \(quoted(preview.household))?", instead: "--yes", output: output) else {
        throw CommandError(code: "declined", message: "Nothing was changed.", remedy: "")
      }
    }
    let left = try ask(.leave(keep: keep), directory, keep: keep, isDryRun: false)
    try output.result(left) { try show(left, "You have left", output: output) }
    return .done
  }

  private func ask(
    _ request: ControlRequest, _ directory: DataDirectory, keep: String, isDryRun: Bool
  ) throws -> LeavingFacts {
    guard let client = try ControlClient.connect(directory) else {
      return try Leaving.withoutNode(directory, keep: keep, isDryRun: isDryRun)
    }
    defer { client.hangUp() }
    guard case .leaving(let facts) = try client.ask(request) else { throw InviteCommand.confused }
    return facts
  }

  private func show(_ facts: LeavingFacts, _ verb: String, output: Output) throws {
    for line in lines(facts, verb) { try output.line(line) }
  }

  private func lines(_ facts: LeavingFacts, _ verb: String) -> [String] {
    func counted(_ counts: [String: Int64]) -> String {
      counts.isEmpty
        ? "nothing" : counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
    var lines = [
      "\(verb) \(quoted(facts.household)).", "Stays here: \(counted(facts.kept)).",
      "Goes from here: \(counted(facts.gone)).",
      "\(facts.partners.joined(separator: ", ")) keep everything that they have, and the history with your name.",
    ]
    if !facts.otherDevices.isEmpty {
      lines.append("Leaving with you, each keeping what it has: \(facts.otherDevices.joined(separator: ", ")).")
    }
    if facts.unsentCount > 0 {
      lines.append(
        "Edits of \(facts.unsentCount) records have reached no partner, and will not: "
          + facts.unsent.joined(separator: ", ") + (facts.unsentCount > facts.unsent.count ? ", ..." : "."))
    }
    if let copy = facts.copy { lines.append("A copy of everything is in \(copy)") }
    return lines
  }
}
