package import HouseholdRecords

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

  /// The storage class of a field's values.
  static func storage(of field: FieldDefinition) -> String {
    switch field.kind {
    case .text, .date, .timestamp, .json, .reference, nil: "TEXT"
    case .integer, .boolean: "INTEGER"
    case .real: "REAL"
    case .bytes: "BLOB"
    }
  }

  /// Brings tables, columns and triggers in line with the schema. Call inside a transaction.
  static func adopt(_ schema: Schema, on connection: Connection) throws {
    for type in schema.types {
      try connection.run("INSERT OR IGNORE INTO sync_type(name) VALUES (?)", .text(type.name))
      guard let number = try connection.integer("SELECT number FROM sync_type WHERE name = ?", .text(type.name)) else {
        throw ReplicaError(.other, "The type \(type.name) has no number.")
      }
      try makeTable(type, on: connection)
      for trigger in CaptureTriggers.statements(for: type, number: number) + WriterChecks.statements(for: type) {
        try connection.execute(trigger)
      }
    }
    connection.forgetStatements()
  }

  private static func makeTable(_ type: RecordType, on connection: Connection) throws {
    let table = quoted(type.name)
    let columns = try columns(of: type.name, on: connection)
    if columns.isEmpty {
      let fields = type.fields.map { ",\n  \(quoted($0.name)) \(storage(of: $0))" }.joined()
      try connection.execute(
        """
        CREATE TABLE \(table)(
          id TEXT PRIMARY KEY NOT NULL DEFAULT (lower(hex(randomblob(16))))\(fields)
        ) STRICT, WITHOUT ROWID
        """)
    } else {
      for field in type.fields where !columns.contains(field.name) {
        try connection.execute("ALTER TABLE \(table) ADD COLUMN \(quoted(field.name)) \(storage(of: field))")
      }
    }
  }

  /// The columns of a table in order; none if there is no such table.
  static func columns(of table: String, on connection: Connection) throws -> [String] {
    let statement = try connection.statement("SELECT name FROM pragma_table_info(?) ORDER BY cid")
    try statement.bind(1, table)
    defer { statement.reset() }
    var names: [String] = []
    while try statement.step() { names.append(statement.text(0)) }
    return names
  }
}

extension Schema {
  /// What is wrong with the schema, as sentences for whoever wrote it; empty if it can be used.
  package func faults() -> [String] {
    var faults: [String] = []
    if format != Schema.format { faults.append("The format is \(format), it must be \(Schema.format).") }
    if types.count > Limits.typesPerSchema { faults.append("There are more than \(Limits.typesPerSchema) types.") }
    var names: Set<String> = []
    for type in types {
      if !Self.isName(type.name) || type.name.hasPrefix("sync_") || type.name.hasPrefix("sqlite_") {
        faults.append("\(type.name) cannot be the name of a type: use letters, digits and _, and no sync_ in front.")
      }
      if !names.insert(type.name.lowercased()).inserted { faults.append("The type \(type.name) is there twice.") }
      faults += self.faults(of: type)
    }
    return faults
  }

  private func faults(of type: RecordType) -> [String] {
    var faults: [String] = []
    if type.fields.count > Limits.fieldsPerType {
      faults.append("\(type.name) has more than \(Limits.fieldsPerType) fields.")
    }
    var fields: Set<String> = ["id"]
    for field in type.fields {
      let name = "\(type.name).\(field.name)"
      if !Self.isName(field.name) { faults.append("\(name) cannot be the name of a field.") }
      if !fields.insert(field.name.lowercased()).inserted { faults.append("The field \(name) is there twice.") }
      if field.kind == nil { faults.append("\(name) has the type \(field.type), which is not known.") }
      if field.kind == .reference, let target = field.to, self.type(target) == nil {
        faults.append("\(name) points to the type \(target), which is not there.")
      }
      if field.kind == .real, ["amount", "price", "money", "cost", "balance"].contains(where: field.name.contains) {
        faults.append("\(name) is money and cannot be real: keep it as an integer of minor units.")
      }
    }
    for name in type.together.joined() + type.unique.flatMap({ $0.by + $0.within }) + type.strategies.keys.sorted()
    where type.field(name) == nil {
      faults.append("\(type.name) speaks of a field \(name) that it does not have.")
    }
    if type.strategy != "ownerWins", MergeStrategy(rawValue: type.strategy) == nil {
      faults.append("\(type.name) has the strategy \(type.strategy), which is not known.")
    }
    return faults
  }

  private static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= Limits.nameBytes else { return false }
    let isLetter = { (byte: UInt8) in byte == 95 || (97...122).contains(byte) || (65...90).contains(byte) }
    return isLetter(first) && text.utf8.allSatisfy { isLetter($0) || (48...57).contains($0) }
  }
}
