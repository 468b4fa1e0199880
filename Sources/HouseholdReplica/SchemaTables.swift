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

  /// Brings tables, columns and triggers in line with the schema. Call inside a transaction.
  static func adopt(_ schema: Schema, on connection: Connection) throws {
    let ownerships = schema.ownerships
    for type in schema.types {
      try connection.run("INSERT OR IGNORE INTO sync_type(name) VALUES (?)", .text(type.name))
      guard let number = try connection.integer("SELECT number FROM sync_type WHERE name = ?", .text(type.name)) else {
        throw ReplicaError(.other, "The type \(type.name) has no number.")
      }
      let triggers =
        CaptureTriggers.statements(for: type, number: number) + WriterChecks.statements(for: type)
        + OwnedSetChecks.statements(for: type, in: ownerships)
      try makeTable(type, triggers: triggers, on: connection)
      // SQLite keeps the words of a trigger. One that is made anew costs every open connection its statements.
      let made = try self.triggers(of: type.name, on: connection)
      let isThere = triggers.allSatisfy { $0.hasPrefix("DROP TRIGGER") || made.contains($0) }
      if !isThere { for trigger in triggers { try connection.execute(trigger) } }
    }
    connection.forgetStatements()
  }

  /// - Parameter triggers: the statements that make the table's triggers anew, each after one that takes it away.
  private static func makeTable(_ type: RecordType, triggers: [String], on connection: Connection) throws {
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
    let retyped = type.fields.filter { (columns[$0.name] ?? storage(of: $0).rawValue) != storage(of: $0).rawValue }
    if !retyped.isEmpty {
      // SQLite takes no column away that a trigger names.
      for drop in triggers where drop.hasPrefix("DROP TRIGGER") { try connection.execute(drop) }
    }
    for field in retyped { try connection.execute("ALTER TABLE \(table) DROP COLUMN \(quoted(field.name))") }
    for field in type.fields where columns[field.name] != storage(of: field).rawValue {
      try connection.execute("ALTER TABLE \(table) ADD COLUMN \(quoted(field.name)) \(storage(of: field).rawValue)")
    }
  }

  /// The statements that made a table's triggers.
  private static func triggers(of table: String, on connection: Connection) throws -> Set<String> {
    let statement = try connection.statement("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?")
    try statement.bind(1, table)
    defer { statement.reset() }
    var triggers: Set<String> = []
    while try statement.step() { triggers.insert(statement.text(0)) }
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
