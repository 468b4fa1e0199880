import HouseholdNode

/// `compact`: collects what every device has confirmed.
struct CompactCommand: Command {
  let description = CommandDescription(
    "compact", group: .sync, summary: "Collect what every device has confirmed and nobody needs any more.",
    discussion: """
      The log of changes is kept for 400 days, or for what --keep says. What is older goes once every active device has \
      confirmed it by a change of its own; a device confirms once a day if others have written. With it go the values of \
      records that were deleted: they stay deleted everywhere, and cannot be restored any more. Records, their history \
      and open conflicts stay. A device that is waited for is named; one that is gone for good: household retire. \
      Works with the node running or not.
      """,
    options: [
      .value("keep", "DURATION", kind: .duration, help: "Keep what came in this time; default: 400d.")
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let keep = invocation.milliseconds("keep") ?? Compacting.defaultKeepMilliseconds
    let directory = try invocation.directory()
    try directory.requireHousehold()
    let facts = try ask(directory, keepMilliseconds: keep)
    try output.result(facts) {
      for line in lines(facts) { try output.line(line) }
    }
    return .done
  }

  private func ask(_ directory: DataDirectory, keepMilliseconds: Int64) throws -> CompactionFacts {
    guard let client = try ControlClient.connect(directory) else {
      return try Compacting.withoutNode(directory, keepMilliseconds: keepMilliseconds)
    }
    defer { client.hangUp() }
    guard case .compaction(let facts) = try client.ask(.compact(keepMilliseconds: keepMilliseconds)) else {
      throw InviteCommand.confused
    }
    return facts
  }

  private func lines(_ facts: CompactionFacts) -> [String] {
    let collected = facts.deleted.collected.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    var lines = [
      facts.log.collected == 0
        ? "No change in the log may go yet; \(facts.log.kept) are kept."
        : "\(facts.log.collected) changes went from the log (\(facts.log.bytes) bytes, used again by what comes); "
          + "\(facts.log.kept) are kept."
    ]
    if !collected.isEmpty { lines.append("Values of deleted records went: \(collected.joined(separator: ", ")).") }
    for (reason, count) in facts.deleted.kept.sorted(by: { $0.key < $1.key }) {
      lines.append("\(count) deleted \(count == 1 ? "record keeps its" : "records keep their") values: \(why(reason)).")
    }
    for blocker in facts.blockers {
      let since = blocker.lastHeard.map { "it wrote or confirmed last on \($0)" } ?? "it has confirmed nothing yet"
      lines.append(
        "\(blocker.device) of \(blocker.member) (\(blocker.state)) has not confirmed \(blocker.missing) changes; \(since)."
      )
    }
    if facts.blockers.contains(where: { $0.state == "active" }) {
      lines.append("The log waits for active devices. One that does not come back: household retire DEVICE")
    }
    return lines
  }

  private func why(_ reason: String) -> String {
    switch reason {
    case "inLog": "changes of them are still in the log"
    case "unconfirmed": "a device has not confirmed all of it, perhaps one that sleeps"
    case "conflict": "an edit that lost against the deletion is open (household conflicts)"
    case "duplicate": "they are or were one thing with others"
    case "later": "the next compact takes them"
    case "parked": "this device does not know their type"
    default: reason
    }
  }
}
