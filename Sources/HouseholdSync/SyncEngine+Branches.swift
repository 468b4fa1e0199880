import HouseholdRecords

/// How far a peer has a branch of ours: the greatest seq that it is known to have, and the least that it lacks.
struct BranchSearch: Hashable {
  var known: UInt64
  var lacking: UInt64
  /// What was asked last, in ascending order: the log may hold more headers by the time the answer comes.
  var asked: [UInt64] = []

  init(known: UInt64, lacking: UInt64) { (self.known, self.lacking) = (known, lacking) }

  /// Whether there is nothing between the two.
  var isOver: Bool { known + 1 >= lacking }
}

/// What a peer says that it has under a name of ours, beyond what was here when it said so.
struct BranchDoubt: Hashable {
  var said: UInt64
  var end: UInt64
}

/// Replicas with branches (D4): both sides get all of them, without sending what the other has.
///
/// Whoever sees that a peer has another changeset under some name asks how far the peer has each of its own branches of
/// that replica, a few questions whatever the length, and sends the rest. Names mean something else to the two until
/// then, so nothing that is said by name counts; whoever gets a new branch begins all sessions anew.
extension SyncEngine {
  /// Takes in where the peer's holdings lie here; returns what it certainly has.
  func place(
    _ holdings: Holdings, of session: inout SyncSession, _ moment: Moment
  ) throws -> (located: LocatedHoldings, certain: VersionVector) {
    var located = try moment.store.locate(holdings.received)
    ownReplicas.insert(moment.store.replica)
    session.unplaced = located.unplaced
    for replica in located.contradicted where !session.forks.contains(replica) {
      report(.forkSuspected(replica, session.device))
      for branch in try moment.store.branches(of: replica) {
        session.forks.insert(branch)
        session.known[branch] = 0
        let end = vectors.received[branch]
        if end > 0 { session.searches[branch] = BranchSearch(known: 0, lacking: end + 1) }
      }
    }
    for theirs in located.unplaced { try doubt(theirs, of: &session, moment) }
    // How far the peer has these is what the search finds out.
    located.known = withoutForks(located.known, session)
    for branch in session.searches.keys { located.known[branch] = 0 }
    // Here it is known how far it has them, and yet what it says by name from now on means something else.
    for replica in located.renamed { session.forks.formUnion(try moment.store.branches(of: replica)) }
    // The peer judges by what it was told. What came here since it could not see, and would not be offered either.
    let received = try moment.store.vectors().received
    if session.forks.contains(where: { received[$0] != session.outgoing.said[$0] }) { throw Goodbye.branches }
    var certain = located.known
    for theirs in located.unplaced { certain[theirs.replica] = 0 }
    session.outgoing.withheld = Set(session.searches.keys)
    session.outgoing.ambiguous = session.forks
    return (located, certain)
  }

  /// Asks how far the peer has what is here of a replica with branches, if it has what is not here under one of the names:
  /// it may be more of that branch, or a branch that left it long before.
  ///
  /// Whoever takes it for more sends a branch whose beginning the peer lacks, before the peer's own questions are answered:
  /// it cannot place that, the session starts anew, and so does the next one.
  private func doubt(_ theirs: Dependency, of session: inout SyncSession, _ moment: Moment) throws {
    let end = vectors.received[theirs.replica]
    let branches = try moment.store.branches(of: theirs.replica)
    guard end > 0, branches.count > 1, !session.forks.contains(theirs.replica) else { return }
    session.doubts[theirs.replica] = BranchDoubt(said: theirs.sequence, end: end)
    for branch in branches where session.searches[branch] == nil && vectors.received[branch] > 0 {
      session.known[branch] = 0
      session.searches[branch] = BranchSearch(known: 0, lacking: vectors.received[branch] + 1)
    }
  }

  /// It is known how far the peer has what is here: all of it, or its names mean something else.
  private func settleDoubts(on link: LinkNumber, _ moment: Moment) throws {
    for (name, doubt) in (sessions[link]?.doubts ?? [:]).sorted(by: { $0.key < $1.key }) {
      sessions[link]?.doubts[name] = nil
      guard let session = sessions[link] else { return }
      if session.known[name] >= doubt.end {
        try count(VersionVector([name: doubt.said]), for: session, moment)
        continue
      }
      let branches = try moment.store.branches(of: name)
      sessions[link]?.forks.formUnion(branches)
      sessions[link]?.outgoing.ambiguous.formUnion(branches)
      if branches.contains(where: { vectors.received[$0] != session.outgoing.said[$0] }) { throw Goodbye.branches }
    }
  }

  /// Asks how far the peer has our branches, each once: the answer to a question asked again would be taken for that to
  /// the next.
  func askForForks(on link: LinkNumber, _ moment: Moment) throws {
    guard let session = sessions[link] else { return }
    for (branch, search) in session.searches.sorted(by: { $0.key < $1.key }) where search.asked.isEmpty {
      try ask(branch, search, on: link, moment)
    }
  }

