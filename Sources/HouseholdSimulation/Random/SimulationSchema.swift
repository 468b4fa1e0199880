import HouseholdBudget
package import HouseholdRecords

/// The schema of random households: the budget's most telling types, and types with every kind of field and strategy.
package enum SimulationSchema {
  package static let schema = Schema(
    name: "simulation", version: 1,
    types: BudgetSchema.schema.types.filter { ["transaction", "split", "category", "note"].contains($0.name) }
      .map(withoutOutwardReferences) + [sample, level, whole])

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

  /// References to types that are left out become text.
  private static func withoutOutwardReferences(_ type: RecordType) -> RecordType {
    var type = type
    type.fields = type.fields.map { field in
      field.kind == .reference && !["transaction", "category"].contains(field.to ?? "")
        ? FieldDefinition(field.name, .text) : field
    }
    return type
  }
}
