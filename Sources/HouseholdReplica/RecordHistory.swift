package import HouseholdRecords

/// One change of one field, or with `field` nil a deletion.
package struct ShownChange: Hashable, Sendable {
  package var change: String
  package var type: String
  package var id: String
  package var field: String?
  package var from: FieldValue
  package var to: FieldValue
  package var author: Authorship
}

/// An edit that lost against a concurrent one, as people see it.
package struct ShownConflict: Hashable, Sendable {
  /// One of the two sides.
  package struct Side: Hashable, Sendable {
    /// The fields of the cell as a JSON object; nil: the record is deleted.
    package var object: String?
    package var author: Authorship?
  }

  package var conflict: String
  package var type: String
  package var id: String
  package var field: String
  package var kept: Side
  package var lost: Side
  package var isOpen: Bool
}

/// What happened, and what lost; for reading.
extension RecordAccess {
  /// The changes of one record, or of all, oldest first.
  package func history(_ key: RecordKey?, _ body: (ShownChange) throws -> Void) throws {
    var sql = """
      SELECT change, type, id, field, "from", "to", member, device, at_ms FROM sync_changes
      """
    if key != nil { sql += " WHERE type = ? AND id = ?" }
    let statement = try connection.statement(sql + " ORDER BY position, change")
    if let key { try statement.bind([.text(key.type), .text(key.id)]) }
    defer { statement.reset() }
    while try statement.step() {
      try body(
        ShownChange(
          change: statement.text(0), type: statement.text(1), id: statement.text(2),
          field: statement.isNull(3) ? nil : statement.text(3), from: statement.value(4), to: statement.value(5),
          author: authorship(statement, 6)))
    }
  }

  /// The conflicts, oldest first.
  package func conflicts(includingClosed: Bool) throws -> [ShownConflict] {
    let statement = try connection.statement(
      """
      SELECT c.conflict, t.name, c.id, c.field, c.kept, c.lost, c.open,
             l.member, l.device, l.edited_at, k.member, k.device, k.edited_at
      FROM sync_conflict c
      JOIN sync_type t ON t.number = c.type
      JOIN sync_author l ON l.position = c.lost_position
      LEFT JOIN sync_author k ON k.position = c.kept_position
      WHERE c.open = 1 OR ?1
      ORDER BY c.lost_position, c.conflict
      """)
    try statement.bind(1, includingClosed ? 1 : 0)
    defer { statement.reset() }
    var list: [ShownConflict] = []
    while try statement.step() {
      list.append(
        ShownConflict(
          conflict: statement.text(0), type: statement.text(1), id: statement.text(2), field: statement.text(3),
          kept: ShownConflict.Side(
            object: statement.isNull(4) ? nil : statement.text(4),
            author: statement.isNull(12) ? nil : authorship(statement, 10)),
          lost: ShownConflict.Side(object: statement.text(5), author: authorship(statement, 7)),
          isOpen: statement.integer(6) != 0))
    }
    return list
  }

  private func authorship(_ statement: Statement, _ column: Int32) -> Authorship {
    Authorship(
      member: statement.isNull(column) ? nil : statement.text(column),
      device: statement.isNull(column + 1) ? nil : statement.text(column + 1),
      at: Instant(milliseconds: statement.integer(column + 2)))
  }
}
