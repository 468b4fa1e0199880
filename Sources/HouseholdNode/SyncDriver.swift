internal import FoundationEssentials
internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdSync
internal import HouseholdTransport

/// Runs the engine on the replica: what links bring goes in, what it decides goes out.
///
/// Everything here is used on the replica's thread only (`loop`), which may wait for the disk; the links have a thread
/// of their own. Unchecked: links call in through ``LinkMailbox``, which brings each call to this thread.
final class SyncDriver: @unchecked Sendable {
  let loop: EventLoop
  let replica: Replica
  let log: Log
  let engine: SyncEngine
  private(set) var links: [LinkNumber: Link] = [:]
  private(set) var contacts: [DeviceID: PeerContact] = [:]
  private(set) var diverged: Set<DeviceID> = []
  /// When a sync was completed with a peer, as far as that is not written down.
  private var completedSyncs: [DeviceID: Instant] = [:]
  /// How many sessions with a device began anew since the last that completed a sync.
  private var restarts: [DeviceID: Int] = [:]
  private var health = StoreHealth()
  private var pacing = SealPacing()
  private var isSealDue = false
  private var isStopped = false
  /// How long nothing was sealed or received, in ticks.
  private var quietSeconds = 0
  /// After how long a pause the digest is computed: it reads every record.
  private static let digestAfterSeconds = 2
  /// How many records a slice of it reads: about 25 ms.
  private static let digestSliceRows = 4096
  /// Asked where this node can be dialled, for each hello.
  var addresses: () -> [String] = { [] }
  /// Called when a session got into use; and when a link ended.
  var onInUse: (DeviceID) -> Void = { _ in }
  var onDisconnected: (DeviceID, LinkCloseReason) -> Void = { _, _ in }
  var onGoodbye: (DeviceID, Goodbye) -> Void = { _, _ in }
  /// Called when the share's key came; and when the membership log got an entry, from here or elsewhere.
  var onShareKey: ([UInt8]) -> Void = { _ in }
  var onMembership: () -> Void = {}
  /// Called when a device wants its certificate renewed; and when another one came for this device.
  var onCertificateWanted: (DeviceID, LinkNumber) -> Void = { _, _ in }
  var onCertificate: ([UInt8]) -> Void = { _ in }
  /// Called when edits were made here while some peer is not connected.
  var onLocalEdit: () -> Void = {}

  private let witness: Witness
  private let tidier: LogTidier

  init(
    loop: EventLoop, replica: Replica, bootNonce: BootNonce, programVersion: String, log: Log, witness: Witness
  ) throws {
    self.witness = witness
    tidier = LogTidier(loop: loop, replica: replica)
    self.loop = loop
    self.replica = replica
    self.log = log
    engine = SyncEngine(bootNonce: bootNonce, programVersion: programVersion, addresses: [])
    for (device, json) in try replica.contacts() {
      do {
        contacts[device] = try JSONDecoder().decode(PeerContact.self, from: Data(json.utf8))
      } catch {
        log.problem(
          "what was remembered of a peer cannot be read", ["device": device.description, "error": "\(error)"])
      }
    }
    tidier.onFailure = { [weak self] in self?.storeFailed($0) }
  }

  // MARK: Links

  func opened(_ link: Link, identity: LinkIdentity) {
    guard let peer = identity.peer, !isStopped else { return link.close("the node is stopping") }
    let number = LinkNumber(rawValue: link.id.number)
    links[number] = link
    engine.addresses = addresses()
    handle(
      .linkOpened(
        LinkOpening(link: number, device: peer.device, member: peer.member, weDialled: identity.isDialled)))
  }

  func received(_ link: Link, _ message: InboundMessage) {
    let number = LinkNumber(rawValue: link.id.number)
    if links[number] != nil {
      handle(.messageReceived(number, type: message.type, flags: message.flags.rawValue, payload: message.payload))
    }
    link.consumed(message.payload.count)
  }

  func closed(_ link: Link, reason: LinkCloseReason) {
    let number = LinkNumber(rawValue: link.id.number)
    guard links[number] != nil else { return }
    count(link)
    let device = link.identity?.peer?.device
    links[number] = nil
    handle(.linkClosed(number))
    guard let device else { return }
    if !isConnected(device) {
      change(device) { $0.ended(reason) }
      remember(device)
    }
    log.note("link closed", ["peer": short(device), "reason": reason.description])
    onDisconnected(device, reason)
    if let goodbye = Goodbye(reason) { onGoodbye(device, goodbye) }
  }

  /// Whether a link to the device is up.
  func isConnected(_ device: DeviceID) -> Bool {
    links.values.contains { $0.identity?.peer?.device == device }
  }

  /// How many devices have a link to this one.
  var connectedCount: Int { Set(links.values.compactMap { $0.identity?.peer?.device }).count }

  // MARK: Edits

