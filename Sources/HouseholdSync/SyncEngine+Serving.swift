import HouseholdRecords

/// What goes out: holdings, offers, and the stream that the peer subscribed to.
extension SyncEngine {
  /// Says what is stored here.
  func sendHoldings(on link: LinkNumber, _ moment: Moment) throws {
    let received = try moment.store.receivedDependencies()
    vectors = try moment.store.vectors()
    let holdings = Holdings(received: received, base: try hashedBase(moment), digest: try moment.store.digest())
    send(.have(holdings), on: link)
    sessions[link]?.toldDigest = holdings.digest
    sessions[link]?.outgoing.said = Dependencies(received).vector
    sessions[link]?.told.merge(Dependencies(received).vector)
  }

  private func hashedBase(_ moment: Moment) throws -> [Dependency] {
    let known = Dependencies(try moment.store.dependencies(on: vectors.base)).entries
    return vectors.base.sorted.map { entry in
      known[entry.replica] ?? Dependency(replica: entry.replica, sequence: entry.sequence, hashPrefix: 0)
    }
  }

  /// A base that grew concerns every peer: who is not covered by it any more subscribes anew.
  func announceBase(_ moment: Moment) {
    let base = vectors.base
    defer { announcedBase = base }
    guard let announcedBase, announcedBase != base else { return }
    for link in links {
      guard let session = sessions[link], session.phase == .inUse else { continue }
      switch session.outgoing.state {
      case .catchingUp, .live:
        if !session.reached.covers(base) { sessions[link]?.outgoing.state = .uncovered }
      case .idle, .uncovered, .snapshot: break
      }
      guarded(link, moment) { try sendHoldings(on: link, moment) }
    }
  }

  /// Begins the stream that the peer wants.
  func receive(_ subscription: Subscription, on link: LinkNumber, _ moment: Moment) throws {
    guard var session = sessions[link] else { return }
    guard subscription.number > session.outgoing.subscription else {
      throw Violation(.unexpectedMessage, "The peer subscribed under a number that it had used.")
    }
    if case .snapshot(let serving) = session.outgoing.state { moment.store.closeSnapshot(serving.id) }
    session.outgoing.subscription = subscription.number
    session.outgoing.state = .idle
    session.outgoing.promised = session.outgoing.said
    sessions[link] = session
    try learn(subscription.received, from: session, moment)
    session.known = sessions[link]?.known ?? session.known
    sessions[link] = session
    let offer = try snapshot(for: subscription.snapshot, moment)
    // A snapshot is begun at a sealed state: local edits may have become changesets that others wait for.
    if offer != nil { logChanged = true }
    vectors = try moment.store.vectors()
    let isCovered = session.known.covers(vectors.base)
    if let offer {
      var cursor: [UInt8] = []
      if case .resume(_, let reached) = subscription.snapshot, offer.resumes { cursor = reached }
      let token = ChangeToken(incarnation: moment.store.incarnation, position: offer.position)
      sessions[link]?.outgoing.state = .snapshot(
        SnapshotServing(id: offer.id, cursor: cursor, token: token, held: offer.held))
    } else if isCovered {
      var position = session.forks.isEmpty ? subscription.token?.position(in: moment.store.incarnation) : nil
      // A position that this log has not reached is one of a log that was put back to an older state.
      if let named = position, try named > moment.store.logEnd() { position = nil }
      sessions[link]?.outgoing.begin(at: position ?? .start, in: moment.store.incarnation)
    } else if subscription.snapshot == .none {
      sessions[link]?.outgoing.state = .uncovered
      try sendHoldings(on: link, moment)
    } else {
      sessions[link]?.outgoing.state = .uncovered
      if let parcel = sessions[link]?.outgoing.nothingToGive() { send(parcel.kind, parcel.payload, on: link) }
    }
  }

  private func snapshot(for wish: SnapshotWish, _ moment: Moment) throws -> SnapshotOffer? {
    switch wish {
    case .none: nil
    case .fresh: try moment.store.openSnapshot(resuming: nil)
    case .resume(let id, _): try moment.store.openSnapshot(resuming: id)
    }
  }

