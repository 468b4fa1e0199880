package import HouseholdRecords

/// Applying: operations go into the cells, and what wins is shown in the types' tables.
extension Replica {
  /// Applies all operations of a changeset that is in the log.
  func apply(_ changeset: Changeset, header: ChangesetHeader) throws {
    let numbers = try changeset.shapes.map { try registry.number(of: $0.type, on: connection) }
    // The tables of shapes that are whole rows: their insertions may go the short way.
    let wholeRows = zip(changeset.shapes, numbers).map { shape, number in
      registry[number].flatMap { shape.fields == $0.fieldNames && $0.owner == nil ? $0 : nil }
    }
    let plans = zip(changeset.shapes, numbers).map { PlainEdit.Plan($0.fields, table: registry[$1]) }
    let insertion = try StoredRecord.insertion(on: connection)
    changesInChangeset = 0
    var kept = KeptEdits()
    for operation in changeset.operations {
      let shape = changeset.shapes[operation.shape]
      if operation.kind == .update, let plan = plans[operation.shape],
        try applyPlain(operation, plan, header: header, kept: &kept)
      {
        continue
      }
      try kept.write(on: connection)
      let number = numbers[operation.shape]
      if operation.kind == .insert, let table = wholeRows[operation.shape],
        try applyNew(operation, table: table, header: header, insertion: insertion)
      {
        continue
      }
      try merge(operation, fields: shape.fields, of: number, header: header)
    }
    try kept.write(on: connection)
  }

  /// The short way for a record of which nothing was ever heard; false if there is something.
  private func applyNew(_ operation: Operation, table: TypeTable, header: ChangesetHeader, insertion: Statement) throws
    -> Bool
  {
    for index in operation.values.indices where !table.fits(operation.values[index], field: index) { return false }
    let place = RecordPlace(type: table.number, id: operation.id)
    if duplicates.concerns(place, row: operation.values) { return false }
    let stored = StoredRecord(
      writer: header.position, modified: header.position, flags: operation.isWeak ? StoredRecord.weakFlag : 0,
      life: operation.life, isAlive: true, cells: nil)
    guard try stored.writeIfNew(type: table.number, id: operation.id, using: insertion, on: connection) else {
      return false
    }
    try table.write(operation.id, operation.values, on: connection)
    duplicates.note(place, isNew: true)
    return true
  }

  /// Merges one operation into the state of its record and shows what wins.
  func merge(_ operation: Operation, fields: [String], of type: Int64, header: ChangesetHeader) throws {
    let table = registry[type]
    let stored = try StoredRecord.read(type: type, id: operation.id, on: connection)
    let row = try stored.flatMap { $0.isAlive ? try table?.row(operation.id, on: connection) : nil }
    var state = try stored.map { try CellVersions.decode($0, row: row, table: table, names: self) } ?? RecordState()
    let place = RecordPlace(type: type, id: operation.id)
    try noteChanges(of: operation, fields: fields, type: type, table: table, before: state, header: header)
    for (cell, write) in operation.writes(
      name: header.name, stamp: header.stamp, fields: fields, type: table?.type,
      isByOwner: table?.prefersOwners == true && isByOwner(header))
    {
      try merge(write, cell: cell, into: &state, of: place)
    }
    try store(
      state, of: place, table: table, shownBefore: row,
      earlierFlags: stored?.flags ?? 0)
  }

  /// Stores the state and makes the type's table show it.
  ///
  /// - Parameter earlierFlags: those of the state that was stored before; 0 if there was none.
  func store(
    _ state: RecordState, of place: RecordPlace, table: TypeTable?, shownBefore: [FieldValue]?, earlierFlags: Int64
  ) throws {
    let row = try keep(state, of: place, table: table, earlierFlags: earlierFlags)
    guard let table else { return }
    if table.owner != nil {
      try settle(place)
      return
    }
    if let row {
      if row != shownBefore { try table.write(place.id, row, on: connection) }
    } else {
      try table.remove(place.id, on: connection)
    }
    try showSets(of: place, table: table, state: state, earlierFlags: earlierFlags)
  }

  /// Stores the state and lists its conflicts; returns the row that is to show, nil if the record does not.
  func keep(
    _ state: RecordState, of place: RecordPlace, table: TypeTable?, earlierFlags: Int64
  ) throws -> [FieldValue]? {
    if duplicates.isMember(place) { return try keepMember(state, of: place, table: table, flags: earlierFlags) }
    var (stored, row) = try CellVersions.encode(state, table: table, names: self) { row in
      duplicates.repointed(row, of: place.type)
    }
    duplicates.note(place, isNew: row != nil)
    // One write in each cell of a live record cannot have lost against another.
    let isPlain = stored.isAlive && state.cells.values.allSatisfy { $0.count == 1 }
    let hadConflicts = earlierFlags & StoredRecord.conflictFlag != 0
    if hadConflicts || !isPlain, try listConflicts(of: state, type: place.type, id: place.id, table: table) {
      stored.flags |= StoredRecord.conflictFlag
    }
    if Self.hasSets(state) { stored.flags |= StoredRecord.setsFlag }
    try stored.write(type: place.type, id: place.id, on: connection)
    return row
  }
}

extension Replica {
  /// All that decides a record, dead or alive; nil if nothing was ever heard of it.
  package func state(of key: RecordKey) throws -> RecordState? {
    try registry.known(key.type).flatMap { try state(of: RecordPlace(type: $0, id: key.id)) }
  }

  /// The same for a record of this file.
  func state(of place: RecordPlace) throws -> RecordState? {
    guard let stored = try StoredRecord.read(type: place.type, id: place.id, on: connection) else { return nil }
    let table = registry[place.type]
    let row = stored.isAlive ? try table?.row(place.id, on: connection) : nil
    return try CellVersions.decode(stored, row: row, table: table, names: self)
  }
}
