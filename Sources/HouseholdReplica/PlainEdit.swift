internal import HouseholdRecords

/// An edit of a few cells of a record that nobody contests, made without reading the other cells.
///
/// Most edits are such: their author had seen all that they write over, and the record has one write in each cell. What
/// is stored is byte for byte what decoding, merging and encoding all cells gives; where that is not certain there is no
/// plain edit, and the long way is gone.
struct PlainEdit {
  /// Which cells and columns the fields of operations of one shape are.
  struct Plan {
    /// Where a column's value comes from.
    struct Column {
      var index: Int
      /// Its place among the operation's values; nil for a field of a cell that the operation leaves out.
      var value: Int?
      /// Whether other columns are of the same cell.
      var isOfGroup: Bool
    }

    let table: TypeTable
    let fields: [String]
    /// The cells, sorted by name.
    let cells: [TypeTable.Cell]
    let columns: [Column]
    /// The columns of the operation's fields, in their order.
    let named: [Column]
    private let selectSQL: String
    private let updateSQL: String

    /// Nil if the table does not know a field, or its rows are another record's.
    init?(_ fields: [String], table: TypeTable?) {
      guard let table, table.owner == nil, !fields.isEmpty else { return nil }
      var columns: [Column] = []
      var cells: [TypeTable.Cell] = []
      for names in Operation.cells(of: fields, type: table.type) {
        guard let cell = table.cell(names[0]), cell.fields.count == names.count else { return nil }
        cells.append(cell)
        for (name, index) in zip(names, cell.fields) {
          columns.append(Column(index: index, value: fields.firstIndex(of: name), isOfGroup: names.count > 1))
        }
      }
      (self.table, self.fields) = (table, fields)
      self.cells = cells.sorted { $0.name < $1.name }
      self.columns = columns
      named = fields.indices.compactMap { value in columns.first { $0.value == value } }
      let names = columns.map { SchemaTables.quoted(table.fieldNames[$0.index]) }
      let rows = SchemaTables.quoted(table.type.name)
      selectSQL = "SELECT \(names.joined(separator: ", ")) FROM \(rows) WHERE id = ?"
      updateSQL = "UPDATE \(rows) SET \(names.map { "\($0) = ?" }.joined(separator: ", ")) WHERE id = ?"
    }

    /// The row as the table has it, with null in all columns but those of the plan; nil if there is none.
    func shown(_ id: String, on connection: Connection) throws -> [FieldValue]? {
      let statement = try connection.statement(selectSQL)
      try statement.bind(1, id)
      defer { statement.reset() }
      guard try statement.step() else { return nil }
      var row = [FieldValue](repeating: .null, count: table.fieldNames.count)
      for (place, column) in columns.enumerated() { row[column.index] = statement.value(Int32(place)) }
      return row
    }

    /// Writes the columns of the plan into a row that is there.
    func write(_ id: String, _ row: [FieldValue], on connection: Connection) throws {
      let statement = try connection.statement(updateSQL)
      for (place, column) in columns.enumerated() { try statement.bind(Int32(place + 1), row[column.index]) }
      try statement.bind(Int32(columns.count + 1), id)
      try statement.run()
    }

    /// The row with the values of an operation; nil if one does not fit its column.
    func row(_ before: [FieldValue], with values: [FieldValue]) -> [FieldValue]? {
      var row = before
      for column in columns {
        let value = column.value.map { values[$0] } ?? .null
        guard table.fits(value, field: column.index) else { return nil }
        row[column.index] = value
      }
      return row
    }
  }

  /// One named cell of the stored record.
  private struct Entry {
    var name: String
    /// Its only write's changeset and life; nil for a cell that nobody wrote.
    var writer: Int64?
    var life: UInt64 = 0
    var isWeak = false
    var hasValue = false
    var bytes: Range<Int>
  }

  /// A write that the edit writes over.
  struct Overwritten {
    var cell: TypeTable.Cell
    var header: ChangesetHeader
    var life: UInt64
    /// Nil for one that is as weak as its values.
    var isWeak: Bool?
  }

