package import HouseholdRecords

/// All records as JSON of the format `household-records/1`, which imports back to the same records.
///
/// `{"format", "schema", "types": {TYPE: [{"id", FIELD: VALUE...}]}}`: types and fields in the schema's order, records
/// by id, one on a line, every field named. Equal records give equal bytes, whatever the locale and the time.
package enum JSONExport {
  /// The text of these records, by type.
  package static func text(_ records: [String: [ExportedRecord]], schema: Schema) -> String {
    var text =
      "{\n\"format\": \(JSONSpelling.text(RecordsJSON.format)),\n\"schema\": \(JSONSpelling.text(schema.name)),\n"
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
