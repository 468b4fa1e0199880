/// One write of one cell: who wrote what, and in which life of the record.
package struct Write: Hashable, Sendable {
  /// The changeset that holds it.
  package var name: ChangesetName
  package var stamp: Stamp
  /// The life of the record that the author saw.
  package var life: UInt64
  /// Whether a person's concurrent write goes before it: generated rows, and the nulls of an insert.
  package var isWeak: Bool
  package var value: CellValue
  /// Whether its author was an owner, by the membership heads of the changeset; known only where the cell's strategy asks.
  package var isByOwner: Bool

  package init(
    name: ChangesetName, stamp: Stamp, life: UInt64, isWeak: Bool, value: CellValue, isByOwner: Bool = false
  ) {
    self.isByOwner = isByOwner
    self.name = name
    self.stamp = stamp
    self.life = life
    self.isWeak = isWeak
    self.value = value
  }
}

/// What a write puts into a cell.
package enum CellValue: Hashable, Sendable {
  /// Whether the record is there.
  case alive(Bool)
  /// One value for each field of the cell.
  case fields([FieldValue])
  /// The whole list of an owned set's rows.
  case rows(OwnedRows)

  /// The values of a field cell, a set as one; none for the alive cell.
  package var values: [FieldValue] {
    switch self {
    case .alive: []
    case .fields(let values): values
    case .rows(let rows): [rows.cellValue]
    }
  }
}

/// Names a cell of a record: the first field of its group, the type of an owned set's rows, or the record's being alive.
package enum CellName {
  /// No field has an empty name.
  package static let alive = ""
  /// Marks a dead record whose values were forgotten; no field has this name either.
  package static let emptied = "sync_emptied"
}

/// Tells which changesets an author had seen.
package protocol Coverage {
  /// Whether the author of `later` had applied `earlier` (through its dependencies or its own replica's order).
  func covers(_ later: ChangesetName, _ earlier: ChangesetName) throws -> Bool
}

/// Who wins: a pure function of the set of writes (design 2.4; D6, D7). No clock is read here.
package enum MergeRule {
  /// Whether `n` takes the place of `w` in a cell.
  ///
  /// It does when its author had seen `w`, but a weak write never takes the place of a person's in the same life.
  /// Inside one changeset the later life goes on.
  package static func displaces(_ n: Write, _ w: Write, coverage: some Coverage) throws -> Bool {
    if n.name == w.name { return n.life > w.life }
    if n.isWeak && !w.isWeak && n.life == w.life { return false }
    return try coverage.covers(n.name, w.name)
  }

  /// Puts a write among the maximal writes of its cell; the order in which writes come does not matter.
  ///
  /// - Returns: the writes that it displaced, or itself if a known one displaces it; empty if it was known already.
  @discardableResult
  package static func insert(
    _ write: Write, into maximal: inout [Write], coverage: some Coverage
  ) throws -> [Write] {
    if maximal.contains(where: { $0.name == write.name && $0.life == write.life }) { return [] }
    for known in maximal where try displaces(known, write, coverage: coverage) { return [write] }
    var displaced: [Write] = []
    var kept: [Write] = []
    for known in maximal {
      if try displaces(write, known, coverage: coverage) { displaced.append(known) } else { kept.append(known) }
    }
    let place = kept.firstIndex { write.name < $0.name || write.name == $0.name && write.life < $0.life }
    kept.insert(write, at: place ?? kept.count)
    maximal = kept
    return displaced
  }

  /// The write that decides the cell, among its maximal writes of this life; nil if there is none.
  ///
  /// Persons' writes go before weak ones, a deletion before a concurrent life, then the strategy decides, then the
  /// greatest (stamp, replica, seq). Values are never compared to break a tie.
  package static func winner(of maximal: [Write], life: UInt64, strategy: MergeStrategy = .merge) -> Write? {
    if maximal.count == 1 { return maximal[0].life == life ? maximal[0] : nil }
    var candidates = maximal.filter { $0.life == life }
    if candidates.contains(where: { !$0.isWeak }) { candidates.removeAll(where: \.isWeak) }
    if candidates.contains(where: { $0.value == .alive(false) }) {
      candidates.removeAll { $0.value == .alive(true) }
    }
    if strategy == .ownerWins, candidates.contains(where: \.isByOwner) { candidates.removeAll { !$0.isByOwner } }
    return candidates.max { a, b in
      switch strategy.preference(a.value, b.value) {
      case .second: true
      case .first: false
      case .neither: (a.stamp, a.name) < (b.stamp, b.name)
      }
    }
  }
}

/// How the winner among concurrent writes is preferred, before the stamps.
package enum MergeStrategy: String, Sendable {
  /// No preference: the greatest stamp.
  case merge
  /// All fields are one cell; no preference among its writes.
  case lastWriterWins
  /// The writes of owners go before those of others, by the role that each author had when he wrote.
  case ownerWins
  /// As merge, and status asks for a decision.
  case ask
  /// The greatest value; null is least.
  case max
  /// The least value; null loses.
  case min

  /// Which of two values is preferred.
  package enum Preference { case first, second, neither }

  package func preference(_ a: CellValue, _ b: CellValue) -> Preference {
    switch self {
    case .merge, .lastWriterWins, .ownerWins, .ask: return .neither
    case .max, .min:
      guard let x = a.values.first, let y = b.values.first else { return .neither }
      if x == y { return .neither }
      if x.isNull { return .second }
      if y.isNull { return .first }
      let less = Self.isLess(x, y)
      let greater = Self.isLess(y, x)
      if less == greater { return .neither }
      return (self == .max) == less ? .second : .first
    }
  }

  private static func isLess(_ a: FieldValue, _ b: FieldValue) -> Bool {
    switch (a, b) {
    case (.integer(let x), .integer(let y)): x < y
    case (.real(let x), .real(let y)): x < y
    case (.integer(let x), .real(let y)): Double(x) < y
    case (.real(let x), .integer(let y)): x < Double(y)
    case (.text(let x), .text(let y)): x.utf8.lexicographicallyPrecedes(y.utf8)
    default: false
    }
  }
}
