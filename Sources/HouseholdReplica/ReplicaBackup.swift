package import HouseholdRecords

/// A backup: one SQLite file with the types' tables and their history, and without the identity of a device.
///
/// It holds no key, no code and no address, and cannot be mistaken for a replica: put back, it becomes one under a new
/// replica id, or its values are written as new changes.
package enum ReplicaBackup {
  /// Marks the file as a backup, kept in `PRAGMA application_id` ("HHBK").
  private static let applicationID: Int64 = 0x4848_424B

  /// What a backup says of itself.
  package struct Facts: Sendable {
    package var household: HouseholdID
    package var madeAt: Instant
    package var recordCounts: [(type: String, count: Int64)]
    /// How many changesets its history has.
    package var records: Int64 { recordCounts.reduce(0) { $0 + $1.count } }
  }

  /// Copies the replica as it is at one moment, beside whoever else has it open.
  ///
  /// - Parameter file: must not exist.
  package static func write(of replica: String, to file: String, now: Instant) throws {
    let source = try Connection(path: replica, mode: .readWrite)
    defer { source.close() }
    try EngineTables.require(on: source)
    try source.run("VACUUM INTO ?", .text(file))
    let copy = try Connection(path: file, mode: .readWrite)
    defer { copy.close() }
    try copy.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON")
    try copy.setTriggers(false)
    try copy.transaction {
      try copy.execute(
        """
        DELETE FROM sync_invitation; DELETE FROM sync_peer; DELETE FROM sync_snapshot_page;
        DELETE FROM sync_meta WHERE name NOT IN ('household', 'schema', 'last_stamp', 'needs_snapshot');
        PRAGMA application_id = \(applicationID)
        """)
      try HouseholdReplica.Facts(copy).set(.backupAt, .integer(now.milliseconds))
    }
  }

  /// Opens a backup for reading, and says what it is; throws for any other file.
  package static func facts(of file: String, cryptography: any Cryptography) throws -> Facts {
    let connection: Connection
    do {
      connection = try Connection(path: file, mode: .readOnly)
      guard try connection.integer("PRAGMA application_id") == applicationID else {
        throw ReplicaError(.notAReplica, "\(file) is not a backup of a household.")
      }
    } catch let error as ReplicaError where [.notAReplica, .corrupt, .inputOutput].contains(error.code) {
      throw ReplicaError(.notAReplica, "\(file) is not a backup of a household.", cause: error.cause)
    }
    defer { connection.close() }
    try EngineTables.requireKnown(on: connection)
    guard try connection.text("PRAGMA quick_check(1)") == "ok" else {
      throw ReplicaError(.corrupt, "The backup \(file) is damaged.")
    }
    let facts = HouseholdReplica.Facts(connection)
    let household: HouseholdID = try facts.identifier256(.household)
    let log = try Replica.loadMembership(connection, household: household, cryptography: cryptography)
    var counts: [(type: String, count: Int64)] = []
    for type in MembershipEvaluation.state(of: log).schema.types {
      let count = try connection.integer("SELECT count(*) FROM \(SchemaTables.quoted(type.name))") ?? 0
      counts.append((type: type.name, count: count))
    }
    return Facts(
      household: household, madeAt: Instant(milliseconds: try facts.integer(.backupAt) ?? 0), recordCounts: counts)
  }

  /// Up to where the backup holds the changesets of each replica.
  package static func received(in file: String) throws -> VersionVector {
    let connection = try Connection(path: file, mode: .readOnly)
    defer { connection.close() }
    return try ReplicaTable(connection).vectors.received
  }

  /// How many edits that are not sealed yet came after the backup.
  package static func unsealedEdits(of replica: String, notIn file: String) throws -> Int64 {
    let connection = try Connection.reader(path: replica)
    defer { connection.close() }
    try connection.run("ATTACH ? AS backup", .text(file))
    return try connection.integer(
      """
      SELECT count(*) FROM (
        SELECT number, type, id, kind, fields, at FROM main.sync_outbox
        EXCEPT SELECT number, type, id, kind, fields, at FROM backup.sync_outbox)
      """) ?? 0
  }

  /// Makes a replica of this device out of a backup, in a new file beside the one that it is to take the place of.
  ///
  /// It begins under a new replica id: what this device sealed since the backup comes back from its peers.
  package static func install(
    _ file: String, as path: String, inPlaceOf replica: Replica, nonce: ReplicaNonce, incarnation: Incarnation,
    now: Instant
  ) throws {
    let identity = replica.identity
    let source = try Connection(path: file, mode: .readOnly)
    defer { source.close() }
    try source.run("VACUUM INTO ?", .text(path))
    let copy = try Connection(path: path, mode: .readWrite)
    try copy.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    try copy.setTriggers(false)
    try copy.transaction {
      try copy.execute("PRAGMA application_id = \(EngineTables.applicationID)")
      let facts = HouseholdReplica.Facts(copy)
      try facts.set(.member, .bytes(identity.member.bytes))
      try facts.set(.device, .bytes(identity.device.bytes))
      let id = replica.cryptography.replicaID(device: identity.device, nonce: nonce)
      try facts.set(.replica, .bytes(id.bytes))
      try facts.set(.nonce, .bytes(nonce.bytes))
      try facts.set(.incarnation, .bytes(incarnation.bytes))
      try facts.set(.watchedSince, .integer(now.milliseconds))
      try facts.set(.restoredAt, .integer(now.milliseconds))
      try facts.set(.awaitsCatchUp, .integer(1))
      let stamp = max(try replica.facts.integer(.lastStamp) ?? 0, try facts.integer(.lastStamp) ?? 0)
      try facts.set(.lastStamp, .integer(stamp))
    }
    copy.close()
    let made = try Replica(path: path, cryptography: replica.cryptography, signer: nil)
    _ = try made.addMembership(try replica.membershipEntries(except: []))
    try made.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    made.close()
  }
}

