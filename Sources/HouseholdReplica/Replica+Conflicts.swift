internal import HouseholdRecords

/// Keeps the list of conflicts in step with the cells.
extension Replica {
  /// Brings the list in line with the state of a record; returns whether any conflict is open.
  @discardableResult
  func listConflicts(of state: RecordState, type: Int64, id: String, table: TypeTable?) throws -> Bool {
    let conflicts = try state.conflicts(
      strategy: { table?.cell($0)?.strategy ?? .merge }, coverage: self)
    try connection.run("UPDATE sync_conflict SET open = 0 WHERE type = ? AND id = ?", .integer(type), .text(id))
    guard !conflicts.isEmpty, registry.name(of: type) != nil else { return false }
    for conflict in conflicts { try list(conflict, owner: id, at: id, type: type, table: table) }
    return true
  }

  /// Lists a conflict about a record that shows as `id`; the member of its group that lost may be another one.
  func list(_ conflict: Conflict, owner: String, at id: String, type: Int64, table: TypeTable?) throws {
    try connection.run(
      """
      INSERT INTO sync_conflict(conflict, type, id, field, kept, kept_position, lost, lost_position, open)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1) ON CONFLICT(conflict) DO UPDATE SET
        id = excluded.id, kept = excluded.kept, kept_position = excluded.kept_position, open = 1
      """, .text(conflictName(conflict, owner: RecordKey(type: registry.name(of: type) ?? "", id: owner))),
      .integer(type), .text(id), .text(conflict.cell),
      try conflict.kept.map { .text(try object(of: $0, cell: conflict.cell, table: table)) } ?? .null,
      try conflict.kept.map { .integer(try number(of: $0.name)) } ?? .null,
      .text(try object(of: conflict.lost, cell: conflict.cell, table: table)),
      .integer(try number(of: conflict.lost.name)))
  }

  /// What people call the conflict, on every device.
  func conflictName(_ conflict: Conflict, owner: RecordKey) -> String {
    hexadecimal(cryptography.sha256(conflict.identity(of: owner)).prefix(8))
  }

  /// The fields of a cell with the values of a write, as a JSON object; bytes as hexadecimal digits.
  private func object(of write: Write, cell: String, table: TypeTable?) throws -> String {
    if case .rows(let rows) = write.value { return try object(of: rows, cell: cell) }
    let fields = table?.cell(cell).map { $0.fields.map { index in table?.fieldNames[index] ?? cell } } ?? [cell]
    let pairs = zip(fields, write.value.values)
    let marks = pairs.map { _ in "?, ?" }.joined(separator: ", ")
    let statement = try connection.statement("SELECT json_object(\(marks))")
    try statement.bind(
      pairs.flatMap { field, value -> [FieldValue] in
        if case .bytes(let bytes) = value { return [.text(field), .text(hexadecimal(bytes))] }
        return [.text(field), value]
      })
    defer { statement.reset() }
    guard try statement.step() else { return "{}" }
    return statement.text(0)
  }

  // MARK: History

  /// Writes into the history what an operation changes; the making of a record that is new here is not written down,
  /// as it follows from the record itself.
  func noteChanges(
    of operation: Operation, fields: [String], type: Int64, table: TypeTable?, before: RecordState,
    header: ChangesetHeader
  ) throws {
    switch operation.kind {
    case .set: try noteRows(of: operation, set: fields.first ?? "", table: table, before: before, header: header)
    case .delete: try note(nil, .null, .null, type: type, id: operation.id, header: header)
    case .insert:
      guard before.life > 0 else { return }
      try note("id", .null, .text(operation.id), type: type, id: operation.id, header: header)
    case .update:
      let before = try stateOfAll(before, at: RecordPlace(type: type, id: operation.id), table: table)
      for (field, value) in zip(fields, operation.values) {
        let earlier = try shownBefore(field, in: before, table: table)
        // Of a group only what differs is a change, though all of it was written.
        if earlier == value && fields.count > 1 && table?.type.cellFields(of: field).count != 1 { continue }
        try note(field, earlier, value, type: type, id: operation.id, header: header)
      }
    }
  }

  private func shownBefore(_ field: String, in state: RecordState, table: TypeTable?) throws -> FieldValue {
    let cell = table?.type.cellFields(of: field) ?? [field]
    let strategy = table?.cell(cell[0])?.strategy ?? .merge
    guard let winner = state.winner(of: cell[0], strategy: strategy), let index = cell.firstIndex(of: field),
      index < winner.value.values.count
    else { return .null }
    return winner.value.values[index]
  }

  func note(
    _ field: String?, _ before: FieldValue, _ after: FieldValue, type: Int64, id: String, header: ChangesetHeader
  ) throws {
    try KeptEdits.write(
      change(of: field, before, after, at: RecordPlace(type: type, id: id), header: header), on: connection)
  }

  /// A change with its name: the next one of its changeset.
  func change(
    of field: String?, _ before: FieldValue, _ after: FieldValue, at place: RecordPlace, header: ChangesetHeader
  ) -> KeptEdits.Change {
    changesInChangeset += 1
    let replica = hexadecimal(header.name.replica.bytes.prefix(4))
    return KeptEdits.Change(
      name: "\(replica)-\(header.name.sequence)-\(changesInChangeset)", place: place, field: field, before: before,
      after: after, position: header.position)
  }
}
