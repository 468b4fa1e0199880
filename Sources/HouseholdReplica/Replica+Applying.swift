package import HouseholdRecords

/// Applying: operations go into the cells, and what wins is shown in the types' tables.
extension Replica {
  /// Applies all operations of a changeset that is in the log.
  func apply(_ changeset: Changeset, header: ChangesetHeader) throws {
    let numbers = try changeset.shapes.map { try registry.number(of: $0.type, on: connection) }
    for operation in changeset.operations {
      let shape = changeset.shapes[operation.shape]
      let number = numbers[operation.shape]
      if operation.kind == .insert, let table = registry[number], shape.fields == table.fieldNames,
        try applyNew(operation, table: table, header: header)
      {
        continue
      }
      try merge(operation, fields: shape.fields, of: number, header: header)
    }
  }

  /// The short way for a record of which nothing was ever heard; false if there is something.
  private func applyNew(_ operation: Operation, table: TypeTable, header: ChangesetHeader) throws -> Bool {
    for (index, value) in operation.values.enumerated() where !table.fits(value, field: index) { return false }
    let stored = StoredRecord(
      writer: header.position, modified: header.position, flags: operation.isWeak ? StoredRecord.weakFlag : 0,
      life: operation.life, isAlive: true, cells: nil)
    guard try stored.writeIfNew(type: table.number, id: operation.id, on: connection) else { return false }
    try table.write(operation.id, operation.values, on: connection)
    return true
  }

  /// Merges one operation into the state of its record and shows what wins.
  func merge(_ operation: Operation, fields: [String], of type: Int64, header: ChangesetHeader) throws {
    let table = registry[type]
    let stored = try StoredRecord.read(type: type, id: operation.id, on: connection)
    let row = try stored.flatMap { $0.isAlive ? try table?.row(operation.id, on: connection) : nil }
    var state = try stored.map { try CellVersions.decode($0, row: row, table: table, names: self) } ?? RecordState()
    for (cell, write) in operation.writes(name: header.name, stamp: header.stamp, fields: fields, type: table?.type) {
      try state.merge(write, cell: cell, coverage: self)
    }
    try store(state, type: type, id: operation.id, table: table, shownBefore: row)
  }

  /// Stores the state and makes the type's table show it.
  func store(
    _ state: RecordState, type: Int64, id: String, table: TypeTable?, shownBefore: [FieldValue]?
  ) throws {
    let (stored, row) = try CellVersions.encode(state, table: table, names: self)
    try stored.write(type: type, id: id, on: connection)
    guard let table else { return }
    if let row {
      if row != shownBefore { try table.write(id, row, on: connection) }
    } else {
      try table.remove(id, on: connection)
    }
  }
}

extension Replica {
  /// All that decides a record, dead or alive; nil if nothing was ever heard of it.
  package func state(of key: RecordKey) throws -> RecordState? {
    guard let number = registry.known(key.type),
      let stored = try StoredRecord.read(type: number, id: key.id, on: connection)
    else { return nil }
    let table = registry[number]
    let row = stored.isAlive ? try table?.row(key.id, on: connection) : nil
    return try CellVersions.decode(stored, row: row, table: table, names: self)
  }
}
