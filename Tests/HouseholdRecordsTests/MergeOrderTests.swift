import HouseholdRecords
import Testing

@Suite("Neither the order in which writes of a cell come, nor repeating or grouping them, decides anything (R4)")
struct MergeOrderTests {
  /// Which of some changesets had seen which, by their numbers.
  private struct Seen: Coverage {
    var pairs: Set<[Int]>
    var names: [ChangesetName]

    func covers(_ later: ChangesetName, _ earlier: ChangesetName) -> Bool {
      guard let a = names.firstIndex(of: later), let b = names.firstIndex(of: earlier) else { return false }
      return pairs.contains([a, b])
    }

    /// Whether whoever has seen one has seen all that its author had.
    var isTransitive: Bool {
      pairs.allSatisfy { one in
        pairs.allSatisfy { other in one[1] != other[0] || pairs.contains([one[0], other[1]]) }
      }
    }
  }

  private func orders(_ count: Int) -> [[Int]] {
    guard count > 1 else { return [[0]] }
    return orders(count - 1).flatMap { order in
      (0...order.count).map { place in
        var longer = order
        longer.insert(count - 1, at: place)
        return longer
      }
    }
  }

  /// Every set of so many writes: each in one of two lives, weak or not, and any of them seen by any later one.
  ///
  /// Left out are those in which an author who had seen a later life writes in an earlier one. That is so only where a
  /// life was begun that does not count; then "displaces" is not transitive, and devices agree because changesets are
  /// applied after what their authors had seen and records are computed anew from all writes (`Replica.recompute`).
  private func tryAll(_ count: Int) throws {
    let names = try (0..<count).map { number in
      ChangesetName(
        replica: try #require(ReplicaID(bytes: [UInt8](repeating: UInt8(number + 1), count: ReplicaID.byteCount))),
        sequence: 1)
    }
    var pairs: [[Int]] = []
    for later in 0..<count {
      for earlier in 0..<later { pairs.append([later, earlier]) }
    }
    let orders = orders(count)
    for bits in 0..<(1 << pairs.count) {
      var seen = Seen(pairs: [], names: names)
      for (place, pair) in pairs.enumerated() where bits >> place & 1 != 0 { seen.pairs.insert(pair) }
      guard seen.isTransitive else { continue }
      for kinds in 0..<(1 << (2 * count)) {
        var writes: [Write] = []
        for number in 0..<count {
          let kind = kinds >> (2 * number) & 3
          writes.append(
            Write(
              name: names[number], stamp: Stamp(rawValue: UInt64(number)), life: kind & 1 == 0 ? 1 : 2,
              isWeak: kind & 2 != 0, value: .fields([.integer(Int64(number))])))
        }
        if seen.pairs.contains(where: { writes[$0[0]].life < writes[$0[1]].life }) { continue }
        var first: [Write]?
        for order in orders {
          var maximal: [Write] = []
          for number in order + order { try MergeRule.insert(writes[number], into: &maximal, coverage: seen) }
          var grouped = RecordState()
          for half in [order.prefix(count / 2), order.suffix(count - count / 2)] {
            var part = RecordState()
            for number in half { try part.merge(writes[number], cell: "f", coverage: seen) }
            try grouped.merge(part, coverage: seen)
          }
          if grouped.cells["f"] != maximal { Issue.record("grouped: \(seen.pairs) kinds \(kinds) order \(order)") }
          if let first, first != maximal {
            Issue.record("\(seen.pairs.sorted { $0[0] < $1[0] }) kinds \(kinds) order \(order): \(maximal)")
            return
          }
          first = maximal
        }
      }
    }
  }

  @Test func `all sets of three writes`() throws { try tryAll(3) }

  @Test func `all sets of four writes`() throws { try tryAll(4) }
}
