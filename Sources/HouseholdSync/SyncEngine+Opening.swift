import HouseholdRecords

/// From the open link to the link in use: hello, membership, admission, and which of two links it is.
extension SyncEngine {
  func open(_ opening: LinkOpening, _ moment: Moment) {
    precondition(sessions[opening.link] == nil, "The number of a link is never used again")
    sessions[opening.link] = SyncSession(opening, saidHeads: [], entries: [], tick: moment.tick)
    guarded(opening.link, moment) {
      guard !refusesLinks else { throw Goodbye(.shuttingDown, "The node is stopping.") }
      let membership = try moment.store.membership()
      let hashes = try moment.store.membershipHashes()
      sessions[opening.link] = SyncSession(
        opening, saidHeads: membership.heads, entries: Set(hashes), tick: moment.tick)
      send(
        .hello(
          Hello(
            household: moment.store.household, device: moment.store.device, replica: moment.store.replica,
            bootNonce: bootNonce, membershipHeads: membership.heads, schemaVersion: membership.schema.version,
            wall: moment.wall, programVersion: programVersion, addresses: addresses)), on: opening.link)
    }
  }

  /// Judges the peer's hello and begins what it calls for.
  func receive(_ hello: Hello, on link: LinkNumber, _ moment: Moment) throws {
    guard let session = sessions[link] else { return }
    guard hello.versions.overlaps(Hello.supported) else {
      throw Goodbye(
        .noCommonVersion,
        "This node speaks protocol version \(Hello.supported.upperBound); update the program that is older.")
    }
    guard hello.household == moment.store.household else {
      throw Violation(.notAdmitted, "The peer belongs to another household.")
    }
    guard hello.device == session.device else {
      throw Violation(.notAdmitted, "The peer says that it is another device than its certificate names.")
    }
    if hello.device == moment.store.device {
      if hello.bootNonce != bootNonce { report(.cloneSuspected(hello.device)) }
      throw Goodbye(.ourselves, "Both ends of this link have the identity of the same device.")
    }
    sessions[link]?.hello = hello
    let introduction = PeerIntroduction(hello, opening: session.opening, wall: moment.wall)
    sessions[link]?.clockOffsetMilliseconds = introduction.clockOffsetMilliseconds
    report(.connected(link, introduction))
    if hello.membershipHeads == session.saidHeads {
      report(.membershipKnown(by: session.device))
      try settled(link, moment)
    } else {
      sessions[link]?.phase = .comparing
      send(.membershipHave(try moment.store.membershipHashes().sorted()), on: link)
    }
  }

  // MARK: Membership

  /// Answers with what the peer lacks.
  func receiveMembershipHave(_ hashes: [EntryHash], on link: LinkNumber, _ moment: Moment) throws {
    guard sessions[link]?.exchange.hasAnswered == false else {
      throw Violation(.unexpectedMessage, "The peer named its membership entries twice.")
    }
    sessions[link]?.peerEntries = Set(hashes)
    if let device = sessions[link]?.device, Set(hashes).isSuperset(of: try moment.store.membershipHashes()) {
      report(.membershipKnown(by: device))
    }
    try sendEntries(on: link, evenIfNone: true, moment)
    sessions[link]?.exchange.hasAnswered = true
    if sessions[link]?.exchange.isComplete == true { try settled(link, moment) }
  }

  func receive(_ part: MembershipPart, on link: LinkNumber, _ moment: Moment) throws {
    guard let session = sessions[link] else { return }
    if !part.entries.isEmpty {
      let before = Set(try moment.store.membershipHashes())
      if try moment.store.addMembership(part.entries) {
        let new = Set(try moment.store.membershipHashes()).subtracting(before)
        sessions[link]?.peerEntries.formUnion(new)
        membershipChanged = true
        logChanged = true
        report(.membershipReceived(from: session.device))
      }
    }
    guard session.phase == .comparing, !part.more else { return }
    sessions[link]?.exchange.hasReceived = true
    if sessions[link]?.exchange.isComplete == true { try settled(link, moment) }
  }

  /// Sends the entries that the peer is not known to have; who belongs no longer gets no more than what tells it so.
  private func sendEntries(on link: LinkNumber, evenIfNone: Bool, _ moment: Moment) throws {
    guard let session = sessions[link] else { return }
    let hashes = Set(try moment.store.membershipHashes())
    let news =
      try isEnded(session.device, moment)
      ? moment.store.membershipNews(ending: session.device, known: session.peerEntries)
      : hashes.subtracting(session.peerEntries)
    if !evenIfNone && news.isEmpty { return }
    let entries = try moment.store.membershipEntries(except: hashes.subtracting(news))
    sessions[link]?.peerEntries.formUnion(news)
    var part = MembershipPart(entries: [], more: true)
    var bytes = 0
    for entry in entries {
      if bytes >= Limits.membershipPartBytes {
        send(.membership(part), on: link)
        part.entries = []
        bytes = 0
      }
      part.entries.append(entry)
      bytes += entry.count
    }
    part.more = false
    send(.membership(part), on: link)
  }

  private func isEnded(_ device: DeviceID, _ moment: Moment) throws -> Bool {
    let membership = try moment.store.membership()
    return membership.devices[device] != nil && !membership.admits(device)
  }

  /// Tells every session the entries that are new, and ends those whose device is not admitted any more.
  func spreadMembership(_ moment: Moment) throws {
    let membership = try moment.store.membership()
    guard membershipChanged || membership.heads != spreadHeads else { return }
    for link in links where sessions[link]?.takesNewEntries == true {
      guarded(link, moment) { try sendEntries(on: link, evenIfNone: false, moment) }
    }
    spreadHeads = membership.heads
    for link in links {
      guard let phase = sessions[link]?.phase else { continue }
      switch phase {
      case .settled, .inUse, .superseded: guarded(link, moment) { try admit(link, membership, moment) }
      case .greeting, .comparing: break
      }
    }
    if isRemoved(membership, moment) { leave(moment) } else { stay() }
  }

  private func isRemoved(_ membership: MembershipState, _ moment: Moment) -> Bool {
    membership.excludes(moment.store.device)
  }

  /// Throws unless the membership log admits the peer.
  private func admit(_ link: LinkNumber, _ membership: MembershipState, _ moment: Moment) throws {
    guard let session = sessions[link] else { return }
    let device = session.device
    if let known = membership.devices[device], known.member != session.opening.member {
      throw Violation(.notAdmitted, "The peer's certificate names another member than the membership log does.")
    }
    if membership.admits(device) { return }
    if membership.devices[device] != nil {
      throw Goodbye(.removed, "The household's membership log says that this device belongs no longer.")
    }
    throw Goodbye(
      .notAdmitted, retryAfterMilliseconds: SyncTiming.retryAfterViolation,
      "The household's membership log does not name this device.")
  }

  /// The membership is equal: who is not admitted goes, and the smaller device chooses the link.
  private func settled(_ link: LinkNumber, _ moment: Moment) throws {
    sessions[link]?.phase = .settled
    try sendEntries(on: link, evenIfNone: false, moment)
    let membership = try moment.store.membership()
    if isRemoved(membership, moment) {
      leave(moment)
      return
    }
    try admit(link, membership, moment)
    if let device = sessions[link]?.device, moment.store.device < device { choose(link, moment) }
  }
}
