/// An edit that lost against a concurrent one, and what stands in its place: kept until somebody has seen both.
///
/// Conflicts are a pure function of the set of changesets, so every device that has both edits lists the same.
package struct Conflict: Hashable, Sendable {
  /// The name of the cell: its first field.
  package var cell: String
  /// The write that shows; nil if the record is deleted.
  package var kept: Write?
  package var lost: Write

  package init(cell: String, kept: Write?, lost: Write) {
    self.cell = cell
    self.kept = kept
    self.lost = lost
  }

  /// What names the conflict on every device: who wrote what was lost, and where.
  package func identity(of key: RecordKey) -> [UInt8] {
    var writer = ByteWriter()
    writer.text(key.type)
    writer.text(key.id)
    writer.text(cell)
    writer.identifier(lost.name.replica)
    writer.varint(lost.name.sequence)
    return writer.bytes
  }
}

extension RecordState {
  /// The edits that lost and that nobody has seen together with what won (design 2.4, D7).
  ///
  /// Of a live record: the maximal writes of a cell that are not its winner. Of a dead one: the writes that no kept
  /// deletion had seen. Weak writes, writes of the winner's value, and those of a former life that somebody had seen who
  /// ended it or began a later one are not listed.
  package func conflicts(strategy: (String) -> MergeStrategy, coverage: some Coverage) throws -> [Conflict] {
    let isAlive = isAlive
    let deletions = isAlive ? [] : (cells[CellName.alive] ?? []).filter { $0.value == .alive(false) }
    guard isAlive || !deletions.isEmpty else { return fragments() }
    var found: [Conflict] = []
    let counting = try withoutFormerLives(coverage: coverage).cells
    for cell in cells.keys.sorted() where cell != CellName.alive {
      let writes = counting[cell] ?? []
      if isAlive {
        guard writes.count > 1 || writes.contains(where: { $0.life != life }) else { continue }
        let winner = winner(of: cell, strategy: strategy(cell))
        for write in writes where write != winner && !write.isWeak && write.value != winner?.value {
          found.append(Conflict(cell: cell, kept: winner, lost: write))
        }
      } else {
        for write in writes where !write.isWeak {
          let isSeen = try deletions.contains { deletion in
            try deletion.name == write.name || coverage.covers(deletion.name, write.name)
          }
          if !isSeen { found.append(Conflict(cell: cell, kept: nil, lost: write)) }
        }
      }
    }
    return found
  }

  /// Edits of a record of which no life is known here any more: listed, never shown as a fragment (D9). Only the set of
  /// an owner that is not here yet shows.
  private func fragments() -> [Conflict] {
    cells.keys.sorted().filter { $0 != CellName.alive }.flatMap { cell in
      let winner = shownSet(of: cell)?.write
      return (cells[cell] ?? []).filter { !$0.isWeak && (winner == nil || $0.value != winner?.value) }
        .map { Conflict(cell: cell, kept: winner, lost: $0) }
    }
  }
}
