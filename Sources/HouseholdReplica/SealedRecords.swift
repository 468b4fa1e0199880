internal import HouseholdRecords

/// The records that one chunk of sealing has touched, with their states in memory.
///
/// The load-bearing detail: while later edits of a record wait to be sealed, its row in the type's table is the only
/// place that holds them. So no row is touched, and no state is stored that would be read beside a row of another time,
/// before all runs of the chunk are sealed.
struct SealedRecords {
  /// One record.
  struct Item {
    var place: RecordPlace
    var table: TypeTable
    var state: RecordState
    /// The cells in which something that was sealed lost against what was there.
    var lost: Set<String> = []
  }

  /// In the order in which they were touched first.
  private(set) var items: [Item] = []
  private var indices: [RecordPlace: Int] = [:]

  /// The state of a record, if it was touched.
  subscript(place: RecordPlace) -> RecordState? { indices[place].map { items[$0].state } }

  /// Keeps the state of a record.
  mutating func keep(_ state: RecordState, of place: RecordPlace, table: TypeTable, lost: Set<String>) {
    if let index = indices[place] {
      items[index].state = state
      items[index].lost.formUnion(lost)
    } else {
      indices[place] = items.count
      items.append(Item(place: place, table: table, state: state, lost: lost))
    }
  }
}

extension Replica {
  /// Stores the states, and makes the tables show what wins where no later edit waits for its row to be read.
  ///
  /// - Parameters:
  ///   - number: the last row of the outbox that was sealed.
  ///   - touched: the rows of owned types among them.
  ///   - lost: of records that wait for a later chunk the cells in which something that was sealed lost, in any chunk.
  func show(
    _ sealed: SealedRecords, sealedThrough number: Int64, touched: TouchedSets, lost: inout [RecordPlace: Set<String>]
  ) throws {
    for var item in sealed.items {
      item.lost.formUnion(lost.removeValue(forKey: item.place) ?? [])
      let earlier = try StoredRecord.read(type: item.place.type, id: item.place.id, on: connection)
      let row = try keep(item.state, of: item.place, table: item.table, earlierFlags: earlier?.flags ?? 0)
      if item.table.owner != nil { continue }
      try showSets(
        of: item.place, table: item.table, state: item.state, earlierFlags: earlier?.flags ?? 0, touched: touched)
      let shown = try item.table.row(item.place.id, on: connection)
      if row == shown { continue }
      if try outbox.hasMore(of: item.place, after: number) {
        try keepLost(item)
        if !item.lost.isEmpty { lost[item.place] = item.lost }
        continue
      }
      if let row {
        try item.table.write(item.place.id, row, on: connection)
      } else {
        try item.table.remove(item.place.id, on: connection)
      }
    }
    try showTouched(touched)
  }

  /// Keeps the values beside the cells in which what was sealed lost: the row waits for a later edit to be read, and shows
  /// the generated value that a person's goes before. All others are read by what that edit's image says of them.
  private func keepLost(_ item: SealedRecords.Item) throws {
    if item.lost.isEmpty || duplicates.isMember(item.place) { return }
    guard var stored = try StoredRecord.read(type: item.place.type, id: item.place.id, on: connection) else { return }
    stored.cells = try CellVersions.encode(item.state, table: item.table, names: self, apart: item.lost) { row in
      duplicates.repointed(row, of: item.place.type)
    }.stored.cells
    try stored.write(type: item.place.type, id: item.place.id, on: connection)
  }
}
