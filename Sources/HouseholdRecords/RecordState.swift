/// All that decides one record: the maximal writes of every cell.
///
/// It is the whole truth about the record; the row in the type's table is only what it shows.
package struct RecordState: Hashable, Sendable {
  /// The maximal writes by cell, sorted by changeset; the alive cell is named ``CellName/alive``.
  package var cells: [String: [Write]]

  package init(cells: [String: [Write]] = [:]) { self.cells = cells }

  /// The record's greatest life; 0 if it never lived as far as is known here.
  package var life: UInt64 { cells[CellName.alive]?.reduce(0) { max($0, $1.life) } ?? 0 }

  /// Whether the record shows. No alive write means not alive: never a fragment (D9).
  package var isAlive: Bool {
    guard let winner = MergeRule.winner(of: cells[CellName.alive] ?? [], life: life) else { return false }
    return winner.value == .alive(true)
  }

  /// Whether a cell has several maximal writes.
  package var isContested: Bool { cells.values.contains { $0.count > 1 } }

  /// The write that decides the cell now; nil shows as null.
  package func winner(of cell: String, strategy: MergeStrategy = .merge) -> Write? {
    MergeRule.winner(of: cells[cell] ?? [], life: life, strategy: strategy)
  }

  /// The write that decides each cell now.
  package func winners(strategy: (String) -> MergeStrategy) -> [String: Write] {
    let life = life
    var winners: [String: Write] = [:]
    winners.reserveCapacity(cells.count)
    for (cell, writes) in cells { winners[cell] = MergeRule.winner(of: writes, life: life, strategy: strategy(cell)) }
    return winners
  }

  /// The same without writes of former lives that were weak, or that a kept deletion, or whoever began a later life, has
  /// seen.
  ///
  /// They count for nothing: they are no conflict, and in no digest, as compaction may have taken them from one device and
  /// not from another (D9) before a new life came from a third that knew of neither.
  package func withoutFormerLives(coverage: some Coverage) throws -> Self {
    let life = life
    guard cells.values.contains(where: { $0.contains { $0.life < life } }) else { return self }
    let ends = cells[CellName.alive] ?? []
    var state = self
    for (cell, writes) in cells where cell != CellName.alive {
      let kept = try writes.filter { write in
        if write.life >= life { return true }
        return try !write.isWeak
          && !ends.contains { end in
            guard end.life > write.life || end.life == write.life && end.value == .alive(false) else { return false }
            return try end.name == write.name || coverage.covers(end.name, write.name)
          }
      }
      state.cells[cell] = kept.isEmpty ? nil : kept
    }
    return state
  }

  /// Merges one write; the order in which writes come does not matter.
  @discardableResult
  package mutating func merge(_ write: Write, cell: String, coverage: some Coverage) throws -> [Write] {
    try MergeRule.insert(write, into: &cells[cell, default: []], coverage: coverage)
  }

  /// Merges another device's state of the same record.
  package mutating func merge(_ other: Self, coverage: some Coverage) throws {
    for cell in other.cells.keys.sorted() {
      for write in other.cells[cell] ?? [] { try merge(write, cell: cell, coverage: coverage) }
    }
  }
}

extension Operation {
  /// The writes of this operation, each with the name of its cell.
  ///
  /// - Parameters:
  ///   - type: how fields form cells; fields that it does not know are cells of their own.
  ///   - fields: the names of the operation's values.
  ///   - isByOwner: whether its author was an owner when he wrote, where a strategy of the type asks.
  package func writes(
    name: ChangesetName, stamp: Stamp, fields: [String], type: RecordType?, isByOwner: Bool = false
  ) -> [(cell: String, write: Write)] {
    func write(_ value: CellValue, weak: Bool) -> Write {
      Write(name: name, stamp: stamp, life: life, isWeak: weak, value: value, isByOwner: isByOwner)
    }
    switch kind {
    case .delete: return [(CellName.alive, write(.alive(false), weak: isWeak))]
    case .set: return [(fields.first ?? "", write(.rows(rows), weak: isWeak))]
    case .insert, .update:
      var list: [(cell: String, write: Write)] = []
      if kind == .insert { list.append((CellName.alive, write(.alive(true), weak: isWeak))) }
      for cell in Self.cells(of: fields, type: type) {
        let values = cell.map { field in fields.firstIndex(of: field).map { self.values[$0] } ?? .null }
        let isEmpty = kind == .insert && values.allSatisfy(\.isNull)
        list.append((cell[0], write(.fields(values), weak: isWeak || isEmpty)))
      }
      return list
    }
  }

  /// How these fields form cells: known ones as the type says, the others one by one.
  package static func cells(of fields: [String], type: RecordType?) -> [[String]] {
    guard let type else { return fields.map { [$0] } }
    var seen: Set<String> = []
    return fields.compactMap { field in
      guard !seen.contains(field) else { return nil }
      let cell = type.field(field) == nil ? [field] : type.cellFields(of: field)
      seen.formUnion(cell)
      return cell
    }
  }
}
