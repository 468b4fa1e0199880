package import HouseholdRecords

/// What a generator must know and do for many records: whether ids were ever here, and writing those that were not.
///
/// Made inside the transaction in which it is used. The outbox has no index by id and may hold a large import that no
/// node has sealed yet, so it is read once for each type.
package final class RecordGeneration {
  /// Whether a record is here.
  package enum Presence: Hashable, Sendable {
    /// Nothing was ever heard of the id.
    case absent
    case live
    /// It was here, or somebody said so, and is dead.
    case deleted
  }

  private let access: RecordAccess
  /// The ids of unsealed edits, by type: one of them that has no row was deleted.
  private var unsealed: [String: Set<RecordKey>] = [:]
  private var names: ReadNames?
  private var insertion: (type: String, names: [String], statement: Statement)?

  package init(_ access: RecordAccess) { self.access = access }

  /// Whether a record is here, was here, or was never heard of.
  package func presence(_ type: RecordType, _ id: String) throws -> Presence {
    let table = SchemaTables.quoted(type.name)
    let connection = access.connection
    if try connection.integer("SELECT 1 FROM \(table) WHERE id = ?", .text(id)) != nil { return .live }
    let known = try connection.integer(
      "SELECT 1 FROM sync_record WHERE type = (SELECT number FROM sync_type WHERE name = ?) AND id = ?",
      .text(type.name), .text(id))
    if known != nil { return .deleted }
    return try unsealed(type).contains(RecordKey(type: type.name, id: id)) ? .deleted : .absent
  }

  private func unsealed(_ type: RecordType) throws -> Set<RecordKey> {
    if let ids = unsealed[type.name] { return ids }
    var ids: Set<RecordKey> = []
    let statement = try access.connection.statement(
      """
      SELECT DISTINCT o.id FROM sync_outbox o JOIN sync_type t ON t.number = o.type
      WHERE t.name = ? AND o.kind IN (0, 3, 4)
      """)
    try statement.bind([.text(type.name)])
    defer { statement.reset() }
    while try statement.step() { ids.insert(RecordKey(type: type.name, id: statement.text(0))) }
    unsealed[type.name] = ids
    return ids
  }

  /// Whether any of these fields was changed after the record was made, sealed or not, or is a person's: what a generator
  /// would write there would not stand.
  ///
  /// The winners say so; the history begins only with the snapshot with which a device began.
  package func wasEdited(_ type: RecordType, _ id: String, _ fields: [String]) throws -> Bool {
    let connection = access.connection
    let places = type.fields.indices.filter { fields.contains(type.fields[$0].name) }
    let mask = places.reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
    let waiting = try connection.integer(
      """
      SELECT 1 FROM sync_outbox WHERE type = (SELECT number FROM sync_type WHERE name = ?) AND id = ?
      AND (kind = 0 OR kind = 2 AND fields & ? <> 0) LIMIT 1
      """, .text(type.name), .text(id), .integer(Int64(bitPattern: mask)))
    if waiting != nil { return true }
    let names = try self.names ?? ReadNames(access)
    self.names = names
    guard let table = names.registry.known(type.name).flatMap({ names.registry[$0] }),
      let stored = try StoredRecord.read(type: table.number, id: id, on: connection)
    else { return false }
    let row = try table.row(id, on: connection)
    let state = try CellVersions.decode(stored, row: row, table: table, names: names)
    let maker = state.winner(of: CellName.alive)?.name
    return table.cells.contains { cell in
      guard cell.fields.contains(where: { fields.contains(table.fieldNames[$0]) }),
        let winner = state.winner(of: cell.name, strategy: cell.strategy)
      else { return false }
      return !winner.isWeak || winner.name != maker
    }
  }

  /// For each record of a type that shows, the ids of those that are one thing with it and do not.
  package func former(_ type: RecordType) throws -> [RecordKey: [String]] {
    let statement = try access.connection.statement(
      """
      SELECT m.survivor, m.id FROM sync_merged m JOIN sync_type t ON t.number = m.type
      WHERE t.name = ? ORDER BY m.id
      """)
    try statement.bind([.text(type.name)])
    defer { statement.reset() }
    var former: [RecordKey: [String]] = [:]
    while try statement.step() {
      former[RecordKey(type: type.name, id: statement.text(0)), default: []].append(statement.text(1))
    }
    return former
  }

  /// Makes a record that is not here.
  package func insert(_ type: RecordType, _ id: String, _ fields: [(name: String, value: FieldValue)]) throws {
    let names = fields.map(\.name)
    let statement: Statement
    if let known = insertion, known.type == type.name, known.names == names {
      statement = known.statement
    } else {
      let columns = (["id"] + names).map(SchemaTables.quoted).joined(separator: ", ")
      let marks = Array(repeating: "?", count: names.count + 1).joined(separator: ", ")
      statement = try access.connection.statement(
        "INSERT INTO \(SchemaTables.quoted(type.name))(\(columns)) VALUES (\(marks))")
      insertion = (type.name, names, statement)
    }
    try statement.bind(1, id)
    for (index, field) in fields.enumerated() { try statement.bind(Int32(index + 2), field.value) }
    try statement.run()
  }
}

extension RecordAccess {
  /// A number that changes when another connection commits something.
  package func dataVersion() throws -> Int64 { try connection.integer("PRAGMA data_version") ?? 0 }

  /// Who made each record of a type, by id; without those whose making is not sealed yet.
  package func creators(_ type: RecordType) throws -> [RecordKey: String] {
    let statement = try connection.statement("SELECT id, created_member FROM sync_provenance WHERE type = ?")
    try statement.bind([.text(type.name)])
    defer { statement.reset() }
    var creators: [RecordKey: String] = [:]
    while try statement.step() {
      if statement.isNull(1) { continue }
      creators[RecordKey(type: type.name, id: statement.text(0))] = statement.text(1)
    }
    return creators
  }

  /// Copies the types' tables into a new SQLite file, and nothing of the engine's own; in one transaction.
  package func copyRecords(to path: String) throws {
    try connection.run("ATTACH ? AS plain", .text(path))
    defer { detach() }
    try transaction {
      for type in schema.types {
        let columns = type.fields.map { "\(SchemaTables.quoted($0.name)) \(Self.plainKind($0))" }
        let table = SchemaTables.quoted(type.name)
        let names = (["id"] + type.fields.map(\.name)).map(SchemaTables.quoted).joined(separator: ", ")
        try connection.execute(
          "CREATE TABLE plain.\(table)(\((["id TEXT PRIMARY KEY NOT NULL"] + columns).joined(separator: ", ")))")
        try connection.execute("INSERT INTO plain.\(table)(\(names)) SELECT \(names) FROM main.\(table) ORDER BY id")
      }
    }
  }

  private func detach() {
    do {
      try connection.execute("DETACH plain")
    } catch {
      // The connection is closed right after; nothing else looks at the attached file.
      return
    }
  }

  private static func plainKind(_ field: FieldDefinition) -> String {
    switch field.kind {
    case .integer, .boolean: "INTEGER"
    case .real: "REAL"
    case .bytes: "BLOB"
    default: "TEXT"
    }
  }
}

/// The changesets of a file as a program beside the node reads them.
private final class ReadNames: LoggedNames {
  let registry: TypeRegistry
  let log: ChangesetLog
  let replicas: ReplicaTable
  let writeRights: WriteRights

  init(_ access: RecordAccess) throws {
    registry = try TypeRegistry(schema: access.schema, connection: access.connection)
    log = try ChangesetLog(access.connection)
    replicas = try ReplicaTable(access.connection)
    writeRights = access.rights
  }
}
