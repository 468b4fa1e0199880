internal import FoundationEssentials
package import HouseholdRecords
internal import HouseholdReplica
package import HouseholdSync
package import HouseholdTransport
internal import HouseholdTrust

/// Joins a household from a device that has none: dials the inviting node and puts what it gives in place.
package struct PairingGuest: Sendable {
  package let directory: DataDirectory
  package let code: InvitationCode
  package let household: HouseholdID?
  package let addresses: [SocketAddress]
  package let deviceName: String
  package let existing: ExistingRecords

  /// What becomes of a household that is in the data directory already; it is kept under `snapshots/` in any case.
  package enum ExistingRecords: String, Sendable {
    /// There must be none.
    case refuse
    /// Its records come along as edits of this device.
    case merge
    /// Its records stay behind.
    case replace
  }

  package init(
    directory: DataDirectory, code: InvitationCode, household: HouseholdID?, addresses: [SocketAddress],
    deviceName: String, existing: ExistingRecords
  ) {
    self.existing = existing
    self.directory = directory
    self.code = code
    self.household = household
    self.addresses = addresses
    self.deviceName = deviceName
  }

  /// Pairs; returns when this device belongs to the household.
  ///
  /// - Parameter decide: shows what is about to be joined; throws to decline with a reason.
  package func join(decide: @escaping @Sendable (PairingPreview) async throws -> Void) async throws {
    var lock: DirectoryLock?
    if directory.hasHousehold && existing != .refuse {
      lock = try DirectoryLock(directory)
    } else {
      try directory.requireFree()
    }
    defer { withExtendedLifetime(lock) {} }
    if try resume() { return }
    let key = try joiningKey.find()
    let loop = try EventLoop()
    let context = try TLSContext(
      identity: TLSIdentity(
        certificate: try GuestCertificate.make(for: key, now: SystemClock.now), privateKey: try key.privateKey()),
      applications: [], verification: AnyHost())
    let links = LinkSet(loop: loop, context: context)
    let conversation = GuestConversation(loop: loop)
    let outcome: Result<Void, any Error>
    do {
      try await talk(conversation, links: links, key: key, decide: decide)
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    await links.closeAll("the pairing is over")
    loop.stop()
    try outcome.get()
  }

  private func talk(
    _ conversation: GuestConversation, links: LinkSet, key: KeyPair,
    decide: @Sendable (PairingPreview) async throws -> Void
  ) async throws {
    let outcome = await LinkDialer(links: links).dial(addresses, for: .pairing, owner: conversation)
    guard let link = outcome.link, let identity = link.identity else {
      let tried = outcome.attempts.map { "\($0.address): \($0.error ?? "no answer")" }.joined(separator: "; ")
      throw NodeError(
        .network, "The inviting node cannot be reached (\(tried)).",
        remedy: "Start its node (household node), be on the same network, or give its address with --address.")
    }
    var machine = PairingGuestMachine(
      code: code, expecting: household,
      channel: PairingChannel(
        exporter: identity.exporter, guestPublicKey: key.publicKey, hostPublicKey: identity.publicKey),
      cryptography: PairingTrust())
    var pending: [PairingGuestMachine.Event] = [.opened]
    var staged: StagingLock?
    defer { withExtendedLifetime(staged) {} }
    var declined: (any Error)?
    while true {
      let event = pending.isEmpty ? await conversation.next() : pending.removeFirst()
      for effect in machine.handle(event, now: EventLoop.now) {
        switch effect {
        case .send(let message):
          let (type, payload) = PairingMessageCodec.encode(message)
          link.send(type: type, payload: payload)
        case .show(let preview):
          do {
            try requireRightToMerge(preview)
            try await decide(preview)
            let request = try SigningRequest.make(for: key).der
            try joiningKey.keep(key)
            pending.append(.confirmed(signingRequest: request, deviceName: deviceName))
          } catch {
            declined = error
            pending.append(.declined)
          }
        case .store(let completion):
          do {
            staged = try store(completion, key: key, host: identity, hostAddress: link.address)
            pending.append(.stored)
          } catch {
            pending.append(.storingFailed(sentence: "\(error)"))
          }
        case .activate:
          try activate()
          link.close("the pairing is over")
          return
        case .discard: try directory.staging.removeStaged()
        case .fail(let failure):
          link.close("the pairing is over")
          if failure.endsCode { try joiningKey.forget() }
          throw declined ?? Self.error(failure)
        case .close: link.close("the pairing is over")
        }
      }
    }
  }

  /// Records come along as edits of this device, which whoever may only read cannot make.
  private func requireRightToMerge(_ preview: PairingPreview) throws {
    guard existing == .merge, preview.role == .readOnly else { return }
    throw NodeError(
      .notAllowed, "The invitation lets you read only, so the records that are here cannot come along.",
      remedy: "Say --data replace to leave them behind in a copy, or ask for another role.")
  }

  private static func error(_ failure: PairingFailure) -> NodeError {
    NodeError(.pairing, "\(failure)", remedy: "Ask the inviting person for a new code if it does not help.")
  }

  // MARK: What is stored

  private var joiningKey: JoiningKey { JoiningKey(directory: directory, code: code) }

  /// Tells for which code the staging directory was made, so that a join that was killed can go on.
  private var marker: String { directory.staging.joiningMark }

  private var mark: [UInt8] { OpenSSLCryptography().sha256(Array("household-joining/1".utf8) + code.secret) }

  /// Checks what the host gave, and writes all of it beside its place, which is held for as long as the result lives.
  private func store(
    _ completion: PairingCompletion, key: KeyPair, host: LinkIdentity, hostAddress: SocketAddress
  ) throws -> StagingLock {
    let staging = directory.staging
    let lock = try StagingLock.making(staging)
    let share = try ShareCertificate(der: completion.shareCertificate)
    let certificate = try DeviceCertificate(der: completion.deviceCertificate, sharePublicKey: share.publicKey)
    guard certificate.publicKey == key.publicKey else {
      throw NodeError(.pairing, "The inviting device certified another key.", remedy: "Start the join again.")
    }
    var log = MembershipLog(household: share.household)
    _ = try log.add(completion.entries, cryptography: OpenSSLCryptography())
    let membership = MembershipEvaluation.state(of: log)
    guard membership.admits(key.device), membership.devices[key.device]?.member == certificate.member else {
      throw NodeError(.pairing, "The membership log does not admit this device.", remedy: "Start the join again.")
    }
    try share.save(to: staging.shareCertificate)
    try certificate.save(to: staging.deviceCertificate)
    try key.save(to: staging.deviceKey)
    var random = SecureRandom()
    let replica = try Replica.create(
      path: staging.replica,
      identity: ReplicaIdentity(household: share.household, member: certificate.member, device: key.device),
      entries: completion.entries, nonce: .random(from: &random), incarnation: .random(from: &random),
      needsSnapshot: true, cryptography: OpenSSLCryptography(), signer: key)
    let hostDevice = try DeviceCertificate(der: host.certificate, sharePublicKey: share.publicKey).device
    var contact = PeerContact()
    contact.learn(
      [hostAddress.description] + completion.addresses.filter { $0 != hostAddress.description },
      limit: Limits.addressesPerDevice)
    let json = String(decoding: try JSONEncoder().encode(contact), as: UTF8.self)
    try replica.saw(hostDevice, at: SystemClock.now, completedSync: nil, contact: json)
    replica.close()
    if existing == .merge { try ExistingHousehold(directory).copyRecords(to: staging) }
    try DurableFile(path: marker).write(mark, mode: 0o600)
    return lock
  }

  /// Goes on with a join that was killed after everything was stored: the join is valid by itself.
  private func resume() throws -> Bool {
    guard DataDirectory.exists(marker), try DurableFile(path: marker).read() == mark else { return false }
    let lock = try StagingLock(holding: directory.staging)
    try withExtendedLifetime(lock) { try activate() }
    return true
  }

  private func activate() throws {
    if directory.hasHousehold { try ExistingHousehold(directory).keep(in: directory.staging) }
    try directory.adopt(directory.staging)
    try directory.removeJoiningMark()
    try joiningKey.forget()
  }
}

/// A guest takes any host's certificate: the pairing proves the host afterwards.
private struct AnyHost: PeerVerification {
  func device(of certificate: [UInt8]) throws(PeerRefusal) -> VerifiedDevice { throw .otherHousehold }
}

/// Turns what happens on the guest's link into events to wait for.
private final class GuestConversation: LinkOwner {
  private let events: AsyncStream<PairingGuestMachine.Event>
  private let feed: AsyncStream<PairingGuestMachine.Event>.Continuation

  private let loop: EventLoop

  init(loop: EventLoop) {
    self.loop = loop
    (events, feed) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
  }

  func linkOpened(_ link: Link, identity: LinkIdentity) { tick() }

  func linkReceived(_ link: Link, message: InboundMessage) {
    feed.yield(.frame(type: message.type, payload: message.payload))
    link.consumed(message.payload.count)
  }

  func linkClosed(_ link: Link, reason: LinkCloseReason) {
    feed.yield(.closed)
    feed.finish()
  }

  /// The next event; after the link's end only that.
  func next() async -> PairingGuestMachine.Event {
    var iterator = events.makeAsyncIterator()
    return await iterator.next() ?? .closed
  }

  /// Yields a tick a second, so that deadlines pass, until the link has ended.
  private func tick() {
    _ = loop.schedule(afterMilliseconds: 1000) { [self] in
      if case .terminated = feed.yield(.tick) { return }
      tick()
    }
  }
}
