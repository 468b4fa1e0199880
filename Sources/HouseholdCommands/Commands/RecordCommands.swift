import HouseholdKit
import HouseholdRecords

/// `types`: what kinds of records there are.
struct TypesCommand: Command {
  let description = CommandDescription("types", group: .records, summary: "Show record types and their fields.")

  private struct Shown: Encodable {
    var name: String
    var fields: [FieldDefinition]
    var count: Int64
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    try withHousehold(invocation, readOnly: true) { household in
      let types = try household.schema.types.map {
        Shown(name: $0.name, fields: $0.fields, count: try household.count($0))
      }
      try output.result(["types": types]) {
        for type in types {
          let fields = type.fields.map { "\($0.name) \($0.type)" + ($0.to.map { "→\($0)" } ?? "") }
          try output.line("\(output.styled(type.name, .bold)) (\(type.count)): \(fields.joined(separator: ", "))")
        }
      }
      return .done
    }
  }
}

/// `list`: the records of a type.
struct ListCommand: Command {
  let description = CommandDescription(
    "list", group: .records, summary: "List the records of a type.",
    operands: [Operand("TYPE", help: "A record type; see household types.")],
    options: [
      .value("where", "FIELD=VALUE", repeatable: true, help: "Only records with this value."),
      .value("sort", "FIELD", help: "In the order of this field; default: of the id."),
      .value("limit", "N", kind: .integer(0...Int.max), help: "At most so many."),
      .value("search", "TEXT", help: "Only records in which some text holds this, in any case."),
    ])

  private struct Shown: Encodable {
    var type: String
    var records: [RecordJSON]
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    try withHousehold(invocation, readOnly: true) { household in
      let type = try household.requireType(invocation.operand("TYPE"))
      var conditions: [(field: String, value: FieldValue)] = []
      for word in invocation.values("where") {
        let field = try FieldWord(word)
        if field.name == "id", case .text(let id) = field.value {
          conditions.append(("id", .text(id)))
        } else {
          let definition = try type.requireField(field.name)
          conditions.append((field.name, try FieldWords.value(field, for: definition, of: type)))
        }
      }
      let order = invocation.value("sort")
      if let order, order != "id" { _ = try type.requireField(order) }
      let records = try self.records(
        household, type, conditions, order: order, limit: invocation.integer("limit"),
        search: invocation.value("search"))
      try output.result(Shown(type: type.name, records: records.map(RecordJSON.init))) {
        try show(records, type: type, output: output)
      }
      return .done
    }
  }

  private func records(
    _ household: Household, _ type: RecordType, _ conditions: [(field: String, value: FieldValue)], order: String?,
    limit: Int?, search: String?
  ) throws -> [Household.Record] {
    var found: [Household.Record] = []
    let wanted = search?.lowercased()
    try household.forEach(type, where: conditions, order: order, limit: search == nil ? limit : nil) { record in
      if let limit, found.count >= limit { return }
      if let wanted {
        let hits = record.values.contains { $0.text?.lowercased().contains(wanted) ?? false }
        guard hits || record.id.lowercased().contains(wanted) else { return }
      }
      found.append(record)
    }
    return found
  }

  private func show(_ records: [Household.Record], type: RecordType, output: Output) throws {
    if records.isEmpty { return output.note("There is no such \(type.name).") }
    var table = TableOutput([.text("ID")] + type.fields.map { column(of: $0) })
    for record in records { table.add([record.id] + record.values.map(shown)) }
    try output.table(table)
  }

  private func column(of field: FieldDefinition) -> TableOutput.Column {
    let title = field.name.uppercased()
    return field.kind == .integer || field.kind == .real ? .number(title) : .text(title)
  }
}

/// `get`: one record.
struct GetCommand: Command {
  let description = CommandDescription(
    "get", group: .records, summary: "Show one record, and who made and changed it.",
    operands: [Operand("TYPE", help: "A record type."), Operand("ID", help: "The record's id.")])

  private struct Shown: Encodable {
    var type: String
    var id: String
    var fields: FieldsJSON
    var created: Author?
    var modified: Author?
  }

