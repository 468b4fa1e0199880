package import HouseholdRecords

/// Up to where the changesets of each replica count, as the membership log says now (design 2.6, D5).
struct Admission {
  var rights: WriteRights
  /// The last seq that counts, of each replica that anything bounds: a cutoff, or a write without the right to it.
  var limits: [ReplicaID: UInt64] = [:]
}

/// Admission: what an author had no right to write is stored and passed on, and stays out of the cells.
///
/// The load-bearing detail: the *received* vector counts rejected changesets and the *applied* vector never does. So
/// everyone comes to have the same bytes, can say of every dependency whether it will ever be applied, and an owner can
/// adopt what any device holds; and equal applied vectors mean equal records (R5). Of each replica a prefix counts.
extension Replica {
  /// Where each replica's limit stands when the file is opened.
  func storedLimits() throws -> [ReplicaID: UInt64] {
    var limits: [ReplicaID: UInt64] = [:]
    for entry in replicas.sorted {
      let bounds = [try cutoff(of: entry), try Self.firstRejected(of: entry, connection).map { $0 - 1 }]
      limits[entry.id] = bounds.compactMap(\.self).min()
    }
    return limits
  }

  private static func firstRejected(of entry: ReplicaTable.Entry, _ connection: Connection) throws -> UInt64? {
    try connection.integer(
      "SELECT min(seq) FROM sync_changeset WHERE replica = ? AND state >= 3", .integer(entry.number)
    ).map(UInt64.init)
  }

  /// Whether the changeset counts, as far as is known.
  func isAdmitted(_ name: ChangesetName) -> Bool { name.sequence <= admission.limits[name.replica] ?? .max }

  /// Judges a changeset that has just come, the next one of its replica; whether it counts.
  ///
  /// - Parameters:
  ///   - name: what it is called here.
  ///   - heads: the membership heads that it names.
  func admit(
    _ changeset: Changeset, as name: ChangesetName, heads: [EntryHash], of entry: ReplicaTable.Entry
  ) throws -> Bool {
    if name.sequence == entry.fork + 1 {
      let begun = entry.fork == 0 ? heads : entry.begun
      admission.limits[entry.id] = try cutoff(of: entry, begunAt: begun)
    }
    // Only when it is stored it shows whether it is the one that an entry means, or a replica that is no branch.
    let isNew = name.sequence == entry.fork + 1 && admission.rights.names(entry.id, of: entry.device)
    if isNew || admission.rights.isLast(name.sequence, of: entry.device) { hasReachedLast = true }
    guard isAdmitted(name) else { return false }
    // An empty changeset only confirms, which whoever reads may do.
    if changeset.operations.isEmpty || admission.rights.mayWrite(entry.device, at: heads) { return true }
    admission.limits[entry.id] = name.sequence - 1
    return false
  }

  /// What a replica has seen of the membership only grows: else a loss of rights could be unseen again.
  func checkHeads(_ heads: [EntryHash], follow previous: [EntryHash], of name: ChangesetName) throws {
    guard admission.rights.covers(heads, previous) else {
      throw Violation(.badChangeset, "Changeset \(name) has not seen the membership that the one before it had seen.")
    }
  }

  // MARK: When the membership changes

  /// Judges all changesets anew, in both directions: what counts no longer leaves the cells, what counts again comes in.
  ///
  /// A device that belongs no longer keeps what it has.
  ///
  /// - Parameter earlier: the rights under which what is here was judged; nil judges everything.
  func readmit(since earlier: WriteRights?) throws {
    var limits: [ReplicaID: UInt64] = [:]
    for entry in replicas.sorted { limits[entry.id] = try limit(of: entry, since: earlier) }
    admission.limits = limits
    guard membershipState.admits(identity.device) else { return }
    var out = Withdrawn()
    for entry in replicas.sorted { try mark(entry, limit: limits[entry.id] ?? .max, out: &out) }
    held = held.filter(isAdmitted)
    if !out.names.isEmpty { try withdraw(out) }
    try mintIfBound()
    _ = try applyReady()
    try reinstate()
    digestCache = nil
  }

