import HouseholdNode

/// `leave`: leaves the household.
struct LeaveCommand: Command {
  let description = CommandDescription(
    "leave", group: .household, summary: "Leave the household, with all devices of yours.",
    discussion: """
      Those who stay keep everything, and the history goes on naming you. This device keeps what --keep says, to read \
      and to export; a copy of all of it is made under snapshots/ first. Edits that no partner has yet do not reach \
      them any more. A node that is started afterwards tells one partner of it, and then nobody anything. The last \
      owner must make another member an owner first, or end the sharing for everyone with --dissolve: then each \
      keeps what they have, and the household is the owner's alone. Works with the node running or not.
      """,
    options: [
      .value("keep", "WHAT", kind: .choice(["all", "mine", "none"]), help: "all, mine or none; default: all."),
      .flag("dissolve", help: "As the last owner, end the sharing for everyone."),
      .flag("dry-run", help: "Say what would happen, and change nothing."), .flag("yes", help: "Do not ask."),
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let directory = try invocation.directory()
    try directory.requireHousehold()
    let ends = invocation.flag("dissolve")
    if ends, invocation.value("keep") != nil {
      throw CommandError.usage(
        "who ends the sharing keeps everything.", remedy: "Leave --keep out.", code: "keepWithDissolve")
    }
    let keep = ends ? nil : invocation.value("keep") ?? "all"
    let preview = try ask(directory, keep: keep, isDryRun: true)
    let verb = ends ? "end the sharing of" : "leave"
    if invocation.flag("dry-run") {
      try output.result(preview) { try show(preview, "You would \(verb)", output: output) }
      return .done
    }
    if !invocation.flag("yes") {
      for line in lines(preview, "You are about to \(verb)") { output.note(line) }
      let question = ends ? "End the sharing of" : "Leave"
      guard try Question.confirm("\(question) \(quoted(preview.household))?", instead: "--yes", output: output) else {
        throw CommandError(code: "declined", message: "Nothing was changed.", remedy: "")
      }
    }
    let left = try ask(directory, keep: keep, isDryRun: false)
    try output.result(left) { try show(left, ends ? "You have ended the sharing of" : "You have left", output: output) }
    return .done
  }

  /// - Parameter keep: what stays on this device; nil to end the sharing.
  private func ask(_ directory: DataDirectory, keep: String?, isDryRun: Bool) throws -> LeavingFacts {
    guard let client = try ControlClient.connect(directory) else {
      guard let keep else { return try Leaving.dissolveWithoutNode(directory, isDryRun: isDryRun) }
      return try Leaving.withoutNode(directory, keep: keep, isDryRun: isDryRun)
    }
    defer { client.hangUp() }
    let wish: (preview: ControlRequest, act: ControlRequest) =
      keep.map { (.leavePreview(keep: $0), .leave(keep: $0)) } ?? (.dissolvePreview, .dissolve)
    guard case .leaving(let facts) = try client.ask(isDryRun ? wish.preview : wish.act) else {
      throw InviteCommand.confused
    }
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
      facts.dissolves
        ? "\(facts.partners.joined(separator: ", ")) belong no longer: each keeps what they have, and edits of theirs "
          + "that have not reached you stay with them."
        : "With \(facts.partners.joined(separator: ", ")) stays everything that is there, and the history with your name.",
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
