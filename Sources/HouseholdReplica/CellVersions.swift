internal import HouseholdRecords

/// Turns the row of `sync_record` (and of the type's table) into the state that merge works on, and back.
///
/// The load-bearing detail: most records were written by one changeset, so its position stands for all cells and
/// `cells` is null. Only cells that another changeset wrote, and writes that lost, are named one by one; a value
/// stands there only if the row does not show it. A clock per field would cost ten times a plain write.
struct StoredRecord {
  var writer: Int64
  /// The position of the changeset that made the last change that shows.
  var modified: Int64
  /// 1: the writer's operation was weak. 2: some value does not fit its column and is not shown. 4: some edit lost
  /// against a concurrent one. 8: the record has owned sets. 16: alive and merged into another record.
  var flags: Int64
  var life: UInt64
  var isAlive: Bool
  var cells: [UInt8]?

  static let weakFlag: Int64 = 1
  static let quarantinedFlag: Int64 = 2
  static let conflictFlag: Int64 = 4
  static let setsFlag: Int64 = 8
  static let mergedFlag: Int64 = 16

  /// Reads the stored state of a record; nil if nothing was ever heard of it.
  static func read(type: Int64, id: String, on connection: Connection) throws -> StoredRecord? {
    let statement = try connection.statement(
      "SELECT writer, modified, flags, life, alive, cells FROM sync_record WHERE type = ? AND id = ?")
    try statement.bind(1, type)
    try statement.bind(2, id)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return StoredRecord(
      writer: statement.integer(0), modified: statement.integer(1), flags: statement.integer(2),
      life: UInt64(statement.integer(3)), isAlive: statement.integer(4) != 0,
      cells: statement.isNull(5) ? nil : statement.bytes(5))
  }

  /// Stores the state of a record, new or not.
  func write(type: Int64, id: String, on connection: Connection) throws {
    let statement = try connection.statement(Self.upsertSQL)
    try bind(statement, type: type, id: id)
    try statement.run()
  }

  private static let upsertSQL = upsertSQL(rows: 1)

  /// Stores the states of so many records, new or not.
  static func upsertSQL(rows: Int) -> String {
    """
    INSERT INTO sync_record(type, id, writer, modified, flags, life, alive, cells)
    VALUES \(Statement.marks(columns: NewRecords.columns, rows: rows))
    ON CONFLICT(type, id) DO UPDATE SET writer = excluded.writer, modified = excluded.modified, flags = excluded.flags,
      life = excluded.life, alive = excluded.alive, cells = excluded.cells
    """
  }

  /// What `writeIfNew` needs.
  static func insertion(on connection: Connection) throws -> Statement {
    try connection.statement(
      """
      INSERT INTO sync_record(type, id, writer, modified, flags, life, alive, cells) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT(type, id) DO NOTHING
      """)
  }

  /// Stores the state of a record unless something is known of it already; returns whether it did.
  ///
  /// - Parameter insertion: made once for many records.
  func writeIfNew(type: Int64, id: String, using insertion: Statement, on connection: Connection) throws -> Bool {
    try bind(insertion, type: type, id: id)
    try insertion.run()
    return connection.changes == 1
  }

  /// - Parameter column: how many values of others come before.
  func bind(_ statement: Statement, type: Int64, id: String, after column: Int32 = 0) throws {
    try statement.bind(column + 1, type)
    try statement.bind(column + 2, id)
    try statement.bind(column + 3, writer)
    try statement.bind(column + 4, modified)
    try statement.bind(column + 5, flags)
    try statement.bind(column + 6, Int64(clamping: life))
    try statement.bind(column + 7, isAlive ? 1 : 0)
    if let cells { try statement.bind(column + 8, cells) } else { try statement.bindNull(column + 8) }
  }
}

/// How a write's changeset is named inside a stored or sent state: by position in the file, by index in a snapshot.
protocol WriterNames {
  func number(of name: ChangesetName) throws -> Int64
  func header(of number: Int64) throws -> ChangesetHeader
  /// Whether the changeset's author was an owner when he wrote it.
  func isByOwner(_ header: ChangesetHeader) -> Bool
}

/// Changesets by their position in the file.
protocol LoggedNames: WriterNames {
  var log: ChangesetLog { get }
  var replicas: ReplicaTable { get }
  var writeRights: WriteRights { get }
}

extension LoggedNames {
  func number(of name: ChangesetName) throws -> Int64 {
    guard let header = try log.header(of: name, replicas: replicas) else {
      throw ReplicaError(.corrupt, "The changeset \(name) wrote a record and is not known here.")
    }
    return header.position
  }

