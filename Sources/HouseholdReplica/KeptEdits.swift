internal import HouseholdRecords

/// What plain edits of one changeset leave beside the rows, written a few edits at a time: their place in the history,
/// what they displaced, and what decides their records now.
///
/// Each is of another record, so the order between them does not matter; whatever else the changeset does comes after a
/// ``write(on:)``, and so does the end of the changeset.
struct KeptEdits {
  /// A change of one field.
  struct Change {
    var name: String
    var place: RecordPlace
    var field: String?
    var before: FieldValue
    var after: FieldValue
    var position: Int64

    static let columns = 7

    static func sql(rows: Int) -> String {
      """
      INSERT INTO sync_change(change, type, id, field, before, after, position)
      VALUES \(Statement.marks(columns: columns, rows: rows))
      """
    }

    func bind(_ statement: Statement, after column: Int32) throws {
      try statement.bind(column + 1, name)
      try statement.bind(column + 2, place.type)
      try statement.bind(column + 3, place.id)
      if let field { try statement.bind(column + 4, field) } else { try statement.bindNull(column + 4) }
      try statement.bind(column + 5, before)
      try statement.bind(column + 6, after)
      try statement.bind(column + 7, position)
    }
  }

  /// A write that was displaced; one that is kept already stays as it is.
  struct Displaced {
    var content: [UInt8]
    var cell: String
    var place: RecordPlace
    var writer: Int64
    var life: UInt64
    var displacer: Int64

    static let columns = 7

    static func sql(rows: Int) -> String {
      """
      INSERT OR IGNORE INTO sync_displaced(type, id, cell, writer, life, displacer, content)
      VALUES \(Statement.marks(columns: columns, rows: rows))
      """
    }

    func bind(_ statement: Statement, after column: Int32) throws {
      try statement.bind(column + 1, place.type)
      try statement.bind(column + 2, place.id)
      try statement.bind(column + 3, cell)
      try statement.bind(column + 4, writer)
      try statement.bind(column + 5, Int64(clamping: life))
      try statement.bind(column + 6, displacer)
      try statement.bind(column + 7, content)
    }
  }

  /// How many rows a statement has. An edit has one of each kind, most often.
  private static let count = 16

  private var changes: [Change] = []
  private var displaced: [Displaced] = []
  private var records: [(stored: StoredRecord, place: RecordPlace)] = []

  private static let changeSQL = Change.sql(rows: 1)
  private static let changesSQL = Change.sql(rows: count)
  private static let displacedSQL = Displaced.sql(rows: 1)
  private static let manyDisplacedSQL = Displaced.sql(rows: count)
  private static let recordSQL = StoredRecord.upsertSQL(rows: 1)
  private static let recordsSQL = StoredRecord.upsertSQL(rows: count)

  /// Writes one change by itself.
  static func write(_ change: Change, on connection: Connection) throws {
    let statement = try connection.statement(changeSQL)
    try change.bind(statement, after: 0)
    try statement.run()
  }

  /// Writes one displaced write by itself.
  static func write(_ displaced: Displaced, on connection: Connection) throws {
    let statement = try connection.statement(displacedSQL)
    try displaced.bind(statement, after: 0)
    try statement.run()
  }

  mutating func add(_ change: Change) { changes.append(change) }

  mutating func add(_ write: Displaced) { displaced.append(write) }

  /// Adds what decides a record now, as the last of its edit.
  mutating func add(_ stored: StoredRecord, of place: RecordPlace, on connection: Connection) throws {
    records.append((stored, place))
    if records.count >= Self.count { try write(on: connection) }
  }

  /// Writes everything.
  mutating func write(on connection: Connection) throws {
    if records.isEmpty { return }
    try Self.write(changes, Self.changeSQL, Self.changesSQL, Change.columns, on: connection) {
      try $1.bind($0, after: $2)
    }
    try Self.write(displaced, Self.displacedSQL, Self.manyDisplacedSQL, Displaced.columns, on: connection) {
      try $1.bind($0, after: $2)
    }
    try Self.write(records, Self.recordSQL, Self.recordsSQL, NewRecords.columns, on: connection) {
      try $1.stored.bind($0, type: $1.place.type, id: $1.place.id, after: $2)
    }
    self = KeptEdits()
  }

  private static func write<Item>(
    _ items: [Item], _ one: String, _ many: String, _ columns: Int, on connection: Connection,
    bind: (Statement, Item, Int32) throws -> Void
  ) throws {
    var rest = items[...]
    while !rest.isEmpty {
      let rows = rest.count >= count ? count : 1
      let statement = try connection.statement(rows == 1 ? one : many)
      for (index, item) in rest.prefix(rows).enumerated() { try bind(statement, item, Int32(index * columns)) }
      try statement.run()
      rest = rest.dropFirst(rows)
    }
  }
}
