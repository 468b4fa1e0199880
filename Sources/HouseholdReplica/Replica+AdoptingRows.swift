internal import HouseholdRecords

/// A page of a snapshot on its way into the tables: what its records name, as it is known here.
struct AdoptedPage {
  /// What the records of one shape need.
  struct ShapePlan {
    let number: Int64
    let table: TypeTable?
    /// Where the fields of the table are on a page that was made before the schema grew; nil if they are the same.
    let widening: [Int?]?
    /// The cells that a page does not know which was made before the schema grew.
    let added: [String]
    let writing: Statement?
    /// The words of the statement that writes many rows at once.
    let manySQL: String

    /// Whether its records, unless something is the matter with one, are put in place as they lie on the page.
    var isPlain: Bool { table.map { $0.owner == nil } == true && widening == nil && added.isEmpty }
  }

  /// The headers of the page, with their positions here.
  let known: [ChangesetHeader]
  let names: PageHeaders
  let shapes: [ShapePlan]
  let insertion: Statement

  init(_ page: SnapshotRows, for replica: Replica) throws {
    known = try page.headers.map(replica.know)
    names = PageHeaders(known) { name in
      throw Violation(.badSnapshot, "The changeset \(name) is not on the page.")
    }
    shapes = try page.shapes.map { shape in
      let number = try replica.registry.number(of: shape.type, on: replica.connection)
      let table = replica.registry[number]
      return ShapePlan(
        number: number, table: table, widening: try Self.widening(shape, to: table),
        added: Self.addedCells(shape, table), writing: try table.map { try replica.connection.statement($0.upsertSQL) },
        manySQL: table?.upsertSQL(rows: NewRecords.count) ?? "")
    }
    insertion = try StoredRecord.insertion(on: replica.connection)
  }

  private static func widening(_ shape: Shape, to table: TypeTable?) throws -> [Int?]? {
    let fields = table?.fieldNames ?? []
    if shape.fields == fields { return nil }
    guard shape.fields.allSatisfy(fields.contains) else {
      throw Violation(
        .otherSchema, "The snapshot knows other fields of \(shape.type) than this device; it is asked for anew.")
    }
    return fields.map { shape.fields.firstIndex(of: $0) }
  }

  /// Whoever wrote its records did not write these, but for those that are named there.
  private static func addedCells(_ shape: Shape, _ table: TypeTable?) -> [String] {
    guard let table, shape.fields != table.fieldNames else { return [] }
    return table.cells.map(\.name).filter { !shape.fields.contains($0) }.sorted()
  }

  /// A page's flags as a file keeps them.
  static func storedFlags(_ flags: UInt8) -> Int64 {
    (flags & SnapshotRow.Flag.weak != 0 ? StoredRecord.weakFlag : 0)
      | (flags & SnapshotRow.Flag.quarantined != 0 ? StoredRecord.quarantinedFlag : 0)
      | (flags & SnapshotRow.Flag.conflict != 0 ? StoredRecord.conflictFlag : 0)
      | (flags & SnapshotRow.Flag.sets != 0 ? StoredRecord.setsFlag : 0)
  }
}

/// Putting the records of a snapshot's page in place: many at once where nothing is the matter, or one by one.
extension Replica {
  /// - Parameter bytes: the page, in which the reader stands.
  func adopt(_ reader: SnapshotPageReader, of bytes: [UInt8]) throws {
    var reader = reader
    let page = try AdoptedPage(reader.page, for: self)
    do {
      try unsafe bytes.withUnsafeBytes { place in try unsafe adoptRows(&reader, page, in: place) }
      try adoptDisplaced(reader.displaced(), known: page.known, numbers: page.shapes.map(\.number))
    } catch let violation as DecodingViolation {
      throw Violation(violation, in: "a snapshot page")
    }
  }

  @unsafe private func adoptRows(
    _ reader: inout SnapshotPageReader, _ page: AdoptedPage, in place: UnsafeRawBufferPointer
  ) throws {
    // With grafts the values of a tie are decided anew.
    var many = takesShortWay && grafts.isEmpty ? ManyRows(page, on: connection) : nil
    while reader.remaining > 0 {
      var single = 1
      if let rows = many {
        switch try unsafe rows.adopt(from: &reader, in: place, replica: self) {
        case .all: continue
        case .not(let count): single = count
        case .known:
          // Something is here already, and more may be.
          many = nil
        }
      }
      for _ in 0..<single { try adopt(reader.row(), page) }
    }
  }

  private func adopt(_ row: SnapshotRow, _ page: AdoptedPage) throws {
    let shape = page.shapes[row.shape]
    let (number, table) = (shape.number, shape.table)
    let hasRow = row.flags & SnapshotRow.Flag.row != 0
    let widening = hasRow ? shape.widening : nil
    let values = widening.map { $0.map { index in index.map { row.row[$0] } ?? .null } } ?? row.row
    if let table { try check(values, fits: table) }
    var stored = StoredRecord(
      writer: page.known[row.writer].position, modified: page.known[row.modified].position,
      flags: AdoptedPage.storedFlags(row.flags), life: row.life,
      isAlive: row.flags & SnapshotRow.Flag.alive != 0,
      cells: try row.cells.map { try CellVersions.renumber($0, from: page.names, to: self) })
    let shown = hasRow ? values : nil
    var hasParked = false
    if stored.isAlive, !shape.added.isEmpty {
      let named = try CellVersions.naming(shape.added, in: stored.cells)
      (stored.cells, hasParked) = (named.cells, named.hasParked)
    }
    if hasParked || !grafts.isEmpty && stored.cells != nil {
      // The server shows less than this device can, or has put the writes into the order of its names, and on a tie
      // they decide what shows.
      try mergeRenamed(stored, shown: shown, of: RecordPlace(type: number, id: row.id), table: table)
    } else if try stored.writeIfNew(type: number, id: row.id, using: page.insertion, on: connection) {
      if let shown, let table, let writing = shape.writing { try table.write(row.id, shown, using: writing) }
      if stored.flags & StoredRecord.conflictFlag != 0 {
        let state = try CellVersions.decode(stored, row: shown, table: table, names: self)
        try listConflicts(of: state, type: number, id: row.id, table: table)
      }
      if let table { try adoptSets(stored, of: RecordPlace(type: number, id: row.id), table: table, row: shown) }
    } else {
      try merge(stored, shown: shown, id: row.id, type: number, table: table)
    }
  }

  private func check(_ row: [FieldValue], fits table: TypeTable) throws {
    for index in row.indices where !table.fits(row[index], field: index) {
      throw Violation(
        .otherSchema,
        "The snapshot has another kind of field in \(table.type.name) than this device; it is asked for anew.")
    }
  }

  /// Merges a snapshot's record with what is here: the order in which writes come does not matter.
  private func merge(
    _ theirs: StoredRecord, shown: [FieldValue]?, id: String, type: Int64, table: TypeTable?
  ) throws {
    guard let ours = try StoredRecord.read(type: type, id: id, on: connection) else { return }
    let row = ours.isAlive ? try table?.row(id, on: connection) : nil
    var state = try CellVersions.decode(ours, row: row, table: table, names: self)
    let place = RecordPlace(type: type, id: id)
    try merge(CellVersions.decode(theirs, row: shown, table: table, names: self), into: &state, of: place)
    if state.isContested { contested.insert(place) }
    try store(state, of: place, table: table, shownBefore: row, earlierFlags: ours.flags)
  }
}
