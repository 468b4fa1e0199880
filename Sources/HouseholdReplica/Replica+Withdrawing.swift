internal import HouseholdRecords

/// What leaves the cells because its authors had no right to write it.
struct Withdrawn {
  var names: Set<ChangesetName> = []
  var positions: [Int64] = []
  /// The records that it wrote, as far as its contents are in the log.
  var places: Set<RecordPlace> = []
  /// Those in the log's base: only the records tell what they wrote, here or where they go by snapshot.
  var unread: Set<ChangesetName> = []
}

/// Withdrawing: writes are taken out of the records and the maximal ones computed anew from what was displaced and from
/// the log, as if they had never come (D3, D5).
///
/// The load-bearing detail: what is taken out is not let go of. A changeset after the log's base is in the log when it
/// counts again; the writes of one in the base, which goes to others by snapshot, are set aside, beside what was displaced.
/// So what was received stays received, everyone comes to have the same, and nobody waits for what only others had
/// (decision 0006).
extension Replica {
  /// How many records are computed anew in one reading of the log: a bound on memory.
  static let recordsAtOnce = 20_000

  /// Collects the applied changesets of a replica after this seq.
  func collect(_ entry: ReplicaTable.Entry, after sequence: UInt64, into out: inout Withdrawn) throws {
    let statement = try connection.statement(
      "SELECT position FROM sync_changeset WHERE replica = ? AND seq > ? AND state = 1 ORDER BY seq")
    try statement.bind([.integer(entry.number), .integer(Int64(clamping: sequence))])
    var positions: [Int64] = []
    do {
      defer { statement.reset() }
      while try statement.step() { positions.append(statement.integer(0)) }
    }
    for position in positions {
      let name = try header(of: position).name
      out.names.insert(name)
      out.positions.append(position)
      let packed = try log.body(at: position)
      // Contents that came before a snapshot did may be here, and in the base all the same.
      if packed == nil || isInBase(name) { out.unread.insert(name) }
      if let packed { out.places.formUnion(try places(writtenBy: Self.unpack(packed).1)) }
    }
  }

  /// The records that the changeset writes.
  func places(writtenBy changeset: Changeset) throws -> Set<RecordPlace> {
    let numbers = try changeset.shapes.map { try registry.number(of: $0.type, on: connection) }
    return Set(changeset.operations.map { RecordPlace(type: numbers[$0.shape], id: $0.id) })
  }

  /// Takes the writes out of the records, the history and the list of conflicts.
  func withdraw(_ out: Withdrawn) throws {
    let places = try places(of: out)
    let positions = "[" + out.positions.map(String.init).joined(separator: ",") + "]"
    try connection.run(
      "DELETE FROM sync_change WHERE position IN (SELECT value FROM json_each(?))", .text(positions))
    // What still is a conflict is listed anew with its record.
    try connection.run(
      """
      DELETE FROM sync_conflict WHERE lost_position IN (SELECT value FROM json_each(?1))
        OR kept_position IN (SELECT value FROM json_each(?1))
      """, .text(positions))
    try recompute(places, without: out)
  }

  /// The records that these changesets wrote, as far as anything of that is kept.
  func places(of changesets: Withdrawn) throws -> [RecordPlace] {
    if changesets.unread.isEmpty { return changesets.places.sorted() }
    return changesets.places.union(try placesWritten(by: changesets)).union(try placesDisplaced(by: changesets))
      .sorted()
  }

  /// Puts back what was set aside of changesets that count now.
  func reinstate() throws {
    let counts =
      "writer = displacer AND EXISTS (SELECT 1 FROM sync_changeset c WHERE c.position = writer AND c.state = 1)"
    guard try connection.integer("SELECT 1 FROM sync_displaced WHERE \(counts) LIMIT 1") != nil else { return }
    // Until the records are computed anew, nobody's: so they are among those that were displaced.
    try connection.run("UPDATE sync_displaced SET displacer = 0 WHERE \(counts)")
    var places: [RecordPlace] = []
    let statement = try connection.statement("SELECT DISTINCT type, id FROM sync_displaced WHERE displacer = 0")
    do {
      defer { statement.reset() }
      while try statement.step() {
        places.append(RecordPlace(type: statement.integer(0), id: statement.text(1)))
      }
    }
    try recompute(places.sorted(), without: Withdrawn())
  }

  /// The records in which any of the changesets is named.
  private func placesWritten(by out: Withdrawn) throws -> Set<RecordPlace> {
    var candidates: [RecordPlace] = []
    let writers = Set(out.positions)
    let statement = try connection.statement("SELECT type, id, writer, cells IS NOT NULL FROM sync_record")
    do {
      defer { statement.reset() }
      while try statement.step() {
        guard writers.contains(statement.integer(2)) || statement.integer(3) != 0 else { continue }
        candidates.append(RecordPlace(type: statement.integer(0), id: statement.text(1)))
      }
    }
    return Set(
      try candidates.filter { place in
        try state(of: place)?.cells.values.contains { $0.contains { out.names.contains($0.name) } } ?? false
      })
  }

  /// Computes the records anew from all that is known of them, but for what is withdrawn.
  func recompute(_ places: [RecordPlace], without out: Withdrawn) throws {
    for start in stride(from: 0, to: places.count, by: Self.recordsAtOnce) {
      try recompute(places[start..<min(start + Self.recordsAtOnce, places.count)], without: out)
    }
    connection.releaseMemoryAfterLargeWork()
  }

