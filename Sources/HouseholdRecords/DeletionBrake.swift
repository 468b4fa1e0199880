/// The line beyond which one member's deletions wait until somebody approves them (design 2.10).
///
/// A wrong click, an emptied copy or a broken program deletes in bulk, and sync would carry it to everyone. Only records
/// that others created count: what somebody deletes of his own is his business.
package enum DeletionBrake {
  /// Whether so many deletions must be held.
  ///
  /// - Parameters:
  ///   - deletions: how many records of others one member deletes, by type.
  ///   - live: how many records a type has before them; asked only where it matters.
  package static func holds(_ deletions: [String: Int], live: (String) throws -> Int64) rethrows -> Bool {
    if deletions.values.reduce(0, +) > Limits.freeDeletions { return true }
    for (type, count) in deletions where count > Limits.freeDeletionsOfType {
      if try Int64(count) * 5 > live(type) { return true }
    }
    return false
  }
}

/// A changeset that is stored here and kept from the records, with everything of its author after it.
package struct Withheld: Hashable, Sendable {
  /// Why.
  package enum Reason: UInt8, Sendable, CaseIterable {
    /// It deletes so much that somebody has to approve it.
    case held = 1
    /// Its author had lost the right to write.
    case rejected = 2
  }

  package var replica: ReplicaID
  /// The first seq that is kept back.
  package var first: UInt64
  package var reason: Reason

  package init(replica: ReplicaID, first: UInt64, reason: Reason) {
    self.replica = replica
    self.first = first
    self.reason = reason
  }
}
