import HouseholdKit
import HouseholdRecords

/// `rejected`: lists what was written without the right to, adopts it, or puts it aside.
struct RejectedCommand: Command {
  let description = CommandDescription(
    "rejected", group: .sync, summary: "List what was written without the right to; adopt it, or put it aside.",
    discussion: """
      What a removed or read-only member wrote too late is kept and not shown with the records. An owner can adopt it: \
      then it is written again, as the owner's edit. Whatever is put aside stays in the log and is listed no more.
      """,
    operands: [
      Operand("ACT", .optional, kind: .choice(["adopt", "dismiss"]), help: "What to do with it."),
      Operand("ID", .optional, help: "The id in the list."),
    ])

  private struct Shown: Encodable {
    var id: String
    var member: String?
    var device: String?
    var at: String
    var isOwn: Bool
    var edits: [ShownEdit]

    enum CodingKeys: String, CodingKey {
      case id, member, device, at, edits
      case isOwn = "own"
    }
  }

  private struct ShownEdit: Encodable {
    var kind: String
    var type: String
    var id: String
    var fields: [String: FieldValue]
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    guard let act = invocation.optionalOperand("ACT") else { return try list(invocation, output: output) }
    guard let id = invocation.optionalOperand("ID") else {
      throw CommandError.usage("which one?", remedy: "Say household rejected \(act) ID.", code: "idMissing")
    }
    return try withHousehold(invocation, readOnly: false) { household in
      if act == "dismiss" {
        try household.dismissRejected(id)
        try output.result(["dismissed": id]) { output.note("Put aside.") }
        return .done
      }
      let skipped = try household.adoptRejected(id)
      try output.result(Adopted(adopted: id, skipped: skipped.map { "\($0.type)/\($0.id)" })) {
        output.note("Adopted.")
        for key in skipped { output.note("Not there, so not written: \(key.type) \(key.id)") }
      }
      return .done
    }
  }

  private struct Adopted: Encodable {
    var adopted: String
    var skipped: [String]
  }

  private func list(_ invocation: Invocation, output: Output) throws -> ExitCode {
    try withHousehold(invocation, readOnly: true) { household in
      let shown = try household.rejected().map { change in
        Shown(
          id: change.id, member: change.author.member, device: change.author.device, at: change.author.at.rfc3339,
          isOwn: change.isOwn,
          edits: change.edits.map { edit in
            ShownEdit(
              kind: edit.kind, type: edit.type, id: edit.id,
              fields: Dictionary(edit.fields.map { ($0.name, $0.value) }) { first, _ in first })
          })
      }
      try output.result(["rejected": shown]) {
        if shown.isEmpty { return output.note("Nothing was rejected.") }
        var table = TableOutput([.text("ID"), .text("WHEN"), .text("WHO"), .text("EDIT"), .text("FIELDS")])
        for change in shown {
          for edit in change.edits {
            let fields = edit.fields.sorted { $0.key < $1.key }.map { "\($0.key)=\(HouseholdCommands.shown($0.value))" }
            table.add([
              change.id, change.at, "\(change.member ?? "?")/\(change.device ?? "?")",
              "\(edit.kind) \(edit.type) \(edit.id)", fields.joined(separator: " "),
            ])
          }
        }
        try output.table(table)
      }
      return .done
    }
  }
}