  private struct Author: Encodable {
    var member: String
    var device: String
    var at: String
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let names = try HouseholdStatus.membership(invocation.directory())
    let here = (
      member: names.state.member(of: names.device)?.name ?? "", device: names.state.devices[names.device]?.name ?? ""
    )
    return try withHousehold(invocation, readOnly: true) { household in
      let type = try household.requireType(invocation.operand("TYPE"))
      let id = invocation.operand("ID")
      guard let record = try household.record(type, id) else { throw missing(type.name, [id]) }
      func author(_ authorship: Household.Authorship) -> Author {
        Author(
          member: authorship.member ?? here.member, device: authorship.device ?? here.device,
          at: authorship.at.rfc3339)
      }
      let provenance = try household.provenance(type, id)
      let shownRecord = Shown(
        type: type.name, id: id, fields: FieldsJSON(record: record), created: provenance.map { author($0.created) },
        modified: provenance.map { author($0.modified) })
      try output.result(shownRecord) {
        for (field, value) in zip(type.fields, record.values) {
          try output.line("\(field.name): \(escapingControls(shown(value)))")
        }
        if let created = shownRecord.created, let modified = shownRecord.modified {
          try output.line("made by \(created.member) (\(created.device)) at \(created.at)")
          try output.line("changed by \(modified.member) (\(modified.device)) at \(modified.at)")
        }
      }
      return .done
    }
  }
}

/// The error for records that are not there.
func missing(_ type: String, _ ids: [String]) -> CommandError {
  CommandError(
    code: "notFound", message: "There is no \(type) \(ids.map(quoted).joined(separator: ", ")).",
    remedy: "List them: household list \(type)")
}

/// `put`: sets fields, and makes the record if it is not there.
struct PutCommand: Command {
  let description = CommandDescription(
    "put", group: .records, summary: "Set fields of a record; make it if it is not there.",
    discussion: """
      FIELD=TEXT sets a text (or what the field holds, read from it), FIELD= the empty text, FIELD:=JSON a JSON value \
      such as null, 12 or true. Fields that are not named stay as they are. Prints the id.
      """,
    operands: [
      Operand("TYPE", help: "A record type."),
      Operand("WORDS", .any, kind: .fieldWord, help: "An id first, if there is one, then FIELD=VALUE words."),
    ])

  private struct Shown: Encodable {
    var type: String
    var id: String
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    try withHousehold(invocation, readOnly: false) { household in
      let type = try household.requireType(invocation.operand("TYPE"))
      var words = invocation.operands("WORDS")
      var id = Household.newID()
      if let first = words.first, !Self.namesField(first, of: type) {
        id = first
        words.removeFirst()
      }
      var fields: [(name: String, value: FieldValue)] = []
      for word in words {
        let parsed = try FieldWord(word)
        let field = try type.requireField(parsed.name)
        guard !fields.contains(where: { $0.name == field.name }) else {
          throw CommandError.usage(
            "the field \(quoted(field.name)) is named twice.", remedy: "Leave one out.", code: "repeatedField")
        }
        fields.append((field.name, try FieldWords.value(parsed, for: field, of: type)))
      }
      guard id.utf8.count <= Limits.idBytes else {
        throw CommandError(
          code: "badValue", message: "\(type.name).id is longer than \(Limits.idBytes) bytes.",
          remedy: "Choose a shorter id.")
      }
      try household.put(type, id, fields)
      try output.result(Shown(type: type.name, id: id)) { try output.line(id) }
      return .done
    }
  }

  /// Whether the word is a field with a value rather than an id: ids may hold `=`, so what stands before it decides.
  private static func namesField(_ word: String, of type: RecordType) -> Bool {
    guard FieldWord.resembles(word) else { return false }
    let name = word.prefix { $0 != "=" && $0 != ":" }
    let isWord = name.utf8.allSatisfy { $0 == 95 || (48...57).contains($0) || (97...122).contains($0) }
    return type.field(String(name)) != nil || !name.isEmpty && isWord
  }
}

/// `delete`: deletes records.
struct DeleteCommand: Command {
  let description = CommandDescription(
    "delete", group: .records, summary: "Delete records, all of them or none.",
    operands: [Operand("TYPE", help: "A record type."), Operand("ID", .oneOrMore, help: "The records' ids.")])

  private struct Shown: Encodable {
    var type: String
    var deleted: [String]
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    try withHousehold(invocation, readOnly: false) { household in
      let type = try household.requireType(invocation.operand("TYPE"))
      let ids = invocation.operands("ID")
      let absent = try household.delete(type, ids)
      guard absent.isEmpty else { throw missing(type.name, absent) }
      try output.result(Shown(type: type.name, deleted: ids)) {
        output.note(ids.count == 1 ? "Deleted." : "Deleted \(ids.count) records.")
      }
      return .done
    }
  }
}
