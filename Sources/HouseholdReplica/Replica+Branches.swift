package import HouseholdRecords

/// Branches of a replica (D4): a restored or copied device may have sealed twice under one name.
///
/// The changesets of a replica form a tree by their previous hash. Each branch is a row of `sync_replica`; where one
/// has several successors, the branch whose first changeset has the smallest hash keeps the name. Everything stored
/// names changesets by position, so a branch that gets another name takes its writes along.
extension Replica {
  /// Where a changeset belongs.
  struct Place {
    /// The branch of the changeset before it.
    var entry: ReplicaTable.Entry
    var previous: ChangesetHeader?
    /// Whether another changeset stands in its place already: then it begins a branch.
    var isFork = false
  }

  /// Whether a changeset is here.
  enum Finding {
    case here(ChangesetName)
    /// It is counted, or comes by snapshot, and nothing more can be said of it.
    case beyond
    /// It is new here and follows on this.
    case after(Place)
  }

  /// Finds the changeset, or its place.
  func place(of changeset: Changeset, hash: ChangesetHash) throws -> Finding {
    let (root, sequence) = (changeset.name.replica, changeset.name.sequence)
    guard let known = replicas[root], known.root == root else {
      return .after(Place(entry: try replicaEntry(of: changeset)))
    }
    let tree = replicas.tree(of: root)
    for entry in tree where entry.holds(sequence) {
      let name = ChangesetName(replica: entry.id, sequence: sequence)
      guard let header = try log.header(of: name, replicas: replicas) else {
        // Counted, and not known one by one any more: nothing tells it from another branch's.
        if tree.count == 1 { return .beyond }
        continue
      }
      if header.hash == hash { return .here(name) }
    }
    if sequence == 1 { return .after(Place(entry: known, isFork: known.received > 0)) }
    for entry in tree where entry.holds(sequence - 1) {
      let name = ChangesetName(replica: entry.id, sequence: sequence - 1)
      guard let previous = try log.header(of: name, replicas: replicas), previous.hash == changeset.previous else {
        continue
      }
      return .after(Place(entry: entry, previous: previous, isFork: entry.received >= sequence))
    }
    throw Violation(
      .otherBranch, "Changeset \(changeset.name) follows on one that is not here; the session starts anew.")
  }

  /// Gives the changeset after this place a branch: one of its own, or the name if its hash is the smaller one.
  ///
  /// - Parameter heads: the membership heads that the changeset names. One that is a replica's first has begun it at these,
  ///   whatever another first one had seen.
  func branch(at place: Place, first hash: ChangesetHash, heads: [EntryHash]) throws -> ReplicaTable.Entry {
    let parent = place.entry
    let fork = place.previous?.name.sequence ?? 0
    let next = ChangesetName(replica: parent.id, sequence: fork + 1)
    guard let kept = try log.header(of: next, replicas: replicas) else {
      throw Violation(.otherBranch, "The replica \(parent.id) has another branch, and its log is not kept so far back.")
    }
    var branch = parent
    branch.parent = parent.number
    branch.fork = fork
    hasForked = true
    forkedRoots.insert(parent.root)
    forkCount += 1
    if kept.hash < hash {
      (branch.id, branch.first) = (Self.name(ofBranch: hash), hash)
      (branch.received, branch.applied, branch.base) = (fork, fork, fork)
      if fork == 0 { branch.begun = heads }
      return try replicas.insert(branch, on: connection)
    }
    (branch.id, branch.first) = (Self.name(ofBranch: kept.hash), kept.hash)
    (branch.applied, branch.base) = (max(parent.applied, fork), max(parent.base, fork))
    try rename(branch, of: parent, fork: fork)
    if fork == 0 { try replicas.update(parent.id, on: connection) { $0.begun = heads } }
    guard let entry = replicas[parent.id] else { throw ReplicaError(.other, "A replica is gone.") }
    return entry
  }

  private static func name(ofBranch hash: ChangesetHash) -> ReplicaID {
    guard let name = ReplicaID(bytes: hash.bytes.prefix(ReplicaID.byteCount)) else {
      preconditionFailure("A hash has 32 bytes")
    }
    return name
  }

