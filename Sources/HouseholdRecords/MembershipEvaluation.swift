/// Says what the membership log amounts to: a pure function of the set of entries (R4, design 2.6, D5).
///
/// Entries are judged in causal order; of those that could come next the one goes first whose author is senior (by
/// ``MembershipSeniority``: the older ownership, then the device that was introduced earlier), then the smaller hash. An
/// act counts if its author had the right to it in what he had seen, and no concurrent act of a senior author took that
/// right from him or from his device, be it another owner's or his own.
///
/// A senior author's removal may become ready only after a concurrent act that it takes the ground from was judged. Then
/// that act is marked as overtaken and the whole evaluation runs again without it; of several such removals in one run
/// only the most senior author's is heeded, as it may void the others. Every run marks at least one act more, so it ends.
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

  /// The age of what an entry gives.
  func age(of entry: Int) -> MembershipAge { MembershipAge(depth: entries[entry].depth, hash: entries[entry].hash) }

  /// Whether `later` had seen `earlier`.
  func saw(_ later: Int, _ earlier: Int) -> Bool {
    earlier < later && ancestors[later][earlier / 64] >> UInt64(earlier % 64) & 1 == 1
  }
}

/// How old a right is, by the entry that gave it: less is older.
struct MembershipAge: Comparable {
  /// The depth of that entry; `Int.max` if there is no such right.
  let depth: Int
  let hash: EntryHash

  /// Of a right that somebody does not have.
  static let none = Self(depth: .max, hash: .zero)

  static func < (a: Self, b: Self) -> Bool { (a.depth, a.hash) < (b.depth, b.hash) }
}

/// Who goes first of two that do not know of each other's acts: less goes first.
///
/// Nobody makes himself senior: whoever lets a device in, or makes an owner, is senior to it, as the entry that does so
/// comes after the one that let himself in.
struct MembershipSeniority: Comparable {
  /// How old the author's ownership is; those who are no owners come after all who are.
  let ownership: MembershipAge
  /// How long the author's device belongs.
  let introduction: MembershipAge

  /// Of someone who is not known.
  static let none = Self(ownership: .none, introduction: .none)

  static func < (a: Self, b: Self) -> Bool { (a.ownership, a.introduction) < (b.ownership, b.introduction) }
}
