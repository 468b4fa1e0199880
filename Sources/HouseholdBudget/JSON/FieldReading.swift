import HouseholdRecords

/// Why a value does not fit its field; the end of a sentence.
struct FieldMisfit: Error, Hashable, Sendable {
  let reason: String
}

/// Turns what stands in a file into the value of a field, exactly or not at all.
enum FieldReading {
  /// The value that a JSON value stands for.
  static func value(_ tree: JSONTree, for field: FieldDefinition) throws(FieldMisfit) -> FieldValue {
    switch (tree.value, field.kind) {
    case (.null, _): return .null
    case (.boolean(let boolean), .boolean): return .integer(boolean ? 1 : 0)
    case (.number(let digits), .integer), (.number(let digits), .boolean), (.number(let digits), .real):
      return try value(digits, for: field)
    case (.string(let text), .boolean), (.string(let text), .integer):
      throw misfit(text, field)
    case (.string(let text), _): return try value(text, for: field)
    default: throw FieldMisfit(reason: "the field \(quoted(field.name)) is \(field.type), not \(tree.kind)")
    }
  }

  /// The value that a text stands for.
  static func value(_ text: String, for field: FieldDefinition) throws(FieldMisfit) -> FieldValue {
    switch field.kind {
    case .text, .reference, .json:
      guard !text.utf8.contains(0) else { throw FieldMisfit(reason: "the field \(quoted(field.name)) holds a NUL") }
      guard text.utf8.count <= Limits.textBytes else {
        throw FieldMisfit(reason: "the field \(quoted(field.name)) is longer than \(Limits.textBytes) bytes")
      }
      return .text(text)
    case .date:
      guard CalendarDay(text) != nil else { throw misfit(text, field) }
      return .text(text)
    case .timestamp:
      guard Instant.isUTCTimestamp(text) else { throw misfit(text, field) }
      return .text(text)
    case .integer:
      guard let integer = integer(text) else { throw misfit(text, field) }
      return .integer(integer)
    case .boolean:
      switch text {
      case "0", "false": return .integer(0)
      case "1", "true": return .integer(1)
      default: throw misfit(text, field)
      }
    case .real:
      guard let real = real(text) else { throw misfit(text, field) }
      return .real(real)
    case .bytes:
      guard let bytes = bytes(hex: text) else { throw misfit(text, field) }
      return .bytes(bytes)
    case nil: throw FieldMisfit(reason: "the field \(quoted(field.name)) has the unknown type \(quoted(field.type))")
    }
  }

  private static func misfit(_ text: String, _ field: FieldDefinition) -> FieldMisfit {
    FieldMisfit(reason: "\(quoted(text)) is no \(field.type) for the field \(quoted(field.name))")
  }

  /// The integer that plain digits spell; nil for anything else and beyond 64 bits.
  static func integer(_ text: String) -> Int64? {
    let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
    guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    return Int64(text)
  }

  private static func real(_ text: String) -> Double? {
    switch text {
    case "Infinity": return .infinity
    case "-Infinity": return -.infinity
    case "NaN": return .nan
    default:
      guard let real = Double(text), real.isFinite, text.utf8.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }) else {
        return nil
      }
      return real
    }
  }
}
