import HouseholdKit
import HouseholdRecords

/// `conflicts`: edits that lost against a concurrent one.
struct ConflictsCommand: Command {
  let description = CommandDescription(
    "conflicts", group: .records, summary: "List edits that lost against a concurrent one.",
    discussion:
      "Nothing is lost: decide with `household resolve`. A later edit of the same field closes a conflict, too.",
    options: [.flag("all", help: "Closed ones, too.")])

  private struct Side: Encodable {
    var value: JSONValue
    var member: String?
    var at: String?

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(value, forKey: .value)
      try container.encode(member, forKey: .member)
      try container.encode(at, forKey: .at)
    }

    enum CodingKeys: String, CodingKey { case value, member, at }

    init(_ side: Household.LostEdit.Side) throws {
      value = try Self.value(side.object)
      member = side.author?.member
      at = side.author?.at.rfc3339
    }

    /// The value of a cell of one field alone, or the object of several.
    private static func value(_ object: String?) throws -> JSONValue {
      guard let object else { return .null }
      let parsed = try JSONValue(parsing: object)
      if case .object(let members) = parsed, members.count == 1 { return members[0].value }
      return parsed
    }
  }

  private struct Shown: Encodable {
    var conflict: String
    var type: String
    var id: String
    var field: String
    var kept: Side
    var lost: Side
    var open: Bool
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    try withHousehold(invocation, readOnly: true) { household in
      let conflicts = try household.conflicts(includingClosed: invocation.flag("all"))
      let list = try conflicts.map { edit in
        Shown(
          conflict: edit.conflict, type: edit.type, id: edit.id, field: edit.field, kept: try Side(edit.kept),
          lost: try Side(edit.lost), open: edit.isOpen)
      }
      try output.result(["conflicts": list]) {
        if conflicts.isEmpty { return output.note("There is no open conflict.") }
        var table = TableOutput([
          .text("CONFLICT"), .text("RECORD"), .text("FIELD"), .text("KEPT"), .text("LOST"), .text("OPEN"),
        ])
        for edit in conflicts {
          table.add([
            edit.conflict, "\(edit.type) \(edit.id)", edit.field, text(edit.kept), text(edit.lost),
            edit.isOpen ? "yes" : "no",
          ])
        }
        try output.table(table)
      }
      return .done
    }
  }

  private func text(_ side: Household.LostEdit.Side) -> String {
    "\(side.object ?? "deleted") by \(side.author?.member ?? "?")"
  }
}

/// `resolve`: decides a conflict.
struct ResolveCommand: Command {
  let description = CommandDescription(
    "resolve", group: .records, summary: "Decide a conflict, for everyone.",
    operands: [Operand("CONFLICT", help: "The conflict's name, as conflicts shows it.")],
    options: [
      .value(
        "take", "mine|theirs|VALUE",
        help: "Your own member's value (of two devices of yours: this one's), the other's, or a value of its own.")
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    guard let word = invocation.value("take") else {
      throw CommandError.usage(
        "which side?", remedy: "Say --take mine, --take theirs or --take VALUE.", code: "takeMissing")
    }
    return try withHousehold(invocation, readOnly: false) { household in
      let name = invocation.operand("CONFLICT")
      try household.resolve(name, try choice(word, of: name, household))
      try output.result(["resolved": name]) { output.note("Decided.") }
      return .done
    }
  }

  private func choice(_ word: String, of name: String, _ household: Household) throws -> Household.Choice {
    switch word {
    case "mine": return .mine
    case "theirs": return .theirs
    default:
      guard let edit = try household.conflicts(includingClosed: false).first(where: { $0.conflict == name }) else {
        throw CommandError(
          code: "notFound", message: "There is no open conflict \(quoted(name)).",
          remedy: "List them: household conflicts")
      }
      let type = try household.requireType(edit.type)
      let field = try type.requireField(edit.field)
      return .value(try FieldWords.value(FieldWord("\(field.name)=\(word)"), for: field, of: type))
    }
  }
}
