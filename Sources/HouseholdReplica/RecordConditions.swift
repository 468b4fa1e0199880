package import HouseholdRecords

/// What a record must be like to be found.
package indirect enum RecordCondition: Hashable, Sendable {
  /// How a field is compared; null compares with equality only.
  package enum Comparison: String, Hashable, Sendable {
    case equal = "IS"
    case notEqual = "IS NOT"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
  }

  case compare(field: String, Comparison, FieldValue)
  /// The text holds this one, whatever the case of the letters a to z.
  case contains(field: String, String)
  case all([RecordCondition])
  case any([RecordCondition])
  case not(RecordCondition)
}

/// One field to sort by.
package struct RecordOrder: Hashable, Sendable {
  package var field: String
  package var isDescending: Bool

  package init(field: String, isDescending: Bool) {
    self.field = field
    self.isDescending = isDescending
  }
}

/// Questions with conditions; values are always bound, never part of the SQL.
extension RecordAccess {
  /// Calls `body` with the row of each record that meets the condition, in the order asked for.
  ///
  /// - Parameters:
  ///   - fields: what the row holds after the id.
  ///   - id: of the only record that is looked at; nil for all.
  ///   - order: the id breaks ties.
  package func forEach(
    _ type: RecordType, fields: [String], id: String? = nil, matching condition: RecordCondition?,
    order: [RecordOrder], limit: Int?, _ body: (ShownRow) throws -> Void
  ) throws {
    let columns = (["id"] + fields).map(SchemaTables.quoted).joined(separator: ", ")
    var sql = "SELECT \(columns) FROM \(SchemaTables.quoted(type.name))"
    var values: [FieldValue] = []
    var parts: [String] = []
    if let id {
      values.append(.text(id))
      parts.append("id = ?")
    }
    if let condition { parts.append(Self.sql(of: condition, binding: &values)) }
    if !parts.isEmpty { sql += " WHERE " + parts.joined(separator: " AND ") }
    let keys = order.map { SchemaTables.quoted($0.field) + ($0.isDescending ? " DESC" : "") } + ["id"]
    sql += " ORDER BY " + keys.joined(separator: ", ") + " LIMIT ?"
    values.append(.integer(limit.map(Int64.init) ?? -1))
    let statement = try connection.statement(sql)
    try statement.bind(values)
    defer { statement.reset() }
    while try statement.step() { try body(ShownRow(statement: statement)) }
  }

  private static func sql(of condition: RecordCondition, binding values: inout [FieldValue]) -> String {
    switch condition {
    case .compare(let field, let comparison, let value):
      values.append(value)
      return "\(SchemaTables.quoted(field)) \(comparison.rawValue) ?"
    case .contains(let field, let text):
      values.append(.text(text))
      return "instr(lower(\(SchemaTables.quoted(field))), lower(?)) > 0"
    case .all(let parts): return joined(parts, " AND ", none: "1", binding: &values)
    case .any(let parts): return joined(parts, " OR ", none: "0", binding: &values)
    case .not(let part): return "NOT coalesce(\(sql(of: part, binding: &values)), 0)"
    }
  }

  private static func joined(
    _ parts: [RecordCondition], _ word: String, none: String, binding values: inout [FieldValue]
  ) -> String {
    parts.isEmpty ? none : "(" + parts.map { sql(of: $0, binding: &values) }.joined(separator: word) + ")"
  }
}
