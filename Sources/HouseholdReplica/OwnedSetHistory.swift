internal import HouseholdRecords

/// The history of rows in owned sets, and what is done with it.
///
/// A set is sealed whole; what people read is which row changed in which field, under the row's own type and id. That a
/// row was made follows from `sync_owned`; a row that left a set is noted as deleted, with its values.
extension Replica {
  /// Writes down what a set changes in comparison with the one that showed.
  func noteRows(
    of operation: Operation, set name: String, table: TypeTable?, before: RecordState, header: ChangesetHeader
  ) throws {
    guard let set = table?.sets.first(where: { $0.name == name }), let rowTable = registry[set.number] else { return }
    let former = before.shownSet(of: name)?.rows ?? .none
    let fields = Set(former.fields).union(operation.rows.fields).sorted()
    for row in former.rows {
      guard let after = operation.rows.row(row.id) else {
        let shown = Self.row(row.id, of: former, owner: operation.id, table: rowTable) ?? []
        let object = try object(of: zip(rowTable.fieldNames, shown).filter { !$0.1.isNull })
        try note(nil, .text(object), .null, type: set.number, id: row.id, header: header)
        continue
      }
      for field in fields {
        let (from, to) = (former.value(of: field, in: row), operation.rows.value(of: field, in: after))
        if from != to { try note(field, from, to, type: set.number, id: row.id, header: header) }
      }
    }
  }

  /// A set as the one member of a JSON object, its rows in the order of their ids; bytes as hexadecimal digits.
  func object(of rows: OwnedRows, cell: String) throws -> String {
    var list: [String] = []
    for row in rows.rows { list.append(try object(of: [("id", .text(row.id))] + Array(zip(rows.fields, row.values)))) }
    let name = try connection.text("SELECT json_quote(?)", .text(cell)) ?? "\"\""
    return "{\(name):[\(list.joined(separator: ","))]}"
  }

  private func object(of pairs: [(String, FieldValue)]) throws -> String {
    let marks = pairs.map { _ in "?, ?" }.joined(separator: ", ")
    let statement = try connection.statement("SELECT json_object(\(marks))")
    try statement.bind(
      pairs.flatMap { field, value -> [FieldValue] in
        if case .bytes(let bytes) = value { return [.text(field), .text(hexadecimal(bytes))] }
        return [.text(field), value]
      })
    defer { statement.reset() }
    return try statement.step() ? statement.text(0) : "{}"
  }

  // MARK: Undoing

  /// Brings back a row that left its set: as the history has it, so only where its deletion was seen.
  ///
  /// - Returns: false if the row was not in a set when it went.
  func restoreRow(_ key: RecordKey, table: TypeTable, now: Instant) throws -> Bool {
    guard let owner = table.owner else { return false }
    if try table.row(key.id, on: connection) != nil {
      throw ReplicaError(.badValue, "The \(key.type) \(key.id) is not deleted.")
    }
    let object = try connection.text(
      "SELECT before FROM sync_change WHERE type = ? AND id = ? AND field IS NULL ORDER BY number DESC LIMIT 1",
      .integer(table.number), .text(key.id))
    guard let object else { return false }
    var row = [FieldValue](repeating: .null, count: table.fieldNames.count)
    let statement = try connection.statement("SELECT key, value FROM json_each(?)")
    try statement.bind(1, object)
    defer { statement.reset() }
    while try statement.step() {
      guard let index = table.index(of: statement.text(0)) else { continue }
      let value = statement.value(1)
      if table.type.fields[index].kind == .bytes, let text = value.text {
        row[index] = bytes(hex: text).map(FieldValue.bytes) ?? .null
      } else if table.fits(value, field: index) {
        row[index] = value
      }
    }
    if let id = row[owner.field].text, let state = try state(of: RecordPlace(type: owner.number, id: id)),
      state.life > 0, !state.isAlive
    {
      let type = registry.name(of: owner.number) ?? "owner"
      throw ReplicaError(.badValue, "Its \(type) \(id) is deleted; restore that.")
    }
    try table.write(key.id, row, on: connection)
    try capture(.inserted, key, table: table, fields: 0, now: now)
    return true
  }

  /// Sets one field of a row that is in a set; false if it is in none.
  func revertRow(_ key: RecordKey, field: Int, to value: FieldValue, table: TypeTable, now: Instant) throws -> Bool {
    guard table.owner != nil, var row = try table.row(key.id, on: connection),
      try !claims(on: RecordPlace(type: table.number, id: key.id)).isEmpty
    else { return false }
    row[field] = table.fits(value, field: field) ? value : .null
    try update(key, row, fields: 1 << UInt64(field), table: table, now: now)
    return true
  }

  /// Puts the rows of a record's sets back into their tables, but for those that are elsewhere by now, and captures them:
  /// they go again if the record does before anything is sealed.
  func bringRows(of state: RecordState, _ owner: RecordKey, table: TypeTable, now: Instant) throws {
    for set in table.sets {
      guard let rowTable = registry[set.number] else { continue }
      let rows = state.set(of: set.name)
      for row in rows.rows {
        guard try rowTable.row(row.id, on: connection) == nil,
          let shown = Self.row(row.id, of: rows, owner: owner.id, table: rowTable)
        else { continue }
        try rowTable.write(row.id, shown, on: connection)
        let key = RecordKey(type: rowTable.type.name, id: row.id)
        try capture(.inserted, key, table: rowTable, fields: 0, now: now)
      }
    }
  }

  /// Makes the tables hold this set and no other rows of the owner; it is sealed as it stands then.
  func take(_ rows: OwnedRows, set name: String, of owner: RecordKey, table: TypeTable, now: Instant) throws {
    guard let set = table.sets.first(where: { $0.name == name }), let rowTable = registry[set.number] else {
      throw ReplicaError(.notFound, "The schema here does not know \(owner.type).\(name).")
    }
    for id in try ids(in: rowTable, of: owner.id) where rows.row(id) == nil {
      try rowTable.remove(id, on: connection)
    }
    for row in rows.rows {
      guard let shown = Self.row(row.id, of: rows, owner: owner.id, table: rowTable) else { continue }
      try rowTable.write(row.id, shown, on: connection)
      // A row that was another's, or nobody's, leaves there.
      try capture(.updated, RecordKey(type: name, id: row.id), table: rowTable, fields: 0, now: now)
    }
    try capture(.updated, owner, table: table, fields: 0, now: now)
  }

  /// Whether no edit of the owner's rows waits to be sealed: it would not be in the set yet.
  func areRowsSealed(of owner: RecordKey, table: TypeTable) throws -> Bool {
    for set in table.sets {
      guard let rowTable = registry[set.number], let by = rowTable.owner?.field else { continue }
      let waiting = try connection.integer(
        """
        SELECT 1 FROM sync_outbox o WHERE o.type = ?1 AND (
          EXISTS (SELECT 1 FROM sync_owned s WHERE s.type = ?1 AND s.id = o.id AND s.owner = ?2)
          OR EXISTS (SELECT 1 FROM \(SchemaTables.quoted(set.name)) r
            WHERE r.id = o.id AND r.\(SchemaTables.quoted(rowTable.fieldNames[by])) = ?2)) LIMIT 1
        """, .integer(set.number), .text(owner.id))
      if waiting != nil { return false }
    }
    return true
  }
}
