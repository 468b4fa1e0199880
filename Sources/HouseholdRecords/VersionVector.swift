/// For every replica the highest seq up to which all its changesets are there, without a gap.
///
/// It decides what is missing; the wall clock has no part in it. Entries are never zero.
package struct VersionVector: Hashable, Sendable {
  /// Seqs by replica, none of them zero.
  package private(set) var entries: [ReplicaID: UInt64]

  package init(_ entries: [ReplicaID: UInt64] = [:]) { self.entries = entries.filter { $0.value > 0 } }

  /// The highest contiguous seq of the replica; setting 0 takes it out.
  package subscript(replica: ReplicaID) -> UInt64 {
    get { entries[replica] ?? 0 }
    set { entries[replica] = newValue == 0 ? nil : newValue }
  }

  /// Whether nothing is known.
  package var isEmpty: Bool { entries.isEmpty }

  /// The entries in ascending order of the replica: the only order that may be seen.
  package var sorted: [(replica: ReplicaID, sequence: UInt64)] {
    entries.sorted { $0.key < $1.key }.map { (replica: $0.key, sequence: $0.value) }
  }

  /// Whether this changeset is counted.
  package func contains(_ name: ChangesetName) -> Bool { self[name.replica] >= name.sequence }

  /// Whether everything that `other` counts is counted here.
  package func covers(_ other: Self) -> Bool { other.entries.allSatisfy { self[$0.key] >= $0.value } }

  /// Counts everything up to this changeset.
  package mutating func count(_ name: ChangesetName) { self[name.replica] = max(self[name.replica], name.sequence) }

  /// Takes the greater seq of each replica.
  package mutating func merge(_ other: Self) {
    entries.merge(other.entries) { max($0, $1) }
  }

  /// What both count.
  package func common(with other: Self) -> Self {
    Self(entries.reduce(into: [:]) { $0[$1.key] = min($1.value, other[$1.key]) })
  }

  /// How many changesets are counted here and not in `other`.
  package func excess(over other: Self) -> UInt64 {
    entries.reduce(0) { sum, entry in
      let theirs = other[entry.key]
      return entry.value > theirs ? sum + entry.value - theirs : sum
    }
  }
}

/// Names one changeset for ever: who sealed it, and as the how-manieth.
package struct ChangesetName: Hashable, Comparable, Sendable, CustomStringConvertible {
  package var replica: ReplicaID
  /// From 1, without gaps.
  package var sequence: UInt64

  package init(replica: ReplicaID, sequence: UInt64) {
    self.replica = replica
    self.sequence = sequence
  }

  package var description: String { "\(replica):\(sequence)" }

  package static func < (a: Self, b: Self) -> Bool { (a.replica, a.sequence) < (b.replica, b.sequence) }
}

/// What a changeset's author had applied of one replica, with the beginning of that changeset's hash to tell branches
/// apart (D4).
package struct Dependency: Hashable, Sendable {
  package var replica: ReplicaID
  package var sequence: UInt64
  /// The first eight bytes of the hash of the changeset `replica:sequence`.
  package var hashPrefix: UInt64

  package init(replica: ReplicaID, sequence: UInt64, hashPrefix: UInt64) {
    self.replica = replica
    self.sequence = sequence
    self.hashPrefix = hashPrefix
  }
}

/// Everything that a changeset's author had applied when it was sealed: decides what was *seen* (D5: never cut).
package struct Dependencies: Hashable, Sendable {
  /// By replica; the author's own replica is left out, its earlier changesets are always seen.
  package private(set) var entries: [ReplicaID: Dependency]

  package init(_ entries: [Dependency] = []) {
    self.entries = [:]
    for entry in entries where entry.sequence > 0 { self.entries[entry.replica] = entry }
  }

  /// In ascending order of the replica.
  package var sorted: [Dependency] { entries.values.sorted { $0.replica < $1.replica } }

  /// The seq up to which the replica was seen; 0 if not at all.
  package func sequence(of replica: ReplicaID) -> UInt64 { entries[replica]?.sequence ?? 0 }

  /// The seqs alone.
  package var vector: VersionVector { VersionVector(entries.mapValues(\.sequence)) }

  /// The dependencies after these changes, as a changeset lists only what differs from its predecessor's.
  package func applying(_ changes: [Dependency]) -> Self {
    var result = self
    for change in changes { result.entries[change.replica] = change }
    return result
  }

  /// What a changeset must list after a predecessor that had `earlier`.
  package func changes(since earlier: Self) -> [Dependency] {
    sorted.filter { earlier.entries[$0.replica] != $0 }
  }
}
