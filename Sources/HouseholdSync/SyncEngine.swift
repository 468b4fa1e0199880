package import HouseholdRecords

/// The protocol's centre: takes events, asks the store, and says what is to be done.
///
/// Pure and synchronous: time and storage come in with every event, effects go out as values, nothing here waits. It
/// routes each event to one ``SyncSession`` per link and decides what concerns several: which of two links is used,
/// who is asked for what, from whom a snapshot comes, and to whom membership entries go. After every event `settle`
/// brings all sessions to where the store is, so that no path can forget to.
package final class SyncEngine {
  /// One start of this node.
  let bootNonce: BootNonce
  /// What the hello says of this program.
  let programVersion: String
  /// Where this node can be dialled, for the hellos to come.
  package var addresses: [String]

  var sessions: [LinkNumber: SyncSession] = [:]
  var offers = LiveOffers()
  /// The store's vectors as of the last look.
  var vectors = StoreVectors(received: VersionVector(), applied: VersionVector(), base: VersionVector())
  /// What the store keeps from its records, as of the last look.
  private var withheld: [Withheld] = []
  /// Replicas under which this device sealed since the engine was made.
  var ownReplicas: Set<ReplicaID> = []
  /// The base that peers were told of.
  var announcedBase: VersionVector?
  /// The membership heads up to which sessions were told.
  var spreadHeads: [EntryHash]?
  /// Whether the log or the vectors may have changed since sessions were last brought forward.
  var logChanged = true
  var membershipChanged = true
  /// Whether peers may have to be told something of other devices.
  var presenceIsDue = true
  /// The share's key, where this device is an owner's and has it.
  package var shareKey: [UInt8]?
  /// Whether this device's certificate is due for renewal and the share's key is not here.
  package var wantsCertificate = false
  /// When a device was last given a certificate.
  var certificatesGiven: [DeviceID: Tick] = [:]
  private var saidRemoved = false
  private var isShutDown = false
  private var pingNumber: UInt64 = 0
  private var effects: [Effect] = []

  /// - Parameters:
  ///   - bootNonce: fresh for every start of the node.
  ///   - programVersion: shown to people at the other end.
  ///   - addresses: where this node can be dialled, `HOST:PORT`.
  package init(bootNonce: BootNonce, programVersion: String, addresses: [String]) {
    self.bootNonce = bootNonce
    self.programVersion = programVersion
    self.addresses = addresses
  }

  /// Takes one event and returns what is to be done, in order.
  package func handle(_ event: Event, store: any RecordStore, wall: Instant, tick: Tick) -> [Effect] {
    let moment = Moment(store: store, wall: wall, tick: tick)
    switch event {
    case .linkOpened(let opening): open(opening, moment)
    case .messageReceived(let link, let type, let flags, let payload):
      guarded(link, moment) { try receive(link, type: type, flags: flags, payload: payload, moment) }
    case .linkClosed(let link): forget(link, moment)
    case .localChanges: logChanged = true
    case .membershipChanged:
      membershipChanged = true
      // What is admitted, and with it what is applied, may be something else now.
      logChanged = true
    case .digestComputed: tellDigest(moment)
    case .certificateIssued(let link, let der): give(certificate: der, on: link)
    case .tick:
      do {
        try moment.store.timePassed(moment.wall)
      } catch {
        report(.storeFailed("\(error)"))
      }
      watchTheClock(moment)
    case .shutDown: shutDown(moment)
    }
    settle(moment)
    defer { effects = [] }
    return effects
  }

  /// The links in ascending order: the only order in which sessions are visited.
  var links: [LinkNumber] { sessions.keys.sorted() }

  // MARK: Effects

  func report(_ report: SessionReport) { effects.append(.report(report)) }

  /// Sends a message on a link that is open; returns the length of its payload.
  func send(_ message: Message, on link: LinkNumber) {
    send(message.kind, MessageCodec.encode(message), on: link)
  }

  func send(_ kind: Message.Kind, _ payload: [UInt8], on link: LinkNumber) {
    guard sessions[link] != nil else { return }
    effects.append(.send(link, type: kind.rawValue, flags: kind.flags, payload: payload))
  }

  func nextPing(_ moment: Moment) -> Ping {
    pingNumber += 1
    return Ping(number: pingNumber, wall: moment.wall)
  }

  /// Says goodbye and closes; the session is gone afterwards.
  func close(_ link: LinkNumber, _ goodbye: Goodbye, _ moment: Moment) {
    guard let session = sessions[link] else { return }
    send(.goodbye(goodbye), on: link)
    effects.append(.close(link, goodbye))
    report(.closed(link, session.device, goodbye, byPeer: false))
    forget(link, moment)
  }

  /// Closes after the peer's goodbye.
  func closeAfter(_ goodbye: Goodbye, of session: SyncSession, _ moment: Moment) {
    effects.append(.close(session.link, goodbye))
    report(.closed(session.link, session.device, goodbye, byPeer: true))
    forget(session.link, moment)
  }

  // MARK: Faults

  /// Runs what concerns one link; whatever is thrown closes that link and no other.
  func guarded(_ link: LinkNumber, _ moment: Moment, _ work: () throws -> Void) {
    do {
      try work()
    } catch let violation as Violation {
      if let device = sessions[link]?.device, !violation.isHonest { report(.violation(device, violation)) }
      close(link, Goodbye(violation), moment)
    } catch let goodbye as Goodbye {
      close(link, goodbye, moment)
    } catch {
      report(.storeFailed("\(error)"))
      close(link, .storeFailure, moment)
    }
  }

  // MARK: Bringing sessions forward

  /// Brings every session to where the store is: membership first, then holdings, then changesets.
  private func settle(_ moment: Moment) {
    guard !isShutDown else { return }
    do {
      ownReplicas.insert(moment.store.replica)
      if logChanged { vectors = try moment.store.vectors() }
      if logChanged || membershipChanged { withheld = try moment.store.withheld() }
      if logChanged || membershipChanged { try spreadMembership(moment) }
      if membershipChanged { presenceIsDue = true }
      membershipChanged = false
      try askForShareKey(moment)
      try askForCertificate(moment)
    } catch {
      report(.storeFailed("\(error)"))
      return
    }
    announceBase(moment)
    tellWithheld()
    if logChanged {
      for link in links { sessions[link]?.outgoing.mayHaveMore = true }
      logChanged = false
    }
    subscribeWhereDue(moment)
    tellAndAsk(moment)
    for link in links { guarded(link, moment) { try pump(link, moment) } }
    do {
      try reportSynced(moment)
      try tellPresence(moment)
    } catch {
      report(.storeFailed("\(error)"))
    }
    if logChanged || membershipChanged { settle(moment) }
  }

  /// Tells authors what is kept from the records here: to have it stored is not all that they want to know.
  private func tellWithheld() {
    for link in links {
      guard let session = sessions[link], session.phase == .inUse, session.toldWithheld != withheld else { continue }
      sessions[link]?.toldWithheld = withheld
      send(.withheld(withheld), on: link)
    }
  }

  /// Reports each session that has just come to have everything both ways.
  ///
  /// What the peer has is remembered then, for others that ask about it while it is away.
  private func reportSynced(_ moment: Moment) throws {
    for link in links {
      guard let session = sessions[link] else { continue }
      let isSynced = session.isSynced(received: vectors.received, hasAsks: offers.hasAsks(on: link))
      sessions[link]?.wasSynced = isSynced
      guard isSynced && !session.wasSynced else { continue }
      report(.synced(session.device))
      if try !moment.store.peer(session.device).acknowledged.covers(session.known) {
        try moment.store.acknowledge(session.known, by: session.device, at: moment.wall)
      }
    }
  }

  // MARK: Ends

  /// Takes a session out, and gives what hung on it to others.
  func forget(_ link: LinkNumber, _ moment: Moment) {
    guard let session = sessions.removeValue(forKey: link) else { return }
    if case .snapshot(let serving) = session.outgoing.state { moment.store.closeSnapshot(serving.id) }
    offers.drop(link)
    presenceIsDue = true
    if let candidate = session.trial?.candidate, sessions[candidate]?.phase == .settled { choose(candidate, moment) }
  }

  /// Says once that this device belongs no longer, and ends all sessions.
  func leave(_ moment: Moment) {
    if !saidRemoved { report(.removedHere) }
    saidRemoved = true
    for link in links {
      close(link, Goodbye(.removed, "This device belongs to the household no longer."), moment)
    }
  }

  /// Takes note that this device belongs.
  func stay() { saidRemoved = false }

  private func shutDown(_ moment: Moment) {
    isShutDown = true
    for link in links { close(link, Goodbye(.shuttingDown, "The node is stopping."), moment) }
  }

  /// Whether links are refused because the node stops.
  var refusesLinks: Bool { isShutDown }
}

/// What comes in with an event: the store and the two clocks.
struct Moment {
  let store: any RecordStore
  let wall: Instant
  let tick: Tick
}

extension Goodbye {
  /// When our own store cannot take or give something.
  static var storeFailure: Self {
    Self(
      .storeFailed, retryAfterMilliseconds: SyncTiming.retryAfterStoreFailure,
      "The store of this device failed; it will be tried again.")
  }
}
