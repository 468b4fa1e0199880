internal import HouseholdRecords

/// Bringing groups of duplicates, and references to them, in line with what was applied (design 2.7, D8).
///
/// What shows is a function of the records' states and the facts that hold, whatever the order in which they came: so
/// all that changed in a transaction is looked at once, at its end.
extension Replica {
  /// Whether this device may say that two records are one thing: devices that only read write nothing (D5).
  var mayWriteFacts: Bool {
    canSeal && membershipState.admits(identity.device)
      && membershipState.member(of: identity.device)?.role != .readOnly
  }

  /// Settles what was noted; returns whether facts were found and wait in the outbox.
  func settleDuplicates(now: Instant) throws -> Bool {
    while duplicates.isDirty {
      try settleFacts()
      let members = duplicates.takeMembers()
      if members.isEmpty {
        if try settleKeys(now: now) { return true }
      } else {
        try settleGroups(of: members)
      }
    }
    return false
  }

  /// Reads facts anew, and looks at everything: after records came in another way than by changesets.
  ///
  /// - Parameter joined: what the rows that came show joined, also by facts that do not count here.
  func readDuplicatesAgain(_ joined: [RecordPlace]) throws {
    let before = Set(duplicates.groups.members).union(joined)
    duplicates = try Duplicates(connection, registry: registry, schema: membershipState.schema)
    for place in before.sorted() { duplicates.noteGroup(of: place) }
    duplicates.noteAll()
    try reshowHolders(of: Set(joined).union(duplicates.groups.members))
  }

  private func settleFacts() throws {
    guard let table = registry[Duplicates.factType] else { return }
    for id in duplicates.takeFacts() {
      let fact = try table.row(id, on: connection).flatMap(AliasFact.init(row:))
      let type = try fact.map { try registry.number(of: $0.type, on: connection) }
      duplicates.set(fact, type: type ?? 0, of: id)
    }
  }

  // MARK: Groups

  private func settleGroups(of places: [RecordPlace]) throws {
    var changed: Set<RecordPlace> = []
    var visited: Set<RecordPlace> = []
    for place in places where !visited.contains(place) {
      let group = duplicates.groups.group(of: place)
      visited.formUnion(group)
      try settle(group, changed: &changed)
    }
    try reshowHolders(of: changed)
  }

  /// Makes one group show what its members say together.
  ///
  /// - Parameter changed: gets the places in whose stead something else is to be shown now.
  private func settle(_ places: [RecordPlace], changed: inout Set<RecordPlace>) throws {
    guard let table = registry[places[0].type] else { return }
    let members = try places.map { place in
      RecordGroup.Member(id: place.id, state: try state(of: place) ?? RecordState())
    }
    guard let group = RecordGroup(members, isBuiltIn: { duplicates.isBuiltIn(table.type.name, $0) }) else { return }
    let survivor = group.survivor.id
    for place in places {
      let before = duplicates.shownAs[place] ?? place.id
      if !before.hasSameBytes(as: survivor) { changed.insert(RecordPlace(type: place.type, id: before)) }
      duplicates.show(place, as: place.id.hasSameBytes(as: survivor) ? nil : survivor)
    }
    if places.count == 1 {
      try connection.run(
        "DELETE FROM sync_merged WHERE type = ? AND id = ?", .integer(table.number), .text(places[0].id))
      let row = try table.row(places[0].id, on: connection)
      guard !group.survivor.state.cells.isEmpty else {
        // All that it was has been withdrawn, and the fact that made it a member too.
        if row != nil { try table.remove(places[0].id, on: connection) }
        return duplicates.noteRow(of: places[0], isNew: false)
      }
      return try store(group.survivor.state, of: places[0], table: table, shownBefore: row, earlierFlags: .max)
    }
    try show(group, survivor: survivor, places: places, table: table)
  }

