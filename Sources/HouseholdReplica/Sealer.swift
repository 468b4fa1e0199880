internal import HouseholdRecords

/// Turns captured edits into operations: what to seal, with the values of now.
///
/// Values are read when they are sealed, so a record that was touched often is sealed once. An edit is sealed with the
/// time at which it was made; a deletion carries no values, so edits just before it are sealed ahead of it from the
/// image that the deletion took.
struct EditReader {
  let connection: Connection
  let registry: TypeRegistry
  let outbox: Outbox
  /// The last row of the outbox in the chunk that is sealed; what is known of later ones only tells what was before them.
  let lastNumber: Int64
  /// The row that was read last: each edit asks for its own several times, and no row is written before all edits of a
  /// chunk are sealed.
  private let lastRow = LastRow()

  private final class LastRow {
    var place: RecordPlace?
    var row: [FieldValue]?
  }

  init(connection: Connection, registry: TypeRegistry, outbox: Outbox, lastNumber: Int64) {
    (self.connection, self.registry, self.outbox, self.lastNumber) = (connection, registry, outbox, lastNumber)
  }

  /// The row as the table has it.
  private func tableRow(_ place: RecordPlace, _ table: TypeTable) throws -> [FieldValue]? {
    if lastRow.place == place { return lastRow.row }
    let row = try table.row(place.id, on: connection)
    (lastRow.place, lastRow.row) = (place, row)
    return row
  }

  /// An operation that is ready to be sealed, by its field names.
  struct Edit {
    var kind: Operation.Kind
    var table: TypeTable
    var id: String
    var isWeak: Bool
    var life: UInt64
    var fields: [String]
    var values: [FieldValue]
    /// The rows of a set that is sealed.
    var rows: OwnedRows = .none
    /// The row as it was before the run, which the table no longer holds; nil if it was not there.
    var rowBefore: [FieldValue]?
    /// Whether nothing was ever heard of the record before this edit.
    var isNew: Bool
    /// What was stored of the record before the run, and the row as the table has it; nil if that was not looked at.
    var stored: StoredRecord?
    var rowNow: [FieldValue]?
  }

  /// The edits of one run. `before` must be sealed in a changeset ahead of `rest`: edits of records deleted there.
  struct Run {
    var editedAt: Int64
    var before: [Edit] = []
    var rest: [Edit] = []
    /// Records of which nothing is sealed yet, as later runs change the same fields, with their rows before the run.
    var passedOver: [(place: RecordPlace, table: TypeTable, row: [FieldValue])] = []
  }

  /// What is known of a record before a run.
  struct Known {
    var life: UInt64
    var isAlive: Bool
    /// Whether anything was ever heard of it.
    var isKnown: Bool
    /// What is stored of it; nil if that is not all that is known.
    var stored: StoredRecord?

    init(life: UInt64, isAlive: Bool, isKnown: Bool) {
      self.life = life
      self.isAlive = isAlive
      self.isKnown = isKnown
    }

    /// What the file says.
    init(_ stored: StoredRecord?) {
      self.init(life: stored?.life ?? 0, isAlive: stored?.isAlive ?? false, isKnown: stored != nil)
      self.stored = stored
    }

    /// What a state says that is not stored yet.
    init(_ state: RecordState) { self.init(life: state.life, isAlive: state.isAlive, isKnown: true) }
  }

  /// From how many records on a run is put into the order of the tables.
  private static let bulk = 1000