  func header(of number: Int64) throws -> ChangesetHeader { try log.header(at: number, replicas: replicas) }

  func isByOwner(_ header: ChangesetHeader) -> Bool {
    replicas[header.name.replica].map { writeRights.isOwner($0.device, at: header.membershipHeads) } ?? false
  }
}

/// The encoding of ``StoredRecord``.
enum CellVersions {
  enum Flag {
    static let weak: UInt8 = 1
    static let hasValue: UInt8 = 2
    static let alive: UInt8 = 4
    static let rows: UInt8 = 8
  }

  /// The state that is stored.
  ///
  /// - Parameter row: the record's row in the type's table, where it has one.
  static func decode(
    _ stored: StoredRecord, row: [FieldValue]?, table: TypeTable?, names: some WriterNames
  ) throws -> RecordState {
    var state = RecordState()
    if let cells = stored.cells {
      do {
        try readCells(cells, into: &state, row: row, table: table, names: names)
      } catch let violation as DecodingViolation {
        throw ReplicaError(.corrupt, "The versions of a record cannot be read.", cause: "\(violation)")
      }
    }
    guard stored.isAlive else { return state }
    let writer = try names.header(of: stored.writer)
    let isWeak = stored.flags & StoredRecord.weakFlag != 0
    let isByOwner = table?.prefersOwners == true && names.isByOwner(writer)
    func add(_ cell: String, _ value: CellValue, weak: Bool) {
      guard state.cells[cell] == nil else { return }
      state.cells[cell] = [
        Write(
          name: writer.name, stamp: writer.stamp, life: stored.life, isWeak: weak, value: value, isByOwner: isByOwner)
      ]
    }
    add(CellName.alive, .alive(true), weak: isWeak)
    for cell in table?.cells ?? [] {
      let values = cell.fields.map { table?.owner == nil ? row?[$0] ?? .null : .null }
      add(cell.name, .fields(values), weak: isWeak || values.allSatisfy(\.isNull))
    }
    // A cell that nobody wrote is named with no writes, so that it is not taken for the writer's.
    state.cells = state.cells.filter { !$0.value.isEmpty }
    return state
  }

  private static func readCells(
    _ bytes: [UInt8], into state: inout RecordState, row: [FieldValue]?, table: TypeTable?, names: some WriterNames
  ) throws {
    var reader = ByteReader(bytes)
    for _ in 0..<(try reader.count(limit: Limits.fieldsPerType * 2)) {
      let cell = try reader.text(limit: Limits.nameBytes)
      var writes: [Write] = []
      for _ in 0..<(try reader.count(limit: Limits.vectorEntries)) {
        let header = try names.header(of: Int64(clamping: try reader.varint()))
        let life = try reader.varint()
        let flags = try reader.byte()
        let value: CellValue
        if cell == CellName.alive {
          value = .alive(flags & Flag.alive != 0)
        } else if flags & Flag.hasValue != 0 {
          var values: [FieldValue] = []
          for _ in 0..<(try reader.count(limit: Limits.fieldsPerType)) { values.append(try reader.value()) }
          value = flags & Flag.rows != 0 ? .rows(try OwnedRows(cellValue: values.first)) : .fields(values)
        } else {
          value = .fields(table?.cell(cell)?.fields.map { row?[$0] ?? .null } ?? [])
        }
        writes.append(
          Write(
            name: header.name, stamp: header.stamp, life: life, isWeak: flags & Flag.weak != 0, value: value,
            isByOwner: table?.prefersOwners == true && names.isByOwner(header)))
      }
      state.cells[cell] = writes
    }
    try reader.finish()
  }

