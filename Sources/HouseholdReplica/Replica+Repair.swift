package import HouseholdRecords

/// Which side of a conflict a person takes.
package enum ConflictChoice: Hashable, Sendable {
  /// This member's; for two devices of one member this device's.
  case mine
  case theirs
  /// Another value for the cell's first field.
  case value(FieldValue)
}

/// Undoing and deciding: each is a new edit, captured and sealed like any other, that has seen what it decides.
///
/// A decision is written down even where it leaves the value as it is: that is how a conflict closes for everyone.
extension Replica {
  /// Decides an open conflict.
  package func resolve(_ name: String, _ choice: ConflictChoice, now: Instant) throws {
    try write {
      let (key, conflict, state) = try openConflict(name)
      let table = try requireTable(key.type)
      try requireSealed(key, number: table.number)
      let lostIsMine = try isMine(conflict.lost, other: conflict.kept ?? state.winner(of: CellName.alive))
      let values: [FieldValue]
      if let rows = try rows(conflict, choice, lostIsMine: lostIsMine) {
        guard !state.isAlive && state.life > 0 else {
          return try take(rows, set: conflict.cell, of: key, table: table, now: now)
        }
        try makeAgain(row(of: state, table: table), key, table: table, state: nil, now: now)
        return try take(rows, set: conflict.cell, of: key, table: table, now: now)
      }
      switch choice {
      case .mine where lostIsMine, .theirs where !lostIsMine: values = conflict.lost.value.values
      case .value(let value):
        values = [value] + (conflict.kept ?? conflict.lost).value.values.dropFirst()
      case .mine, .theirs:
        guard let kept = conflict.kept else {
          return try capture(.confirmed, key, table: table, fields: 0, now: now)
        }
        values = kept.value.values
      }
      try show(values, cell: conflict.cell, of: key, table: table, state: state, now: now)
    }
  }

  /// Brings a deleted record back with all its fields; throws if it lives or was never here.
  package func restore(_ key: RecordKey, now: Instant) throws {
    try write { try bringBack(key, now: now) }
  }

  /// As ``restore(_:now:)``, inside a transaction.
  func bringBack(_ key: RecordKey, now: Instant) throws {
    let table = try requireTable(key.type)
    try requireSealed(key, number: table.number)
    if try restoreRow(key, table: table, now: now) { return }
    guard let state = try self.state(of: key), state.life > 0 else {
      throw ReplicaError(.notFound, "There never was a \(key.type) \(key.id) here.")
    }
    guard !state.isAlive else { throw ReplicaError(.badValue, "The \(key.type) \(key.id) is not deleted.") }
    try makeAgain(rowOfAll(key, state, table: table), key, table: table, state: state, now: now)
  }

  /// The rows that are taken, if the conflict is about a set and one is taken; nil leaves the decision to others.
  private func rows(_ conflict: Conflict, _ choice: ConflictChoice, lostIsMine: Bool) throws -> OwnedRows? {
    guard case .rows(let lost) = conflict.lost.value else { return nil }
    switch choice {
    case .mine where lostIsMine, .theirs where !lostIsMine: return lost
    case .value:
      throw ReplicaError(.badValue, "A set is taken as it is, mine or theirs; or edit its rows.")
    case .mine, .theirs:
      if case .rows(let kept)? = conflict.kept?.value { return kept }
      return nil
    }
  }

  /// Undoes one change by a new one: its field gets the value from before; a deletion is undone by restoring.
  package func revert(_ change: String, now: Instant) throws {
    if let fact = Self.factID(ofChange: change) { return try write { try part(fact, now: now) } }
    var found = try write { try self.change(change) }
    found.key = survivor(of: found.key)
    guard let field = found.field else { return try restore(found.key, now: now) }
    try write {
      let table = try requireTable(found.key.type)
      try requireSealed(found.key, number: table.number)
      if let index = table.index(of: field),
        try revertRow(found.key, field: index, to: found.from, table: table, now: now)
      {
        return
      }
      guard let state = try self.state(of: found.key), state.isAlive, let index = table.index(of: field) else {
        throw ReplicaError(.notFound, "The \(found.key.type) \(found.key.id) is deleted; restore it first.")
      }
      let cell = table.type.cellFields(of: field)
      let shown = try rowOfAll(found.key, state, table: table)
      var values = cell.map { name in table.index(of: name).map { shown[$0] } ?? .null }
      if let place = cell.firstIndex(of: field), table.fits(found.from, field: index) { values[place] = found.from }
      try show(values, cell: cell[0], of: found.key, table: table, state: state, now: now)
    }
  }

  // MARK: Finding

  private func requireTable(_ type: String) throws -> TypeTable {
    try requireRightToWrite()
    guard let number = registry.known(type), let table = registry[number] else {
      throw ReplicaError(.notFound, "There is no record type \(type).")
    }
    return table
  }

  /// What is decided must be decided about what is sealed: an edit that waits would not be in the cells yet.
  func requireSealed(_ key: RecordKey, number: Int64) throws {
    guard try isSealed(key, number: number) else {
      throw ReplicaError(.databaseLocked, "An edit of the record is not sealed yet; let the node run for a moment.")
    }
  }

  /// Whether no edit of the record, or of the rows that it owns, waits to be sealed.
  func isSealed(_ key: RecordKey, number: Int64) throws -> Bool {
    let waiting = try connection.integer(
      "SELECT 1 FROM sync_outbox WHERE type = ? AND id = ? LIMIT 1", .integer(number), .text(key.id))
    guard waiting == nil else { return false }
    return try registry[number].map { try areRowsSealed(of: key, table: $0) } ?? true
  }