  /// Sends what is due and fits into the window.
  func pump(_ link: LinkNumber, _ moment: Moment) throws {
    guard var session = sessions[link], session.phase == .inUse else { return }
    if session.outgoing.state == .uncovered, session.known.covers(vectors.base) {
      // The peer got from others what it lacked.
      session.outgoing.begin(at: .start, in: moment.store.incarnation)
    }
    let parcels = try session.outgoing.parcels(
      known: session.known, received: vectors.received, own: ownReplicas, store: moment.store)
    let count = parcels.reduce(0) { $0 + $1.changesets }
    session.sentCount += count
    for parcel in parcels { session.told.merge(parcel.reaches) }
    sessions[link] = session
    for parcel in parcels { send(parcel.kind, parcel.payload, on: link) }
    if count > 0 { report(.sent(count: count, to: session.device)) }
  }

  /// The peer has stored what was sent, and perhaps more.
  func receive(_ acknowledgement: Acknowledgement, on link: LinkNumber, _ moment: Moment) throws {
    guard let session = sessions[link] else { return }
    guard acknowledgement.bytes <= session.outgoing.unacknowledgedBytes else {
      throw Violation(.malformed, "The peer acknowledged more than was sent.")
    }
    try learn(acknowledgement.received, from: session, moment)
    sessions[link]?.outgoing.unacknowledgedBytes -= acknowledgement.bytes
    if acknowledgement.bytes > 0 || !acknowledgement.received.isEmpty { report(.acknowledged(session.device)) }
  }

  /// The peer has these changesets, by the names that are in use here; remembered for good if ours are among them.
  func count(_ vector: VersionVector, for session: SyncSession, _ moment: Moment) throws {
    guard !session.known.covers(vector) else { return }
    let known = try bounded(session.known, with: vector)
    if vector.entries.contains(where: { $0.value > session.known[$0.key] && isOwn($0.key, moment) }) {
      try moment.store.acknowledge(vector, by: session.device, at: moment.wall)
    }
    sessions[session.link]?.known = known
    presenceIsDue = true
  }

  /// Whether this device began the replica, in this run or before.
  private func isOwn(_ replica: ReplicaID, _ moment: Moment) -> Bool {
    ownReplicas.contains(replica) || moment.store.isOwn(replica)
  }

  /// What a peer has with what it says that it has besides: no more replicas than a household can have (R8).
  func bounded(_ known: VersionVector, with more: VersionVector) throws -> VersionVector {
    var merged = known
    merged.merge(more)
    guard merged.entries.count <= Limits.vectorEntries else {
      throw Violation(.overLimit, "The peer speaks of more than \(Limits.vectorEntries) replicas.")
    }
    return merged
  }

  /// Offers what came from elsewhere, and asks for what others have.
  func tellAndAsk(_ moment: Moment) {
    for link in links {
      guard let session = sessions[link], session.phase == .inUse, session.outgoing.state == .live else { continue }
      guarded(link, moment) {
        for part in untold(session).parts { send(.offer(try moment.store.dependencies(on: part)), on: link) }
      }
      sessions[link]?.told.merge(untold(session))
    }
    let sources = links.compactMap { link in
      sessions[link].map {
        (
          link: link, known: $0.obtainable, bringsAll: $0.incoming.bringsAll,
          isLive: $0.phase == .inUse && $0.incoming.state == .live
        )
      }
    }
    for (link, request) in offers.next(received: vectors.received, sources: sources) {
      send(.request(request), on: link)
    }
  }

  /// What is stored here and the peer was not told of, but for what this device sealed: that is pushed, unless the
  /// peer has it from others already.
  func untold(_ session: SyncSession) -> VersionVector {
    var untold = VersionVector()
    for entry in vectors.received.entries
    where entry.value > session.told[entry.key]
      && (!ownReplicas.contains(entry.key) || session.known[entry.key] >= entry.value)
    {
      untold[entry.key] = entry.value
    }
    return untold
  }
}
