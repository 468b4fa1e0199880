internal import HouseholdRecords

/// Dependencies: a changeset is applied after all that counts of what its author had seen, and waits for nothing else.
extension Replica {
  /// Whether everything that counts of what a changeset depends on is applied (D2, D5).
  func isMet(_ dependency: Dependency) throws -> Bool {
    if let name = try resolve(dependency) { return isApplied(through: name) }
    // It is not here, and may be nowhere but at devices that belong no longer. Nobody waits for what does not count.
    guard let entry = replicas[dependency.replica], try cutsOff(dependency, of: entry) else { return false }
    return replicas.tree(of: entry.root).allSatisfy {
      isApplied(through: ChangesetName(replica: $0.id, sequence: dependency.sequence - 1))
    }
  }

  /// Whether all that counts on the path to this changeset is applied.
  private func isApplied(through name: ChangesetName) -> Bool {
    var path: [(entry: ReplicaTable.Entry, last: UInt64)] = []
    var (branch, reached) = (replicas[name.replica], name.sequence)
    while let entry = branch {
      path.append((entry, reached))
      reached = min(reached, entry.fork)
      branch = entry.parent.flatMap { replicas[number: $0] }
    }
    for (entry, last) in path.reversed() {
      let limit = admission.limits[entry.id] ?? .max
      if max(entry.applied, entry.fork) < min(last, limit) { return false }
      // Where the path does not count, nothing after it does.
      if limit < last { return true }
    }
    return true
  }

  /// Whether a changeset that is not here is beyond what entries leave to its replica, on whatever branch it lies.
  ///
  /// What lies on the path to a named changeset that is here is here as well.
  private func cutsOff(_ absent: Dependency, of entry: ReplicaTable.Entry) throws -> Bool {
    let cutoff = try admission.rights.cutoff(of: absent.replica, device: entry.device, begunAt: entry.begun) { named in
      try named.sorted.filter { last in
        if last.hashPrefix == 0 { return last.replica == absent.replica }
        return try resolve(last) == nil && replicas[last.replica]?.root == entry.root
      }.map(\.sequence).max() ?? 0
    }
    return cutoff.map { $0 < absent.sequence } ?? false
  }

  /// Whether somebody whose changesets are applied had seen another branch of the replica than the one that is here.
  ///
  /// As long as the changeset that he names had not come, he was taken to have seen all that is here before it.
  func isDisproved(_ replica: ReplicaID, from first: UInt64) throws -> Bool {
    guard let entry = replicas[replica] else { return false }
    for author in replicas.sorted where author.id != replica && author.applied > author.fork {
      let statement = try connection.statement(
        "SELECT position FROM sync_changeset WHERE replica = ? AND seq <= ? AND state = 1 ORDER BY seq DESC")
      try statement.bind([.integer(author.number), .integer(Int64(clamping: author.applied))])
      defer { statement.reset() }
      while try statement.step() {
        let header = try header(of: statement.integer(0))
        // What a replica has seen only grows.
        guard let named = header.dependencies.entries[replica], named.sequence >= first else { break }
        if named.sequence <= entry.received, try resolve(named) == nil { return true }
      }
    }
    return false
  }
}
