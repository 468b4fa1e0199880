/// What of a peer's holdings is here, by the names that are in use here (D4).
package struct LocatedHoldings: Hashable, Sendable {
  /// What the peer has; under a name that is not known here as the peer calls it.
  package var known: VersionVector
  /// Names under which the peer has another changeset than we, at a seq that we have too.
  package var contradicted: [ReplicaID]
  /// Those of them whose changeset at that seq is known here, so that the peer's is of another branch for certain.
  package var disproved: [ReplicaID]
  /// Names by which the peer calls what is here under another name.
  package var renamed: [ReplicaID]
  /// What the peer has beyond what is here under that name: more of it, or another branch.
  package var unplaced: [Dependency]

  package init(
    known: VersionVector = VersionVector(), contradicted: [ReplicaID] = [], disproved: [ReplicaID] = [],
    renamed: [ReplicaID] = [], unplaced: [Dependency] = []
  ) {
    self.known = known
    self.contradicted = contradicted
    self.disproved = disproved
    self.renamed = renamed
    self.unplaced = unplaced
  }
}

/// For stores in which no replica has branches.
extension RecordStore {
  package func locate(_ holdings: [Dependency]) throws -> LocatedHoldings {
    var located = LocatedHoldings()
    let ours = Dependencies(try receivedDependencies())
    for theirs in holdings {
      if let known = ours.entries[theirs.replica], known.sequence == theirs.sequence, known != theirs {
        located.contradicted.append(theirs.replica)
      } else {
        located.known[theirs.replica] = theirs.sequence
      }
    }
    return located
  }

  package func isOwn(_ replica: ReplicaID) -> Bool { replica == self.replica }

  package var forkCount: Int { 0 }

  package func branches(of replica: ReplicaID) throws -> [ReplicaID] { [replica] }

  package func points(
    of replica: ReplicaID, after low: UInt64, before high: UInt64, limit: Int
  ) throws -> [Dependency] { [] }
}
