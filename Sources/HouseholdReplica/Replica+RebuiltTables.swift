internal import HouseholdRecords

/// Tables that another program has made anew, as tools do that change a column: new table, rows copied, old one dropped.
///
/// The triggers go with the old table, so that nothing is captured any more. SQLite counts the changes of a file's schema;
/// where that number is another one, each table is looked at and put right, and what was written meanwhile is captured.
extension Replica {
  /// Whether the file's schema was changed since the tables were looked at.
  func tablesMayDiffer() throws -> Bool {
    try canSeal && connection.integer("PRAGMA schema_version") != checkedSchema
  }

  /// Puts tables right that were made anew, and captures what nothing has captured. Inside a transaction.
  func mendTables(now: Instant) throws {
    guard try tablesMayDiffer() else { return }
    var uncaptured: [TypeTable] = []
    var beyondMending: Set<String> = []
    for type in membershipState.schema.types {
      switch try SchemaTables.condition(of: type, on: connection) {
      case .asMade: continue
      case .incomplete: beyondMending.insert(type.name)
      case .uncaptured:
        if try !SchemaTables.makeAnew(type, on: connection) { beyondMending.insert(type.name) }
        if let table = registry.known(type.name).flatMap({ registry[$0] }) { uncaptured.append(table) }
      }
    }
    uncaptured.removeAll { beyondMending.contains($0.type.name) }
    if !uncaptured.isEmpty {
      let nothing = Schema(name: membershipState.schema.name, version: 0, types: [])
      try SchemaTables.adopt(membershipState.schema, after: nothing, except: beyondMending, on: connection)
      let reason = WriteProtection.reason(for: identity.device, in: membershipState)
      for table in uncaptured { try WriteProtection.protect(table.type, reason: reason, on: connection) }
      // What was captured before is sealed, so that the rest is what is compared.
      _ = try sealCaptured(now: now)
      for table in uncaptured { try captureMissed(of: table, now: now) }
      // What cannot be compared here shows in the digest, which is to be computed anew.
      digestCache = nil
      try facts.set(.digest, .null)
    }
    checkedSchema = try connection.integer("PRAGMA schema_version")
    if beyondMending.isEmpty { try facts.set(.tables, checkedSchema.map(FieldValue.integer) ?? .null) }
  }

  /// Captures how the rows differ from what the changesets say.
  private func captureMissed(of table: TypeTable, now: Instant) throws {
    if table.owner != nil { return try captureMissed(ofOwned: table, now: now) }
    let name = SchemaTables.quoted(table.type.name)
    try connection.run(
      """
      INSERT INTO sync_outbox(type, id, kind, fields, at) SELECT ?1, t.id, 1, 0, ?2 FROM \(name) t
      WHERE NOT EXISTS (
        SELECT 1 FROM sync_record r WHERE r.type = ?1 AND r.id = t.id AND r.alive = 1 AND r.flags & 16 = 0)
      """, .integer(table.number), .integer(now.milliseconds))
    let places = try liveRecords(of: table).map { RecordPlace(type: table.number, id: $0) }
      // What several records show as one is in no changeset.
      .filter { !duplicates.isMember($0) }
    for start in stride(from: 0, to: places.count, by: Self.recordsAtOnce) {
      let slice = places[start..<min(start + Self.recordsAtOnce, places.count)]
      var logged: [RecordPlace: [DisplacedWrite]] = [:]
      for place in slice { logged[place] = [] }
      try readLog(of: &logged)
      for place in slice {
        try captureMissed(place, of: table, logged: table.joiningParts(logged[place] ?? []), now: now)
      }
    }
  }

  /// - Parameter logged: the record's writes as the log has them; what only a snapshot brought has its values in the row
  ///   alone, and passes for unchanged.
  private func captureMissed(
    _ place: RecordPlace, of table: TypeTable, logged: [DisplacedWrite], now: Instant
  ) throws {
    guard let stored = try StoredRecord.read(type: place.type, id: place.id, on: connection) else { return }
    let row = try table.row(place.id, on: connection)
    var state = try CellVersions.decode(stored, row: row, table: table, names: self)
    for (cell, writes) in state.cells {
      state.cells[cell] = writes.map { write in
        logged.first { $0.cell == cell && $0.write.name == write.name && $0.write.life == write.life }?.write ?? write
      }
    }
    let before = duplicates.repointed(self.row(of: state, table: table), of: table.number)
    guard before != row else { return }
    let key = RecordKey(type: table.type.name, id: place.id)
    // As the triggers would have found it.
    try table.write(place.id, before, on: connection)
    if let row {
      let fields = row.indices.reduce(UInt64(0)) { row[$1] != before[$1] ? $0 | 1 << UInt64($1) : $0 }
      return try update(key, row, fields: fields, table: table, now: now)
    }
    try capture(.deleted, table: table, where: "id = ?3", key.id, fields: 0, now: now)
    try table.remove(place.id, on: connection)
  }

  /// A set is sealed if it is another than before, so it is enough to touch all rows.
  private func captureMissed(ofOwned table: TypeTable, now: Instant) throws {
    let all = table.fieldNames.indices.reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
    try capture(.updated, table: table, where: "?3 IS NOT NULL", "", fields: all, now: now)
    let name = SchemaTables.quoted(table.type.name)
    try connection.run(
      """
      INSERT INTO sync_outbox(type, id, kind, fields, at) SELECT DISTINCT ?1, o.id, 3, 0, ?2 FROM sync_owned o
      WHERE o.type = ?1 AND o.shown = 1 AND NOT EXISTS (SELECT 1 FROM \(name) t WHERE t.id = o.id)
      """, .integer(table.number), .integer(now.milliseconds))
  }

  /// Puts rows into the outbox as they stand.
  private func capture(
    _ kind: OutboxRow.Kind, table: TypeTable, where condition: String, _ value: String, fields: UInt64, now: Instant
  ) throws {
    try connection.run(
      """
      INSERT INTO sync_outbox(type, id, kind, fields, at, image)
      SELECT ?1, id, \(kind.rawValue), ?4, ?2, \(CaptureTriggers.image(of: table.type, row: "old"))
      FROM \(SchemaTables.quoted(table.type.name)) AS old WHERE \(condition)
      """, .integer(table.number), .integer(now.milliseconds), .text(value), .integer(Int64(bitPattern: fields)))
  }
}
