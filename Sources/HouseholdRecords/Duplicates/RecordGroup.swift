/// Records that are one thing, with what they show together: a pure function of their states (design 2.7, D8).
package struct RecordGroup: Sendable {
  /// One record of the group.
  package struct Member: Sendable {
    package var id: String
    package var state: RecordState

    package init(id: String, state: RecordState) {
      self.id = id
      self.state = state
    }
  }

  /// A write with the member that it was written to.
  package struct Entry: Sendable {
    package var write: Write
    package var owner: String
  }

  /// The survivor first, then the others in the order in which they would follow it.
  package let members: [Member]

  /// The group of these records; nil if there are none.
  ///
  /// - Parameter isBuiltIn: whether an id is one that every household begins with; these survive before all others.
  package init?(_ members: [Member], isBuiltIn: (String) -> Bool) {
    guard !members.isEmpty else { return nil }
    let ranked = members.map { (member: $0, rank: ($0.state.isAlive ? 0 : 2) + (isBuiltIn($0.id) ? 0 : 1)) }
    self.members = ranked.sorted { a, b in
      a.rank == b.rank ? a.member.id.isBefore(b.member.id) : a.rank < b.rank
    }.map(\.member)
  }

  /// The record that shows for all: the smallest live id, or the smallest if none lives.
  package var survivor: Member { members[0] }

  /// Whether the group shows.
  package var isAlive: Bool { survivor.state.isAlive }

  /// The members whose writes compete: the live ones, or all if none lives, within a bound that follows from the ids.
  package var competing: ArraySlice<Member> {
    (isAlive ? members.prefix { $0.state.isAlive } : members[...]).prefix(Limits.competingDuplicates)
  }

  /// The writes of all cells as those of one record: what no other displaces, in the order of the members.
  ///
  /// Lives are counted for each member apart: writes of its life of now have life 1 here, those of a former one 0.
  package func entries(coverage: some Coverage) throws -> [String: [Entry]] {
    var all: [String: [Entry]] = [:]
    for member in competing {
      let life = member.state.life
      let counting = try member.state.withoutFormerLives(coverage: coverage)
      for (cell, writes) in counting.cells where cell != CellName.alive {
        for var write in writes {
          write.life = write.life == life ? 1 : 0
          all[cell, default: []].append(Entry(write: write, owner: member.id))
        }
      }
    }
    for (cell, entries) in all where entries.count > 1 {
      all[cell] = try entries.filter { entry in
        try !entries.contains { try MergeRule.displaces($0.write, entry.write, coverage: coverage) }
      }
    }
    return all
  }

  /// The state that the group shows: the entries, and the survivor's life as life 1.
  package func combined(_ entries: [String: [Entry]]) -> RecordState {
    var state = RecordState(cells: entries.mapValues { $0.map(\.write) })
    if let alive = survivor.state.winner(of: CellName.alive) {
      state.cells[CellName.alive] = [
        Write(name: alive.name, stamp: alive.stamp, life: 1, isWeak: alive.isWeak, value: alive.value)
      ]
    }
    return state
  }

  /// The edits of live members that lost against a concurrent one, each with the member that it was written to.
  ///
  /// What another member than the winner's had is listed unless it is null or the same as what won.
  ///
  /// - Parameter isSame: whether two values of a cell are the same for people: folded names, references to one thing.
  package func conflicts(
    _ entries: [String: [Entry]], strategy: (String) -> MergeStrategy,
    isSame: (_ cell: String, _ a: CellValue, _ b: CellValue) -> Bool
  ) -> [(conflict: Conflict, owner: String)] {
    guard isAlive else { return [] }
    var found: [(conflict: Conflict, owner: String)] = []
    for cell in entries.keys.sorted() {
      guard let list = entries[cell], list.count > 1 || list[0].write.life != 1 else { continue }
      let winner = MergeRule.winner(of: list.map(\.write), life: 1, strategy: strategy(cell))
      // Two members may have been written by one changeset: then the first of them has the winner.
      let winning = list.first { $0.write == winner }
      for entry in list where !entry.write.isWeak && entry.write.value != winner?.value {
        let isForeign = winning.map { !$0.owner.hasSameBytes(as: entry.owner) } ?? false
        if isForeign, entry.write.value.values.allSatisfy(\.isNull) { continue }
        if isForeign, let winner, isSame(cell, entry.write.value, winner.value) { continue }
        found.append((Conflict(cell: cell, kept: winner, lost: entry.write), entry.owner))
      }
    }
    return found
  }

  /// Whether the field shows 1 for the group while a member by itself would show something else: a hidden twin.
  package func hides(_ field: String, combined: RecordState, strategy: MergeStrategy) -> Bool {
    func isSet(_ state: RecordState) -> Bool {
      state.winner(of: field, strategy: strategy)?.value == .fields([.integer(1)])
    }
    return isAlive && isSet(combined) && competing.contains { !isSet($0.state) }
  }
}
