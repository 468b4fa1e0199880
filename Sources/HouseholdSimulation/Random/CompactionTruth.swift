import HouseholdRecords

/// What compaction may have taken of a record (D9): of a deleted one the values that its deletion has seen, of a former life
/// what somebody saw to its end, and nothing else.
///
/// It knows when a value may be gone, and nothing of who has confirmed what: whatever was collected, the record shows, ends
/// and disagrees as if nothing had been.
struct CompactionTruth {
  let coverage: ArchiveView
  let type: RecordType?

  /// What is wrong, with the two states whose difference shows it.
  struct Fault {
    var text: String
    var stored: RecordState
    var truth: RecordState
  }

  /// What a device has, and should not have, or lacks; nil if all is well.
  ///
  /// - Parameter truth: the state that follows from the changesets.
  func fault(in stored: RecordState, truth: RecordState) throws -> Fault? {
    guard stored.cells[CellName.emptied] != nil else {
      let (kept, due) = (
        try stored.withoutFormerLives(coverage: coverage), try truth.withoutFormerLives(coverage: coverage)
      )
      // Whoever knew the type before, and does no more as who added it had no right to, keeps its cells whole; others keep
      // field by field what was written.
      return kept == due || type == nil && kept.alive == due.alive && kept.writers == due.writers
        ? nil : Fault(text: "keeps other writes than its changesets say", stored: kept, truth: due)
    }
    return try faultOfEmptied(stored, truth: truth).map { Fault(text: "\($0) (D9)", stored: stored, truth: truth) }
  }

  private func faultOfEmptied(_ stored: RecordState, truth: RecordState) throws -> String? {
    if truth.isAlive { return "has forgotten the values of a record that is alive" }
    if stored.cells[CellName.alive] != truth.cells[CellName.alive] { return "has another end of a collected record" }
    let deletions = (truth.cells[CellName.alive] ?? []).filter { $0.value == .alive(false) }
    let kept = try stored.withoutFormerLives(coverage: coverage).cells
    let due = try truth.withoutFormerLives(coverage: coverage).cells
    for cell in Set(kept.keys).union(due.keys).sorted() where ![CellName.alive, CellName.emptied].contains(cell) {
      let (kept, due) = (kept[cell] ?? [], due[cell] ?? [])
      // Who was put back to before the deletion keeps values that a snapshot's emptied record does not replace.
      for write in kept where try !due.contains(write) && !isSeen(write, by: deletions) {
        return "has \(write.name) in cell '\(cell)'"
      }
      for write in due where try !kept.contains(write) && !write.isWeak && !isSeen(write, by: deletions) {
        return "has forgotten \(write.name) in cell '\(cell)', which no deletion has seen"
      }
    }
    return try conflicts(of: stored) == conflicts(of: truth) ? nil : "lists other conflicts of a collected record"
  }

  private func isSeen(_ write: Write, by deletions: [Write]) throws -> Bool {
    try deletions.contains {
      try $0.life >= write.life && ($0.name == write.name || coverage.covers($0.name, write.name))
    }
  }

  private func conflicts(of state: RecordState) throws -> Set<Conflict> {
    Set(try state.conflicts(strategy: strategy, coverage: coverage))
  }

  private func strategy(of cell: String) -> MergeStrategy {
    guard let type else { return .merge }
    return MergeStrategy(rawValue: type.strategies[cell] ?? type.strategy) ?? .merge
  }
}

extension RecordState {
  fileprivate var alive: [Write] { cells[CellName.alive] ?? [] }

  fileprivate var writers: Set<ChangesetName> { Set(cells.values.joined().map(\.name)) }
}
