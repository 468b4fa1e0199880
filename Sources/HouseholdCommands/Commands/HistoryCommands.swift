import HouseholdKit
import HouseholdNode
import HouseholdRecords

/// `history`: who changed what, when, on which device, from which value.
struct HistoryCommand: Command {
  let description = CommandDescription(
    "history", group: .records, summary: "Show who changed what, when and from which value.",
    discussion: "Changes from before this device joined are not here: a new device gets the records, not the log.",
    operands: [
      Operand("TYPE", .optional, help: "A record type."), Operand("ID", .optional, help: "The record's id."),
    ])

  private struct Shown: Encodable {
    var change: String
    var type: String
    var id: String
    var field: String?
    var from: FieldValue
    var to: FieldValue
    var member: String?
    var device: String?
    var at: String

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(change, forKey: .change)
      try container.encode(type, forKey: .type)
      try container.encode(id, forKey: .id)
      // Null is said, not left out: a deletion is a row whose field is null.
      try container.encode(field, forKey: .field)
      try container.encode(from, forKey: .from)
      try container.encode(to, forKey: .to)
      try container.encode(member, forKey: .member)
      try container.encode(device, forKey: .device)
      try container.encode(at, forKey: .at)
    }

    enum CodingKeys: String, CodingKey { case change, type, id, field, from, to, member, device, at }
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    try withHousehold(invocation, readOnly: true) { household in
      var key: RecordKey?
      var isKnown = true
      if let word = invocation.optionalOperand("TYPE") {
        let type = try household.requireType(word)
        guard let id = invocation.optionalOperand("ID") else {
          throw CommandError.usage(
            "which \(type.name)?", remedy: "Say household history \(type.name) ID.", code: "idMissing")
        }
        key = RecordKey(type: type.name, id: id)
        isKnown = try household.isKnown(type, id)
      }
      var changes: [Shown] = []
      try household.history(key) { change in
        changes.append(
          Shown(
            change: change.change, type: change.type, id: change.id, field: change.field, from: change.from,
            to: change.to, member: change.author.member, device: change.author.device, at: change.author.at.rfc3339))
      }
      if let key, changes.isEmpty, !isKnown { throw missing(key.type, [key.id]) }
      try output.result(["changes": changes]) { try show(changes, output: output) }
      return .done
    }
  }

  private func show(_ changes: [Shown], output: Output) throws {
    if changes.isEmpty { return output.note("Nothing was changed yet, as far as this device knows.") }
    var table = TableOutput([
      .text("WHEN"), .text("WHO"), .text("RECORD"), .text("FIELD"), .text("FROM"), .text("TO"), .text("CHANGE"),
    ])
    for change in changes {
      table.add([
        change.at, "\(change.member ?? "?")/\(change.device ?? "?")", "\(change.type) \(change.id)",
        change.field ?? "deleted", shown(change.from), shown(change.to), change.change,
      ])
    }
    try output.table(table)
  }
}

/// `revert`: undoes one change by a new one.
struct RevertCommand: Command {
  let description = CommandDescription(
    "revert", group: .records, summary: "Undo one change by a new one; touches only its field.",
    operands: [Operand("CHANGE", help: "The change's name, as history shows it.")])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    try withHousehold(invocation, readOnly: false) { household in
      let change = invocation.operand("CHANGE")
      try household.revert(change)
      try output.result(["reverted": change]) { output.note("Reverted.") }
      return .done
    }
  }
}

/// `restore`: brings a deleted record back.
struct RestoreCommand: Command {
  let description = CommandDescription(
    "restore", group: .records, summary: "Bring a deleted record back, all fields intact.",
    operands: [Operand("TYPE", help: "A record type."), Operand("ID", help: "The record's id.")])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    try withHousehold(invocation, readOnly: false) { household in
      let type = try household.requireType(invocation.operand("TYPE"))
      let id = invocation.operand("ID")
      try household.restore(RecordKey(type: type.name, id: id))
      try output.result(["type": type.name, "id": id]) { output.note("Restored.") }
      return .done
    }
  }
}
