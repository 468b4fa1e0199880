import HouseholdBudget
import HouseholdRecords

/// The schemas of random households: the budget's most telling types, and types with every kind of field and strategy.
package enum SimulationSchema {
  /// All types.
  static let types =
    BudgetSchema.schema.types.filter { ["transaction", "split", "category", "note"].contains($0.name) }
    .map(withoutReferences) + [sample, level, whole, label, tag]

  /// So many of the types, as the seed picks them: SQLite reads the whole schema whenever a file is opened, so a small
  /// one makes more runs, and few types make more meetings.
  static func schema(types count: Int, _ random: inout SeededRandom) -> Schema {
    var chosen = Set(types.shuffled(using: &random).prefix(count).map(\.name))
    // A set needs its owner: by chance alone the two would meet in few runs.
    if chosen.contains("split") || random.oneIn(6) { chosen.formUnion(["transaction", "split"]) }
    // A tag points to a label.
    if chosen.contains("tag") { chosen.insert("label") }
    return Schema(name: "simulation", version: 1, types: types.filter { chosen.contains($0.name) })
  }

  /// Every kind of field.
  private static let sample = RecordType(
    name: "sample",
    fields: [
      FieldDefinition("text", .text), FieldDefinition("integer", .integer), FieldDefinition("real", .real),
      FieldDefinition("boolean", .boolean), FieldDefinition("date", .date), FieldDefinition("timestamp", .timestamp),
      FieldDefinition("bytes", .bytes), FieldDefinition("json", .json),
    ])

  /// Every strategy that prefers a value.
  private static let level = RecordType(
    name: "level", fields: [FieldDefinition("high", .integer), FieldDefinition("low", .integer)],
    strategies: ["high": "max", "low": "min"])

  /// All fields are one cell.
  private static let whole = RecordType(
    name: "whole", fields: [FieldDefinition("a", .text), FieldDefinition("b", .integer)], strategy: "lastWriterWins")

  /// Two of one name under the same other one are one.
  private static let label = RecordType(
    name: "label",
    fields: [
      FieldDefinition("name", .text), FieldDefinition("parent", .reference, to: "label"),
      FieldDefinition("hidden", .boolean), FieldDefinition("size", .integer),
    ], unique: [UniqueRule(by: ["name"], within: ["parent"])], strategies: ["size": "max"])

  /// Two of one label are one, once the labels are; all fields are one cell.
  private static let tag = RecordType(
    name: "tag",
    fields: [FieldDefinition("label", .reference, to: "label"), FieldDefinition("name", .text)],
    unique: [UniqueRule(by: ["label", "name"])], strategy: "lastWriterWins")

  /// References but to an owner become text, as the types that they point to may be left out; merge makes no difference.
  private static func withoutReferences(_ type: RecordType) -> RecordType {
    var type = type
    type.fields = type.fields.map { field in
      field.kind == .reference && field.to != "transaction" ? FieldDefinition(field.name, .text) : field
    }
    return type
  }
}