  /// Moves the changesets of a branch after the fork to a row of their own.
  private func rename(_ branch: ReplicaTable.Entry, of parent: ReplicaTable.Entry, fork: UInt64) throws {
    let moved = try replicas.insert(branch, on: connection)
    try connection.run(
      "UPDATE sync_changeset SET replica = ? WHERE replica = ? AND seq > ?", .integer(moved.number),
      .integer(parent.number), .integer(Int64(fork)))
    for child in replicas.sorted where child.parent == parent.number && child.fork > fork {
      try replicas.update(child.id, on: connection) { $0.parent = moved.number }
    }
    try replicas.update(parent.id, on: connection) { entry in
      entry.received = fork
      entry.applied = min(entry.applied, fork)
      entry.base = min(entry.base, fork)
    }
    log.forget(from: log.nextPosition)
    admission.limits[moved.id] = admission.limits[parent.id]
    held = try readHeld()
    digestCache = nil
    let prefix = hexadecimal(moved.id.bytes.prefix(4))
    try connection.run(
      """
      UPDATE sync_change SET change = ?1 || substr(change, 9)
      WHERE position IN (SELECT position FROM sync_changeset WHERE replica = ?2)
      """, .text(prefix), .integer(moved.number))
    try rewriteRecords()
  }

  /// Puts the writes of every record into the order of the names that hold now: on a tie the name decides who wins.
  private func rewriteRecords() throws {
    var places: [RecordPlace] = []
    let statement = try connection.statement("SELECT type, id FROM sync_record WHERE cells IS NOT NULL")
    while try statement.step() {
      places.append(RecordPlace(type: statement.integer(0), id: statement.text(1)))
    }
    statement.reset()
    for place in places {
      guard let stored = try StoredRecord.read(type: place.type, id: place.id, on: connection) else { continue }
      let table = registry[place.type]
      let row = stored.isAlive ? try table?.row(place.id, on: connection) : nil
      var state = try CellVersions.decode(stored, row: row, table: table, names: self)
      state.cells = state.cells.mapValues { $0.sorted { ($0.name, $0.life) < ($1.name, $1.life) } }
      // Conflicts are named after changesets too.
      try connection.run(
        "DELETE FROM sync_conflict WHERE type = ? AND id = ? AND open = 1", .integer(place.type), .text(place.id))
      try store(state, of: place, table: table, shownBefore: row, earlierFlags: stored.flags)
    }
  }

  /// What follows once for all that the transaction came to know of branches.
  func settleForks() throws {
    defer { (hasReachedLast, forkedRoots, seenEarly, cameBounded) = (false, [], [], [:]) }
    if hasForked { try renewPositions() }
    // Names have another meaning now, so what bounds them is looked up anew.
    if hasForked || hasReachedLast { try readmit(since: nil) }
    let bounded = forkedRoots.filter { replicas.tree(of: $0).contains { admission.limits[$0.id] != nil } }
    let disproved = try cameBounded.filter { try isDisproved($0.key, from: $0.value) }.keys
    for root in bounded.union(seenEarly).union(disproved).sorted() { try compareAnew(root) }
  }

  /// Positions, tokens and confirmations are not what they were before the fork.
  private func renewPositions() throws {
    servedSnapshots = servedSnapshots.filter { $0.value.uses > 0 }
    let next = cryptography.sha256(incarnation.bytes + (replicas.sorted.last?.id.bytes ?? []) + [UInt8(1)])
    if let renewed = Incarnation(bytes: next.prefix(Incarnation.byteCount)) {
      incarnation = renewed
      try facts.set(.incarnation, .bytes(renewed.bytes))
    }
    let statement = try connection.statement(
      "SELECT device, acknowledged FROM sync_peer WHERE acknowledged IS NOT NULL")
    var peers: [(device: [UInt8], vector: VersionVector)] = []
    while try statement.step() { peers.append((statement.bytes(0), try Self.vector(statement.bytes(1)))) }
    statement.reset()
    for (device, vector) in peers {
      var writer = ByteWriter()
      writer.vector(vector.forgetting(replicas))
      try connection.run(
        "UPDATE sync_peer SET acknowledged = ? WHERE device = ?", .bytes(writer.bytes), .bytes(device))
    }
  }

  /// Computes anew what a replica wrote of whose branches more is known now.
  ///
  /// Nobody waits for a changeset that does not count. So who had seen it was applied before it was here, and until then
  /// taken to have seen as much of the branch that was, or nothing of the branches on none of which it was found.
  private func compareAnew(_ root: ReplicaID) throws {
    var written = Withdrawn()
    for entry in replicas.tree(of: root) { try collect(entry, after: entry.fork, into: &written) }
    try recompute(places(of: written), without: Withdrawn())
    (digestCache, digestWalk) = (nil, nil)
  }

