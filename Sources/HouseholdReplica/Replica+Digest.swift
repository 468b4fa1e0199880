package import HouseholdRecords

/// The digest: over what was written, not over tables, so that equal applied vectors and membership heads give equal
/// digests whatever the schema here knows (R5, D13).
extension Replica {
  package func digest() throws -> StoreDigest? {
    // What a cutoff inside the base left behind is compared once a snapshot has made it whole.
    if try needsSnapshot { return nil }
    guard let cached = digestCache, cached.applied == replicas.vectors.applied,
      cached.membershipHeads == membershipState.heads
    else { return nil }
    return cached
  }

  /// Computes the digest of now by reading every record.
  ///
  /// What was captured is sealed first: the tables must show nothing that no changeset holds. So the engine may have
  /// local changes to hear of afterwards.
  package func computeDigest() throws -> StoreDigest {
    if try outbox.isEmpty(), let cached = try digest() { return cached }
    return try write {
      _ = try sealInTransaction(now: lastNow)
      return try digestOfTables()
    }
  }

  /// The digest for a reader beside the node: nil while edits wait to be sealed, which is the node's business.
  package func digestOfSealedState() throws -> StoreDigest? {
    try connection.execute("BEGIN")
    defer { endReading() }
    guard try outbox.isEmpty() else { return nil }
    replicas = try ReplicaTable(connection)
    return try digestOfTables()
  }

  private func endReading() {
    do {
      try connection.execute("ROLLBACK")
    } catch {
      // SQLite has ended the transaction by itself, after an error that was thrown already.
      connection.forgetStatements()
    }
  }

  private func digestOfTables() throws -> StoreDigest {
    var hash = [UInt8](repeating: 0, count: 32)
    var writer = ByteWriter(capacity: 80_000)
    func fold(_ writer: inout ByteWriter) {
      hash = cryptography.sha256(hash + writer.bytes)
      writer = ByteWriter(capacity: 80_000)
    }
    for (name, number) in try typeNumbers() {
      let table = registry[number]
      let plain = PlainRecordDigest(type: name, table: table)
      let statement = try connection.statement(Self.rowsSQL(table))
      try statement.bind(1, number)
      try statement.bind(2, "")
      try statement.bind(3, 0)
      defer { statement.reset() }
      while try statement.step() {
        let stored = StoredRecord(
          writer: statement.integer(1), modified: statement.integer(2), flags: statement.integer(3),
          life: UInt64(statement.integer(4)), isAlive: statement.integer(5) != 0,
          cells: statement.isNull(6) ? nil : statement.bytes(6))
        guard stored.isAlive || stored.life == 0 && stored.flags & StoredRecord.setsFlag != 0 else { continue }
        let row = (0..<(table?.fieldNames.count ?? 0)).map { statement.value(Int32($0) + 7) }
        if stored.cells == nil {
          let header = try header(of: stored.writer)
          plain.write(id: statement.text(0), row: row, life: stored.life, writtenBy: header.name, to: &writer)
        } else {
          let state = try CellVersions.decode(stored, row: row, table: table, names: self)
          Self.write(state, type: name, id: statement.text(0), to: &writer)
        }
        if writer.count > 65_536 { fold(&writer) }
      }
    }
    writer.heads(membershipState.heads)
    fold(&writer)
    let digest = StoreDigest(
      applied: replicas.vectors.applied, membershipHeads: membershipState.heads, bytes: hash)
    digestCache = digest
    return digest
  }

  /// Computes the digest if it is not known, and keeps it for status; returns whether there was anything to do.
  package func refreshDigest() throws -> Bool {
    guard try digest() == nil else { return false }
    let computed = try computeDigest()
    let key = Self.digestKey(computed.applied, computed.membershipHeads, cryptography)
    try write { try facts.set(.digest, .bytes(key + computed.bytes)) }
    return true
  }

  /// What a kept digest is the digest of: equal keys, equal records (R5).
  static func digestKey(_ applied: VersionVector, _ heads: [EntryHash], _ cryptography: any Cryptography) -> [UInt8] {
    var writer = ByteWriter()
    writer.vector(applied)
    writer.heads(heads)
    return cryptography.sha256(writer.bytes)
  }

  /// The digest that was kept, if it is the one of this key.
  static func keptDigest(_ facts: Facts, of key: [UInt8]) throws -> [UInt8]? {
    guard let kept = try facts.bytes(.digest), kept.count == 64, Array(kept.prefix(32)) == key else { return nil }
    return Array(kept.suffix(32))
  }

  private func typeNumbers() throws -> [(name: String, number: Int64)] {
    let statement = try connection.statement("SELECT name, number FROM sync_type ORDER BY name")
    defer { statement.reset() }
    var list: [(name: String, number: Int64)] = []
    while try statement.step() { list.append((statement.text(0), statement.integer(1))) }
    return list
  }

  /// The maximal writes of a live record; the nulls of an insert are left out, as which of them there are depends on
  /// the schema that was known when the record came.
  private static func write(_ state: RecordState, type: String, id: String, to writer: inout ByteWriter) {
    writer.text(type)
    writer.text(id)
    for cell in state.cells.keys.sorted() {
      let writes = (state.cells[cell] ?? []).filter { !($0.isWeak && $0.value.values.allSatisfy(\.isNull)) }
      guard !writes.isEmpty || cell == CellName.alive else { continue }
      writer.text(cell)
      for write in cell == CellName.alive ? state.cells[cell] ?? [] : writes {
        writer.identifier(write.name.replica)
        writer.varint(write.name.sequence)
        writer.varint(write.life)
        for value in write.value.values { writer.value(value) }
      }
    }
  }
}