  /// Looks for captured edits and seals them, soon.
  ///
  /// Returns whether everything is sealed, or will be, that was being written when it was called.
  @discardableResult
  func lookForEdits() -> Bool {
    guard !isStopped, !isSealDue else { return true }
    do {
      guard try replica.hasUnsealedEdits() else {
        probeStore()
        return false
      }
    } catch {
      storeFailed(error)
      return false
    }
    let wait = pacing.wait(now: EventLoop.now)
    if wait == 0 { return seal() }
    isSealDue = true
    _ = loop.schedule(afterMilliseconds: wait) { [self] in
      isSealDue = false
      if !isStopped { seal() }
    }
    return true
  }

  /// Returns whether something was sealed: with it, everything that was being written, as a writer's lock comes before
  /// ours.
  @discardableResult
  private func seal() -> Bool {
    do {
      guard try replica.seal(now: SystemClock.now) else { return false }
      storeWorks()
      handle(.localChanges)
      onLocalEdit()
      return true
    } catch {
      storeFailed(error)
      return false
    }
  }

  /// Tells the engine that the membership log got an entry here.
  func membershipChanged() {
    handle(.membershipChanged)
    onMembership()
  }

  /// Tells the engine that something was sealed here, or that the log was compacted.
  func logChanged() { handle(.localChanges) }

  /// The share's key for other owners' devices that lack it; nil where this device is no owner's.
  func setShareKey(_ key: [UInt8]?) { engine.shareKey = key }

  /// Whether owners' devices are to be asked for another certificate.
  func setWantsCertificate(_ wants: Bool) { engine.wantsCertificate = wants }

  /// Sends a certificate to the device that asked for it on a link.
  func give(certificate der: [UInt8], on link: LinkNumber) { handle(.certificateIssued(link, der)) }

  /// Lets the engine see that time went on; when all is quiet, the digest for status is computed.
  func tick() {
    replica.lastNow = SystemClock.now
    rememberSyncs()
    tidier.secondPassed(isQuiet: quietSeconds > 0 && storeError == nil)
    handle(.tick)
    quietSeconds += 1
    guard quietSeconds == Self.digestAfterSeconds else { return }
    replica.abandonDigest()
    computeDigest()
  }

  /// Computes the digest in slices, as long as all is quiet; links and commands have their turn between two of them.
  private func computeDigest() {
    guard !isStopped, quietSeconds >= Self.digestAfterSeconds, storeError == nil else { return }
    do {
      switch try replica.refreshDigest(rows: Self.digestSliceRows) {
      case .sealed: handle(.localChanges)
      case .more: _ = loop.schedule(afterMilliseconds: 1) { [self] in computeDigest() }
      case .over:
        handle(.digestComputed)
        // All records have gone through the cache, and most nodes are idle now.
        replica.releaseMemory()
      }
    } catch {
      storeFailed(error)
    }
  }

  // MARK: The engine

  private func handle(_ event: Event) {
    guard !isStopped else { return }
    if event != .tick && event != .digestComputed { quietSeconds = 0 }
    let effects = engine.handle(event, store: replica, wall: SystemClock.now, tick: EventLoop.now)
    do {
      // Before what was sealed can leave.
      try witness.keep(replica)
    } catch {
      storeFailed(error)
    }
    for effect in effects { obey(effect) }
    if event != .tick { tidier.happened() }
  }

  private func obey(_ effect: Effect) {
    switch effect {
    case .send(let number, let type, let flags, let payload):
      links[number]?.send(type: type, flags: FrameFlags(rawValue: flags), payload: payload)
    case .close(let number, let goodbye):
      guard let link = links[number] else { return }
      count(link)
      link.close(goodbye.sentence)
    case .report(let report): take(report)
    }
  }

  private func take(_ report: SessionReport) {
    switch report {
    case .connected(let number, let peer): meet(peer, on: number)
    case .inUse(let device): onInUse(device)
    case .synced(let device):
      storeWorks()
      do {
        try replica.caughtUp()
      } catch {
        storeFailed(error)
      }
      change(device) { $0.synced() }
      completedSyncs[device] = SystemClock.now
      restarts[device] = nil
    case .acknowledged: break
    case .agreed(let device): diverged.remove(device)
    case .received(let count, let device): change(device) { $0.changesReceived += UInt64(count) }
    case .sent(let count, let device): change(device) { $0.changesSent += UInt64(count) }
    case .snapshotAdopted(let device): log.note("snapshot adopted", ["peer": short(device)])
    case .membershipReceived(let device):
      log.note("membership changed", ["peer": short(device)])
      onMembership()
    case .membershipKnown(let device): noteEnd(knownBy: device)
    case .shareKeyReceived(let key, let device):
      log.note("the share's key came", ["peer": short(device)])
      onShareKey(key)
    case .shareKeyGiven(let device): log.note("the share's key was given", ["peer": short(device)])
    case .certificateWanted(let link, let device): onCertificateWanted(device, link)
    case .certificateReceived(let der, _): onCertificate(der)
    case .diverged(let device): diverged.insert(device)
    case .withheld(let list, let device): take(list, from: device)
    case .forkSuspected(let replica, let device):
      log.problem("fork suspected", ["replica": "\(replica)", "peer": short(device)])
    case .cloneSuspected(let device):
      log.problem("clone suspected", ["peer": short(device)])
      change(device) { $0.clonedAt = SystemClock.now.milliseconds }
    case .storeFailed(let text):
      log.problem("the store failed", ["error": text])
      // The engine knows the store's errors only as texts; the store knows what it was.
      health.failed(replica.fault(saying: text), now: EventLoop.now)
    case .violation(let device, let violation):
      change(device) { $0.lastError = violation.sentence }
      log.problem("a peer broke a rule", ["peer": short(device), "violation": violation.description])
    case .removedHere: log.problem("this device belongs to the household no longer", [:])
    case .closed(_, let device, var goodbye, let byPeer):
      if goodbye.code == .branches {
        restarts[device, default: 0] += 1
        // As a rule a few sessions are enough; what more of them do not mend is told, and given time.
        guard restarts[device, default: 0] > SyncTiming.restartsInARow else { return }
        goodbye.retryAfterMilliseconds = SyncTiming.retryAfterViolation
      }
      onGoodbye(device, goodbye)
      guard goodbye.code != .duplicate else { return }
      change(device) { $0.took(goodbye, byPeer: byPeer) }
      log.note("session ended", ["peer": short(device), "byPeer": "\(byPeer)", "reason": goodbye.sentence])
    }
  }

