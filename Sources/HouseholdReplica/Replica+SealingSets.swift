internal import HouseholdRecords

/// Sealing owned sets: whoever touches one row seals the whole set, as it stands in the tables (D10).
extension Replica {
  /// What is needed to say how a set stood after a run of edits.
  private struct RunOfRows {
    var rows: ArraySlice<OutboxRow>
    var later: [RecordPlace: [OutboxRow]]
    var touched: TouchedSets
    var reader: EditReader

    /// The run's edits of one row.
    func edits(of place: RecordPlace) -> [OutboxRow] {
      rows.filter { $0.type == place.type && $0.id.hasSameBytes(as: place.id) }
    }
  }

  /// An owner whose set is to be sealed, and what happened to the owner itself in the run.
  private struct TouchedOwner {
    var place: RecordPlace
    var table: TypeTable
    /// Whether only generated rows touched the set.
    var isWeak = true
    /// Whether a person has decided on the set, so that it is sealed also as it is.
    var isDecided = false
    var insertion: EditReader.Edit?
    var deletion: EditReader.Edit?
    var update: EditReader.Edit?
  }

  /// Adds the sets that the run has touched to what is sealed of it.
  func addSets(
    to run: inout EditReader.Run, of rows: ArraySlice<OutboxRow>, laterRows: [RecordPlace: [OutboxRow]],
    touched: TouchedSets, sealed: SealedRecords, reader: EditReader
  ) throws {
    let owners = touchedOwners(run, rows: rows, touched: touched)
    guard !owners.isEmpty else { return }
    let rows = RunOfRows(rows: rows, later: laterRows, touched: touched, reader: reader)
    for owner in owners {
      for set in owner.table.sets { try add(set, of: owner, to: &run, rows: rows, sealed: sealed) }
    }
  }

  private func touchedOwners(
    _ run: EditReader.Run, rows: ArraySlice<OutboxRow>, touched: TouchedSets
  ) -> [TouchedOwner] {
    var owners: [TouchedOwner] = []
    var indices: [RecordPlace: Int] = [:]
    func touch(_ place: RecordPlace, isWeak: Bool, isDecided: Bool = false) {
      guard let table = registry[place.type] else { return }
      let index = indices[place, default: owners.count]
      if index == owners.count {
        indices[place] = index
        owners.append(TouchedOwner(place: place, table: table))
      }
      if !isWeak { owners[index].isWeak = false }
      if isDecided { owners[index].isDecided = true }
    }
    for row in rows {
      if row.kind == .updated && row.fields == 0, registry[row.type]?.sets.isEmpty == false {
        touch(RecordPlace(type: row.type, id: row.id), isWeak: row.isWeak, isDecided: true)
      } else if !touched.isEmpty {
        for owner in touched.owners[RecordPlace(type: row.type, id: row.id)] ?? [] { touch(owner, isWeak: row.isWeak) }
      }
    }
    // A record that is made again writes all its cells; of one that is new no row can be here that was not touched.
    for edit in run.rest where edit.kind == .insert && !edit.isNew && !edit.table.sets.isEmpty {
      touch(RecordPlace(type: edit.table.number, id: edit.id), isWeak: edit.isWeak)
    }
    if owners.isEmpty { return [] }
    for edit in run.rest where !edit.table.sets.isEmpty {
      guard let index = indices[RecordPlace(type: edit.table.number, id: edit.id)] else { continue }
      switch edit.kind {
      case .insert: owners[index].insertion = edit
      case .delete: owners[index].deletion = edit
      case .update, .set: owners[index].update = edit
      }
    }
    return owners
  }

  private func add(
    _ set: TypeTable.OwnedSet, of owner: TouchedOwner, to run: inout EditReader.Run, rows: RunOfRows,
    sealed: SealedRecords
  ) throws {
    func edit(_ value: OwnedRows, life: UInt64, row: [FieldValue]?) -> EditReader.Edit {
      EditReader.Edit(
        kind: .set, table: owner.table, id: owner.place.id, isWeak: owner.isWeak, life: life, fields: [set.name],
        values: [], rows: value, rowBefore: row, isNew: false)
    }
    let row = try rowBefore(owner, rows)
    let state = try state(before: edit(.none, life: 1, row: row), sealed) ?? RecordState()
    let current = state.set(of: set.name)
    if let deletion = owner.deletion, state.isAlive {
      // What a cascade takes away is part of the deletion: the set is kept as it was, so that restoring brings it back.
      let last = try value(of: set, owner.place, rows, current: current, beforeDeletion: true)
      if last != current { run.before.append(edit(last, life: state.life, row: deletion.rowBefore)) }
    }
    if owner.deletion != nil && owner.insertion == nil { return }
    let value = try value(of: set, owner.place, rows, current: current)
    if let insertion = owner.insertion {
      // Where the values were forgotten, others may still have the former life's set, which must go all the same.
      let hadSet = !(state.cells[set.name] ?? []).isEmpty || state.cells[CellName.emptied] != nil
      guard !value.isEmpty || hadSet else { return }
      run.rest.append(edit(value, life: insertion.life, row: insertion.isNew ? insertion.values : row))
    } else if state.isAlive || state.life == 0 {
      guard value != current || owner.isDecided else { return }
      let life = max(state.life, state.setWinner(of: set.name)?.life ?? 1)
      run.rest.append(edit(value, life: life, row: row))
    } else if !value.isEmpty {
      // Rows that were written under an owner that is gone join those that went with it.
      run.rest.append(edit(try Self.joined(value, current), life: state.life, row: row))
    }
  }

