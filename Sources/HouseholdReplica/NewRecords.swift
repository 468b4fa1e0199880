internal import HouseholdRecords

/// Stores what decides records of which nothing was ever heard, many with one statement.
///
/// SQLite then finds its place in the table once, and not for each.
enum NewRecords {
  /// How many records a statement has: with 64 it is hardly any faster.
  static let count = 32

  /// What a record is stored with, in this order.
  static let columns = 8

  /// Fails if anything is known of one of them, and then none is stored.
  static let sql = """
    INSERT INTO sync_record(type, id, writer, modified, flags, life, alive, cells)
    VALUES \(Statement.marks(columns: columns, rows: count))
    """

  /// Stores records that one changeset made; false if they are not so many, or something is known of one, and then none
  /// is stored.
  static func seal(
    _ indices: [Int], of edits: [EditReader.Edit], header: ChangesetHeader, on connection: Connection
  ) throws -> Bool {
    guard indices.count == count else { return false }
    let statement = try connection.statement(sql)
    for (row, index) in indices.enumerated() {
      let stored = StoredRecord(
        writer: header.position, modified: header.position,
        flags: edits[index].isWeak ? StoredRecord.weakFlag : 0, life: edits[index].life, isAlive: true, cells: nil)
      try stored.bind(
        statement, type: edits[index].table.number, id: edits[index].id, after: Int32(row * columns))
    }
    return try run(statement)
  }

  /// Runs the statement; false if it failed because something is known of one of the records.
  static func run(_ statement: Statement) throws -> Bool {
    do {
      try statement.run()
      return true
    } catch let error as ReplicaError where error.code == .badValue {
      return false
    }
  }
}