  /// Remembers what a peer says of itself.
  private func meet(_ peer: PeerIntroduction, on number: LinkNumber) {
    change(peer.device) { contact in
      contact.clockOffsetMs = peer.clockOffsetMilliseconds
      contact.schemaVersion = peer.schemaVersion
      contact.programVersion = peer.programVersion
      contact.learn(peer.addresses, limit: Limits.addressesPerDevice)
    }
    remember(peer.device)
    log.note(
      "peer connected",
      [
        "peer": short(peer.device), "link": "\(number)", "dialled": "\(peer.weDialled)", "version": peer.programVersion,
      ])
  }

  /// A device that left has told it once one of the others knows; the log brings it to the rest.
  private func noteEnd(knownBy device: DeviceID) {
    let membership = replica.membershipNow
    guard !membership.admits(replica.identity.device), membership.admits(device) else { return }
    change(device) { $0.knowsEnd = true }
    remember(device)
  }

  /// Remembers what a peer keeps back of this device's changesets, across its absence.
  private func take(_ withheld: [Withheld], from device: DeviceID) {
    let own = withheld.filter { replica.isOwn($0.replica) }
    change(device) { contact in
      contact.heldThere = own.contains { $0.reason == .held }
      contact.rejectedThere = own.contains { $0.reason == .rejected }
    }
    remember(device)
  }

  // MARK: Faults and what is remembered

  /// What the store said when it failed last, until it works again.
  var storeError: LiveFacts.StoreError? { health.error }

  private func storeFailed(_ error: any Error) {
    health.failed(error, now: EventLoop.now)
    log.problem("the store failed", ["error": "\(error)"])
  }

  private func storeWorks() { health = StoreHealth() }

  /// Tries after a fault whether the store takes writes again: adding nothing is a write transaction all the same.
  private func probeStore() {
    guard health.isProbeDue(now: EventLoop.now) else { return }
    do {
      replica.readAnew()
      _ = try replica.addMembership([])
      storeWorks()
    } catch {
      storeFailed(error)
    }
  }

  /// Changes what is remembered of a peer, in memory.
  func change(_ device: DeviceID, _ body: (inout PeerContact) -> Void) {
    body(&contacts[device, default: PeerContact()])
  }

  /// Adds the bytes of a link that ends to its peer's.
  private func count(_ link: Link) {
    guard let device = link.identity?.peer?.device else { return }
    let traffic = link.traffic
    change(device) { contact in
      contact.bytesSent += traffic.bytesSent
      contact.bytesReceived += traffic.bytesReceived
    }
  }

  private func remember(_ device: DeviceID) {
    // Each try would hold everything up for as long as we wait for a lock; the next contact remembers it.
    guard !health.isFresh(now: EventLoop.now) else { return }
    do {
      let json = String(decoding: try JSONEncoder().encode(contacts[device] ?? PeerContact()), as: UTF8.self)
      try replica.saw(
        device, at: SystemClock.now, completedSync: completedSyncs.removeValue(forKey: device), contact: json)
    } catch {
      storeFailed(error)
    }
  }

  /// Remembers what is told at every edit and need not be written at every edit.
  func rememberSyncs() { for device in completedSyncs.keys.sorted() { remember(device) } }

  /// Says goodbye to all peers; nothing is taken in afterwards.
  func stop() {
    lookForEdits()
    handle(.shutDown)
    isStopped = true
    tidier.stop()
    for link in links.values {
      count(link)
      if let device = link.identity?.peer?.device { remember(device) }
    }
    links = [:]
  }

  private func short(_ device: DeviceID) -> String { String(device.description.prefix(8)) }
}