  /// The last seq of the replica that counts; nil if nothing bounds it.
  private func limit(of entry: ReplicaTable.Entry, since earlier: WriteRights?) throws -> UInt64? {
    let rights = admission.rights
    let cutoff = try cutoff(of: entry)
    // Where nothing was rejected and nothing that decides has changed, every write was found good already.
    if let earlier, earlier.agree(with: rights, on: entry.device),
      try Self.firstRejected(of: entry, connection) == nil
    {
      return cutoff
    }
    let forbidden = try firstForbidden(of: entry, through: cutoff ?? .max).map { $0 - 1 }
    return [cutoff, forbidden].compactMap(\.self).min()
  }

  /// The first changeset that writes without the right to, at the membership heads that it names.
  private func firstForbidden(of entry: ReplicaTable.Entry, through last: UInt64) throws -> UInt64? {
    let statement = try connection.statement(
      """
      SELECT heads, min(seq), max(seq) FROM sync_changeset WHERE replica = ? AND seq <= ? AND body IS NOT NULL
      GROUP BY heads ORDER BY 2
      """)
    try statement.bind([.integer(entry.number), .integer(Int64(clamping: last))])
    var spans: [(first: UInt64, last: UInt64)] = []
    do {
      defer { statement.reset() }
      while try statement.step() { spans.append((UInt64(statement.integer(1)), UInt64(statement.integer(2)))) }
    }
    for span in spans {
      let first = ChangesetName(replica: entry.id, sequence: span.first)
      guard let header = try log.header(of: first, replicas: replicas),
        !admission.rights.mayWrite(entry.device, at: header.membershipHeads)
      else { continue }
      for sequence in span.first...span.last {
        let name = ChangesetName(replica: entry.id, sequence: sequence)
        guard let header = try log.header(of: name, replicas: replicas), try log.body(at: header.position) != nil
        else { continue }
        if try !body(of: header).operations.isEmpty { return sequence }
      }
    }
    return nil
  }

  /// Brings states and vectors of a replica in line with its limit, and collects what must leave the cells.
  private func mark(_ entry: ReplicaTable.Entry, limit: UInt64, out: inout Withdrawn) throws {
    let last = Int64(clamping: limit)
    let whole = max(entry.fork, min(entry.applied, try endOfTransaction(entry, atMost: limit)))
    if entry.applied > whole {
      try collect(entry, after: whole, into: &out)
      try replicas.update(entry.id, on: connection) { $0.applied = whole }
      try connection.run(
        "UPDATE sync_changeset SET state = 0 WHERE replica = ? AND seq > ? AND state = 1", .integer(entry.number),
        .integer(Int64(clamping: whole)))
    }
    try connection.run(
      "UPDATE sync_changeset SET state = 3 WHERE replica = ? AND seq > ? AND state < 3", .integer(entry.number),
      .integer(last))
    try connection.run(
      "UPDATE sync_changeset SET state = 0 WHERE replica = ? AND seq <= ? AND state >= 3", .integer(entry.number),
      .integer(last))
  }

  /// The greatest seq up to this one at which a local transaction ends: none is applied in part.
  func endOfTransaction(_ entry: ReplicaTable.Entry, atMost limit: UInt64) throws -> UInt64 {
    var end = min(limit, entry.received)
    while end > 0,
      let header = try log.header(of: ChangesetName(replica: entry.id, sequence: end), replicas: replicas),
      goesOn(header)
    { end -= 1 }
    return end
  }

  /// After sealing on a device that may not write: some program got round the triggers, and everyone rejects it.
  func withdrawWhatMayNotBeWritten() throws {
    guard membershipState.admits(identity.device), !membershipState.mayWrite(identity.device) else { return }
    try readmit(since: nil)
  }

