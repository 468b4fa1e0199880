import HouseholdKit
import HouseholdRecords

/// `held`: what was received and waits for a decision.
struct HeldCommand: Command {
  let description = CommandDescription(
    "held", group: .sync, summary: "List received changes that delete so much that somebody has to approve them.",
    discussion: """
      A change is held when one member deletes more than 10 and more than a fifth of the records of a type that others \
      made, or more than 50 in all. It is stored, and so is what comes after it; nothing of it shows until you decide.
      """)

  private struct Shown: Encodable {
    var id: String
    var member: String?
    var device: String?
    var at: String
    var deletions: [String: Int]
    var waiting: Int64
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    try withHousehold(invocation, readOnly: true) { household in
      let held = try household.heldChanges()
      let list = held.map { change in
        Shown(
          id: change.name, member: change.author.member, device: change.author.device, at: change.author.at.rfc3339,
          deletions: change.deletions, waiting: change.waiting)
      }
      try output.result(["held": list]) {
        if held.isEmpty { return output.note("Nothing is held.") }
        var table = TableOutput([.text("ID"), .text("BY"), .text("AT"), .text("DELETES"), .text("WAITING")])
        for change in held {
          let parts = change.deletions.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
          table.add([
            change.name, "\(change.author.member ?? "?") on \(change.author.device ?? "?")",
            change.author.at.rfc3339, parts.joined(separator: ", "), "\(change.waiting)",
          ])
        }
        try output.table(table)
      }
      return .done
    }
  }
}

/// `approve` and `reject`: decide about a held change, for everyone.
struct DecideCommand: Command {
  let description: CommandDescription
  private let approves: Bool

  /// `approve`: the deletions happen.
  static let approve = DecideCommand(
    "approve", approves: true, summary: "Let a held change happen, on every device.",
    discussion: "A copy of the replica is put into snapshots/ first.")
  /// `reject`: the deletions are undone.
  static let reject = DecideCommand(
    "reject", approves: false, summary: "Turn a held change back: what it deletes is restored, on every device.",
    discussion: "Whatever else the change and those after it hold is applied.")

  private init(_ name: String, approves: Bool, summary: String, discussion: String) {
    self.approves = approves
    description = CommandDescription(
      name, group: .sync, summary: summary, discussion: discussion,
      operands: [Operand("ID", help: "The name of the change, as household held shows it.")])
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let name = invocation.operand("ID")
    return try withHousehold(invocation, readOnly: false) { household in
      try household.decide(name, approving: approves)
      try output.result([approves ? "approved" : "rejected": name]) {
        output.note(approves ? "Approved; the node applies it." : "Rejected; the node restores what it deletes.")
      }
      return .done
    }
  }
}
