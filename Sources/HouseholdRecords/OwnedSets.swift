/// Which types own sets of which others: the splits of a transaction.
extension Schema {
  /// A type whose records are a set of another type's record.
  package struct Ownership: Hashable, Sendable {
    /// The type that owns.
    package var owner: String
    package var set: OwnedSet
  }

  /// The sets that the schema declares and that can be: both types are there, each is owned by one other that is
  /// itself owned by none, and the owner has no field of the set's name.
  package var ownerships: [Ownership] {
    var found: [Ownership] = []
    let owned = Set(types.flatMap { type in type.owns.map(\.type) })
    for type in types where !owned.contains(type.name) {
      for set in type.owns where set.type != type.name && type.field(set.type) == nil {
        guard self.type(set.type)?.field(set.by) != nil, !found.contains(where: { $0.set.type == set.type }) else {
          continue
        }
        found.append(Ownership(owner: type.name, set: set))
      }
    }
    return found
  }
}

/// The sets of a record, each a cell that is named like the type of its rows.
extension RecordState {
  /// The write that decides a set; also of a record that was never here.
  package func setWinner(of cell: String) -> Write? {
    let writes = cells[cell] ?? []
    return MergeRule.winner(of: writes, life: life > 0 ? life : writes.map(\.life).max() ?? 0)
  }

  /// The set that shows, and who wrote it; nil if no row of it does.
  ///
  /// The set of a dead record does not show, that of a record that is not here yet does.
  package func shownSet(of cell: String) -> (rows: OwnedRows, write: Write)? {
    guard isAlive || (cells[CellName.alive] ?? []).isEmpty, let winner = setWinner(of: cell),
      case .rows(let rows) = winner.value, !rows.isEmpty
    else { return nil }
    return (rows, winner)
  }

  /// The rows that the winner holds, whether they show or not.
  package func set(of cell: String) -> OwnedRows {
    if case .rows(let rows)? = setWinner(of: cell)?.value { rows } else { .none }
  }
}

/// What decides to which of several sets a row belongs: the greatest claim (D10).
package struct RowClaim: Comparable, Sendable {
  package var stamp: Stamp
  /// The changeset that holds the set.
  package var name: ChangesetName
  /// The id of the set's owner; empty for a row without one.
  package var owner: String

  package init(stamp: Stamp, name: ChangesetName, owner: String) {
    self.stamp = stamp
    self.name = name
    self.owner = owner
  }

  package init(_ write: Write, owner: String) { self.init(stamp: write.stamp, name: write.name, owner: owner) }

  package static func == (a: Self, b: Self) -> Bool {
    a.stamp == b.stamp && a.name == b.name && a.owner.hasSameBytes(as: b.owner)
  }

  package static func < (a: Self, b: Self) -> Bool {
    (a.stamp, a.name) == (b.stamp, b.name) ? a.owner.isBefore(b.owner) : (a.stamp, a.name) < (b.stamp, b.name)
  }
}