  /// Cuts the rows into runs without a longer pause and reads what each did.
  ///
  /// - Parameter lives: what is known of a record's life before the run; the caller seals one run before it asks for
  ///   the next, so that it is true.
  func run(
    _ rows: ArraySlice<OutboxRow>, laterRows: [RecordPlace: [OutboxRow]],
    lives: (RecordPlace) throws -> Known
  ) throws -> Run {
    var touched: [(place: RecordPlace, rows: [OutboxRow])] = []
    touched.reserveCapacity(rows.count)
    var indices: [RecordPlace: Int] = [:]
    indices.reserveCapacity(rows.count)
    for row in rows {
      let place = RecordPlace(type: row.type, id: row.id)
      let index = indices[place, default: touched.count]
      if index < touched.count {
        touched[index].rows.append(row)
      } else {
        indices[place] = index
        touched.append((place, [row]))
      }
    }
    if touched.count > Self.bulk { Self.putInOrderOfTables(&touched) }
    var run = Run(editedAt: rows.last?.at ?? 0)
    for (place, rows) in touched {
      guard let table = registry[place.type] else { continue }
      let known = try lives(place)
      let later = laterRows.isEmpty ? [] : laterRows[place] ?? []
      if table.owner != nil {
        try readOwned(rows, of: place, table: table, known: known, later: later, into: &run)
        continue
      }
      let folded = FoldedEdit(rows, wasThere: known.isAlive)
      let before = known.isAlive ? try rowBefore(rows + later, of: place, table: table) : nil
      try read(folded, of: place, table: table, known: known, rowBefore: before, later: later, into: &run)
    }
    return run
  }

  /// Many records are taken as the tables hold them, so that each page is read and written once; generated ones, which
  /// are sealed apart, before the others.
  ///
  /// Small keys are sorted and not the records: moving those about took a third of the time of a bulk sealing.
  private static func putInOrderOfTables(_ touched: inout [(place: RecordPlace, rows: [OutboxRow])]) {
    var keys = touched.indices.map { index in
      OrderKey(
        isWritten: !touched[index].rows.allSatisfy(\.isWeak), type: touched[index].place.type,
        prefix: touched[index].place.id.utf8.prefix(8).enumerated().reduce(0) { $0 | UInt64($1.1) << (56 - 8 * $1.0) },
        index: index)
    }
    keys.sort { a, b in
      if a.isWritten != b.isWritten { return !a.isWritten }
      if a.type != b.type { return a.type < b.type }
      if a.prefix != b.prefix { return a.prefix < b.prefix }
      return touched[a.index].place.id.isBefore(touched[b.index].place.id)
    }
    touched = keys.map { touched[$0.index] }
  }

  /// What mostly decides the order of two records: the first eight bytes of their ids.
  private struct OrderKey {
    var isWritten: Bool
    var type: Int64
    var prefix: UInt64
    var index: Int
  }

  func read(
    _ folded: FoldedEdit, of place: RecordPlace, table: TypeTable, known: Known, rowBefore: [FieldValue]?,
    later: [OutboxRow], into run: inout Run
  ) throws {
    let all = table.fieldNames
    func edit(_ kind: Operation.Kind, life: UInt64, fields: [String], row: [FieldValue]) -> Edit {
      let values =
        fields == all ? row : fields.map { field in table.index(of: field).map { row[$0] } ?? .null }
      return Edit(
        kind: kind, table: table, id: place.id, isWeak: folded.isWeak, life: life, fields: fields, values: values,
        rowBefore: rowBefore, isNew: !known.isKnown, stored: known.stored,
        rowNow: kind == .update ? lastRow.place == place ? lastRow.row : nil : nil)
    }
    if known.isAlive && folded.wasDeleted {
      let image = try folded.deletedImage.map { try CaptureTriggers.row(fromImage: $0, of: table.type, on: connection) }
      let row = image ?? Array(repeating: .null, count: all.count)
      // A replacement before the deletion is an edit too: what it changed shows in the two images.
      let replaced = try folded.replacedImage.map {
        Self.differences(try CaptureTriggers.row(fromImage: $0, of: table.type, on: connection), row)
      }
      let changed = fields(folded.changed | (replaced ?? 0), of: table)
      if !changed.isEmpty {
        run.before.append(edit(.update, life: known.life, fields: changed, row: row))
      }
      run.rest.append(edit(.delete, life: known.life, fields: [], row: row))
    }
    if !known.isAlive && folded.confirmsDeletion && !folded.isThereAfter {
      run.rest.append(edit(.delete, life: max(1, known.life), fields: [], row: []))
    }
    guard folded.isThereAfter, let after = try rowAfter(folded, of: place, table: table, later: later) else { return }
    if !known.isAlive || folded.wasDeleted {
      guard folded.wasInserted || folded.wasDeleted || folded.replacedImage != nil else { return }
      run.rest.append(edit(.insert, life: known.life + 1, fields: all, row: after.row))
      return
    }
    var changed = folded.changed
    if let image = folded.replacedImage {
      let before = try CaptureTriggers.row(fromImage: image, of: table.type, on: connection)
      changed |= Self.differences(before, after.row)
    }
    let names = fields(changed & ~after.changedLater, of: table)
    if !names.isEmpty {
      run.rest.append(edit(.update, life: known.life, fields: names, row: after.row))
    } else if let rowBefore {
      run.passedOver.append((place, table, rowBefore))
    }
  }

