internal import HouseholdRecords

/// Displaced writes: what a write took the place of stays beside its cell until every active device has confirmed that
/// write (D3) and a month is over, so that one that turns out not to count can be taken out again exactly.
///
/// The load-bearing detail: who has confirmed a write can name no cutoff below it any more; of a copied directory each
/// copy has to, see `Confirmations`, and one that was put back has forgotten what it confirmed (decision 0011). Until then the values must be somewhere, and the log is not the place: whoever began
/// with a snapshot has none, and compaction empties it. So they are in a table, whoever wrote them and however they came,
/// and snapshots carry them.
///
/// A write that does not count and is in the base of the log is there too, as its own displacer: it is set aside.
extension Replica {
  /// Whether any device but this one could still say that a write does not count.
  var hasOthers: Bool {
    membershipState.devices.values.contains { $0.id != identity.device && membershipState.admits($0.id) }
  }

  /// Merges one write into the state of a record, and keeps what is displaced by that.
  func merge(_ write: Write, cell: String, into state: inout RecordState, of place: RecordPlace) throws {
    let displaced = try state.merge(write, cell: cell, coverage: self)
    let isNewLife = cell == CellName.alive && write.value == .alive(true)
    // That the values of the former life were forgotten ends with that life, see CellVersions, and not with what began it
    // elsewhere: who has confirmed that may still say that the new life does not count.
    let marks = isNewLife ? (state.cells[CellName.emptied] ?? []).filter { $0.life < write.life } : []
    if displaced.isEmpty && marks.isEmpty || !hasOthers { return }
    for mark in marks {
      try keepDisplaced(
        DisplacedContent.encode(mark), cell: CellName.emptied, of: place, writer: number(of: mark.name),
        life: mark.life, displacer: number(of: write.name))
    }
    for lost in displaced {
      var displacer = write
      if lost.name == write.name && lost.life == write.life {
        guard let known = try state.cells[cell]?.first(where: { try MergeRule.displaces($0, lost, coverage: self) })
        else { continue }
        displacer = known
      }
      // What stands in one changeset counts, or does not, together.
      if displacer.name == lost.name { continue }
      try keepDisplaced(
        DisplacedContent.encode(lost), cell: cell, of: place, writer: number(of: lost.name), life: lost.life,
        displacer: number(of: displacer.name))
    }
  }

  /// Merges another state of the record, likewise.
  func merge(_ other: RecordState, into state: inout RecordState, of place: RecordPlace) throws {
    for cell in other.cells.keys.sorted() {
      for write in other.cells[cell] ?? [] { try merge(write, cell: cell, into: &state, of: place) }
    }
    // That the values of a former life were forgotten is heard of in a later one, which may turn out not to count.
    guard let marks = other.cells[CellName.emptied], hasOthers, state.isAlive,
      let living = state.winner(of: CellName.alive)
    else { return }
    for mark in marks where mark.life < living.life {
      try keepDisplaced(
        mark, cell: CellName.emptied, of: place, writer: number(of: mark.name), displacer: number(of: living.name))
    }
  }

  /// Keeps a write that a changeset displaced, where anybody could still say that this one does not count.
  func keepDisplaced(_ lost: Write, cell: String, of place: RecordPlace, writer: Int64, displacer: Int64) throws {
    guard hasOthers else { return }
    try keepDisplaced(
      DisplacedContent.encode(lost), cell: cell, of: place, writer: writer, life: lost.life, displacer: displacer)
  }

  /// Keeps a write that was displaced; one that is kept already stays as it is.
  func keepDisplaced(
    _ content: [UInt8], cell: String, of place: RecordPlace, writer: Int64, life: UInt64, displacer: Int64
  ) throws {
    try KeptEdits.write(
      KeptEdits.Displaced(
        content: content, cell: cell, place: place, writer: writer, life: life, displacer: displacer), on: connection)
  }

