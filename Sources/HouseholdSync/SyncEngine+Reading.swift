import HouseholdRecords

/// What comes in: the peer's holdings, its log, and its snapshot.
extension SyncEngine {
  func receive(_ holdings: Holdings, on link: LinkNumber, _ moment: Moment) throws {
    guard var session = sessions[link] else { return }
    let (located, certain) = try place(holdings, of: &session, moment)
    session.known = try bounded(session.known, with: located.known)
    presenceIsDue = true
    session.incoming.peerBase = Dependencies(holdings.base).vector
    session.incoming.hasOtherBase = try !moment.store.locate(holdings.base.filter { $0.hashPrefix != 0 }).disproved
      .isEmpty
    if try session.incoming.state == .unknown || (!session.incoming.isSnapshot && needsSnapshot(session, moment)) {
      session.incoming.state = .due
    }
    sessions[link] = session
    try askForForks(on: link, moment)
    if try !moment.store.peer(session.device).acknowledged.covers(certain) {
      try moment.store.acknowledge(certain, by: session.device, at: moment.wall)
      report(.acknowledged(session.device))
    }
    guard located.contradicted.isEmpty, located.unplaced.isEmpty else { return }
    sessions[link]?.peerDigest = holdings.digest
    try compareDigests(on: link, moment)
  }

  private func needsSnapshot(_ session: SyncSession, _ moment: Moment) throws -> Bool {
    if try moment.store.needsSnapshot { return true }
    // A name in the base may be another branch than ours: then the peer's log no longer holds what we lack of it.
    return !vectors.received.covers(session.incoming.peerBase) || session.incoming.hasOtherBase
  }

  // MARK: Subscribing

  /// Subscribes to the peers that wait for it: one snapshot at a time, and one catch-up has a head start.
  func subscribeWhereDue(_ moment: Moment) {
    for link in links {
      guard let session = sessions[link], session.phase == .inUse, session.incoming.state == .due else { continue }
      if sessions.values.contains(where: { $0.incoming.isSnapshot || isAhead($0, moment.tick) }) { return }
      guarded(link, moment) { try subscribe(link, moment) }
    }
  }

  private func isAhead(_ session: SyncSession, _ tick: Tick) -> Bool {
    guard case .catchingUp(let since) = session.incoming.state else { return false }
    return tick.milliseconds - since.milliseconds < SyncTiming.catchUpHeadStart
  }

  private func subscribe(_ link: LinkNumber, _ moment: Moment) throws {
    guard let session = sessions[link] else { return }
    if let progress = try moment.store.snapshotProgress(), progress.isComplete {
      // The last page came before the node stopped; where the log goes on is not known any more.
      try adopt(progress.id, token: ChangeToken(bytes: []), from: session, moment)
    }
    var wish = SnapshotWish.none
    sessions[link]?.incoming.snapshot = nil
    if try needsSnapshot(session, moment) {
      wish = .fresh
      if let progress = try moment.store.snapshotProgress() {
        wish = .resume(progress.id, cursor: progress.cursor)
        sessions[link]?.incoming.snapshot = progress
      }
    }
    // What was skipped in the belief that we have it may lie before the token.
    let token = session.forks.isEmpty ? try moment.store.peer(session.device).token : nil
    sessions[link]?.incoming.number += 1
    sessions[link]?.incoming.token = token
    sessions[link]?.incoming.snapshotToken = nil
    sessions[link]?.incoming.state = wish == .none ? .catchingUp(since: moment.tick) : .awaitingSnapshot
    send(
      .subscribe(
        Subscription(
          number: session.incoming.number + 1, token: token, received: try moment.store.receivedDependencies(),
          snapshot: wish)), on: link)
  }

  // MARK: Changesets

  func receive(_ batch: Batch, payloadBytes: Int, on link: LinkNumber, _ moment: Moment) throws {
    guard let session = sessions[link] else { return }
    guard batch.subscription <= session.incoming.number else {
      throw Violation(.unexpectedMessage, "The peer sent a batch of a subscription that does not exist.")
    }
    let token = batch.token == session.incoming.token ? nil : batch.token
    if !batch.changesets.isEmpty || token != nil {
      try store(batch.changesets, token: token, from: session, moment)
    }
    try acknowledge(payloadBytes, on: link, moment)
    if let replica = batch.answers {
      if !batch.more { finishAsk(replica, on: link) }
    } else if batch.subscription == session.incoming.number {
      follow(batch, on: link, moment)
    }
  }

  /// Of our own changesets the store counts at a peer only what it has itself: when some come back after a restore, it
  /// is told again who has them.
  private func countAgain(_ moment: Moment) throws {
    for link in links {
      guard let session = sessions[link], session.phase == .inUse else { continue }
      try moment.store.acknowledge(session.known, by: session.device, at: moment.wall)
    }
  }