extension Replica {
  /// Brings everything into the file itself, so that it can be replaced by another one.
  package func finishLog() throws { try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }

  /// Whether this device was put back to an older state and has not completed a sync since.
  package var awaitsCatchUp: Bool { get throws { try facts.integer(.awaitsCatchUp) == 1 } }

  /// Takes note that a sync was completed: what was lost by a restore is here again.
  package func caughtUp() throws {
    guard try awaitsCatchUp else { return }
    try write { try facts.set(.awaitsCatchUp, .integer(0)) }
  }
}

extension RecordAccess {
  /// How the records of one type differ from those of a backup.
  package struct Difference: Hashable, Sendable {
    package var type: String
    /// Records that were deleted since, and come back.
    package var missing: Int64
    /// Records with other values.
    package var changed: Int64
    /// Records that were made since, and go.
    package var added: Int64
  }

  /// Writes the values of a backup as edits of now, in one transaction; returns what differed.
  ///
  /// - Parameter isDry: only counts.
  package func rollBack(to file: String, isDry: Bool) throws -> [Difference] {
    try connection.run("ATTACH ? AS backup", .text(file))
    defer { detachBackup() }
    if isDry { return try schema.types.compactMap { try difference($0)?.counted } }
    return try transaction {
      try schema.types.compactMap { type in
        guard let found = try difference(type) else { return nil }
        for sql in found.statements { try connection.execute(sql) }
        return found.counted
      }
    }
  }

  private func detachBackup() {
    connection.forgetStatements()
    do {
      try connection.execute("DETACH backup")
    } catch {
      // It goes with the connection.
      return
    }
  }

  /// What differs, and the statements that undo it; nil for a type that the backup does not have.
  private func difference(_ type: RecordType) throws -> (counted: Difference, statements: [String])? {
    let known = try connection.integer(
      "SELECT 1 FROM backup.sqlite_master WHERE type = 'table' AND name = ?", .text(type.name))
    guard known != nil else { return nil }
    let columns = try type.fields.map(\.name).filter { name in
      try connection.integer(
        "SELECT 1 FROM pragma_table_info(?, 'backup') WHERE name = ?", .text(type.name), .text(name)) != nil
    }.map(SchemaTables.quoted)
    let table = SchemaTables.quoted(type.name)
    let missing = "FROM backup.\(table) WHERE id NOT IN (SELECT id FROM main.\(table))"
    let added = "FROM main.\(table) WHERE id NOT IN (SELECT id FROM backup.\(table))"
    let differs = columns.map { "main.\(table).\($0) IS NOT old.\($0)" }.joined(separator: " OR ")
    let changed = "FROM backup.\(table) AS old WHERE old.id = main.\(table).id AND (\(differs))"
    let counted = Difference(
      type: type.name, missing: try connection.integer("SELECT count(*) \(missing)") ?? 0,
      changed: columns.isEmpty
        ? 0
        : try connection.integer("SELECT count(*) FROM main.\(table) WHERE EXISTS (SELECT 1 \(changed))") ?? 0,
      added: try connection.integer("SELECT count(*) \(added)") ?? 0)
    let list = (["id"] + columns).joined(separator: ", ")
    var statements = ["DELETE \(added)", "INSERT INTO main.\(table)(\(list)) SELECT \(list) \(missing)"]
    if !columns.isEmpty {
      let values = columns.map { "\($0) = old.\($0)" }.joined(separator: ", ")
      statements.append("UPDATE main.\(table) SET \(values) \(changed)")
    }
    return (counted, statements)
  }
}