  private func ask(_ branch: ReplicaID, _ search: BranchSearch, on link: LinkNumber, _ moment: Moment) throws {
    let points = try moment.store.points(
      of: branch, after: search.known, before: search.lacking, limit: Limits.branchPoints - 1)
    if points.isEmpty { return try finish(branch, search.known, on: link, moment) }
    sessions[link]?.searches[branch]?.asked = points.map(\.sequence)
    send(.branchQuestion(points), on: link)
  }

  /// Answers how far we have the peer's branch, by its hashes.
  func answer(_ points: [Dependency], on link: LinkNumber, _ moment: Moment) throws {
    let located = try points.reversed().first { point in
      let found = try moment.store.locate([point])
      return found.contradicted.isEmpty && found.unplaced.isEmpty && !found.known.isEmpty
        && found.known.entries.contains { $0.value >= point.sequence && vectors.received[$0.key] >= $0.value }
    }
    send(
      .branchAnswer(ChangesetName(replica: points[0].replica, sequence: located?.sequence ?? 0)), on: link)
  }

  func receiveBranchAnswer(_ name: ChangesetName, on link: LinkNumber, _ moment: Moment) throws {
    guard var search = sessions[link]?.searches[name.replica] else { return }
    guard name.sequence == 0 || search.asked.contains(name.sequence) else {
      throw Violation(.unexpectedMessage, "The peer answered what it was not asked.")
    }
    search.lacking = search.asked.first { $0 > name.sequence } ?? search.lacking
    search.known = max(search.known, name.sequence)
    sessions[link]?.searches[name.replica] = search
    if search.isOver {
      try finish(name.replica, search.known, on: link, moment)
    } else {
      try ask(name.replica, search, on: link, moment)
    }
  }

  /// It is known how far the peer has the branch: the rest goes out.
  private func finish(_ branch: ReplicaID, _ known: UInt64, on link: LinkNumber, _ moment: Moment) throws {
    sessions[link]?.searches[branch] = nil
    sessions[link]?.known[branch] = known
    guard let session = sessions[link], session.searches.isEmpty else { return }
    try settleDoubts(on: link, moment)
    sessions[link]?.outgoing.withheld = []
    sessions[link]?.outgoing.readAgain()
  }

  /// The peer has these changesets.
  ///
  /// If it speaks of a branch that it does not have here, or calls it otherwise, and did not when the session began,
  /// the two begin anew: their holdings show it to both.
  func learn(_ said: [Dependency], from session: SyncSession, _ moment: Moment) throws {
    if said.isEmpty { return }
    let located = try moment.store.locate(said)
    ownReplicas.insert(moment.store.replica)
    if isNews(located, to: session) { throw Goodbye.branches }
    for theirs in located.unplaced {
      sessions[session.link]?.unplaced.removeAll { $0.replica == theirs.replica }
      sessions[session.link]?.unplaced.append(theirs)
    }
    try count(withoutForks(located.known, session), for: session, moment)
  }

  /// Whether a name means something else to the peer that meant the same when the session began.
  private func isNews(_ located: LocatedHoldings, to session: SyncSession) -> Bool {
    (located.contradicted + located.renamed).contains { !session.forks.contains($0) }
  }

  /// What a peer says by name, without the names that mean something else to it.
  func withoutForks(_ vector: VersionVector, _ session: SyncSession) -> VersionVector {
    session.forks.isEmpty ? vector : VersionVector(vector.entries.filter { !session.forks.contains($0.key) })
  }

  /// Whatever came: names may mean something else now, so sessions that spoke by name begin anew.
  func restartAfterForks(_ reception: Reception, _ moment: Moment) throws {
    guard reception.stored > 0 else { return }
    for link in links {
      guard let session = sessions[link], session.phase == .inUse else { continue }
      var isOver = reception.forked
      if !isOver, !session.unplaced.isEmpty {
        // What was taken for more of one branch may be here now, and be another one.
        let located = try moment.store.locate(session.unplaced)
        isOver = isNews(located, to: session)
        sessions[link]?.unplaced = located.unplaced
      }
      if isOver { restart(link, moment) }
    }
  }

  /// Begins all sessions anew.
  func restartSessions(_ moment: Moment) {
    for link in links where sessions[link]?.phase == .inUse { restart(link, moment) }
  }

  private func restart(_ link: LinkNumber, _ moment: Moment) {
    close(link, .branches, moment)
  }
}

extension Goodbye {
  /// When names turn out to mean something else to the peer.
  fileprivate static var branches: Self {
    Self(.branches, "A replica has branches that were not known; the session starts anew.")
  }
}
