import HouseholdBudget
import HouseholdRecords

/// What a scenario asks for and cannot be done yet.
struct NotBuilt: Error {
  /// Its name, as the outcome lists it.
  let name: String

  init(_ name: String) { self.name = name }
}

/// Maps a scenario's values to fields, and compares fields with what a scenario expects.
enum ScenarioValues {
  /// The value to write into a field.
  ///
  /// - Parameter number: what `$n` counts in a `bulk_put`.
  static func value(_ json: ScenarioJSON, for field: FieldDefinition, number: Int64 = 1) throws -> FieldValue {
    switch json {
    case .null: return .null
    case .boolean(let boolean): return .integer(boolean ? 1 : 0)
    case .integer(let integer): return field.kind == .real ? .real(Double(integer)) : .integer(integer)
    case .real(let real): return .real(real)
    case .text(let text): return .text(try id(text))
    case .list: throw NotBuilt("a list as the value of \(field.name)")
    case .object:
      if let factor = json["$n"]?.integer { return .integer(factor * number) }
      if let parts = json["$repeat"]?.elements, parts.count == 2, let text = parts[0].text, let count = parts[1].integer
      {
        return .text(String(repeating: text, count: Int(count)))
      }
      throw NotBuilt("the value \(json.members.map(\.name)) of \(field.name)")
    }
  }

  /// An id as it stands, but for ids that the product derives.
  static func id(_ text: String) throws -> String {
    if text.hasPrefix("$") { throw NotBuilt("the id \(text)") }
    return text
  }

  /// Whether a field is as expected.
  static func matches(_ value: FieldValue, _ expected: ScenarioJSON, field: FieldDefinition) throws -> Bool {
    if let choices = expected["$one_of"]?.elements {
      return try choices.contains { try matches(value, $0, field: field) }
    }
    if let name = expected["$same_name_as"]?.text {
      return value.text.map { Folding.areSame($0, name) } ?? false
    }
    return value == (try self.value(expected, for: field))
  }
}
