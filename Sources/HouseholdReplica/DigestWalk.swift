internal import HouseholdRecords

/// How far the reading of all records for a digest has come.
///
/// It may be done in slices as long as nothing changes between them; the digest is the same for any slices.
struct DigestWalk {
  /// What it is the digest of.
  let applied: VersionVector
  let membershipHeads: [EntryHash]
  /// The types that are still to be read, the one at hand first.
  fileprivate var types: ArraySlice<(name: String, number: Int64)>
  /// The record of the type at hand that was read last.
  fileprivate var lastID: String?
  fileprivate var hash = [UInt8](repeating: 0, count: 32)
  fileprivate var writer = ByteWriter(capacity: 80_000)
}

extension Replica {
  /// Begins at the first record.
  func beginDigest() throws -> DigestWalk {
    DigestWalk(applied: replicas.vectors.applied, membershipHeads: membershipState.heads, types: try typeNumbers()[...])
  }

  /// Reads about so many records more; gives the digest once all are read.
  func advance(_ walk: inout DigestWalk, rows: Int) throws -> StoreDigest? {
    var left = rows
    while let (name, number) = walk.types.first {
      guard try read(name, number, &walk, &left) else { return nil }
      walk.types.removeFirst()
      walk.lastID = nil
    }
    walk.writer.heads(walk.membershipHeads)
    fold(&walk)
    return StoreDigest(applied: walk.applied, membershipHeads: walk.membershipHeads, bytes: walk.hash)
  }

  private func fold(_ walk: inout DigestWalk) {
    walk.hash = cryptography.sha256(walk.hash + walk.writer.bytes)
    walk.writer = ByteWriter(capacity: 80_000)
  }

  /// Goes on with one type; returns whether it was read to its end.
  private func read(_ name: String, _ number: Int64, _ walk: inout DigestWalk, _ left: inout Int) throws -> Bool {
    let table = registry[number]
    let plain = PlainRecordDigest(type: name, table: table)
    let statement = try connection.statement(Self.rowsSQL(table))
    try statement.bind(1, number)
    try statement.bind(2, walk.lastID ?? "")
    try statement.bind(3, walk.lastID == nil ? 0 : 1)
    defer { statement.reset() }
    while try statement.step() {
      left -= 1
      // The next slice begins after this record.
      if left < 0 { return false }
      let id = statement.text(0)
      walk.lastID = id
      let stored = StoredRecord(
        writer: statement.integer(1), modified: statement.integer(2), flags: statement.integer(3),
        life: UInt64(statement.integer(4)), isAlive: statement.integer(5) != 0,
        cells: statement.isNull(6) ? nil : statement.bytes(6))
      guard stored.isAlive || stored.life == 0 && stored.flags & StoredRecord.setsFlag != 0 else { continue }
      let row = (0..<(table?.fieldNames.count ?? 0)).map { statement.value(Int32($0) + 7) }
      if stored.cells == nil {
        let header = try header(of: stored.writer)
        plain.write(id: id, row: row, life: stored.life, writtenBy: header.name, to: &walk.writer)
      } else {
        let state = try CellVersions.decode(stored, row: row, table: table, names: self)
          .withoutFormerLives(coverage: self)
        Self.write(table == nil ? state.writersOnly : state, type: name, id: id, to: &walk.writer)
      }
      if walk.writer.count > 65_536 { fold(&walk) }
    }
    return true
  }
}
