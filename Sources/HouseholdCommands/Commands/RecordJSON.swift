import HouseholdKit
import HouseholdRecords

/// A record as commands print it.
struct RecordJSON: Encodable {
  let record: Household.Record

  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// The fields beside `id`.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for (field, value) in zip(record.type.fields, record.values) {
      try container.encode(FieldJSON(field: field, value: value), forKey: Key(stringValue: field.name))
    }
    try container.encode(record.id, forKey: Key(stringValue: "id"))
  }
}

/// The fields of a record alone.
struct FieldsJSON: Encodable {
  let record: Household.Record

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    let fields = zip(record.type.fields, record.values).map { ($0.name, FieldJSON(field: $0, value: $1)) }
    try container.encode(Dictionary(uniqueKeysWithValues: fields))
  }
}

/// A value as SQLite shows it: booleans as 0 and 1, bytes as hexadecimal digits.
struct FieldJSON: Encodable {
  let field: FieldDefinition
  let value: FieldValue

  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

/// A value for people, on one line.
func shown(_ value: FieldValue) -> String {
  switch value {
  case .null: "-"
  case .integer(let integer): String(integer)
  case .real(let real): String(real)
  case .text(let text): text.isEmpty ? "\"\"" : text
  case .bytes(let bytes): hexadecimal(bytes)
  }
}

/// Turns typed words into the values of fields.
enum FieldWords {
  /// The value for a field of this kind, or the error that names the field.
  static func value(_ word: FieldWord, for field: FieldDefinition, of type: RecordType) throws(CommandError)
    -> FieldValue
  {
    let name = "\(type.name).\(field.name)"
    switch word.value {
    case .null: return .null
    case .text(let text): return try parsed(text, for: field, name: name)
    case .boolean(let value) where field.kind == .boolean: return .integer(value ? 1 : 0)
    case .integer(let value) where field.kind == .integer: return .integer(value)
    case .integer(let value) where field.kind == .boolean && (value == 0 || value == 1): return .integer(value)
    case .integer(let value) where field.kind == .real: return .real(Double(value))
    case .real(let value) where field.kind == .real: return .real(value)
    case .json(let text) where field.kind == .json: return .text(text)
    case .boolean(let value) where field.kind == .json: return .text(value ? "true" : "false")
    case .integer(let value) where field.kind == .json: return .text(String(value))
    case .real(let value) where field.kind == .json: return .text(String(value))
    case .boolean, .integer, .real, .json: throw bad(name, field)
    }
  }

  /// A text typed after `=`: for fields that are no texts it is read as what they hold.
  private static func parsed(
    _ text: String, for field: FieldDefinition, name: String
  ) throws(CommandError) -> FieldValue {
    switch field.kind {
    case .integer:
      guard let value = Int64(text) else { throw bad(name, field) }
      return .integer(value)
    case .boolean:
      guard let value = ["true": 1, "false": 0, "1": 1, "0": 0][text] else { throw bad(name, field) }
      return .integer(Int64(value))
    case .real:
      guard let value = Double(text), value.isFinite else { throw bad(name, field) }
      return .real(value)
    case .bytes:
      guard let value = bytes(hex: text) else { throw bad(name, field) }
      return .bytes(value)
    case .date:
      guard CalendarDay(text) != nil else { throw bad(name, field) }
      return .text(text)
    case .text, .timestamp, .json, .reference, nil: return .text(text)
    }
  }

  private static func bad(_ name: String, _ field: FieldDefinition) -> CommandError {
    let wanted =
      switch field.kind {
      case .integer: "a whole number of 64 bits"
      case .boolean: "true or false"
      case .real: "a number"
      case .bytes: "hexadecimal digits"
      case .date: "a calendar day YYYY-MM-DD"
      case .timestamp: "a time such as 2026-03-01T09:30:00Z"
      case .json: "JSON"
      case .text, .reference, nil: "a text"
      }
    return CommandError(
      code: "badValue", message: "\(name) must be \(wanted).",
      remedy: "Write \(field.name)=VALUE or \(field.name):=JSON.")
  }
}