  private func openConflict(_ name: String) throws -> (RecordKey, Conflict, RecordState) {
    let statement = try connection.statement("SELECT type, id FROM sync_conflict WHERE conflict = ? AND open = 1")
    try statement.bind(1, name)
    defer { statement.reset() }
    guard try statement.step(), let type = registry.name(of: statement.integer(0)) else {
      throw ReplicaError(.notFound, "There is no open conflict \(name).")
    }
    let key = RecordKey(type: type, id: statement.text(1))
    let table = try requireTable(type)
    guard let state = try state(of: key) else { throw ReplicaError(.notFound, "There is no open conflict \(name).") }
    let found = try openConflicts(of: key, state, table: table).first {
      conflictName($0.conflict, owner: RecordKey(type: type, id: $0.owner)) == name
    }?.conflict
    guard let found else { throw ReplicaError(.notFound, "There is no open conflict \(name).") }
    return (key, found, state)
  }

  /// Whether a write is this member's; where both sides are, whether it is this device's.
  private func isMine(_ write: Write, other: Write?) throws -> Bool {
    func author(_ write: Write) -> MembershipState.Device? {
      replicas[write.name.replica].flatMap { membershipState.devices[$0.device] }
    }
    let (own, others) = (author(write), other.flatMap(author))
    if own?.member != others?.member { return own?.member == identity.member }
    return own?.id == identity.device
  }

  private func change(_ name: String) throws -> (key: RecordKey, field: String?, from: FieldValue) {
    let statement = try connection.statement(
      "SELECT type, id, field, before FROM sync_change WHERE change = ? LIMIT 1")
    try statement.bind(1, name)
    defer { statement.reset() }
    guard try statement.step(), let type = registry.name(of: statement.integer(0)) else {
      throw ReplicaError(.notFound, "There is no change \(name) that can be reverted.")
    }
    let field = statement.isNull(2) ? nil : statement.text(2)
    guard field != "id" else {
      throw ReplicaError(.badValue, "The making of a record is undone by deleting it.")
    }
    return (RecordKey(type: type, id: statement.text(1)), field, statement.value(3))
  }

  // MARK: Writing

  /// The row that the winners make, dead or alive.
  func row(of state: RecordState, table: TypeTable) -> [FieldValue] {
    var flags: Int64 = 0
    return CellVersions.shownRow(of: state, table: table, flags: &flags)
  }

  /// Writes a cell, and captures it also where nothing differs; a dead record is made again with it.
  private func show(
    _ values: [FieldValue], cell name: String, of key: RecordKey, table: TypeTable, state: RecordState, now: Instant
  ) throws {
    guard let cell = table.cell(name) else {
      throw ReplicaError(.notFound, "The schema here does not know \(key.type).\(name).")
    }
    var row = try rowOfAll(key, state, table: table)
    var bits: UInt64 = 0
    for (index, value) in zip(cell.fields, values) {
      guard table.fits(value, field: index) else {
        throw ReplicaError(.badValue, "\(key.type).\(table.fieldNames[index]) cannot hold this value.")
      }
      row[index] = value
      bits |= 1 << UInt64(index)
    }
    guard state.isAlive else { return try makeAgain(row, key, table: table, state: state, now: now) }
    try update(key, row, fields: bits, table: table, now: now)
  }

  /// Writes a row that is there, and captures it as the triggers do: with what it writes over, which nothing else holds
  /// once it is written.
  ///
  /// - Parameter fields: a bit for each field that is written, also where nothing differs.
  func update(_ key: RecordKey, _ row: [FieldValue], fields: UInt64, table: TypeTable, now: Instant) throws {
    try connection.run(
      """
      INSERT INTO sync_outbox(type, id, kind, fields, at, image)
      SELECT ?, id, ?, ?, ?, \(CaptureTriggers.image(of: table.type, row: "old"))
      FROM \(SchemaTables.quoted(table.type.name)) AS old WHERE id = ?
      """, .integer(table.number), .integer(OutboxRow.Kind.updated.rawValue), .integer(Int64(bitPattern: fields)),
      .integer(now.milliseconds), .text(key.id))
    try table.write(key.id, row, on: connection)
  }

  /// - Parameter state: whose sets come back with the record.
  private func makeAgain(
    _ row: [FieldValue], _ key: RecordKey, table: TypeTable, state: RecordState?, now: Instant
  ) throws {
    guard try self.state(of: key)?.isEmptied != true else {
      throw ReplicaError(
        .notFound,
        "The \(key.type) \(key.id) was deleted long ago, and compact has collected its values; make it anew instead.")
    }
    try table.write(key.id, row, on: connection)
    if let state { try bringRows(of: state, key, table: table, now: now) }
    try capture(.inserted, key, table: table, fields: 0, now: now)
  }

  /// Puts into the outbox what a trigger would: this connection has them switched off.
  func capture(
    _ kind: OutboxRow.Kind, _ key: RecordKey, table: TypeTable, fields: UInt64, now: Instant
  ) throws {
    try connection.run(
      "INSERT INTO sync_outbox(type, id, kind, fields, at) VALUES (?, ?, ?, ?, ?)", .integer(table.number),
      .text(key.id), .integer(kind.rawValue), .integer(Int64(bitPattern: fields)), .integer(now.milliseconds))
  }
}
