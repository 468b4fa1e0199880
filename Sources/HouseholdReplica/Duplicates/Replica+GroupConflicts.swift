internal import HouseholdRecords

/// Conflicts, deciding and undoing where several records are one thing.
extension Replica {
  /// Brings the list of conflicts in line with a group; returns the records under which any are listed.
  ///
  /// Those of live members are listed under the survivor, which shows; each dead member lists its own.
  func listConflicts(
    of group: RecordGroup, _ entries: [String: [RecordGroup.Entry]], places: [RecordPlace], table: TypeTable
  ) throws -> Set<RecordPlace> {
    for place in places {
      try connection.run(
        "UPDATE sync_conflict SET open = 0 WHERE type = ? AND id = ?", .integer(place.type), .text(place.id))
    }
    var listed: Set<RecordPlace> = []
    for member in group.members where !member.state.isAlive {
      if try listConflicts(of: member.state, type: table.number, id: member.id, table: table) {
        listed.insert(RecordPlace(type: table.number, id: member.id))
      }
    }
    for (conflict, owner) in conflicts(of: group, entries, table: table) {
      try list(conflict, owner: owner, at: group.survivor.id, type: table.number, table: table)
      listed.insert(RecordPlace(type: table.number, id: group.survivor.id))
    }
    return listed
  }

  private func conflicts(
    of group: RecordGroup, _ entries: [String: [RecordGroup.Entry]], table: TypeTable
  ) -> [(conflict: Conflict, owner: String)] {
    let deciding = Set(table.type.unique.flatMap(\.by))
    return group.conflicts(entries, strategy: { table.cell($0)?.strategy ?? .merge }) { name, a, b in
      guard let cell = table.cell(name) else { return a == b }
      func compared(_ value: CellValue) -> [FieldValue] {
        var row = [FieldValue](repeating: .null, count: table.fieldNames.count)
        for (index, value) in zip(cell.fields, value.values) { row[index] = value }
        row = duplicates.repointed(row, of: table.number)
        return cell.fields.map { index in
          let kind = deciding.contains(table.fieldNames[index]) ? table.type.fields[index].kind : nil
          return UniqueKey.comparable(row[index], kind: kind)
        }
      }
      return compared(a) == compared(b)
    }
  }

  /// The open conflicts that are listed under a record, each with the record whose write lost.
  func openConflicts(
    of key: RecordKey, _ state: RecordState, table: TypeTable
  ) throws -> [(conflict: Conflict, owner: String)] {
    if state.isAlive, let (group, _) = try group(of: key, table: table) {
      return conflicts(of: group, try group.entries(coverage: self), table: table)
    }
    return try state.conflicts(strategy: { table.cell($0)?.strategy ?? .merge }, coverage: self)
      .map { ($0, key.id) }
  }

  /// What a live record shows together with the others of its group; its own state if it is one thing with no other.
  func stateOfAll(_ state: RecordState, at place: RecordPlace, table: TypeTable?) throws -> RecordState {
    guard state.isAlive, duplicates.isMember(place), let table,
      let (group, _) = try group(of: RecordKey(type: table.type.name, id: place.id), table: table)
    else { return state }
    return group.combined(try group.entries(coverage: self))
  }

  /// The group of a record, if it is one thing with others.
  private func group(
    of key: RecordKey, table: TypeTable
  ) throws -> (group: RecordGroup, places: [RecordPlace])? {
    let place = RecordPlace(type: table.number, id: key.id)
    guard duplicates.isMember(place) else { return nil }
    let places = duplicates.groups.group(of: place)
    let members = try places.map { place in
      RecordGroup.Member(id: place.id, state: try state(of: place) ?? RecordState())
    }
    return RecordGroup(members) { duplicates.isBuiltIn(table.type.name, $0) }.map { ($0, places) }
  }

  /// The row of a record as it shows, or as it last showed: with what the other members of its group say.
  func rowOfAll(_ key: RecordKey, _ state: RecordState, table: TypeTable) throws -> [FieldValue] {
    if state.isAlive, let shown = try table.row(key.id, on: connection) { return shown }
    guard let (group, _) = try group(of: key, table: table), !group.isAlive else {
      return row(of: state, table: table)
    }
    return row(of: group.combined(try group.entries(coverage: self)), table: table)
  }

  /// The record that shows in the place of this one; itself if it is one thing with no other.
  func survivor(of key: RecordKey) -> RecordKey {
    guard let type = registry.known(key.type),
      let id = duplicates.shownAs[RecordPlace(type: type, id: key.id)]
    else { return key }
    return RecordKey(type: key.type, id: id)
  }

  // MARK: Undoing a merge

  /// The id of the fact that a change of the history stands for; nil for every other change.
  static func factID(ofChange change: String) -> String? {
    let mark = "-\(AliasFact.typeName)-"
    var rest = change[...]
    while !rest.isEmpty {
      if rest.hasPrefix(mark) { return String(rest.dropFirst(mark.count)) }
      rest = rest.dropFirst()
    }
    return nil
  }

  /// Takes a fact back: its second record is a record of its own again, and is not joined with these again.
  ///
  /// If other facts still connect the two, those about the second record are taken back too.
  func part(_ id: String, now: Instant) throws {
    guard let table = registry[Duplicates.factType],
      let fact = try table.row(id, on: connection).flatMap(AliasFact.init(row:)),
      let type = registry.known(fact.type)
    else { throw ReplicaError(.notFound, "There is no merge \(id) that can be undone.") }
    try takeBack(id, fact, now: now)
    let (first, second) = (RecordPlace(type: type, id: fact.first), RecordPlace(type: type, id: fact.second))
    var rest = duplicates.groups
    rest.part(first, second)
    guard rest.group(of: first).contains(second) else { return }
    for other in duplicates.facts(about: second) where other.id != id {
      guard let fact = AliasFact(type: fact.type, other.edge.first.id, other.edge.second.id) else { continue }
      try takeBack(other.id, fact, now: now)
    }
  }

  private func takeBack(_ id: String, _ fact: AliasFact, now: Instant) throws {
    // The row stays until the deletion is sealed: it says what holds.
    try requireSealed(RecordKey(type: AliasFact.typeName, id: id), number: Duplicates.factType)
    try connection.run(
      """
      INSERT INTO sync_outbox(type, id, kind, fields, at, image) VALUES (?, ?, ?, 0, ?, json_array(?, ?, ?))
      """, .integer(Duplicates.factType), .text(id), .integer(OutboxRow.Kind.deleted.rawValue),
      .integer(now.milliseconds), .text(fact.type), .text(fact.first), .text(fact.second))
  }
}
