/// What a replica may forget: a pure function of what is in its log and what each device has confirmed (D9).
///
/// A confirmation is what a device's own signed changesets say that it had applied. What a peer claims to have stored,
/// and what others say of it, is for status alone: it may be put back to an older state in the next minute.
package enum CompactionRule {
  /// The new base of the log: what is old enough, and confirmed by all who must be waited for.
  ///
  /// - Parameters:
  ///   - old: the base of now, which never sinks.
  ///   - aged: what has been here for long enough.
  ///   - confirmed: what each device that is waited for has confirmed; empty for one of which nothing is known.
  package static func base(from old: VersionVector, aged: VersionVector, confirmed: [VersionVector]) -> VersionVector {
    var base = confirmed.reduce(aged) { $0.common(with: $1) }
    base.merge(old)
    return base
  }

  /// Whether the values of a record may be forgotten: it is dead, and nothing of it is of use to anyone any more.
  ///
  /// Its end stays: that it is deleted, and in which life. So nothing brings it back, whoever returns. What was written in a
  /// later life, whose beginning does not count, shows again in the next life of that number.
  ///
  /// - Parameters:
  ///   - base: what the log does not hold any more.
  ///   - confirmed: what each device that belongs has confirmed, sleeping ones too.
  ///   - hasConflicts: whether an edit of it is listed.
  package static func mayEmpty(
    _ state: RecordState, base: VersionVector, confirmed: [VersionVector], hasConflicts: Bool
  ) -> Bool {
    guard !state.isAlive, state.life > 0, !hasConflicts else { return false }
    return state.cells.values.joined().allSatisfy { write in
      write.life <= state.life && base.contains(write.name) && confirmed.allSatisfy { $0.contains(write.name) }
    }
  }

  /// For how long changesets are kept whatever is confirmed, in milliseconds, unless a person says otherwise: 400 days,
  /// so that a device from a year's absence, or from a year's old backup, still gets the log.
  package static let keptMilliseconds: Int64 = 400 * 86_400_000
}

extension RecordState {
  /// Whether its values were forgotten: it is deleted in the life in which it was.
  package var isEmptied: Bool { cells[CellName.emptied]?.contains { $0.life == life } ?? false }

  /// The same without its values: only its end is kept, marked so that nobody brings back half a record.
  package func emptied() -> RecordState {
    var state = RecordState(cells: cells.filter { $0.key == CellName.alive })
    if var mark = winner(of: CellName.alive) {
      mark.value = .fields([])
      mark.isWeak = true
      state.cells[CellName.emptied] = [mark]
    }
    return state
  }
}
