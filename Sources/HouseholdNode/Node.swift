internal import Glibc
internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdSync
package import HouseholdTransport
internal import HouseholdTrust

/// How a node is to run.
package struct NodeConfiguration: Sendable {
  package var directory: DataDirectory
  /// Where to listen; port 0 picks one.
  package var listen: SocketAddress
  /// What to tell others instead of the addresses of this machine.
  package var advertise: [SocketAddress]
  /// Nodes to dial.
  package var peers: [SocketAddress]
  package var version: String
  package var log: Log
  /// Whether other devices are looked for in the local network.
  package var discovers: Bool
  /// Where figures are served, a loopback address; nil for nowhere.
  package var metrics: SocketAddress?
  /// Who wants to be told how the node is.
  package var supervisor: Supervisor?

  package init(
    directory: DataDirectory, listen: SocketAddress, advertise: [SocketAddress], peers: [SocketAddress],
    version: String, log: Log, discovers: Bool = false
  ) {
    self.discovers = discovers
    self.directory = directory
    self.listen = listen
    self.advertise = advertise
    self.peers = peers
    self.version = version
    self.log = log
  }
}

/// The running process on a device: listens, dials, seals and syncs until it is told to stop.
///
/// Two threads: `links` for sockets and TLS, `work` for the replica, the engine and everything that decides. Unchecked:
/// what changes is used on the work thread only.
package final class Node: @unchecked Sendable {
  private let configuration: NodeConfiguration
  private let lock: DirectoryLock
  private let work: EventLoop
  private let linkLoop: EventLoop
  private let links: LinkSet
  private let replica: Replica
  private let driver: SyncDriver
  private let desk: InvitationDesk
  private let pairing: PairingHost
  private let mailbox: LinkMailbox
  private let keeper: LinkKeeper
  private let shareKeys: ShareKeyKeeper
  private let certificates: CertificateKeeper
  private let recurring: RecurringPoster
  private let rounds: DailyRounds
  private let startedAt = SystemClock.now
  private var listener: LinkListener?
  private var listenError: String?
  private var control: ControlSocket?
  private var watcher: ReplicaWatcher?
  private var discovery: Discovery?
  private let supervision: Supervision?
  private var metrics: MetricsServer?
  private var isStopped = false
  /// Called on the work thread once the node listens, with `HOST:PORT`.
  private let ready: @Sendable (String) -> Void
  /// Called on the work thread, once or again, when the node cannot go on; whoever runs it then stops it.
  private let ended: @Sendable (NodeError) -> Void
  private var places: PlaceKeeper

  /// Opens everything; nothing is listened to or dialled before `start`.
  package init(
    _ configuration: NodeConfiguration, ready: @escaping @Sendable (String) -> Void,
    ended: @escaping @Sendable (NodeError) -> Void
  ) throws {
    self.configuration = configuration
    self.ready = ready
    self.ended = ended
    try configuration.directory.requireHousehold()
    try DiskFacts(configuration.directory).requireWritable(configuration.directory)
    lock = try DirectoryLock(configuration.directory)
    places = PlaceKeeper(lock, log: configuration.log)
    try configuration.directory.removeJoiningMark()
    try configuration.directory.keepPrivate()
    let keys = try NodeKeys(configuration.directory)
    replica = try NodeError.guarding {
      try Replica(path: configuration.directory.replica, cryptography: OpenSSLCryptography(), signer: keys.key)
    }
    try NodeError.guarding { [replica] in try SharingMode.requireOn(try replica.isOff) }
    guard replica.identity.device == keys.device.device else {
      throw NodeError(
        .keys, "The replica belongs to another device than the keys beside it.",
        remedy: "Restore both from one copy, or pair this device again.")
    }
    replica.beforeResync = { [directory = configuration.directory] in
      try SafetyCopy.take(directory, before: "resync", now: SystemClock.now)
    }
    let witness = Witness(configuration.directory, log: configuration.log)
    try NodeError.guarding { [replica] in try witness.check(replica, now: SystemClock.now) }
    work = try EventLoop()
    linkLoop = try EventLoop()
    supervision = configuration.supervisor.map { [work, linkLoop] in Supervision($0, work: work, links: linkLoop) }
    links = LinkSet(loop: linkLoop, context: try keys.context())
    var random = SecureRandom()
    driver = try SyncDriver(
      loop: work, replica: replica, bootNonce: .random(from: &random), programVersion: configuration.version,
      log: configuration.log, witness: witness)
    desk = try InvitationDesk(replica: replica, keys: keys)
    pairing = PairingHost(desk: desk, hostPublicKey: keys.device.publicKey, log: configuration.log)
    mailbox = LinkMailbox(driver: driver, pairing: pairing)
    keeper = LinkKeeper(driver: driver, links: links, owner: mailbox, given: configuration.peers)
    shareKeys = ShareKeyKeeper(
      configuration.directory, replica: replica, driver: driver, desk: desk, log: configuration.log)
    certificates = CertificateKeeper(
      configuration.directory, driver: driver, desk: desk, links: links, log: configuration.log)
    recurring = RecurringPoster(configuration.directory, replica: replica, log: configuration.log)
    rounds = DailyRounds(replica: replica, driver: driver, log: configuration.log)
    pairing.onPaired = { [driver] in driver.membershipChanged() }
    driver.onConnected = { [keeper] in keeper.connected($0) }
    driver.onDisconnected = { [keeper] device, _ in keeper.disconnected(device) }
    driver.onGoodbye = { [keeper] in keeper.rest(from: $0, milliseconds: $1.retryAfterMilliseconds) }
    driver.onLocalEdit = { [keeper] in keeper.tryAgainSoon() }
    keepKeys()
  }

  /// The share's key and the certificates follow what the membership log and the peers say.
  private func keepKeys() {
    driver.onShareKey = { [shareKeys, certificates] in
      shareKeys.keep($0)
      certificates.look()
    }
    driver.onMembership = { [keeper, shareKeys, certificates] in
      keeper.endRests()
      shareKeys.look()
      certificates.look()
    }
    driver.onCertificateWanted = { [certificates] in certificates.give(to: $0, on: $1) }
    driver.onCertificate = { [certificates] in certificates.keep($0) }
  }

  /// Begins: control socket, watcher, listener, dialling.
  package func start() async throws {
    try await onWork { [self] in
      supervision?.begin()
      control = try ControlSocket(configuration.directory, loop: work) { [weak self] request in
        self?.answer(request) ?? .failed(code: "nodeNotRunning", message: "The node is stopping.", remedy: "")
      }
      watcher = try ReplicaWatcher(
        configuration.directory, loop: work, hasTimer: false, ownCommits: { [replica] in replica.commits }
      ) { [weak self] in self?.driver.lookForEdits() ?? true }
      shareKeys.look()
      certificates.look()
      if configuration.discovers { startDiscovery() }
      try listen(first: true)
      try startMetrics()
      driver.lookForEdits()
      keeper.look()
      everySecond()
    }
  }

  /// Says goodbye to all peers and closes everything.
  package func stop() async throws {
    try await onWork { [self] in
      isStopped = true
      supervision?.stop()
      keeper.stop()
      recurring.stop()
      listener?.close()
      driver.stop()
      watcher?.stop()
      discovery?.stop()
      control?.stop()
    }
    metrics?.stop()
    await links.closeAll("the node is stopping")
    try await onWork { [self] in replica.close() }
    linkLoop.stop()
    work.stop()
  }

  private func onWork(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      work.submit {
        do {
          try body()
          continuation.resume()
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
  }

  // MARK: Listening

  /// How often a taken port is tried again, in milliseconds.
  private static let listenRetry: Int64 = 2000

  private func listen(first: Bool) throws {
    do {
      let made = try LinkListener(configuration.listen, links: links, owner: mailbox)
      listener = made
      listenError = nil
      tellAddresses()
      discovery?.listens(at: made.address)
      ready(made.address.description)
      showState()
    } catch ListenFault.portInUse(let address) {
      listenError = "\(ListenFault.portInUse(address))"
      configuration.log.problem("the port is taken", ["error": listenError ?? ""])
      _ = work.schedule(afterMilliseconds: Self.listenRetry) { [weak self] in self?.listenAgain() }
    } catch {
      guard !first else {
        throw NodeError(.network, "\(error)", remedy: "Give an address of this machine with --listen HOST:PORT.")
      }
      listenError = "\(error)"
    }
  }

  /// Where others can dial this node, as of now.
  private func tellAddresses() {
    guard let listener else { return }
    let told = configuration.advertise.isEmpty ? LocalAddresses.reachable(listener.address) : configuration.advertise
    driver.setAddresses(told.map(\.description))
    desk.addresses = told.map(\.description)
  }

  private func startDiscovery() {
    discovery = Discovery(driver: driver, keeper: keeper)
    discovery?.onNetworkChange = { [weak self] in
      self?.tellAddresses()
      self?.keeper.tryAgainSoon()
    }
  }

  private func startMetrics() throws {
    guard let address = configuration.metrics else { return }
    metrics = try MetricsServer(address, directory: configuration.directory, log: configuration.log) {
      [weak self, work] tell in
      work.submit { [weak self] in
        do {
          tell(try self?.liveFacts())
        } catch {
          tell(nil)
        }
      }
    }
  }

  private func listenAgain() {
    guard !isStopped else { return }
    do {
      try listen(first: false)
    } catch {
      listenError = "\(error)"
    }
  }

  /// Tells the service manager how the node is.
  private func showState() {
    let place = listener.map { "listening on \($0.address), \(driver.connectedCount) devices connected" }
    supervision?.shows(driver.storeError?.message ?? place ?? listenError ?? "", isListening: listener != nil)
  }

  private func everySecond() {
    _ = work.schedule(afterMilliseconds: 1000) { [weak self] in
      guard let self, !self.isStopped else { return }
      self.watcher?.secondPassed()
      self.driver.tick()
      self.pairing.tick()
      self.discovery?.tick()
      self.keeper.look()
      self.recurring.tick()
      self.rounds.tick()
      self.certificates.tick()
      self.showState()
      if let end = self.places.look(self.replica, self.control, now: EventLoop.now) { self.ended(end) }
      self.everySecond()
    }
  }

  // MARK: Commands

  private func answer(_ request: ControlRequest) -> ControlResponse {
    do {
      switch request {
      case .status: return .status(try liveFacts())
      case .poke:
        driver.lookForEdits()
        return .done
      case .invite(let member, let role, let lifetime):
        let wish = InvitationDesk.Wish(
          member: member, role: Role(rawValue: role) ?? .member, lifetimeMilliseconds: lifetime)
        let (_, made) = try desk.invite(wish, now: SystemClock.now)
        driver.membershipChanged()
        return .invitation(try facts(of: made))
      case .invitations: return .invitations(try desk.open(now: SystemClock.now).map(facts))
      case .invitationState(let code):
        return .invitationState(try desk.state(code: try InvitationCode(code), now: SystemClock.now))
      case .cancel(let code):
        try desk.cancel(code: try InvitationCode(code), now: SystemClock.now)
        return .done
      case .upgradeSchema(let manifest):
        return try administer {
          try $0.upgradeSchema(manifest, directory: configuration.directory, now: SystemClock.now)
        }
      case .remove(let word): return try administer { try $0.remove(word, now: SystemClock.now) }
      case .retire(let word): return try administer { try $0.retire(word, now: SystemClock.now) }
      case .promote(let word): return try administerRole { try $0.promote(word, now: SystemClock.now) }
      case .demote(let word, let readOnly):
        return try administerRole { try $0.demote(word, toReadOnly: readOnly, now: SystemClock.now) }
      case .leavePreview(let keep):
        return .leaving(try Leaving(directory: configuration.directory, replica: replica).preview(keep))
      case .leave(let keep):
        let left = try Leaving(directory: configuration.directory, replica: replica).leave(keep, now: SystemClock.now)
        driver.membershipChanged()
        return .leaving(left)
      case .dissolvePreview:
        return .leaving(try Leaving(directory: configuration.directory, replica: replica).previewOfDissolving())
      case .dissolve:
        let ended = try Leaving(directory: configuration.directory, replica: replica).dissolve(now: SystemClock.now)
        driver.membershipChanged()
        return .leaving(ended)
      case .compact(let keep):
        try rounds.declareSleepers()
        let facts = try Compacting(replica: replica).compact(keepMilliseconds: keep, now: SystemClock.now)
        driver.logChanged()
        return .compaction(facts)
      case .rename(let word, let name): return try administer { try $0.rename(word, to: name, now: SystemClock.now) }
      }
    } catch let error as NodeError {
      return .failure(error)
    } catch let mistake as InvitationCode.Mistake {
      return .failure(
        NodeError(.badArgument, mistake.description, remedy: "List the open ones: household invitations"))
    } catch let fault as ReplicaError {
      return .failure(NodeError(fault))
    } catch {
      return .failure(NodeError(.store, "\(error)", remedy: "See the node's log."))
    }
  }

  private func administer(_ act: (Administration) throws -> Void) throws -> ControlResponse {
    try act(Administration(replica: replica))
    driver.membershipChanged()
    return .done
  }

  private func administerRole(_ act: (Administration) throws -> MembershipState.Member) throws -> ControlResponse {
    let member = try act(Administration(replica: replica))
    driver.membershipChanged()
    return .role(member: member.name, role: member.role.rawValue)
  }

  private func facts(of invitation: StoredInvitation) throws -> InvitationFacts {
    let code = try InvitationCode(invitation.code)
    let link = InvitationLink(code: code, addresses: desk.addresses, household: replica.identity.household)
    return InvitationFacts(
      code: code.description, link: link.description, member: invitation.memberName,
      role: invitation.role.rawValue, expiresAt: invitation.expiresAt.milliseconds)
  }

  private func liveFacts() throws -> LiveFacts {
    LiveFacts(
      pid: getpid(), startedAt: startedAt.milliseconds,
      listening: listener.map { [$0.address.description] } ?? [], version: configuration.version,
      listenError: listenError, storeError: driver.storeError, unanswered: keeper.unanswered, search: discovery?.facts,
      peers: try driver.livePeers())
  }
}