  // MARK: Finding changesets by what others call them

  /// The changeset that a dependency names, whatever it is called here; nil if it is not here.
  func resolve(_ dependency: Dependency) throws -> ChangesetName? {
    try replicas.resolve(dependency, in: log)
  }

  /// Whether the changeset is here, whatever it is called.
  package func has(_ changeset: Dependency) throws -> Bool { try resolve(changeset) != nil }

  /// Whether the first changeset is the second or one of its predecessors, also across a fork.
  func isOnPath(_ earlier: ChangesetName, to later: ChangesetName) -> Bool {
    var branch = replicas[later.replica]
    var reached = later.sequence
    while let entry = branch {
      if entry.id == earlier.replica { return earlier.sequence <= reached }
      reached = min(reached, entry.fork)
      branch = entry.parent.flatMap { replicas[number: $0] }
    }
    return false
  }

  /// Whether the author had seen a changeset of a replica with branches: its dependencies may use other names.
  func coversInTree(_ later: ChangesetHeader, _ earlier: ChangesetName) throws -> Bool {
    for dependency in later.dependencies.entries.values {
      if let tip = try resolve(dependency), isOnPath(earlier, to: tip) { return true }
    }
    return false
  }

  /// The same of a replica that has no branches here and does not count to its end: the author may have seen another one,
  /// and may call this one otherwise. What is beyond the end here is taken to follow it.
  func covers(_ later: ChangesetHeader, _ earlier: ChangesetName, ofBounded entry: ReplicaTable.Entry) throws -> Bool {
    let named = later.dependencies.sequence(of: entry.id)
    return try named > entry.received || coversInTree(later, earlier)
  }

  package func locate(_ holdings: [Dependency]) throws -> LocatedHoldings {
    var located = LocatedHoldings()
    for theirs in holdings {
      if let name = try resolve(theirs) {
        if name.replica != theirs.replica { located.renamed.append(theirs.replica) }
        var branch = replicas[name.replica]
        var reached = name.sequence
        while let entry = branch {
          if entry.holds(reached) { located.known[entry.id] = max(located.known[entry.id], reached) }
          reached = min(reached, entry.fork)
          branch = entry.parent.flatMap { replicas[number: $0] }
        }
      } else if let entry = replicas[theirs.replica] {
        located.unplaced.append(theirs)
        if entry.holds(theirs.sequence) {
          located.contradicted.append(entry.id)
          let ours = ChangesetName(replica: entry.id, sequence: theirs.sequence)
          if try hash(of: ours) != nil { located.disproved.append(entry.id) }
        }
      } else {
        located.known[theirs.replica] = theirs.sequence
      }
    }
    for theirs in located.unplaced where !located.contradicted.contains(theirs.replica) {
      located.known[theirs.replica] = theirs.sequence
    }
    try mintIfBehind(holdings, located)
    return located
  }

  package func branches(of replica: ReplicaID) throws -> [ReplicaID] {
    guard let entry = replicas[replica] else { return [replica] }
    return replicas.tree(of: entry.root).map(\.id)
  }

  package func points(
    of replica: ReplicaID, after low: UInt64, before high: UInt64, limit: Int
  ) throws -> [Dependency] {
    guard let entry = replicas[replica] else { return [] }
    let first = max(low, entry.fork) + 1
    let last = min(high - 1, entry.received)
    guard first <= last else { return [] }
    let step = (last - first) / UInt64(limit) + 1
    var sequences = Array(stride(from: first, to: last, by: Int(clamping: step)))
    sequences.append(last)
    return try sequences.compactMap { sequence in
      try log.header(of: ChangesetName(replica: entry.id, sequence: sequence), replicas: replicas).map {
        Dependency(replica: entry.id, sequence: sequence, hashPrefix: $0.hash.prefix)
      }
    }
  }
}

extension VersionVector {
  /// Without what is said of replicas that have branches: their names may have meant something else.
  fileprivate func forgetting(_ replicas: ReplicaTable) -> Self {
    VersionVector(
      entries.filter { name, _ in
        guard let entry = replicas[name] else { return true }
        return !replicas.forked.contains(entry.root)
      })
  }
}
