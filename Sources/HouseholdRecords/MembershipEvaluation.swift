/// Says what the membership log amounts to: a pure function of the set of entries (R4, design 2.6, D5).
///
/// Entries are judged in causal order; of those that could come next the one goes first whose author's ownership is
/// older (by the depth and then the hash of the entry that granted it; no owner: last), then the smaller hash. An act
/// counts if its author had the right to it in what he had seen, and no concurrent act of an older owner took that
/// right from him.
///
/// An older owner's removal may become ready only after a concurrent act that it takes the ground from was judged. Then
/// that act is marked as overtaken and the whole evaluation runs again without it; of several such removals in one run
/// only the oldest owner's is heeded, as it may void the others. Every run marks at least one act more, so it ends.
///
/// Not judged here: whether an invitation had expired (there is no clock in a merge), which changesets cutoffs admit
/// (``WriteRights`` tells the replica), and `fold` (it concerns vectors only, and has no effect yet).
package enum MembershipEvaluation {
  /// The state of this log.
  package static func state(of log: MembershipLog) -> MembershipState { evaluate(log).state }

  /// The state of this log, and who may write up to where.
  package static func evaluate(_ log: MembershipLog) -> (state: MembershipState, rights: WriteRights) {
    let graph = MembershipGraph(log)
    var overtaken: Set<Int> = []
    while true {
      var run = MembershipJudgement(graph: graph, overtaken: overtaken)
      run.judgeAll()
      guard let oldest = run.overtakings.map(\.by).min() else {
        return (run.state(heads: log.heads), WriteRights(run))
      }
      overtaken.formUnion(run.overtakings.filter { $0.by == oldest }.map(\.act))
    }
  }
}

/// The entries of a log by number, in an order with parents first, and which of them had seen which.
struct MembershipGraph {
  /// By depth, then hash.
  let entries: [MembershipLog.Known]
  /// By entry: the numbers of those that name it.
  let children: [[Int]]
  /// By hash: the number.
  let index: [EntryHash: Int]
  /// By entry: a bit for each ancestor.
  private let ancestors: [[UInt64]]

  init(_ log: MembershipLog) {
    let entries = log.ordered
    var index: [EntryHash: Int] = [:]
    var children = [[Int]](repeating: [], count: entries.count)
    var ancestors: [[UInt64]] = []
    ancestors.reserveCapacity(entries.count)
    for (number, entry) in entries.enumerated() {
      index[entry.hash] = number
      var bits = [UInt64](repeating: 0, count: number / 64 + 1)
      for parent in entry.entry.parents.compactMap({ index[$0] }) {
        children[parent].append(number)
        for (word, theirs) in ancestors[parent].enumerated() { bits[word] |= theirs }
        bits[parent / 64] |= 1 << UInt64(parent % 64)
      }
      ancestors.append(bits)
    }
    self.entries = entries
    self.index = index
    self.children = children
    self.ancestors = ancestors
  }

  /// Whether `later` had seen `earlier`.
  func saw(_ later: Int, _ earlier: Int) -> Bool {
    earlier < later && ancestors[later][earlier / 64] >> UInt64(earlier % 64) & 1 == 1
  }
}

/// How old an ownership is: less is older.
struct MembershipSeniority: Comparable {
  /// The depth of the entry that granted it; `Int.max` for whoever is no owner.
  let depth: Int
  let hash: EntryHash

  /// Of someone who is no owner.
  static let none = Self(depth: .max, hash: .zero)

  static func < (a: Self, b: Self) -> Bool { (a.depth, a.hash) < (b.depth, b.hash) }
}