  /// What others should know is stored here and does not count; nothing that somebody here has decided about.
  func withheldAsRejected() throws -> [Withheld] {
    let statement = try connection.statement(
      "SELECT replica, min(seq) FROM sync_changeset WHERE state >= 3 AND state = 3 GROUP BY replica")
    defer { statement.reset() }
    var list: [Withheld] = []
    while try statement.step() {
      guard let entry = replicas[number: statement.integer(0)] else { continue }
      list.append(Withheld(replica: entry.id, first: UInt64(statement.integer(1)), reason: .rejected))
    }
    return list.sorted { $0.replica < $1.replica }
  }

  // MARK: A new replica id

  /// Begins a new replica where an entry bounds the present one: what it would seal from now on could never count.
  private func mintIfBound() throws {
    guard let own = replicas[replica], own.received > 0 else { return }
    let isCut = admission.rights.cutoff(of: own.id, device: own.device, begunAt: own.begun) != nil
    if isCut || membershipState.mayWrite(own.device) && admission.limits[own.id] != nil { try mintReplica() }
  }

  // MARK: Cutoffs

  /// The last seq of the branch that entries leave to it; nil if none bounds it.
  private func cutoff(of entry: ReplicaTable.Entry, begunAt heads: [EntryHash]? = nil) throws -> UInt64? {
    try admission.rights.cutoff(of: entry.id, device: entry.device, begunAt: heads ?? entry.begun) {
      try reach(of: entry, on: $0)
    }
  }

  /// How far along this branch the path to the named changesets goes.
  ///
  /// One whose hash was not known to the author any more is taken by its name. One that is not here yet may lie on any
  /// branch of its replica that is not as long, and so after what that branch leaves, and on none that has another changeset
  /// in its place. Where one of a replica is not here, a name that nobody here has heard of may be a branch of it: who knows
  /// only that branch calls it by the replica's name.
  private func reach(of entry: ReplicaTable.Entry, on named: Dependencies) throws -> UInt64 {
    var reach: UInt64 = 0
    var absent: [Dependency] = []
    for last in named.sorted {
      if last.hashPrefix == 0, last.replica == entry.id {
        reach = max(reach, last.sequence)
      } else if let name = try resolve(last) {
        reach = max(reach, lastOfBranch(entry, onPathTo: name))
      } else {
        absent.append(last)
      }
    }
    guard absent.contains(where: { replicas[$0.replica]?.root == entry.root }) else { return reach }
    for last in absent where replicas[last.replica].map({ $0.root == entry.root }) ?? true {
      for branch in replicas.tree(of: entry.root) where last.sequence > max(branch.fork, branch.received) {
        let place = ChangesetName(replica: branch.id, sequence: last.sequence)
        reach = max(reach, lastOfBranch(entry, onPathTo: place))
      }
    }
    return reach
  }

  /// The last seq of the branch that is a predecessor of the changeset, or the changeset itself; 0 if there is none.
  private func lastOfBranch(_ entry: ReplicaTable.Entry, onPathTo name: ChangesetName) -> UInt64 {
    var branch = replicas[name.replica]
    var reached = name.sequence
    while let found = branch {
      if found.id == entry.id { return reached }
      reached = min(reached, found.fork)
      branch = found.parent.flatMap { replicas[number: $0] }
    }
    return 0
  }

  /// What of a device counts here now: what stays admitted when it loses the right to write.
  package func cutoffs(of device: DeviceID) throws -> MembershipEntry.Cutoffs {
    var through: [Dependency] = []
    for entry in replicas.sorted where entry.device == device {
      let last = try endOfTransaction(entry, atMost: admission.limits[entry.id] ?? .max)
      guard entry.holds(last) else { continue }
      let header = try log.header(of: ChangesetName(replica: entry.id, sequence: last), replicas: replicas)
      through.append(Dependency(replica: entry.id, sequence: last, hashPrefix: header?.hash.prefix ?? 0))
    }
    return MembershipEntry.Cutoffs(device: device, through: Dependencies(through))
  }
}