  /// A bit for each field in which the rows differ.
  private static func differences(_ a: [FieldValue], _ b: [FieldValue]) -> UInt64 {
    zip(a, b).enumerated().reduce(0) { $1.element.0 != $1.element.1 ? $0 | 1 << UInt64($1.offset) : $0 }
  }

  /// The names of the fields with a bit, completed to whole cells, in the schema's order.
  private func fields(_ bits: UInt64, of table: TypeTable) -> [String] {
    var chosen: Set<Int> = []
    for cell in table.cells where cell.fields.contains(where: { bits >> UInt64($0) & 1 != 0 }) {
      chosen.formUnion(cell.fields)
    }
    return chosen.sorted().map { table.fieldNames[$0] }
  }

  /// The row as it was before these edits, as far as it can be known; nil if the first of them made it.
  func rowBefore(_ rows: [OutboxRow], of place: RecordPlace, table: TypeTable) throws -> [FieldValue]? {
    if rows.first?.kind == .inserted { return nil }
    var old: [Int: FieldValue] = [:]
    var base: [FieldValue]?
    for row in rows {
      guard let image = row.image else { continue }
      let values = try CaptureTriggers.row(fromImage: image, of: table.type, on: connection)
      if row.kind != .updated {
        base = values
        break
      }
      for index in values.indices where row.fields >> UInt64(index) & 1 != 0 && old[index] == nil {
        old[index] = values[index]
      }
    }
    guard var row = try base ?? rowNow(of: place, table: table, after: rows.last?.number ?? 0) else { return nil }
    for (index, value) in old { row[index] = value }
    return row
  }

  /// The row after all the edits of a chunk: it stands in the table, unless edits of the next chunk took it from there.
  private func rowNow(of place: RecordPlace, table: TypeTable, after number: Int64) throws -> [FieldValue]? {
    if let row = try tableRow(place, table) { return row }
    return try outbox.nextImage(of: place, after: number).map {
      try CaptureTriggers.row(fromImage: $0, of: table.type, on: connection)
    }
  }

  /// The row as it was after the run, and the fields that later runs of the chunk change anyway, so that they need not be
  /// sealed.
  func rowAfter(
    _ folded: FoldedEdit, of place: RecordPlace, table: TypeTable, later: [OutboxRow]
  ) throws -> (row: [FieldValue], changedLater: UInt64)? {
    var changedLater: UInt64 = 0
    for row in later.prefix(while: { $0.kind == .updated && $0.number <= lastNumber }) where !row.isWeak {
      changedLater |= row.fields
    }
    let before = later.isEmpty ? nil : try rowBefore(later, of: place, table: table)
    let row = try before ?? rowNow(of: place, table: table, after: max(folded.last, later.last?.number ?? 0))
    return row.map { ($0, changedLater) }
  }
}
