internal import HouseholdRecords
internal import HouseholdReplica

/// The rows that a question found, kept in its order as records change: only what changed is read anew.
struct LiveRows<Record: HouseholdRecord> {
  private typealias Row = ResolvedQuery<Record>.Row

  private let query: ResolvedQuery<Record>
  /// The columns that decide the order, and whether the greatest comes first; the id breaks ties.
  private let order: [(column: Int, isDescending: Bool)]
  private var rows: [Row] = []
  /// Each row as a record, in the same order.
  private(set) var records: [Record] = []
  /// The row of each record that is shown.
  private var byID: [RecordKey: Row] = [:]

  init(_ query: ResolvedQuery<Record>, _ access: RecordAccess) throws {
    self.query = query
    order = query.order.map { order in
      (query.shape.fields.firstIndex(of: order.field).map { $0 + 1 } ?? 0, order.isDescending)
    }
    _ = try readAll(access)
  }

  /// Reads everything; whether anything changed.
  mutating func readAll(_ access: RecordAccess) throws -> Bool {
    let found = try query.rows(access)
    guard found != rows || records.count != found.count else { return false }
    records = try decoding { decoder in try found.map { try decoder.record(Record.self, $0.values) } }
    rows = found
    byID = Dictionary(found.map { (key($0.id), $0) }, uniquingKeysWith: { first, _ in first })
    return true
  }

  /// Reads these records only; whether anything changed.
  mutating func read(_ ids: [String], _ access: RecordAccess) throws -> Bool {
    // With a limit one that goes lets another in; and where most changed it is quicker to read all.
    if query.limit != nil || ids.count > 64 + rows.count / 8 { return try readAll(access) }
    var removed: [Int] = []
    var added: [(row: Row, record: Record)] = []
    for id in ids {
      let (old, new) = (byID[key(id)], try query.rows(access, id: id).first)
      guard old != new else { continue }
      // Decoded before anything is changed: what throws leaves all as it was.
      if let new { added.append((new, try decoding { try $0.record(Record.self, new.values) })) }
      if let old { removed.append(place(of: old)) }
    }
    guard !removed.isEmpty || !added.isEmpty else { return false }
    removed.sort()
    for place in removed { byID[key(rows[place].id)] = nil }
    for added in added { byID[key(added.row.id)] = added.row }
    added.sort { precedes($0.row, $1.row) }
    merge(removed, added)
    return true
  }

  private func decoding<Result>(_ body: (RecordDecoder) throws -> Result) throws -> Result {
    let decoder = query.shape.decoder(nil)
    defer { decoder.end() }
    return try body(decoder)
  }

  private func key(_ id: String) -> RecordKey { RecordKey(type: query.shape.type.name, id: id) }

  /// Puts the new ones in their places, with what stays copied in stretches.
  private mutating func merge(_ removed: [Int], _ added: [(row: Row, record: Record)]) {
    if removed.count == 1, added.count == 1, stays(added[0].row, removed[0]) {
      rows[removed[0]] = added[0].row
      records[removed[0]] = added[0].record
      return
    }
    if removed.count + added.count <= 4 {
      for place in removed.reversed() {
        rows.remove(at: place)
        records.remove(at: place)
      }
      for added in added {
        let place = place(of: added.row)
        rows.insert(added.row, at: place)
        records.insert(added.record, at: place)
      }
      return
    }
    // The places of the new ones are those among all old ones, so that each is searched for in what is in order.
    let places = added.map { place(of: $0.row) }
    var (newRows, newRecords): ([Row], [Record]) = ([], [])
    newRows.reserveCapacity(rows.count + added.count)
    newRecords.reserveCapacity(rows.count + added.count)
    var (next, gone, start) = (0, 0, 0)
    while start < rows.count || next < added.count {
      if next < added.count, places[next] == start {
        newRows.append(added[next].row)
        newRecords.append(added[next].record)
        next += 1
      } else if gone < removed.count, removed[gone] == start {
        gone += 1
        start += 1
      } else {
        let end = min(
          next < added.count ? places[next] : rows.count, gone < removed.count ? removed[gone] : rows.count)
        newRows += rows[start..<end]
        newRecords += records[start..<end]
        start = end
      }
    }
    (rows, records) = (newRows, newRecords)
  }

  /// Whether a row may take the place of the one that is there.
  private func stays(_ row: Row, _ place: Int) -> Bool {
    (place == 0 || precedes(rows[place - 1], row)) && (place + 1 == rows.count || precedes(row, rows[place + 1]))
  }

  /// Where the row is, or belongs: the first place that does not come before it.
  private func place(of row: Row) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if precedes(rows[middle], row) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The order of the question, as SQLite has it.
  private func precedes(_ a: Row, _ b: Row) -> Bool {
    for (column, isDescending) in order {
      let comparison = FieldOrder.compare(a.values[column], b.values[column])
      if comparison != 0 { return isDescending ? comparison > 0 : comparison < 0 }
    }
    return FieldOrder.compare(a.values[0], b.values[0]) < 0
  }
}

/// The order of values as SQLite has it: null, numbers, texts by their bytes, bytes.
enum FieldOrder {
  /// Negative, 0 or positive, as the first is less, equal or greater.
  static func compare(_ a: FieldValue, _ b: FieldValue) -> Int {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): order(a, b)
    case (.real(let a), .real(let b)): order(a, b)
    case (.integer(let a), .real(let b)): order(Double(a), b)
    case (.real(let a), .integer(let b)): order(a, Double(b))
    case (.text(let a), .text(let b)): a.isBefore(b) ? -1 : b.isBefore(a) ? 1 : 0
    case (.bytes(let a), .bytes(let b)): a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
    default: rank(a) - rank(b)
    }
  }

  private static func order<Value: Comparable>(_ a: Value, _ b: Value) -> Int { a < b ? -1 : a > b ? 1 : 0 }

  private static func rank(_ value: FieldValue) -> Int {
    switch value {
    case .null: 0
    case .integer, .real: 1
    case .text: 2
    case .bytes: 3
    }
  }
}