  private func recompute(_ places: ArraySlice<RecordPlace>, without out: Withdrawn) throws {
    var writes: [RecordPlace: [DisplacedWrite]] = [:]
    for place in places { writes[place] = [] }
    // What was displaced is kept again, because of what displaced it first: so in the order in which all of it came.
    try readLog(of: &writes)
    for place in places {
      var all = writes[place] ?? []
      let known = try state(of: place) ?? RecordState()
      let kept = known.cells.keys.sorted().flatMap { cell in
        (known.cells[cell] ?? []).map { DisplacedWrite(cell: cell, write: $0) }
      }
      for one in try takeDisplaced(of: place) + kept {
        if out.names.contains(one.write.name) {
          try setAside(one, of: place, if: out)
        } else {
          all.append(one)
        }
      }
      all = registry[place.type]?.joiningParts(all) ?? all
      var state = RecordState()
      for one in all { try merge(one.write, cell: one.cell, into: &state, of: place) }
      try displace(amid: all, in: &state, of: place)
      try show(state, of: place)
    }
  }

  /// Takes out what a write displaces that is displaced itself: what that one's author had seen, another who displaced
  /// it need not have seen, where it did not count for him.
  private func displace(amid all: [DisplacedWrite], in state: inout RecordState, of place: RecordPlace) throws {
    for (cell, maximal) in state.cells where maximal.count > 1 {
      for lost in maximal {
        let displacer = try all.first {
          try $0.cell == cell && $0.write != lost && MergeRule.displaces($0.write, lost, coverage: self)
        }
        guard let displacer else { continue }
        state.cells[cell]?.removeAll { $0 == lost }
        try keepDisplaced(
          DisplacedContent.encode(lost), cell: cell, of: place, writer: number(of: lost.name), life: lost.life,
          displacer: number(of: displacer.write.name))
      }
    }
  }

  /// Keeps a write that does not count, if it goes to others by snapshot: it is its own displacer until it counts.
  private func setAside(_ one: DisplacedWrite, of place: RecordPlace, if out: Withdrawn) throws {
    guard out.unread.contains(one.write.name) else { return }
    let number = try number(of: one.write.name)
    try keepDisplaced(
      DisplacedContent.encode(one.write), cell: one.cell, of: place, writer: number, life: one.write.life,
      displacer: number)
  }

  /// Adds everything that the log holds of these records.
  func readLog(of writes: inout [RecordPlace: [DisplacedWrite]]) throws {
    let statement = try connection.statement(
      "SELECT position FROM sync_changeset WHERE state = 1 AND body IS NOT NULL ORDER BY position")
    var positions: [Int64] = []
    do {
      defer { statement.reset() }
      while try statement.step() { positions.append(statement.integer(0)) }
    }
    for position in positions {
      let header = try header(of: position)
      let changeset = try body(of: header)
      let numbers = changeset.shapes.map { registry.known($0.type) }
      for operation in changeset.operations {
        guard let number = numbers[operation.shape] else { continue }
        let place = RecordPlace(type: number, id: operation.id)
        guard writes[place] != nil else { continue }
        let fields = changeset.shapes[operation.shape].fields
        let its = operation.writes(
          name: header.name, stamp: header.stamp, fields: fields, type: registry[number]?.type,
          isByOwner: registry[number]?.prefersOwners == true && isByOwner(header))
        writes[place]? += its.map { DisplacedWrite(cell: $0.cell, write: $0.write) }
      }
    }
  }

  private func show(_ state: RecordState, of place: RecordPlace) throws {
    let table = registry[place.type]
    guard !state.cells.isEmpty else {
      try connection.run(
        "DELETE FROM sync_record WHERE type = ? AND id = ?", .integer(place.type), .text(place.id))
      try connection.run(
        "UPDATE sync_conflict SET open = 0 WHERE type = ? AND id = ?", .integer(place.type), .text(place.id))
      return try showNothing(of: place, table: table)
    }
    let row = try table?.row(place.id, on: connection)
    try store(
      state, of: place, table: table, shownBefore: row,
      earlierFlags: StoredRecord.conflictFlag | StoredRecord.setsFlag)
  }

  /// Makes the tables forget a record of which nothing is left, its sets and its part in a group.
  private func showNothing(of place: RecordPlace, table: TypeTable?) throws {
    guard let table else { return }
    if duplicates.isMember(place) { return duplicates.noteGroup(of: place) }
    duplicates.note(place, isNew: false)
    if table.owner != nil {
      try settle(place)
      return
    }
    try table.remove(place.id, on: connection)
    try showSets(of: place, table: table, state: RecordState(), earlierFlags: StoredRecord.setsFlag)
  }

  // MARK: Who was an owner

  /// Decides anew where owners' writes go first: what was known of their roles has changed.
  func decideAmongOwnersAnew() throws {
    for (_, number) in registry.all where registry[number]?.prefersOwners == true {
      let statement = try connection.statement(
        "SELECT id FROM sync_record WHERE type = ? AND flags & \(StoredRecord.conflictFlag) <> 0")
      try statement.bind(1, number)
      var places: [RecordPlace] = []
      do {
        defer { statement.reset() }
        while try statement.step() { places.append(RecordPlace(type: number, id: statement.text(0))) }
      }
      for place in places { if let state = try state(of: place) { try show(state, of: place) } }
    }
  }
}