  private let stored: StoredRecord
  private let entries: [Entry]
  fileprivate let plan: Plan
  let overwritten: [Overwritten]

  /// Nil if the record is contested, or shows something else than its cells.
  init?(of stored: StoredRecord, _ plan: Plan, names: some WriterNames) throws {
    guard stored.isAlive, stored.flags & ~StoredRecord.weakFlag == 0, let entries = Self.entries(of: stored) else {
      return nil
    }
    let baseIsWeak: Bool? = stored.flags & StoredRecord.weakFlag != 0 ? true : nil
    var overwritten: [Overwritten] = []
    for cell in plan.cells {
      guard let entry = entries.first(where: { $0.name == cell.name }) else {
        overwritten.append(
          Overwritten(cell: cell, header: try names.header(of: stored.writer), life: stored.life, isWeak: baseIsWeak))
        continue
      }
      if entry.hasValue { return nil }
      guard let writer = entry.writer else { continue }
      overwritten.append(
        Overwritten(cell: cell, header: try names.header(of: writer), life: entry.life, isWeak: entry.isWeak))
    }
    (self.stored, self.entries, self.plan, self.overwritten) = (stored, entries, plan, overwritten)
  }

  /// What is stored after the edit; nil if its author had not seen all that it writes over, or something greater stands
  /// beside it.
  func stored(by header: ChangesetHeader, replica: Replica) throws -> StoredRecord? {
    let modified = try replica.header(of: stored.modified)
    guard header.position != stored.writer, (header.stamp, header.name) > (modified.stamp, modified.name) else {
      return nil
    }
    for earlier in overwritten {
      guard earlier.header.name != header.name, try replica.covers(header.name, earlier.header.name) else {
        return nil
      }
    }
    var next = stored
    next.modified = header.position
    next.cells = cells(writtenBy: header.position)
    return next
  }

  /// The cells as they are stored, with those of the edit in their places.
  private func cells(writtenBy position: Int64) -> [UInt8] {
    let kept = entries.filter { entry in !plan.cells.contains { $0.name == entry.name } }
    var out = ByteWriter()
    out.varint(kept.count + plan.cells.count)
    var next = kept[...]
    func writeKept(before cell: String?) {
      while let entry = next.first, cell.map({ entry.name < $0 }) ?? true {
        out.raw(stored.cells?[entry.bytes] ?? [])
        next = next.dropFirst()
      }
    }
    for cell in plan.cells {
      writeKept(before: cell.name)
      out.text(cell.name)
      out.varint(1)
      out.varint(UInt64(position))
      out.varint(stored.life)
      // A person's, and the row has its values.
      out.byte(0)
    }
    writeKept(before: nil)
    return out.bytes
  }

  /// The named cells; nil if one has several writes, or they cannot be read: the long way says what is wrong.
  private static func entries(of stored: StoredRecord) -> [Entry]? {
    guard let cells = stored.cells else { return [] }
    var reader = ByteReader(cells)
    var entries: [Entry] = []
    do {
      for _ in 0..<(try reader.count(limit: Limits.fieldsPerType * 2)) {
        let start = reader.position
        var entry = Entry(name: try reader.text(limit: Limits.nameBytes), bytes: start..<start)
        let writes = try reader.count(limit: Limits.vectorEntries)
        guard writes < 2, entry.name != CellName.emptied else { return nil }
        if writes == 1 {
          entry.writer = Int64(clamping: try reader.varint())
          entry.life = try reader.varint()
          let flags = try reader.byte()
          (entry.isWeak, entry.hasValue) = (
            flags & CellVersions.Flag.weak != 0, flags & CellVersions.Flag.hasValue != 0
          )
          for _ in 0..<(entry.hasValue ? try reader.count(limit: Limits.fieldsPerType) : 0) { _ = try reader.value() }
        }
        entry.bytes = start..<reader.position
        entries.append(entry)
      }
      try reader.finish()
    } catch {
      return nil
    }
    return entries
  }
}

