internal import HouseholdRecords

/// Showing owned sets: which rows an owned type's table holds follows from the sets that decide at their owners (D10).
///
/// `sync_owned` says which set holds which row. Almost always it is one; where several do, the greatest claim shows.
extension Replica {
  /// A set that holds a row, as `sync_owned` has it.
  struct StoredClaim {
    var owner: String
    var position: Int64
    var made: Int64
    var changed: Int64
    var isShown: Bool
  }

  /// Whether the state has sets, whatever the schema here knows of them.
  static func hasSets(_ state: RecordState) -> Bool {
    state.cells.values.contains { writes in writes.contains { if case .rows = $0.value { true } else { false } } }
  }

  /// Makes the tables of owned types show what the owner's state says, and judges the sets.
  ///
  /// - Parameters:
  ///   - earlierFlags: those of the state before; a set that is gone leaves rows behind otherwise.
  ///   - touched: what was just sealed, if that is why; its rows are shown afterwards, by ``showTouched(_:)``.
  func showSets(
    of owner: RecordPlace, table: TypeTable, state: RecordState, earlierFlags: Int64, touched: TouchedSets? = nil
  ) throws {
    let hadSets = earlierFlags & StoredRecord.setsFlag != 0
    for set in table.sets where hadSets || state.cells[set.name] != nil {
      try show(set, of: owner, state: state, touched: touched)
      try judge(set, of: owner, table: table, state: state)
    }
  }

  private func show(
    _ set: TypeTable.OwnedSet, of owner: RecordPlace, state: RecordState, touched: TouchedSets?
  ) throws {
    let shown = state.shownSet(of: set.name)
    let position = try shown.map { try self.number(of: $0.write.name) } ?? 0
    var former = try rows(claimedBy: owner.id, type: set.number)
    for row in shown?.rows.rows ?? [] {
      let place = RecordPlace(type: set.number, id: row.id)
      let known = former.removeValue(forKey: place)
      if known == position { continue }
      try claim(place, owner: owner.id, position: position)
      if touched?.owners[place] != nil { continue }
      try settle(place, by: owner, set: shown?.rows, sealedThrough: touched?.lastNumber)
    }
    for place in former.keys.sorted() {
      try connection.run(
        "DELETE FROM sync_owned WHERE type = ? AND id = ? AND owner = ?", .integer(place.type), .text(place.id),
        .text(owner.id))
      if touched?.owners[place] != nil { continue }
      try settle(place, sealedThrough: touched?.lastNumber)
    }
  }

  /// Makes the tables show the rows that were touched by what was just sealed: also those that no set holds now, as
  /// their owner is gone, and those whose generated values have lost.
  func showTouched(_ touched: TouchedSets) throws {
    for (owner, rows) in touched.rows.sorted(by: { $0.key < $1.key }) {
      guard let table = registry[owner.type] else { continue }
      let state = try state(of: owner) ?? RecordState()
      for set in table.sets {
        let shown = state.shownSet(of: set.name)?.rows
        var isContested = false
        for row in rows where row.type == set.number {
          if try settle(row, by: owner, set: shown, sealedThrough: touched.lastNumber) { isContested = true }
        }
        if isContested { try judge(set, of: owner, table: table, state: state) }
      }
    }
    for (row, owners) in touched.owners where owners.isEmpty {
      try settle(row, sealedThrough: touched.lastNumber)
    }
  }

  private func rows(claimedBy owner: String, type: Int64) throws -> [RecordPlace: Int64] {
    let statement = try connection.statement("SELECT id, position FROM sync_owned WHERE type = ? AND owner = ?")
    try statement.bind([.integer(type), .text(owner)])
    defer { statement.reset() }
    var rows: [RecordPlace: Int64] = [:]
    while try statement.step() { rows[RecordPlace(type: type, id: statement.text(0))] = statement.integer(1) }
    return rows
  }