  private func store(
    _ changesets: [PackedChangeset], token: ChangeToken?, from session: SyncSession, _ moment: Moment
  ) throws {
    let reception = try moment.store.receive(changesets, from: session.device, token: token, now: moment.wall)
    vectors = reception.vectors
    ownReplicas.insert(moment.store.replica)
    if let token { sessions[session.link]?.incoming.token = token }
    if reception.stored > 0 || reception.sealed { logChanged = true }
    if reception.stored > 0 {
      sessions[session.link]?.receivedCount += reception.stored
      report(.received(count: reception.stored, from: session.device))
    }
    try restartAfterForks(reception, moment)
    if let session = sessions[session.link] { try count(reception.reached, for: session, moment) }
    if reception.reached.entries.keys.contains(where: moment.store.isOwn) { try countAgain(moment) }
  }

  /// Confirms what is durable, and tells what is stored here besides.
  private func acknowledge(_ bytes: Int, on link: LinkNumber, _ moment: Moment) throws {
    guard let session = sessions[link] else { return }
    let parts = try untold(session).parts.map(moment.store.dependencies)
    send(.acknowledge(Acknowledgement(bytes: bytes, received: parts.first ?? [])), on: link)
    for part in parts.dropFirst() { send(.acknowledge(Acknowledgement(bytes: 0, received: part)), on: link) }
    sessions[link]?.told.merge(untold(session))
  }

  /// Moves the reading on after a batch of the stream.
  private func follow(_ batch: Batch, on link: LinkNumber, _ moment: Moment) {
    guard let state = sessions[link]?.incoming.state else { return }
    switch state {
    case .awaitingSnapshot, .catchingUp:
      // A batch where a snapshot was asked for: the peer has none to give.
      let since: Tick = if case .catchingUp(let tick) = state { tick } else { moment.tick }
      sessions[link]?.incoming.state = batch.more ? .catchingUp(since: since) : .live
    case .unknown, .due, .receivingSnapshot, .live: break
    }
  }

  /// What the peer had not to give after all (its log holds it no longer) is not asked of it again in this session.
  private func finishAsk(_ replica: ReplicaID, on link: LinkNumber) {
    guard let ask = offers.answered(replica, by: link), vectors.received[replica] < ask.last else { return }
    sessions[link]?.refused[replica] = ask.last
  }

  // MARK: Snapshots

  func receive(_ part: SnapshotPart, payloadBytes: Int, on link: LinkNumber, _ moment: Moment) throws {
    guard let session = sessions[link] else { return }
    guard part.subscription <= session.incoming.number, session.incoming.number > 0 else {
      throw Violation(.unexpectedMessage, "The peer sent a page of a subscription that does not exist.")
    }
    guard part.subscription == session.incoming.number else {
      try acknowledge(payloadBytes, on: link, moment)
      return
    }
    guard session.incoming.isSnapshot else {
      throw Violation(.unexpectedMessage, "The peer sent a page of a snapshot that was not asked for.")
    }
    try moment.store.timePassed(moment.wall)
    if try moment.store.snapshotProgress()?.cursor(of: part.id) != session.incoming.snapshot?.cursor(of: part.id) {
      // The pages before this one are gone, as the disk failed when they were to be kept: it begins anew.
      try acknowledge(payloadBytes, on: link, moment)
      sessions[link]?.incoming.state = .due
      return subscribeWhereDue(moment)
    }
    try moment.store.stage(part.page, of: part.id)
    sessions[link]?.incoming.snapshot = SnapshotProgress(
      id: part.id, cursor: part.page.cursor, isComplete: part.page.isLast)
    sessions[link]?.incoming.state = .receivingSnapshot
    if let token = part.token { sessions[link]?.incoming.snapshotToken = token }
    if part.page.isLast {
      let token = part.token ?? session.incoming.snapshotToken ?? ChangeToken(bytes: [])
      try adopt(part.id, token: token, from: session, moment)
      sessions[link]?.incoming.token = token
      sessions[link]?.incoming.state = .catchingUp(since: moment.tick)
    }
    try acknowledge(payloadBytes, on: link, moment)
  }

  private func adopt(_ id: SnapshotID, token: ChangeToken, from session: SyncSession, _ moment: Moment) throws {
    let before = moment.store.forkCount
    try moment.store.adoptSnapshot(id, from: session.device, token: token, now: moment.wall)
    vectors = try moment.store.vectors()
    logChanged = true
    report(.snapshotAdopted(from: session.device))
    if moment.store.forkCount != before { restartSessions(moment) }
  }
}

extension SnapshotProgress {
  /// The last page that is here of this snapshot; nil for none.
  fileprivate func cursor(of snapshot: SnapshotID) -> [UInt8]? { id == snapshot ? cursor : nil }
}
