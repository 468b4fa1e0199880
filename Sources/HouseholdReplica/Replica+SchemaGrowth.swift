internal import HouseholdRecords

/// Taking a schema that has grown into the records that are here. No merge is done anew but where fields turn out to be one
/// cell (``TypeTable/joiningParts(_:)``), and nothing is sealed.
///
/// - What was parked is shown: writes of types and fields that were not known here are kept in the cells.
/// - A record that was written before its type had a field has not written it: the new cell is named without a write, or
///   it would be taken for a null of the record's insert and compete with others' writes on some devices only (D13).
/// - Two owners may add a field of one name at the same time. The first in the order of entries stands, also on a device
///   that knew the other one before: what was written there is kept, and shows where it fits.
/// - A type that an owner has added goes again if he had no right to add it. Its table is empty then and refuses edits, as
///   nobody would get them; all that was written is kept in the cells, and shows once the type is there again.
extension Replica {
  /// Brings tables and records in line with the schema that the membership log says now.
  ///
  /// - Parameter earlier: the one that they are in line with.
  func adoptSchema(after earlier: Schema) throws {
    let schema = membershipState.schema
    let former = registry
    for table in registry.sorted where table.type.name != AliasFact.typeName {
      // What an owner has added goes again if the entry turns out not to count; what was written there stays.
      let hidden = table.fieldsHidden(by: schema.type(table.type.name))
      if !hidden.isEmpty { try keepBesideRows(hidden, of: table) }
      if schema.type(table.type.name) == nil {
        try close(table)
      } else {
        try blank(hidden, of: table)
      }
    }
    try SchemaTables.adopt(schema, after: earlier, on: connection)
    registry = try TypeRegistry(schema: schema, connection: connection)
    duplicates = try Duplicates(connection, registry: registry, schema: schema)
    for table in registry.sorted {
      if let old = former[table.number] {
        try blank(table.fieldsHidden(by: old.type), of: table)
      } else {
        try reopen(table)
      }
    }
    try adoptOwnership(before: former)
    try adoptGrowth(from: former)
  }

  /// Keeps the values of these fields in the cells, as nothing reads their columns any more.
  private func keepBesideRows(_ fields: [Int], of table: TypeTable) throws {
    let cells = Set(table.cells.filter { $0.fields.contains(where: fields.contains) }.map(\.name))
    for id in try liveRecords(of: table) {
      let place = RecordPlace(type: table.number, id: id)
      guard let stored = try StoredRecord.read(type: table.number, id: id, on: connection) else { continue }
      let row = try table.row(id, on: connection)
      let state = try CellVersions.decode(stored, row: row, table: table, names: self)
      var (kept, _) = try CellVersions.encode(
        state, table: table, names: self, isApart: duplicates.isMember(place), apart: cells
      ) { row in duplicates.repointed(row, of: table.number) }
      kept.flags |= stored.flags & (StoredRecord.conflictFlag | StoredRecord.setsFlag | StoredRecord.mergedFlag)
      try kept.write(type: table.number, id: id, on: connection)
    }
  }

  /// Empties the table of a type that the schema knows no longer, and lets no program write there: nobody would get it.
  private func close(_ table: TypeTable) throws {
    try empty(table)
    let reason = "\(WriteProtection.prefix)the household has no record type \(table.type.name) any more"
    try WriteProtection.protect(table.type, reason: reason, on: connection)
  }

  /// Makes a table ready for the records of a type that was not known until now; it may have been before.
  private func reopen(_ table: TypeTable) throws {
    try empty(table)
    try WriteProtection.protect(table.type, reason: nil, on: connection)
  }

  /// Takes the rows out of a table.
  private func empty(_ table: TypeTable) throws {
    try connection.run(
      "DELETE FROM \(SchemaTables.quoted(table.type.name)) WHERE \(Self.isSealed)", .integer(table.number))
  }

  /// Takes the values out of columns that the schema knows no longer, or did not know until now: what is in the cells
  /// shows, and nothing else.
  private func blank(_ fields: [Int], of table: TypeTable) throws {
    for field in fields {
      let column = SchemaTables.quoted(table.fieldNames[field])
      try connection.run(
        """
        UPDATE \(SchemaTables.quoted(table.type.name)) SET \(column) = NULL
        WHERE \(column) IS NOT NULL AND \(Self.isSealed)
        """, .integer(table.number))
    }
  }

  /// While an edit waits to be sealed, the row is the only place that holds it.
  private static let isSealed = "id NOT IN (SELECT id FROM sync_outbox WHERE type = ?)"

  /// Makes records agree with new types and fields.
  ///
  /// - Parameter earlier: the tables as they were known before; the new ones are in `registry`.
  private func adoptGrowth(from earlier: TypeRegistry) throws {
    var inParts: [RecordPlace] = []
    for table in registry.sorted {
      let old = earlier[table.number]
      let added = table.cells.map(\.name).filter { old?.index(of: $0) == nil }.sorted()
      let showsAnew = old.map(table.decidesOtherwise) ?? true
      if added.isEmpty && !showsAnew { continue }
      let ids = try recordsWithNamedCells(of: table.number)
      // Of a record that one changeset wrote no cell is named, and none can be parked.
      try connection.run(
        "UPDATE sync_record SET cells = ? WHERE type = ? AND alive <> 0 AND cells IS NULL",
        .bytes(try CellVersions.naming(added, in: nil).cells), .integer(table.number))
      for id in ids {
        guard var stored = try StoredRecord.read(type: table.number, id: id, on: connection) else { continue }
        let place = RecordPlace(type: table.number, id: id)
        let named = try CellVersions.naming(added, in: stored.cells)
        if stored.isAlive { stored.cells = named.cells }
        if showsAnew || named.hasParked {
          let row = stored.isAlive ? try table.row(id, on: connection) : nil
          let state = try CellVersions.decode(stored, row: row, table: table, names: self)
          if table.hasParts(state) { inParts.append(place) }
          try store(state, of: place, table: table, shownBefore: nil, earlierFlags: stored.flags)
        } else if stored.isAlive {
          try stored.write(type: table.number, id: id, on: connection)
        }
      }
    }
    if !inParts.isEmpty { try recompute(inParts, without: Withdrawn()) }
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

extension TypeTable {
  /// The fields of this table that a type does not know, or holds in another kind of column.
  fileprivate func fieldsHidden(by type: RecordType?) -> [Int] {
    self.type.fields.indices.filter { index in
      let field = self.type.fields[index]
      return type?.field(field.name).map { SchemaTables.storage(of: $0) != SchemaTables.storage(of: field) } ?? true
    }
  }

  /// Whether records may show something else than by an earlier table, in the fields that both know.
  fileprivate func decidesOtherwise(than old: TypeTable) -> Bool {
    old.type.fields.contains { type.field($0.name) != $0 }
      || old.cells.contains { cell($0.name)?.strategy != $0.strategy }
  }
}