  /// Stores a group of at least two, and shows its survivor.
  private func show(_ group: RecordGroup, survivor: String, places: [RecordPlace], table: TypeTable) throws {
    let entries = try group.entries(coverage: self)
    let combined = group.combined(entries)
    let conflicts = try listConflicts(of: group, entries, places: places, table: table)
    for member in group.members where !member.state.cells.isEmpty {
      let place = RecordPlace(type: table.number, id: member.id)
      var (stored, _) = try CellVersions.encode(member.state, table: table, names: self, isApart: true)
      let isSurvivor = member.id.hasSameBytes(as: survivor)
      if stored.isAlive && !isSurvivor { stored.flags |= StoredRecord.mergedFlag }
      if conflicts.contains(place) { stored.flags |= StoredRecord.conflictFlag }
      try stored.write(type: place.type, id: place.id, on: connection)
    }
    var flags: Int64 = 0
    let row = CellVersions.shownRow(of: combined, table: table, flags: &flags)
    for place in places {
      let isNew = try show(
        group.isAlive && place.id.hasSameBytes(as: survivor)
          ? duplicates.repointed(row, of: place.type) : nil, at: place, table: table)
      duplicates.noteRow(of: place, isNew: isNew)
    }
    let hides = table.cell("hidden").map { group.hides($0.name, combined: combined, strategy: $0.strategy) } ?? false
    for place in places {
      if place.id.hasSameBytes(as: survivor) {
        try connection.run("DELETE FROM sync_merged WHERE type = ? AND id = ?", .integer(place.type), .text(place.id))
      } else {
        try connection.run(
          "INSERT OR REPLACE INTO sync_merged(type, id, survivor, hides) VALUES (?, ?, ?, ?)", .integer(place.type),
          .text(place.id), .text(survivor), .integer(hides ? 1 : 0))
      }
    }
  }

  /// Makes the table show this row, or none; returns whether it shows one where it showed none.
  private func show(_ row: [FieldValue]?, at place: RecordPlace, table: TypeTable) throws -> Bool {
    let shown = try table.row(place.id, on: connection)
    if row == shown { return false }
    if let row {
      try table.write(place.id, row, on: connection)
    } else {
      try table.remove(place.id, on: connection)
    }
    return shown == nil
  }

  /// Stores the state of a member while its group is not settled; returns what the table shows as it is.
  func keepMember(
    _ state: RecordState, of place: RecordPlace, table: TypeTable?, flags: Int64
  ) throws -> [FieldValue]? {
    var (stored, _) = try CellVersions.encode(state, table: table, names: self, isApart: true)
    stored.flags |= flags & (StoredRecord.conflictFlag | (stored.isAlive ? StoredRecord.mergedFlag : 0))
    try stored.write(type: place.type, id: place.id, on: connection)
    duplicates.noteGroup(of: place)
    return try table?.row(place.id, on: connection)
  }

  // MARK: References

  /// Shows every record anew that shows a reference to one of these.
  private func reshowHolders(of changed: Set<RecordPlace>) throws {
    guard !changed.isEmpty else { return }
    let targets = Dictionary(grouping: changed.sorted(), by: \.type).mapValues { $0.map(\.id) }
    for table in registry.sorted {
      var holders: Set<RecordPlace> = []
      for reference in duplicates.references(of: table.number) {
        guard let ids = targets[reference.target] else { continue }
        holders.formUnion(try places(in: table, whereField: reference.index, isOneOf: ids))
      }
      for place in holders.sorted() {
        guard !duplicates.isMember(place) else {
          duplicates.noteGroup(of: place)
          continue
        }
        if table.owner != nil {
          try settle(place)
          continue
        }
        guard let stored = try StoredRecord.read(type: place.type, id: place.id, on: connection) else { continue }
        let row = try table.row(place.id, on: connection)
        let state = try CellVersions.decode(stored, row: row, table: table, names: self)
        try store(state, of: place, table: table, shownBefore: row, earlierFlags: stored.flags)
      }
    }
  }

  /// The records whose rows have one of these texts in a field.
  func places(in table: TypeTable, whereField index: Int, isOneOf ids: [String]) throws -> [RecordPlace] {
    var found: [RecordPlace] = []
    var rest = ids[...]
    while let last = rest.first {
      // Few lengths of the list, so that few statements are prepared.
      let count = rest.count > 16 ? 256 : rest.count > 1 ? 16 : 1
      let marks = Array(repeating: "?", count: count).joined(separator: ", ")
      let statement = try connection.statement(
        """
        SELECT id FROM \(SchemaTables.quoted(table.type.name))
        WHERE \(SchemaTables.quoted(table.fieldNames[index])) IN (\(marks))
        """)
      let part = Array(rest.prefix(count))
      rest = rest.dropFirst(count)
      try statement.bind((part + Array(repeating: last, count: count - part.count)).map(FieldValue.text))
      defer { statement.reset() }
      while try statement.step() { found.append(RecordPlace(type: table.number, id: statement.text(0))) }
    }
    return found
  }
}
