internal import HouseholdRecords

/// Showing what was parked: writes of types and fields that the schema here did not know are kept in the cells, so after
/// an upgrade they only have to be shown. No merge is done anew, and nothing is sealed.
extension Replica {
  /// Makes the tables show what the cells hold for new types and fields.
  ///
  /// - Parameter earlier: the tables as they were known before; the new ones are in `registry`.
  func showParked(earlier: TypeRegistry) throws {
    for table in registry.sorted {
      let old = earlier[table.number]
      let added = table.fieldNames.filter { old?.index(of: $0) == nil }
      if added.isEmpty && old != nil { continue }
      for id in try recordsWithNamedCells(of: table.number) {
        guard let stored = try StoredRecord.read(type: table.number, id: id, on: connection) else { continue }
        let row = stored.isAlive ? try old?.row(id, on: connection) : nil
        let state = try CellVersions.decode(stored, row: row, table: old, names: self)
        if old != nil && !added.contains(where: { state.cells[$0] != nil }) { continue }
        try store(
          state, of: RecordPlace(type: table.number, id: id), table: table, shownBefore: nil,
          earlierFlags: stored.flags)
      }
    }
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
