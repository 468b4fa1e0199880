internal import FoundationEssentials
internal import HouseholdRecords

/// What a property of a Swift type is as a field.
enum PropertyKind: Hashable, Sendable {
  case text, integer, real, boolean, date, timestamp, bytes, json
  case reference(String)

  /// The kind that a field has when it is made for such a property.
  var field: FieldType {
    switch self {
    case .text: .text
    case .integer: .integer
    case .real: .real
    case .boolean: .boolean
    case .date: .date
    case .timestamp: .timestamp
    case .bytes: .bytes
    case .json: .json
    case .reference: .reference
    }
  }

  /// Whether a property of this kind can hold every value of the field; `String` holds whatever is stored as text.
  func fits(_ field: FieldDefinition) -> Bool {
    switch (self, field.kind) {
    case (.text, .text), (.text, .date), (.text, .timestamp), (.text, .json), (.text, .reference): true
    case (.reference(let target), .reference): field.to == target
    case (.text, _), (.reference, _): false
    default: self.field == field.kind
    }
  }

  /// How people call it.
  var name: String {
    switch self {
    case .text: "String"
    case .integer: "an integer"
    case .real: "Double"
    case .boolean: "Bool"
    case .date: "CalendarDate"
    case .timestamp: "Date"
    case .bytes: "bytes"
    case .json: "a Codable value"
    case .reference(let target): "a reference to \(target)"
    }
  }
}

/// Values of fields as Swift values and back.
enum FieldConversion {
  /// The text of a moment: RFC 3339, UTC, milliseconds.
  static func text(_ date: Date) throws -> String {
    let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
    // The years 0 to 9999, which the text can say.
    guard (-62_167_219_200_000...253_402_300_799_999).contains(milliseconds) else {
      throw HouseholdStoreError(.badValue, "A date of the year 0 to 9999 is needed.")
    }
    return Instant(milliseconds: Int64(milliseconds)).rfc3339
  }

  /// The moment that a text says.
  static func date(_ value: FieldValue) throws -> Date {
    guard let text = value.text, let instant = Instant(rfc3339: text) else { throw mismatch("a timestamp", value) }
    return Date(timeIntervalSince1970: Double(instant.milliseconds) / 1000)
  }

  static func text(_ value: FieldValue) throws -> String {
    guard let text = value.text else { throw mismatch("a text", value) }
    return text
  }

  static func boolean(_ value: FieldValue) throws -> Bool {
    guard let integer = value.integer else { throw mismatch("true or false", value) }
    return integer != 0
  }

  static func integer<T: FixedWidthInteger>(_ value: FieldValue) throws -> T {
    guard let integer = value.integer, let fitting = T(exactly: integer) else { throw mismatch("\(T.self)", value) }
    return fitting
  }

  static func real(_ value: FieldValue) throws -> Double {
    switch value {
    case .real(let real): return real
    case .integer(let integer): return Double(integer)
    default: throw mismatch("a number", value)
    }
  }

  static func bytes(_ value: FieldValue) throws -> [UInt8] {
    guard case .bytes(let bytes) = value else { throw mismatch("bytes", value) }
    return bytes
  }

  /// The field value of an integer; SQLite's have 64 bits with a sign.
  static func value(_ integer: some FixedWidthInteger) throws -> FieldValue {
    guard let fitting = Int64(exactly: integer) else {
      throw HouseholdStoreError(.badValue, "\(integer) does not fit in 64 bits.")
    }
    return .integer(fitting)
  }

  private static func mismatch(_ wanted: String, _ found: FieldValue) -> HouseholdStoreError {
    let what =
      switch found {
      case .null: "null, and the property is not optional"
      case .integer(let integer): "the integer \(integer)"
      case .real: "a real number"
      case .text: "a text"
      case .bytes: "bytes"
      }
    return HouseholdStoreError(.badValue, "\(wanted) is needed, and there is \(what).")
  }
}
