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
    var walk = try beginDigest()
    while true {
      if let digest = try advance(&walk, rows: .max) {
        digestCache = digest
        return digest
      }
    }
  }

  /// Computes the digest if it is not known, and keeps it for status; returns whether there was anything to do.
  package func refreshDigest() throws -> Bool {
    guard try digest() == nil else { return false }
    try keep(try computeDigest())
    return true
  }

  private func keep(_ computed: StoreDigest) throws {
    let key = Self.digestKey(computed.applied, computed.membershipHeads, cryptography)
    try write { try facts.set(.digest, .bytes(key + computed.bytes)) }
    digestCache = computed
  }

  /// What came of a slice of the digest.
  package enum DigestSlice: Sendable {
    /// Edits had waited to be sealed, and were; nothing was read.
    case sealed
    /// More is to be read.
    case more
    /// The digest is known, or something has changed meanwhile, so that it is to be begun anew another time.
    case over
  }

  /// Does a part of what `refreshDigest` does, so that others have their turn between two parts.
  ///
  /// - Parameter rows: about how many records are read.
  package func refreshDigest(rows: Int) throws -> DigestSlice {
    guard var walk = digestWalk else {
      guard try digest() == nil else { return .over }
      if try seal(now: lastNow) { return .sealed }
      digestWalk = try beginDigest()
      return .more
    }
    digestWalk = nil
    try connection.execute("BEGIN")
    let found: StoreDigest?
    do {
      defer { endReading() }
      // An edit that is not sealed yet shows in the tables, and no changeset holds it.
      guard try outbox.isEmpty(), walk.applied == replicas.vectors.applied,
        walk.membershipHeads == membershipState.heads
      else { return .over }
      found = try advance(&walk, rows: rows)
    }
    guard let found else {
      digestWalk = walk
      return .more
    }
    try keep(found)
    return .over
  }

  /// Lets go of a digest that was begun.
  package func abandonDigest() { digestWalk = nil }

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

  func typeNumbers() throws -> [(name: String, number: Int64)] {
    let statement = try connection.statement("SELECT name, number FROM sync_type ORDER BY name")
    defer { statement.reset() }
    var list: [(name: String, number: Int64)] = []
    while try statement.step() { list.append((statement.text(0), statement.integer(1))) }
    return list
  }

  /// The maximal writes of a live record; the nulls of an insert are left out, as which of them there are depends on
  /// the schema that was known when the record came.
  static func write(_ state: RecordState, type: String, id: String, to writer: inout ByteWriter) {
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

extension RecordState {
  /// Who wrote it, without the values: whoever knew the type before keeps what is one cell whole, others field by field.
  var writersOnly: RecordState {
    var written: [Write] = []
    let all = cells.filter { $0.key != CellName.alive }.values.joined()
    for var write in all.sorted(by: { ($0.name, $0.life) < ($1.name, $1.life) }) {
      if write.isWeak && write.value.values.allSatisfy(\.isNull) { continue }
      if let last = written.last, last.name == write.name, last.life == write.life { continue }
      (write.value, write.isWeak) = (.fields([]), false)
      written.append(write)
    }
    var state = RecordState(cells: cells.filter { $0.key == CellName.alive })
    if !written.isEmpty { state.cells["?"] = written }
    return state
  }
}