  /// The displaced writes of a record in the order in which their changesets came; they are kept no longer. What is set
  /// aside stays.
  func takeDisplaced(of place: RecordPlace) throws -> [DisplacedWrite] {
    let table = registry[place.type]
    let statement = try connection.statement(
      """
      SELECT cell, writer, life, content FROM sync_displaced WHERE type = ? AND id = ? AND writer <> displacer
      ORDER BY writer, life
      """)
    try statement.bind([.integer(place.type), .text(place.id)])
    var list: [DisplacedWrite] = []
    do {
      defer { statement.reset() }
      while try statement.step() {
        let author = try header(of: statement.integer(1))
        let (value, isWeak) = try DisplacedContent.decode(statement.bytes(3))
        list.append(
          DisplacedWrite(
            cell: statement.text(0),
            write: Write(
              name: author.name, stamp: author.stamp, life: UInt64(statement.integer(2)), isWeak: isWeak, value: value,
              isByOwner: table?.prefersOwners == true && isByOwner(author))))
      }
    } catch let violation as DecodingViolation {
      throw ReplicaError(.corrupt, "A displaced write cannot be read.", cause: "\(violation)")
    }
    guard !list.isEmpty else { return [] }
    try connection.run(
      "DELETE FROM sync_displaced WHERE type = ? AND id = ? AND writer <> displacer", .integer(place.type),
      .text(place.id))
    return list
  }

  /// The records of which any of these changesets wrote something that is displaced, or displaced something.
  func placesDisplaced(by out: Withdrawn) throws -> Set<RecordPlace> {
    let positions = Set(out.positions)
    var places: Set<RecordPlace> = []
    let statement = try connection.statement("SELECT type, id, writer, displacer FROM sync_displaced")
    defer { statement.reset() }
    while try statement.step() {
      guard positions.contains(statement.integer(2)) || positions.contains(statement.integer(3)) else { continue }
      places.insert(RecordPlace(type: statement.integer(0), id: statement.text(1)))
    }
    return places
  }

  /// Forgets the displaced writes that nobody can need any more.
  package func forgetDisplaced() throws {
    guard try connection.integer("SELECT 1 FROM sync_displaced LIMIT 1") != nil else { return }
    try write { try forgetDisplacedInTransaction() }
  }

  func forgetDisplacedInTransaction() throws {
    // How long a copy has been silent only a clock tells.
    guard lastNow.milliseconds > 0 else { return }
    let statement = try connection.statement("SELECT DISTINCT displacer FROM sync_displaced WHERE writer <> displacer")
    var displacers: [Int64] = []
    do {
      defer { statement.reset() }
      while try statement.step() { displacers.append(statement.integer(0)) }
    }
    let month = Int64(Limits.copyRestMilliseconds)
    let age = LogAge(connection: connection, replicas: replicas, device: identity.device)
    let aged = try age.position(at: lastNow.advanced(byMilliseconds: -month))
    displacers.removeAll { $0 > aged }
    if displacers.isEmpty { return }
    let confirmed = try Confirmations(replicas: replicas, log: log).byCopies(
      membershipState, of: identity.device, but: replica, now: lastNow)
    let isDone = { position throws in
      let name = try self.header(of: position).name
      return confirmed.allSatisfy { $0.contains(name) }
    }
    let done = try withoutNeeded(displacers.filter(isDone))
    if done.isEmpty { return }
    let positions = "[" + done.map(String.init).joined(separator: ",") + "]"
    try connection.run(
      "DELETE FROM sync_displaced WHERE writer <> displacer AND displacer IN (SELECT value FROM json_each(?))",
      .text(positions))
  }

  /// Those of these positions that took the place of nothing that is needed still: what is kept because something took its
  /// place would come back if that were gone.
  private func withoutNeeded(_ positions: [Int64]) throws -> [Int64] {
    var done = positions
    while !done.isEmpty {
      let statement = try connection.statement(
        """
        WITH done AS MATERIALIZED (SELECT value FROM json_each(?))
        SELECT DISTINCT later.displacer FROM sync_displaced later JOIN sync_displaced earlier
        ON earlier.type = later.type AND earlier.id = later.id AND earlier.cell = later.cell
          AND earlier.displacer = later.writer
        WHERE later.displacer IN (SELECT value FROM done) AND earlier.writer <> earlier.displacer
          AND later.writer <> later.displacer AND earlier.displacer NOT IN (SELECT value FROM done)
        """)
      try statement.bind(1, "[" + done.map(String.init).joined(separator: ",") + "]")
      var needed: Set<Int64> = []
      do {
        defer { statement.reset() }
        while try statement.step() { needed.insert(statement.integer(0)) }
      }
      if needed.isEmpty { return done }
      done.removeAll(where: needed.contains)
    }
    return done
  }
}