  /// Remembers that the set of this changeset holds the row; who made it stays who it was.
  private func claim(_ place: RecordPlace, owner: String, position: Int64) throws {
    try connection.run(
      """
      INSERT INTO sync_owned(type, id, owner, position, made, changed, shown) VALUES (?1, ?2, ?3, ?4,
        coalesce((SELECT min(made) FROM sync_owned WHERE type = ?1 AND id = ?2), ?4), ?4, 1)
      ON CONFLICT(type, id, owner) DO UPDATE SET position = excluded.position, changed = CASE WHEN EXISTS (
        SELECT 1 FROM sync_change h WHERE h.type = ?1 AND h.id = ?2 AND h.position = ?4) THEN ?4 ELSE changed END
      """, .integer(place.type), .text(place.id), .text(owner), .integer(position))
  }

  /// The sets that hold the row.
  func claims(on place: RecordPlace) throws -> [StoredClaim] {
    let statement = try connection.statement(
      "SELECT owner, position, made, changed, shown FROM sync_owned WHERE type = ? AND id = ?")
    try statement.bind([.integer(place.type), .text(place.id)])
    defer { statement.reset() }
    var claims: [StoredClaim] = []
    while try statement.step() {
      claims.append(
        StoredClaim(
          owner: statement.text(0), position: statement.integer(1), made: statement.integer(2),
          changed: statement.integer(3), isShown: statement.integer(4) != 0))
    }
    return claims
  }

  // MARK: One row

  /// Makes the table show the row as the greatest claim on it says, or not at all.
  ///
  /// - Parameters:
  ///   - owner: whose set was just read.
  ///   - set: that set; whoever gives it judges it afterwards.
  /// - Returns: whether more than one set or record claims the row, or did: where it shows has changed.
  @discardableResult
  func settle(
    _ place: RecordPlace, by owner: RecordPlace? = nil, set: OwnedRows? = nil, sealedThrough number: Int64? = nil
  ) throws -> Bool {
    guard let table = registry[place.type], let ownership = table.owner else { return false }
    let claims = try claims(on: place)
    var greatest: (claim: RowClaim, stored: StoredClaim?)?
    let stored = try StoredRecord.read(type: place.type, id: place.id, on: connection)
    var own: [FieldValue]?
    if let stored, stored.isAlive {
      let state = try CellVersions.decode(stored, row: nil, table: table, names: self)
      if let alive = state.winner(of: CellName.alive) {
        own = row(of: state, table: table)
        greatest = (RowClaim(alive, owner: ""), nil)
      }
    }
    for claim in claims {
      let header = try header(of: claim.position)
      let found = RowClaim(stamp: header.stamp, name: header.name, owner: claim.owner)
      if greatest.map({ $0.claim < found }) ?? true { greatest = (found, claim) }
    }
    let winner = greatest?.stored
    let row: [FieldValue]?
    if let winner {
      let isKnown = owner?.id.hasSameBytes(as: winner.owner) ?? false
      let rows = try isKnown ? set : self.set(of: RecordPlace(type: ownership.number, id: winner.owner), table)
      row = rows.flatMap { Self.row(place.id, of: $0, owner: winner.owner, table: table) }
    } else {
      row = own
    }
    try write(
      row.map { duplicates.repointed($0, of: place.type) }, of: place, table: table, sealedThrough: number)
    var hasChanged = false
    for claim in claims {
      let shows = winner.map { $0.owner.hasSameBytes(as: claim.owner) } ?? false
      if shows != claim.isShown {
        hasChanged = true
        try mark(claim, of: place, shows: shows, owner: RecordPlace(type: ownership.number, id: claim.owner), by: owner)
      }
    }
    return claims.count > 1 || !claims.isEmpty && own != nil || hasChanged
  }

  private func write(
    _ row: [FieldValue]?, of place: RecordPlace, table: TypeTable, sealedThrough number: Int64?
  ) throws {
    let before = try table.row(place.id, on: connection)
    if row == before { return }
    // While an edit of the row waits to be sealed, the row is the only place that holds it.
    if let number, try outbox.hasMore(of: place, after: number) { return }
    if let row {
      try table.write(place.id, row, on: connection)
    } else {
      try table.remove(place.id, on: connection)
    }
  }

