internal import HouseholdRecords

/// Taking a schema that has grown into the records that are here.
///
/// What was parked is shown: writes of types and fields that the schema here did not know are kept in the cells. And a
/// record that was written before its type had a field has not written it: the new cell is named without a write, or it
/// would be taken for a null of the record's insert and compete with others' writes on some devices only (D13). No merge
/// is done anew, and nothing is sealed.
extension Replica {
  /// Makes records and tables agree with new types and fields.
  ///
  /// - Parameter earlier: the tables as they were known before; the new ones are in `registry`.
  func adoptGrowth(from earlier: TypeRegistry) throws {
    for table in registry.sorted {
      let old = earlier[table.number]
      let added = table.cells.map(\.name).filter { old?.index(of: $0) == nil }.sorted()
      if added.isEmpty && old != nil { continue }
      let ids = try recordsWithNamedCells(of: table.number)
      // Of a record that one changeset wrote no cell is named, and none can be parked.
      try connection.run(
        "UPDATE sync_record SET cells = ? WHERE type = ? AND alive <> 0 AND cells IS NULL",
        .bytes(try CellVersions.naming(added, in: nil).cells), .integer(table.number))
      for id in ids {
        guard let stored = try StoredRecord.read(type: table.number, id: id, on: connection) else { continue }
        try adoptGrowth(of: RecordPlace(type: table.number, id: id), stored, table: table, old: old, added: added)
      }
    }
  }

  private func adoptGrowth(
    of place: RecordPlace, _ stored: StoredRecord, table: TypeTable, old: TypeTable?, added: [String]
  ) throws {
    let named = try CellVersions.naming(added, in: stored.cells)
    guard old == nil || named.hasParked else {
      if stored.isAlive {
        try connection.run(
          "UPDATE sync_record SET cells = ? WHERE type = ? AND id = ?", .bytes(named.cells), .integer(place.type),
          .text(place.id))
      }
      return
    }
    let row = stored.isAlive ? try old?.row(place.id, on: connection) : nil
    let state = try CellVersions.decode(stored, row: row, table: old, names: self)
    try store(state, of: place, table: table, shownBefore: nil, earlierFlags: stored.flags)
  }

  /// The ids of the records of which single cells are kept: only those can hold what was not shown.
  private func recordsWithNamedCells(of type: Int64) throws -> [String] {
    let statement = try connection.statement("SELECT id FROM sync_record WHERE type = ? AND cells IS NOT NULL")
    try statement.bind(1, type)
    defer { statement.reset() }
    var ids: [String] = []
    while try statement.step() { ids.append(statement.text(0)) }
    return ids
  }
}