  /// The owner's row as it was before the run, by which its state is read.
  private func rowBefore(_ owner: TouchedOwner, _ rows: RunOfRows) throws -> [FieldValue]? {
    if let edit = owner.deletion ?? owner.update ?? owner.insertion { return edit.rowBefore }
    let later = rows.later[owner.place] ?? []
    return later.isEmpty
      ? try owner.table.row(owner.place.id, on: connection)
      : try rows.reader.rowBefore(later, of: owner.place, table: owner.table)
  }

  private static func joined(_ rows: OwnedRows, _ others: OwnedRows) throws -> OwnedRows {
    func list(_ set: OwnedRows) -> [(id: String, values: [String: FieldValue])] {
      set.rows.map { row in (row.id, Dictionary(uniqueKeysWithValues: zip(set.fields, row.values))) }
    }
    let joined = OwnedRows(list(rows) + list(others))
    return joined.rows.count > Limits.rowsPerSetAccepted || joined.byteCount > 2 * Limits.setBytes ? rows : joined
  }

  /// The set as it stood in the tables after the run, or before the run deleted its owner.
  private func value(
    of set: TypeTable.OwnedSet, _ owner: RecordPlace, _ rows: RunOfRows, current: OwnedRows,
    beforeDeletion: Bool = false
  ) throws -> OwnedRows {
    guard let table = registry[set.number], let by = table.owner?.field else { return .none }
    var places = Set(rows.touched.rows[owner] ?? [])
    for id in try ids(in: table, of: owner.id) { places.insert(RecordPlace(type: set.number, id: id)) }
    var list: [(id: String, values: [String: FieldValue])] = []
    for place in places {
      var row: [FieldValue]?
      if beforeDeletion, let image = FoldedEdit(rows.edits(of: place), wasThere: true).deletedImage {
        row = try CaptureTriggers.row(fromImage: image, of: table.type, on: connection)
      } else if let later = rows.later[place], let first = later.first {
        row = first.kind == .inserted ? nil : try rows.reader.rowBefore(later, of: place, table: table)
      } else {
        row = try table.row(place.id, on: connection)
      }
      guard let row, row[by].text?.hasSameBytes(as: owner.id) == true else { continue }
      list.append((place.id, Self.values(of: row, by: by, table: table, keeping: current.row(place.id), of: current)))
    }
    let value = OwnedRows(list)
    guard value.rows.count <= Limits.rowsPerSetAccepted, value.byteCount <= Limits.recordBytes else {
      throw ReplicaError(.badValue, "A record owns more rows of \(set.name) than can be sent; delete some.")
    }
    return value
  }

  /// The ids of the rows that name this owner in the table.
  func ids(in table: TypeTable, of owner: String) throws -> [String] {
    guard let by = table.owner?.field else { return [] }
    let column = SchemaTables.quoted(table.fieldNames[by])
    let statement = try connection.statement(
      "SELECT id FROM \(SchemaTables.quoted(table.type.name)) WHERE \(column) = ?")
    try statement.bind(1, owner)
    defer { statement.reset() }
    var ids: [String] = []
    while try statement.step() { ids.append(statement.text(0)) }
    return ids
  }

  /// The values of a row by name, with those of the set before that this device cannot show: unknown fields, and
  /// values that do not fit.
  private static func values(
    of row: [FieldValue], by: Int, table: TypeTable, keeping former: OwnedRows.Row?, of set: OwnedRows
  ) -> [String: FieldValue] {
    var values: [String: FieldValue] = [:]
    for (index, name) in table.fieldNames.enumerated() where index != by && !row[index].isNull {
      values[name] = row[index]
    }
    guard let former else { return values }
    for (name, value) in zip(set.fields, former.values) where values[name] == nil && !value.isNull {
      if let index = table.index(of: name), table.fits(value, field: index) || index == by { continue }
      values[name] = value
    }
    return values
  }
}