extension Replica {
  /// Applies an update the short way; false if it has to go the long one.
  ///
  /// - Parameter kept: gets what the edit leaves beside the row.
  func applyPlain(
    _ operation: Operation, _ plan: PlainEdit.Plan, header: ChangesetHeader, kept: inout KeptEdits
  ) throws -> Bool {
    let table = plan.table
    let place = RecordPlace(type: table.number, id: operation.id)
    // Where some record shows in place of another, the rest of the row counts too.
    let needsAll = !duplicates.shownAs.isEmpty
    guard takesShortWay, !operation.isWeak, !duplicates.isMember(place),
      let stored = try StoredRecord.read(type: table.number, id: operation.id, on: connection),
      stored.life == operation.life,
      let plain = try PlainEdit(of: stored, plan, names: self),
      let next = try plain.stored(by: header, replica: self),
      let before = try needsAll
        ? table.row(operation.id, on: connection) : plan.shown(operation.id, on: connection),
      let row = plan.row(before, with: operation.values), !needsAll || !duplicates.concerns(place, row: row)
    else { return false }
    try keep(next, of: place, plain, before: before, values: operation.values, header: header, kept: &kept)
    if row != before { try plan.write(operation.id, row, on: connection) }
    return true
  }

  /// The short way for an own edit; nil if it has to go the long one.
  ///
  /// - Parameter edit: the only one of its record in its run.
  func plainEdit(_ edit: EditReader.Edit, _ plan: PlainEdit.Plan, _ sealed: SealedRecords) throws -> PlainEdit? {
    let place = RecordPlace(type: edit.table.number, id: edit.id)
    guard takesShortWay, edit.kind == .update, !edit.isWeak, sealed[place] == nil, !duplicates.isMember(place),
      let before = edit.rowBefore,
      let stored = edit.stored, stored.life == edit.life,
      let row = plan.row(before, with: edit.values), !duplicates.concerns(place, row: row),
      // Otherwise it is to be shown anew, or waits for a later edit.
      edit.rowNow == row
    else { return nil }
    return try PlainEdit(of: stored, plan, names: self)
  }

  /// Seals an own edit the short way; false if it has to go the long one.
  ///
  /// - Parameter kept: gets what the edit leaves beside the row.
  func seal(
    _ plain: PlainEdit, _ edit: EditReader.Edit, header: ChangesetHeader, kept: inout KeptEdits
  ) throws -> Bool {
    guard let before = edit.rowBefore, let next = try plain.stored(by: header, replica: self) else { return false }
    try keep(
      next, of: RecordPlace(type: edit.table.number, id: edit.id), plain, before: before, values: edit.values,
      header: header, kept: &kept)
    return true
  }

  private func keep(
    _ stored: StoredRecord, of place: RecordPlace, _ plain: PlainEdit, before: [FieldValue], values: [FieldValue],
    header: ChangesetHeader, kept: inout KeptEdits
  ) throws {
    let plan = plain.plan
    for column in plan.named {
      guard let index = column.value else { continue }
      let (earlier, value) = (before[column.index], values[index])
      // Of a group only what differs is a change, though all of it was written.
      if earlier == value && plan.named.count > 1 && column.isOfGroup { continue }
      kept.add(change(of: plan.table.fieldNames[column.index], earlier, value, at: place, header: header))
    }
    for earlier in plain.overwritten where hasOthers {
      let values = earlier.cell.fields.map { before[$0] }
      let lost = Write(
        name: earlier.header.name, stamp: earlier.header.stamp, life: earlier.life,
        isWeak: earlier.isWeak ?? values.allSatisfy(\.isNull), value: .fields(values),
        isByOwner: plan.table.prefersOwners && isByOwner(earlier.header))
      kept.add(
        KeptEdits.Displaced(
          content: DisplacedContent.encode(lost), cell: earlier.cell.name, place: place,
          writer: earlier.header.position, life: lost.life, displacer: header.position))
    }
    duplicates.note(place, isNew: true)
    try kept.add(stored, of: place, on: connection)
  }
}
