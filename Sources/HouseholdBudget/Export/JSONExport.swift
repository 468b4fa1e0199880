package import HouseholdRecords

/// All records as JSON of the format `household-records/1`, which imports back to the same records.
///
/// `{"format", "schema", "types": {TYPE: [{"id", FIELD: VALUE...}]}}`: types and fields in the schema's order, records
/// by id, one on a line, every field named. Equal records give equal bytes, whatever the locale and the time.
package enum JSONExport {
  /// What stands before the records in an answer to "what changed since".
  package struct Since: Hashable, Sendable {
    /// Where to go on next time.
    package var token: String
    /// Whether the records are all there are, and not only those that changed.
    package var isComplete: Bool
    /// The ids of records that went, by type.
    package var deleted: [String: [String]]

    package init(token: String, isComplete: Bool, deleted: [String: [String]]) {
      self.token = token
      self.isComplete = isComplete
      self.deleted = deleted
    }
  }

  /// The text of these records, by type.
  package static func text(
    _ records: [String: [ExportedRecord]], schema: Schema, since: Since? = nil
  ) -> String {
    var text =
      "{\n\"format\": \(JSONSpelling.text(RecordsJSON.format)),\n\"schema\": \(JSONSpelling.text(schema.name)),\n"
    if let since {
      text += "\"token\": \(JSONSpelling.text(since.token)),\n\"complete\": \(since.isComplete),\n"
      let deleted = schema.types.compactMap { type in
        since.deleted[type.name].map { ids in
          "\(JSONSpelling.text(type.name)): \(JSONSpelling.list(ids.sorted { $0.isBefore($1) }))"
        }
      }
      text += "\"deleted\": {\(deleted.joined(separator: ", "))},\n"
    }
    text += "\"types\": {"
    for (index, type) in schema.types.enumerated() {
      text += "\(index == 0 ? "" : ",")\n\(JSONSpelling.text(type.name)): ["
      for (place, record) in inOrder(records[type.name] ?? []).enumerated() {
        text += "\(place == 0 ? "" : ",")\n\(line(record, type: type))"
      }
      text += "]"
    }
    return text + "\n}\n}\n"
  }

  private static func line(_ record: ExportedRecord, type: RecordType) -> String {
    var parts = ["\"id\": \(JSONSpelling.text(record.id))"]
    for field in type.fields {
      let value = JSONSpelling.value(record.fields[field.name] ?? .null, of: field.kind)
      parts.append("\(JSONSpelling.text(field.name)): \(value)")
    }
    return "{\(parts.joined(separator: ", "))}"
  }
}
