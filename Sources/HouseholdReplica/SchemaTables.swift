internal import HouseholdRecords

/// Makes the tables of the record types from the schema, and grows them when the schema grows.
///
/// A type is an ordinary STRICT table named like it, with `id` and one column per field and nothing else, so that any
/// SQLite program can work with it (contract 1.2).
enum SchemaTables {
  /// The name, quoted for SQL: `transaction` and `group` are keywords.
  static func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }

  /// A text as an SQL literal.
  static func literal(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
  }

  /// A storage class of SQLite by the name that a column is declared with.
  enum Storage: String { case text = "TEXT", integer = "INTEGER", real = "REAL", blob = "BLOB" }

  /// The storage class of a field's values.
  static func storage(of field: FieldDefinition) -> Storage {
    switch field.kind {
    case .text, .date, .timestamp, .json, .reference, nil: .text
    case .integer, .boolean: .integer
    case .real: .real
    case .bytes: .blob
    }
  }

  /// A trigger by its name, and the statement that makes it.
  typealias Trigger = (name: String, statement: String)

  /// Brings tables, columns and triggers in line with the schema. Call inside a transaction.
  ///
  /// - Parameter earlier: the schema that they are in line with: types that are the same in both are left alone.
  static func adopt(_ schema: Schema, after earlier: Schema, on connection: Connection) throws {
    let ownerships = Dictionary(schema.ownerships.map { ($0.set.type, $0) }) { first, _ in first }
    let before = Dictionary(earlier.ownerships.map { ($0.set.type, $0) }) { first, _ in first }
    for type in schema.types
    where earlier.type(type.name) != type || before[type.name] != ownerships[type.name] {
      try connection.run("INSERT OR IGNORE INTO sync_type(name) VALUES (?)", .text(type.name))
      guard let number = try connection.integer("SELECT number FROM sync_type WHERE name = ?", .text(type.name)) else {
        throw ReplicaError(.other, "The type \(type.name) has no number.")
      }
      try adopt(type, number: number, ownership: ownerships[type.name], on: connection)
    }
    connection.forgetStatements()
  }

  private static func adopt(
    _ type: RecordType, number: Int64, ownership: Schema.Ownership?, on connection: Connection
  ) throws {
    let triggers =
      CaptureTriggers.triggers(for: type, number: number) + WriterChecks.triggers(for: type)
      + (ownership.map { OwnedSetChecks.triggers(for: type, in: $0) } ?? [])
    // SQLite keeps the words of a trigger. One that is made anew costs every open connection its statements.
    let made = try self.triggers(of: type.name, on: connection)
    let areThere = triggers.allSatisfy { made[$0.name] == $0.statement }
    // Without those that name its columns a table is changed sooner, and SQLite takes no column away that one names.
    if !areThere { try drop(triggers.map(\.name).filter { made[$0] != nil }, on: connection) }
    try makeTable(type, on: connection)
    if areThere { return }
    if let ownership { try connection.execute(OwnedSetChecks.index(of: type, in: ownership)) }
    for trigger in triggers { try connection.execute(trigger.statement) }
  }

  /// Takes triggers away that are there.
  static func drop(_ triggers: [String], on connection: Connection) throws {
    for name in triggers { try connection.execute("DROP TRIGGER \(quoted(name))") }
  }

  private static func makeTable(_ type: RecordType, on connection: Connection) throws {
    let table = quoted(type.name)
    let columns = try columns(of: type.name, on: connection)
    if columns.isEmpty {
      let fields = type.fields.map { ",\n  \(quoted($0.name)) \(storage(of: $0).rawValue)" }.joined()
      try connection.execute(
        """
        CREATE TABLE \(table)(
          id TEXT PRIMARY KEY NOT NULL DEFAULT (lower(hex(randomblob(16))))\(fields)
        ) STRICT, WITHOUT ROWID
        """)
      return
    }
    for field in type.fields where (columns[field.name] ?? storage(of: field).rawValue) != storage(of: field).rawValue {
      try connection.execute("ALTER TABLE \(table) DROP COLUMN \(quoted(field.name))")
    }
    for field in type.fields where columns[field.name] != storage(of: field).rawValue {
      try connection.execute("ALTER TABLE \(table) ADD COLUMN \(quoted(field.name)) \(storage(of: field).rawValue)")
    }
  }

  /// A table's triggers by name, each with the statement that made it.
  static func triggers(of table: String, on connection: Connection) throws -> [String: String] {
    let statement = try connection.statement(
      "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?")
    try statement.bind(1, table)
    defer { statement.reset() }
    var triggers: [String: String] = [:]
    while try statement.step() { triggers[statement.text(0)] = statement.text(1) }
    return triggers
  }

  /// The columns of a table, each with the storage class that it was declared with; none if there is no such table.
  private static func columns(of table: String, on connection: Connection) throws -> [String: String] {
    let statement = try connection.statement("SELECT name, type FROM pragma_table_info(?)")
    try statement.bind(1, table)
    defer { statement.reset() }
    var columns: [String: String] = [:]
    while try statement.step() { columns[statement.text(0)] = statement.text(1) }
    return columns
  }
}
