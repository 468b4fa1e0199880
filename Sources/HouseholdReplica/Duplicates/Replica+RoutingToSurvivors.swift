internal import HouseholdRecords

/// Local edits of duplicates: what a person does to the record that shows is done to all that it stands for.
extension Replica {
  /// Makes the edits of a run those of whole groups, before they are sealed.
  ///
  /// The deletion of what shows takes all members that are known here along. An insert of an id that another record stands for is an
  /// edit of that record; fields that it leaves null are not named by it.
  func routeToSurvivors(_ run: inout EditReader.Run, _ sealed: SealedRecords) throws {
    guard !duplicates.groups.isEmpty || !duplicates.shownAs.isEmpty else { return }
    try keepWrittenReferences(&run.before, sealed)
    try keepWrittenReferences(&run.rest, sealed)
    let deleted = Set(run.rest.filter { $0.kind == .delete }.map(Self.place))
    var taken: [EditReader.Edit] = []
    var others: [EditReader.Edit] = []
    for edit in run.rest where edit.kind == .delete {
      let place = Self.place(edit)
      // A row that was made under a loser's id and deleted again: what it wrote is the survivor's already.
      if duplicates.standing.remove(place) != nil { continue }
      taken.append(edit)
      // Who confirms that a dead member is deleted means that one, and not what lives on.
      guard duplicates.isMember(place), try current(place, edit.table, sealed)?.isAlive == true else { continue }
      for other in duplicates.groups.group(of: place) where !deleted.contains(other) {
        // A row that was made under a loser's id in these edits is not one that the author meant by the survivor.
        guard !duplicates.standing.contains(other), let state = try current(other, edit.table, sealed), state.isAlive,
          !taken.contains(where: { $0.kind == .delete && Self.place($0) == other })
        else { continue }
        taken.append(
          EditReader.Edit(
            kind: .delete, table: edit.table, id: other.id, isWeak: edit.isWeak, life: state.life, fields: [],
            values: [], rowBefore: nil, isNew: false))
      }
    }
    let gone = Set(taken.map(Self.place))
    var survivors: Set<RecordPlace> = []
    for edit in run.rest where edit.kind != .delete {
      let place = Self.place(edit)
      // A deleted record that is made again has a life of its own, whatever else its group shows.
      guard edit.kind != .set, let survivor = duplicates.shownAs[place],
        try current(place, edit.table, sealed)?.isAlive == true,
        !gone.contains(RecordPlace(type: place.type, id: survivor)),
        let state = try current(RecordPlace(type: place.type, id: survivor), edit.table, sealed), state.isAlive
      else {
        if edit.kind != .set, survivors.contains(place) { add(edit, to: &others) } else { others.append(edit) }
        continue
      }
      duplicates.standing.insert(place)
      survivors.insert(RecordPlace(type: place.type, id: survivor))
      route(edit, to: survivor, life: state.life, in: &others)
    }
    run.rest = taken + others
  }

  private static func place(_ edit: EditReader.Edit) -> RecordPlace {
    RecordPlace(type: edit.table.number, id: edit.id)
  }

  /// The state of a record after what is sealed already.
  private func current(_ place: RecordPlace, _ table: TypeTable, _ sealed: SealedRecords) throws -> RecordState? {
    try sealed[place] ?? state(of: place)
  }

  /// Adds the edit of a loser to those of its survivor.
  private func route(_ edit: EditReader.Edit, to survivor: String, life: UInt64, in edits: inout [EditReader.Edit]) {
    var values: [String: FieldValue] = [:]
    for cell in Operation.cells(of: edit.fields, type: edit.table.type) {
      let indices = cell.compactMap { name in edit.fields.firstIndex(of: name) }
      if edit.kind == .insert && indices.allSatisfy({ edit.values[$0].isNull }) { continue }
      for index in indices { values[edit.fields[index]] = edit.values[index] }
    }
    guard !values.isEmpty else { return }
    let fields = edit.table.fieldNames.filter { values[$0] != nil }
    add(
      EditReader.Edit(
        kind: .update, table: edit.table, id: survivor, isWeak: edit.isWeak, life: life, fields: fields,
        values: fields.map { values[$0] ?? .null }, rowBefore: nil, isNew: false), to: &edits)
  }

  /// Adds an edit; one of the same record that is there already becomes one with it, and the later values count: a
  /// changeset writes a record once.
  private func add(_ edit: EditReader.Edit, to edits: inout [EditReader.Edit]) {
    let place = Self.place(edit)
    guard let known = edits.firstIndex(where: { $0.kind != .set && Self.place($0) == place }) else {
      return edits.append(edit)
    }
    var values = Dictionary(zip(edits[known].fields, edits[known].values)) { $1 }
    for (field, value) in zip(edit.fields, edit.values) { values[field] = value }
    edits[known].fields = edit.table.fieldNames.filter { values[$0] != nil }
    edits[known].values = edits[known].fields.map { values[$0] ?? .null }
    edits[known].isWeak = edits[known].isWeak && edit.isWeak
    edits[known].rowBefore = edits[known].rowBefore ?? edit.rowBefore
  }

  /// A reference that is sealed only because it is one cell with a field that was changed stays as it was written.
  private func keepWrittenReferences(_ edits: inout [EditReader.Edit], _ sealed: SealedRecords) throws {
    for index in edits.indices where edits[index].kind == .update {
      let edit = edits[index]
      for reference in duplicates.references(of: edit.table.number) {
        let name = edit.table.fieldNames[reference.index]
        let cell = edit.table.type.cellFields(of: name)
        guard cell.count > 1, let place = edit.fields.firstIndex(of: name),
          let before = edit.rowBefore?[reference.index], before == edit.values[place],
          let written = try written(name, cell: cell, of: edit, sealed), written != before,
          duplicates.repointed(writtenRow(written, reference, edit.table), of: edit.table.number)[reference.index]
            == before
        else { continue }
        edits[index].values[place] = written
      }
    }
  }

  private func writtenRow(
    _ value: FieldValue, _ reference: Duplicates.Reference, _ table: TypeTable
  ) -> [FieldValue] {
    var row = [FieldValue](repeating: .null, count: table.fieldNames.count)
    row[reference.index] = value
    return row
  }

  private func written(
    _ field: String, cell: [String], of edit: EditReader.Edit, _ sealed: SealedRecords
  ) throws -> FieldValue? {
    guard let state = try state(before: edit, sealed), let index = cell.firstIndex(of: field) else { return nil }
    let winner = state.winner(of: cell[0], strategy: edit.table.cell(cell[0])?.strategy ?? .merge)
    return winner.flatMap { index < $0.value.values.count ? $0.value.values[index] : nil }
  }
}
