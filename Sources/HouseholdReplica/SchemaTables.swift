internal import HouseholdRecords

/// Makes the tables of the record types from the schema, and grows them when the schema grows.
///
/// A type is an ordinary STRICT table named like it, with `id` and one column per field and nothing else, so that any
/// SQLite program can work with it (contract 1.2).
enum SchemaTables {
  /// The name, quoted for SQL: `transaction` and `group` are keywords.
  static func quoted(_ name: String) -> String {
    guard name.utf8.contains(UInt8(ascii: "\"")) else { return "\"\(name)\"" }
    return "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
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
  /// - Parameters:
  ///   - earlier: the schema that they are in line with: types that are the same in both are left alone.
  ///   - others: types that are left alone too.
  static func adopt(
    _ schema: Schema, after earlier: Schema, except others: Set<String> = [], on connection: Connection
  ) throws {
    let ownerships = Dictionary(schema.ownerships.map { ($0.set.type, $0) }) { first, _ in first }
    let before = Dictionary(earlier.ownerships.map { ($0.set.type, $0) }) { first, _ in first }
    var changes: [Change] = []
    for type in schema.types
    where !others.contains(type.name) && (earlier.type(type.name) != type || before[type.name] != ownerships[type.name])
    {
      try connection.run("INSERT OR IGNORE INTO sync_type(name) VALUES (?)", .text(type.name))
      guard let number = try connection.integer("SELECT number FROM sync_type WHERE name = ?", .text(type.name)) else {
        throw ReplicaError(.other, "The type \(type.name) has no number.")
      }
      changes.append(try Change(type, number: number, ownership: ownerships[type.name], on: connection))
    }
    // SQLite reads the whole schema again for each column: all that goes goes before, all that comes comes after.
    for change in changes where !change.hasTriggers { try drop(change.outdated, on: connection) }
    for change in changes { try makeTable(change.type, on: connection) }
    for change in changes where !change.hasTriggers {
      if let ownership = change.ownership {
        try connection.execute(OwnedSetChecks.index(of: change.type, in: ownership))
      }
      for trigger in change.triggers { try connection.execute(trigger.statement) }
    }
    connection.forgetStatements()
  }

  /// The triggers of one type.
  static func triggers(for type: RecordType, number: Int64, ownership: Schema.Ownership?) -> [Trigger] {
    CaptureTriggers.triggers(for: type, number: number) + WriterChecks.triggers(for: type)
      + (ownership.map { OwnedSetChecks.triggers(for: type, in: $0) } ?? [])
  }

  /// What the schema wants of one type, beside the triggers that its table has.
  private struct Change {
    let type: RecordType
    let ownership: Schema.Ownership?
    let triggers: [Trigger]
    /// Whether the table has just these. SQLite keeps the words of a trigger, and one that is made anew costs every open
    /// connection its statements.
    let hasTriggers: Bool
    /// Those that are there by these names. Without them, as they name its columns, a table is changed sooner, and SQLite
    /// takes no column away that one names.
    let outdated: [String]

    init(_ type: RecordType, number: Int64, ownership: Schema.Ownership?, on connection: Connection) throws {
      (self.type, self.ownership) = (type, ownership)
      triggers = SchemaTables.triggers(for: type, number: number, ownership: ownership)
      let made = try SchemaTables.triggers(of: type.name, on: connection)
      hasTriggers = triggers.allSatisfy { made[$0.name] == $0.statement }
      outdated = triggers.map(\.name).filter { made[$0] != nil }
    }
  }

  /// Takes triggers away that are there.
  static func drop(_ triggers: [String], on connection: Connection) throws {
    for name in triggers { try connection.execute("DROP TRIGGER \(quoted(name))") }
  }

  private static func makeTable(_ type: RecordType, on connection: Connection) throws {
    let table = quoted(type.name)
    let columns = try columns(of: type.name, on: connection)
    if columns.isEmpty { return try make(type, on: connection) }
    for field in type.fields where (columns[field.name] ?? storage(of: field).rawValue) != storage(of: field).rawValue {
      try connection.execute("ALTER TABLE \(table) DROP COLUMN \(quoted(field.name))")
    }
    for field in type.fields where columns[field.name] != storage(of: field).rawValue {
      try connection.execute("ALTER TABLE \(table) ADD COLUMN \(quoted(field.name)) \(storage(of: field).rawValue)")
    }
  }

  /// The id of a record for which none is given.
  static let freshID = "lower(hex(randomblob(16)))"

  /// Makes the table of a type, which must not be there.
  static func make(_ type: RecordType, on connection: Connection) throws {
    let fields = type.fields.map { ",\n  \(quoted($0.name)) \(storage(of: $0).rawValue)" }.joined()
    try connection.execute(
      """
      CREATE TABLE \(quoted(type.name))(
        id TEXT PRIMARY KEY NOT NULL DEFAULT (\(freshID))\(fields)
      ) STRICT, WITHOUT ROWID
      """)
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
  static func columns(of table: String, on connection: Connection) throws -> [String: String] {
    let statement = try connection.statement("SELECT name, type FROM pragma_table_info(?)")
    try statement.bind(1, table)
    defer { statement.reset() }
    var columns: [String: String] = [:]
    while try statement.step() { columns[statement.text(0)] = statement.text(1) }
    return columns
  }
}