  /// Notes whether the set's row shows; an owner that gains or loses one is judged anew.
  private func mark(
    _ claim: StoredClaim, of place: RecordPlace, shows: Bool, owner: RecordPlace, by current: RecordPlace?
  ) throws {
    try connection.run(
      "UPDATE sync_owned SET shown = ? WHERE type = ? AND id = ? AND owner = ?", .integer(shows ? 1 : 0),
      .integer(place.type), .text(place.id), .text(claim.owner))
    guard owner != current, let table = registry[owner.type], let state = try state(of: owner) else { return }
    for set in table.sets where set.number == place.type {
      try judge(set, of: owner, table: table, state: state)
    }
  }

  private func set(of owner: RecordPlace, _ table: TypeTable) throws -> OwnedRows? {
    try state(of: owner)?.shownSet(of: table.type.name)?.rows
  }

  /// A set's row as the table shows it; what does not fit its column is kept in the set and not shown.
  static func row(_ id: String, of set: OwnedRows, owner: String, table: TypeTable) -> [FieldValue]? {
    guard let row = set.row(id), let by = table.owner?.field else { return nil }
    return table.fieldNames.indices.map { index in
      if index == by { return .text(owner) }
      let value = set.value(of: table.fieldNames[index], in: row)
      return table.fits(value, field: index) ? value : .null
    }
  }

  // MARK: Snapshots and schemas

  /// Stores the records of types that have come to be owned in the form of owned ones, and shows all sets: for a schema
  /// that knows more than the one before.
  func adoptOwnership(before former: TypeRegistry) throws {
    for table in registry.sorted where table.owner != nil {
      guard let old = former[table.number], old.owner == nil else { continue }
      for id in try liveRecords(of: table) {
        guard let stored = try StoredRecord.read(type: table.number, id: id, on: connection) else { continue }
        let state = try CellVersions.decode(stored, row: try old.row(id, on: connection), table: old, names: self)
        _ = try keep(
          state, of: RecordPlace(type: table.number, id: id), table: table, earlierFlags: stored.flags)
      }
    }
    try showAllSets()
  }

  func liveRecords(of table: TypeTable) throws -> [String] {
    let statement = try connection.statement("SELECT id FROM sync_record WHERE type = ? AND alive = 1")
    try statement.bind(1, table.number)
    defer { statement.reset() }
    var ids: [String] = []
    while try statement.step() { ids.append(statement.text(0)) }
    return ids
  }

  /// Shows the sets of a record that a snapshot brought, and the row of one that has no owner.
  func adoptSets(_ stored: StoredRecord, of place: RecordPlace, table: TypeTable, row: [FieldValue]?) throws {
    if table.owner != nil {
      try settle(place)
      return
    }
    guard stored.flags & StoredRecord.setsFlag != 0 else { return }
    let state = try CellVersions.decode(stored, row: row, table: table, names: self)
    try showSets(of: place, table: table, state: state, earlierFlags: stored.flags)
  }

  private func showAllSets() throws {
    for table in registry.sorted where !table.sets.isEmpty {
      let statement = try connection.statement("SELECT id FROM sync_record WHERE type = ? AND cells IS NOT NULL")
      try statement.bind(1, table.number)
      var ids: [String] = []
      while try statement.step() { ids.append(statement.text(0)) }
      statement.reset()
      for id in ids {
        let place = RecordPlace(type: table.number, id: id)
        guard let state = try state(of: place), Self.hasSets(state) else { continue }
        try connection.run(
          "UPDATE sync_record SET flags = flags | ? WHERE type = ? AND id = ?", .integer(StoredRecord.setsFlag),
          .integer(table.number), .text(id))
        try showSets(of: place, table: table, state: state, earlierFlags: StoredRecord.setsFlag)
        // The sets are the same as before; what of their rows was not shown may be now.
        for set in table.sets {
          let rows = state.shownSet(of: set.name)?.rows
          for row in rows?.rows ?? [] {
            try settle(RecordPlace(type: set.number, id: row.id), by: place, set: rows)
          }
        }
      }
    }
  }
}
