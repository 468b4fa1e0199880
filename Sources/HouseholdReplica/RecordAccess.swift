package import HouseholdRecords

/// A record as it shows, with who made and changed it.
package struct ShownRecord: Hashable, Sendable {
  package var key: RecordKey
  /// In the order of the type's fields.
  package var values: [FieldValue]

  package init(key: RecordKey, values: [FieldValue]) {
    self.key = key
    self.values = values
  }
}

/// Who did something to a record, and when; names are missing for a change that is not sealed yet.
package struct Authorship: Hashable, Sendable {
  package var member: String?
  package var device: String?
  package var at: Instant

  package init(member: String?, device: String?, at: Instant) {
    self.member = member
    self.device = device
    self.at = at
  }
}

/// Reads and writes the types' tables as any program does: triggers capture what it writes, checks refuse bad values.
///
/// Commands and apps use it beside a running node, or without one.
package final class RecordAccess {
  let connection: Connection
  /// The membership log as it was when this was opened, or read anew.
  private var log: MembershipLog
  /// The number of the last entry that was read into it.
  private var lastEntry: Int64
  /// Who belonged then, and who might write.
  private(set) var membership: MembershipState
  private(set) var rights: WriteRights
  /// The schema as the replica said then.
  package var schema: Schema { membership.schema }
  /// Kept for as long as the connection goes through it.
  private let fileSystem: ClockedFileSystem?

  /// Opens the replica beside whoever else has it open.
  ///
  /// - Parameter fileSystem: whose clock tells when something was written; nil for the machine's.
  package init(
    path: String, readOnly: Bool, cryptography: any Cryptography, fileSystem: ClockedFileSystem? = nil
  ) throws {
    self.fileSystem = fileSystem
    connection =
      try readOnly
      ? Connection.reader(path: path) : Connection(path: fileSystem?.path(path) ?? path, mode: .readWrite)
    try EngineTables.require(on: connection)
    if !readOnly { try connection.execute("PRAGMA synchronous = FULL") }
    let household: HouseholdID = try Facts(connection).identifier256(.household)
    log = MembershipLog(household: household)
    lastEntry = try Replica.load(connection, after: 0, into: &log, cryptography: cryptography)
    (membership, rights) = MembershipEvaluation.evaluate(log)
  }

  /// Takes in what the membership log has got since, and the schema with it.
  package func readMembershipAnew(cryptography: any Cryptography) throws {
    lastEntry = try Replica.load(connection, after: lastEntry, into: &log, cryptography: cryptography)
    (membership, rights) = MembershipEvaluation.evaluate(log)
  }

  /// Closes the file.
  package func close() { connection.close() }

  private func table(_ type: RecordType) -> String { SchemaTables.quoted(type.name) }

  private func columns(_ type: RecordType) -> String {
    (["id"] + type.fields.map(\.name)).map(SchemaTables.quoted).joined(separator: ", ")
  }

  /// Calls `body` with each record of the type in the order of the ids, or of a field, without holding them all.
  ///
  /// - Parameters:
  ///   - conditions: fields that must have these values.
  ///   - order: a field to sort by, nulls first; the id breaks ties.
  ///   - limit: the most records; nil for all.
  package func forEach(
    _ type: RecordType, where conditions: [(field: String, value: FieldValue)] = [], order: String? = nil,
    limit: Int? = nil, _ body: (ShownRecord) throws -> Void
  ) throws {
    var sql = "SELECT \(columns(type)) FROM \(table(type))"
    if !conditions.isEmpty {
      sql += " WHERE " + conditions.map { "\(SchemaTables.quoted($0.field)) IS ?" }.joined(separator: " AND ")
    }
    sql += " ORDER BY " + (order.map { SchemaTables.quoted($0) + ", " } ?? "") + "id"
    if let limit { sql += " LIMIT \(limit)" }
    let statement = try connection.statement(sql)
    try statement.bind(conditions.map(\.value))
    defer { statement.reset() }
    while try statement.step() {
      let values = (0..<Int32(type.fields.count)).map { statement.value($0 + 1) }
      try body(ShownRecord(key: RecordKey(type: type.name, id: statement.text(0)), values: values))
    }
  }

  /// One record; nil if it is not there.
  package func record(_ type: RecordType, _ id: String) throws -> ShownRecord? {
    var found: ShownRecord?
    try forEach(type, where: [("id", .text(id))], limit: 1) { found = $0 }
    return found
  }

  /// How many records the type has.
  package func count(_ type: RecordType) throws -> Int64 {
    try connection.integer("SELECT count(*) FROM \(table(type))") ?? 0
  }

  /// Who made the record and who changed it last; what is not sealed yet is told as the edit was captured.
  package func provenance(_ type: RecordType, _ id: String) throws -> (created: Authorship, modified: Authorship)? {
    let statement = try connection.statement(
      """
      SELECT created_member, created_device, created_at_ms, modified_member, modified_device, modified_at_ms
      FROM sync_provenance WHERE type = ? AND id = ?
      """)
    try statement.bind([.text(type.name), .text(id)])
    defer { statement.reset() }
    func authorship(_ column: Int32) -> Authorship {
      Authorship(
        member: statement.isNull(column) ? nil : statement.text(column),
        device: statement.isNull(column + 1) ? nil : statement.text(column + 1),
        at: Instant(milliseconds: statement.integer(column + 2)))
    }
    let pending = try connection.integer(
      """
      SELECT max(o.at) FROM sync_outbox o JOIN sync_type t ON t.number = o.type WHERE t.name = ? AND o.id = ?
      """, .text(type.name), .text(id)
    ).map { Authorship(member: nil, device: nil, at: Instant(milliseconds: $0)) }
    guard try statement.step() else { return pending.map { (created: $0, modified: $0) } }
    return (created: authorship(0), modified: pending ?? authorship(3))
  }

  // MARK: Writing

  /// Runs the body in one transaction; other programs wait meanwhile, and see all of it or nothing.
  package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try connection.transaction(body)
  }

  /// Sets the named fields, and makes the record if it is not there; returns whether it was made.
  package func put(_ type: RecordType, _ id: String, _ fields: [(name: String, value: FieldValue)]) throws -> Bool {
    try transaction {
      // A write to a record that is one thing with another goes to the one that shows.
      let id = try survivor(of: id, type) ?? id
      let exists = try connection.integer("SELECT 1 FROM \(table(type)) WHERE id = ?", .text(id)) != nil
      let names = fields.map { SchemaTables.quoted($0.name) }
      if exists {
        if fields.isEmpty { return false }
        let statement = try connection.statement(
          "UPDATE \(table(type)) SET \(names.map { "\($0) = ?" }.joined(separator: ", ")) WHERE id = ?")
        try statement.bind(fields.map(\.value) + [.text(id)])
        try statement.run()
        return false
      }
      let marks = Array(repeating: "?", count: names.count + 1).joined(separator: ", ")
      let statement = try connection.statement(
        "INSERT INTO \(table(type))(\((["id"] + names).joined(separator: ", "))) VALUES (\(marks))")
      try statement.bind([.text(id)] + fields.map(\.value))
      try statement.run()
      return true
    }
  }

  /// The id of the record that shows in the place of this one; nil if it is one thing with no other.
  package func survivor(of id: String, _ type: RecordType) throws -> String? {
    try connection.text(
      """
      SELECT m.survivor FROM sync_merged m
      JOIN sync_type t ON t.number = m.type
      JOIN sync_record r ON r.type = m.type AND r.id = m.id
      WHERE t.name = ? AND m.id = ? AND r.flags & \(StoredRecord.mergedFlag)
      """, .text(type.name), .text(id))
  }

  /// Runs SQL as it stands, as any other program would; gives no rows.
  package func execute(_ sql: String) throws { try connection.execute(sql) }

  /// Deletes the record; returns whether it was there.
  package func delete(_ type: RecordType, _ id: String) throws -> Bool {
    try transaction {
      try connection.run("DELETE FROM \(table(type)) WHERE id = ?", .text(id))
      return connection.changes > 0
    }
  }

  /// Marks what was captured since `body` began as generated, so that anything a person writes goes before it.
  ///
  /// Ids of generated records follow no order, so a large import touches every page again and again: it gets a cache that
  /// holds them, and each page is written once.
  package func generating<Result>(_ body: () throws -> Result) throws -> Result {
    try connection.execute("PRAGMA cache_size = -\(Limits.generationCacheKiB)")
    defer { connection.shrinkCache() }
    return try transaction {
      let last = try connection.integer("SELECT max(number) FROM sync_outbox") ?? 0
      let result = try body()
      try connection.run("UPDATE sync_outbox SET weak = 1 WHERE number > ?", .integer(last))
      return result
    }
  }

  /// Whether anything was ever heard of this id, dead or alive: a generator must not write it again.
  package func isKnown(_ type: RecordType, _ id: String) throws -> Bool {
    let known = try connection.integer(
      "SELECT 1 FROM sync_record r JOIN sync_type t ON t.number = r.type WHERE t.name = ? AND r.id = ?",
      .text(type.name), .text(id))
    if known != nil { return true }
    let isOwned = try connection.integer(
      "SELECT 1 FROM sync_owned o JOIN sync_type t ON t.number = o.type WHERE t.name = ? AND o.id = ? LIMIT 1",
      .text(type.name), .text(id))
    if isOwned != nil { return true }
    return try connection.integer(
      "SELECT 1 FROM sync_outbox o JOIN sync_type t ON t.number = o.type WHERE t.name = ? AND o.id = ? LIMIT 1",
      .text(type.name), .text(id)) != nil
  }
}