  /// What to store for the state, and the row that the type's table shows; nil if the record does not show.
  ///
  /// - Parameters:
  ///   - isApart: the row, if there is one, is not this record's alone, so no value is kept there.
  ///   - apart: cells whose values the row does not hold, whatever it is to show.
  ///   - repoint: what the table shows in place of the winners' values: references to what is shown.
  static func encode(
    _ state: RecordState, table: TypeTable?, names: some WriterNames, isApart: Bool = false, apart: Set<String> = [],
    repoint: ([FieldValue]) -> [FieldValue] = { $0 }
  ) throws -> (stored: StoredRecord, row: [FieldValue]?) {
    let life = state.life
    let winners = state.winners { table?.cell($0)?.strategy ?? .merge }
    let alive = winners[CellName.alive]
    let isAlive = alive?.value == .alive(true)
    var state = state
    // A new life has all its values.
    if isAlive { state.cells[CellName.emptied] = nil }
    let last = alive ?? state.cells.values.joined().max { ($0.stamp, $0.name) < ($1.stamp, $1.name) }
    guard let last else { throw ReplicaError(.other, "A record without any write cannot be stored.") }
    // The greatest of the winning writes is what people call the last change.
    let modified = winners.values.max { ($0.stamp, $0.name) < ($1.stamp, $1.name) } ?? last
    var stored = StoredRecord(
      writer: try names.number(of: last.name), modified: try names.number(of: modified.name),
      flags: last.isWeak ? StoredRecord.weakFlag : 0, life: life, isAlive: isAlive, cells: nil)
    var row: [FieldValue]?
    if isAlive, let table {
      let own = shownRow(of: winners, table: table, flags: &stored.flags)
      row = isApart ? nil : repoint(own)
    }
    stored.cells = try writeCells(
      of: state, winners: winners, table: table, row: row, apart: apart, writer: last, stored: stored, names: names)
    return (stored, row)
  }

  /// The values of the winners, in the order of the fields.
  static func shownRow(of state: RecordState, table: TypeTable, flags: inout Int64) -> [FieldValue] {
    shownRow(of: state.winners { table.cell($0)?.strategy ?? .merge }, table: table, flags: &flags)
  }

  private static func shownRow(of winners: [String: Write], table: TypeTable, flags: inout Int64) -> [FieldValue] {
    var row = [FieldValue](repeating: .null, count: table.fieldNames.count)
    for cell in table.cells {
      guard let winner = winners[cell.name] else { continue }
      for (index, value) in zip(cell.fields, winner.value.values) {
        if table.fits(value, field: index) {
          row[index] = value
        } else {
          flags |= StoredRecord.quarantinedFlag
        }
      }
    }
    return row
  }

  /// The winner of a cell, if the row shows just its values.
  private static func shown(
    in row: [FieldValue]?, _ name: String, of winners: [String: Write], _ table: TypeTable?
  ) -> Write? {
    guard let row, let cell = table?.cell(name), let winner = winners[name],
      winner.value.values == cell.fields.map({ row[$0] })
    else { return nil }
    return winner
  }

  private static func writeCells(
    of state: RecordState, winners: [String: Write], table: TypeTable?, row: [FieldValue]?, apart: Set<String>,
    writer: Write, stored: StoredRecord, names: some WriterNames
  ) throws -> [UInt8]? {
    let baseIsWeak = stored.flags & StoredRecord.weakFlag != 0
    var exceptions: [(name: String, writes: [Write], winner: Write?)] = []
    for (cell, writes) in state.cells {
      // The write whose values the row shows, so that they need not be kept a second time. The row of an owned type may be
      // another set's, so that no value of the record's own stands there.
      let isOwnRow = stored.flags & StoredRecord.quarantinedFlag == 0 && table?.owner == nil
      let inRow = isOwnRow && !apart.contains(cell) ? shown(in: row, cell, of: winners, table) : nil
      if row != nil, writes.count == 1, writes[0].name == writer.name, writes[0].life == stored.life,
        cell == CellName.alive || inRow != nil,
        writes[0].isWeak == (baseIsWeak || cell != CellName.alive && writes[0].value.values.allSatisfy(\.isNull))
      {
        continue
      }
      exceptions.append((cell, writes, inRow))
    }
    // A cell that nobody wrote is named too, so that it is not taken for the writer's.
    for cell in stored.isAlive ? table?.cells ?? [] : [] where state.cells[cell.name] == nil {
      exceptions.append((cell.name, [], nil))
    }
    if exceptions.isEmpty { return nil }
    exceptions.sort { $0.name < $1.name }
    var out = ByteWriter()
    out.varint(exceptions.count)
    for exception in exceptions {
      out.text(exception.name)
      out.varint(exception.writes.count)
      for write in exception.writes {
        out.varint(UInt64(try names.number(of: write.name)))
        out.varint(write.life)
        let isInRow = write == exception.winner
        var lead: UInt8 = write.isWeak ? Flag.weak : 0
        if write.value == .alive(true) { lead |= Flag.alive }
        if case .rows = write.value { lead |= Flag.rows }
        if exception.name != CellName.alive && !isInRow { lead |= Flag.hasValue }
        out.byte(lead)
        if lead & Flag.hasValue != 0 {
          out.varint(write.value.values.count)
          for value in write.value.values { out.value(value) }
        }
      }
    }
    return out.bytes
  }
}
