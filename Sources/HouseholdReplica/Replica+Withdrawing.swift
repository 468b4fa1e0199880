internal import HouseholdRecords

/// What leaves the cells because its authors had no right to write it.
struct Withdrawn {
  var names: Set<ChangesetName> = []
  var positions: [Int64] = []
  /// The records that it wrote, as far as its contents are in the log.
  var places: Set<RecordPlace> = []
  /// Whether some of it came by snapshot, so that only the records themselves tell what it wrote.
  var isUnread = false
}

/// Withdrawing: writes are taken out of the records and the maximal ones computed anew from what was displaced and from
/// the log, as if they had never come (D3, D5).
extension Replica {
  /// How many records are computed anew in one reading of the log: a bound on memory.
  private static let recordsAtOnce = 20_000

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
      out.names.insert(try header(of: position).name)
      out.positions.append(position)
      guard let packed = try log.body(at: position) else {
        out.isUnread = true
        continue
      }
      let changeset = try Self.unpack(packed).1
      for operation in changeset.operations {
        let number = try registry.number(of: changeset.shapes[operation.shape].type, on: connection)
        out.places.insert(RecordPlace(type: number, id: operation.id))
      }
    }
  }

  /// Takes the writes out of the records, the history and the list of conflicts.
  func withdraw(_ out: Withdrawn) throws {
    let places =
      (out.isUnread ? out.places.union(try placesWritten(by: out)).union(try placesDisplaced(by: out)) : out.places)
      .sorted()
    let positions = "[" + out.positions.map(String.init).joined(separator: ",") + "]"
    try connection.run(
      "DELETE FROM sync_change WHERE position IN (SELECT value FROM json_each(?))", .text(positions))
    // What still is a conflict is listed anew with its record.
    try connection.run(
      """
      DELETE FROM sync_conflict WHERE lost_position IN (SELECT value FROM json_each(?1))
        OR kept_position IN (SELECT value FROM json_each(?1))
      """, .text(positions))
    for start in stride(from: 0, to: places.count, by: Self.recordsAtOnce) {
      try recompute(Array(places[start..<min(start + Self.recordsAtOnce, places.count)]), without: out.names)
    }
    connection.releaseMemory()
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

  private func recompute(_ places: [RecordPlace], without names: Set<ChangesetName>) throws {
    var states: [RecordPlace: RecordState] = [:]
    var displaced: [RecordPlace: [DisplacedWrite]] = [:]
    for place in places {
      states[place] = RecordState()
      displaced[place] = try takeDisplaced(of: place).filter { !names.contains($0.write.name) }
    }
    // What was displaced is kept again, because of what displaced it first: so in the order in which all of it came.
    try mergeLog(into: &states)
    for place in places {
      var state = states[place] ?? RecordState()
      for kept in displaced[place] ?? [] { try merge(kept.write, cell: kept.cell, into: &state, of: place) }
      var known = try self.state(of: place) ?? RecordState()
      for cell in known.cells.keys { known.cells[cell]?.removeAll { names.contains($0.name) } }
      try merge(known, into: &state, of: place)
      try show(state, of: place)
    }
  }

  /// Merges everything that the log holds of these records; what is in them already changes nothing.
  private func mergeLog(into states: inout [RecordPlace: RecordState]) throws {
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
        guard var state = states[place] else { continue }
        let fields = changeset.shapes[operation.shape].fields
        for (cell, write) in operation.writes(
          name: header.name, stamp: header.stamp, fields: fields, type: registry[number]?.type,
          isByOwner: registry[number]?.prefersOwners == true && isByOwner(header))
        {
          try merge(write, cell: cell, into: &state, of: place)
        }
        states[place] = state
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

  // MARK: A cutoff inside the base

  /// Lets go of a replica's changesets after its limit that came by snapshot: their contents are not here, and those
  /// who have them bring them if they should count again. A fresh snapshot brings the headers that others' changesets
  /// name.
  func forget(_ entry: ReplicaTable.Entry) throws {
    let limit = max(entry.fork, admission.limits[entry.id] ?? .max)
    try connection.run(
      "DELETE FROM sync_changeset WHERE replica = ? AND seq > ?", .integer(entry.number),
      .integer(Int64(clamping: limit)))
    log.forget(from: log.nextPosition)
    try replicas.update(entry.id, on: connection) { entry in
      entry.received = limit
      entry.applied = limit
      entry.base = limit
    }
    incarnation = .random(from: &random)
    try facts.set(.incarnation, .bytes(incarnation.bytes))
    try facts.set(.needsSnapshot, .integer(1))
  }

  /// Whether the changeset follows on one of which nothing is known here before a snapshot brings it.
  func isBeyondForgotten(_ name: ChangesetName, _ entry: ReplicaTable.Entry) throws -> Bool {
    guard entry.received > 0, entry.received == entry.base, name.sequence > entry.received else { return false }
    let last = ChangesetName(replica: entry.id, sequence: entry.received)
    return try log.header(of: last, replicas: replicas) == nil
  }
}
