package import HouseholdRecords
import HouseholdReplica
import HouseholdSync

/// A whole household in one thread: real replicas and engines, simulated network and clocks, everything from one seed.
package final class World {
  /// A device that is about to be added.
  package struct Plan {
    package var name: String
    package var clockOffset: Int64
    package var role: Role
    /// Whether it starts without records and has to fetch a snapshot.
    package var needsSnapshot: Bool

    package init(_ name: String, clockOffset: Int64 = 0, role: Role = .member, needsSnapshot: Bool = false) {
      self.name = name
      self.clockOffset = clockOffset
      self.role = role
      self.needsSnapshot = needsSnapshot
    }
  }

  package let schema: Schema
  package private(set) var devices: [SimulatedDevice] = []
  var network = SimulatedNetwork()
  var random: SeededRandom
  /// Keys and ids come from here, so that they do not depend on what happens.
  private var identityRandom: SeededRandom
  /// True time.
  package private(set) var now: Instant
  private let start: Instant
  package var trace: Trace
  /// How many events the engines took.
  package internal(set) var events = 0
  /// Everything that broke a rule on the way.
  package internal(set) var faults: [String] = []
  /// Hears of every message that a device sends.
  var onSend: ((_ type: UInt8, _ payload: [UInt8]) -> Void)?
  /// Changes what a link carries before it arrives; for tests of what a hostile member can do.
  package var tamper: ((_ type: UInt8, _ payload: inout [UInt8]) -> Void)?
  /// How often each changeset was sent to each device.
  var traffic = Traffic()
  /// How many edits the next device seals in one go: every third one does as a real one.
  private var rowsSealedAtOnce: Int? { sealsInSmallParts ? [nil, 3, 1][devices.count % 3] : nil }
  /// Whether devices seal a few edits in one go, as a real one does from 20,000 on.
  var sealsInSmallParts = false
  let cryptography: SimulatedCryptography
  private let authority: SimulatedKey

  package init(seed: UInt64, schema: Schema, start: Instant, trace: Trace = Trace()) {
    self.schema = schema
    self.start = start
    self.trace = trace
    now = start
    random = SeededRandom(seed: seed)
    identityRandom = SeededRandom(seed: ~seed)
    cryptography = SimulatedCryptography(secret: identityRandom.bytes(32))
    authority = cryptography.key(identityRandom.bytes(32))
  }

  deinit { for device in devices { device.close() } }

  // MARK: Time

  /// The clock that only runs forward.
  var tick: Tick { Tick(milliseconds: now.milliseconds - start.milliseconds) }

  /// The time that a device believes it is.
  package func wall(_ device: SimulatedDevice) -> Instant { now.advanced(byMilliseconds: device.clockOffset) }

  /// Lets true time go on without anything happening.
  func advance(milliseconds: Int64) { now = now.advanced(byMilliseconds: milliseconds) }

  // MARK: Devices

  package subscript(name: String) -> SimulatedDevice? { devices.first { $0.name == name } }

  /// Adds a device of a member of its own; the first one founds the household.
  ///
  /// - Parameter disk: where its replica is to lie; nil for a new disk without faults.
  @discardableResult
  package func add(_ plan: Plan, on disk: SimulatedDisk? = nil) throws -> SimulatedDevice {
    let key = cryptography.key(identityRandom.bytes(32))
    let member = MemberID.random(from: &identityRandom)
    let description = MembershipEntry.DeviceDescription(name: plan.name, publicKey: key.publicKey)
    let entries = try admit(description, member: member, key: key, plan: plan)
    let identity = ReplicaIdentity(
      household: cryptography.householdID(sharePublicKey: authority.publicKey), member: member,
      device: key.device)
    let nonce = ReplicaNonce.random(from: &identityRandom)
    let incarnation = Incarnation.random(from: &identityRandom)
    let device = try SimulatedDevice(
      name: plan.name, index: devices.count, member: member, key: key, cryptography: cryptography,
      disk: disk
        ?? SimulatedDisk(wall: now.advanced(byMilliseconds: plan.clockOffset), seed: identityRandom.next()),
      engine: makeEngine(), rowsSealedAtOnce: rowsSealedAtOnce
    ) { path in
      let replica = try Replica.create(
        path: path, identity: identity, entries: entries, nonce: nonce, incarnation: incarnation,
        needsSnapshot: plan.needsSnapshot, cryptography: cryptography, signer: key)
      if devices.isEmpty { _ = try replica.state(.schema(schema), at: now) }
      return replica
    }
    device.seed(identityRandom.next())
    device.seed(identityRandom.next())
    device.clockOffset = plan.clockOffset
    devices.append(device)
    trace.add("add \(plan.name) \(key.device)")
    return device
  }

  /// The membership log that the new device starts with; the owner has it too and tells the others.
  private func admit(
    _ description: MembershipEntry.DeviceDescription, member: MemberID, key: SimulatedKey, plan: Plan
  ) throws -> [[UInt8]] {
    guard let owner = devices.first else {
      let genesis = MembershipEntry(
        author: key.device, parents: [], at: now,
        statement: .genesis(
          .init(
            householdName: "Simulated household", sharePublicKey: authority.publicKey, member: member,
            memberName: plan.name, device: description)))
      return [try SignedEntry(genesis) { authority.signature(of: $0) }.bytes]
    }
    owner.disk.heal()
    let invitation = InvitationID.random(from: &identityRandom)
    let invite = try owner.replica.state(
      .invite(
        .init(
          invitation: invitation, member: member, memberName: plan.name, role: plan.role,
          expiresAt: now.advanced(byMilliseconds: 600_000))), at: now)
    _ = try owner.replica.state(.join(.init(invite: invite, device: description)), at: now)
    handle(owner, .membershipChanged)
    return try owner.replica.membershipEntries(except: [])
  }

  /// Adds a device with the identity of another and a copy of its disk.
  func add(twinOf device: SimulatedDevice, disk: SimulatedDisk) throws -> SimulatedDevice {
    let twin = try SimulatedDevice(
      name: "\(device.name)-\(devices.count)", index: devices.count, member: device.member, key: device.key,
      cryptography: cryptography, disk: disk, engine: makeEngine(), rowsSealedAtOnce: rowsSealedAtOnce
    ) { path in
      try Replica(path: path, cryptography: cryptography, signer: device.key)
    }
    twin.seed(identityRandom.next())
    twin.clockOffset = device.clockOffset
    devices.append(twin)
    return twin
  }

  func makeEngine() -> SyncEngine {
    let nonce = BootNonce.random(from: &identityRandom)
    return SyncEngine(bootNonce: nonce, programVersion: "simulated", addresses: ["[::1]:7411"])
  }

  /// A clean restart: links end, the file is closed and opened.
  ///
  /// - Parameter body: what happens to the disk while nothing runs; nil for nothing.
  package func restart(_ device: SimulatedDevice, _ body: (() -> Void)? = nil) throws {
    trace.add("restart \(device.name)")
    device.disk.heal()
    handle(device, .shutDown)
    for link in network.links(of: device.index) { cut(link) }
    device.openLinks = []
    try device.reopen(body)
    device.engine = makeEngine()
  }

  /// Signal 9: peers see their links end, the file is as it was.
  package func kill(_ device: SimulatedDevice) throws {
    trace.add("kill \(device.name)")
    // Until a disk is struck, all that was committed is on it.
    if !device.disk.hasStruck { try device.noteWhatIsPromised() }
    device.engine = makeEngine()
    device.openLinks = []
    for link in network.links(of: device.index) { cut(link) }
    try device.reopenKilled()
  }

  /// Adds an entry to the membership log, signed by this device, and tells its engine.
  package func state(_ statement: MembershipEntry.Statement, by device: SimulatedDevice) throws {
    _ = try device.replica.state(statement, at: wall(device))
    handle(device, .membershipChanged)
  }

  /// Seals what the device captured and tells its engine, as a node does soon after an edit.
  package func seal(_ device: SimulatedDevice) throws {
    let sealed = try survive(device) { try device.replica.seal(now: wall(device)) }
    if sealed == true {
      trace.add("seal \(device.name)")
      handle(device, .localChanges)
    }
  }

  // MARK: Events

  /// Gives an event to a device's engine and does what it wants.
  func handle(_ device: SimulatedDevice, _ event: Event) {
    events += 1
    let effects = device.engine.handle(event, store: device.replica, wall: wall(device), tick: tick)
    // What a process wanted to do when it died is not done.
    if bury(device) { return }
    for effect in effects { obey(effect, by: device) }
  }

  private func obey(_ effect: Effect, by device: SimulatedDevice) {
    switch effect {
    case .report(let report): note(report, by: device)
    case .send(let link, let type, let flags, let payload):
      if !device.openLinks.contains(link) { faults.append("\(device.name) sent on the closed link \(link)") }
      trace.add(bytes: payload)
      onSend?(type, payload)
      traffic.count(type: type, payload: payload, on: link, to: otherEnd(of: link, than: device))
      network.send(.message(type: type, flags: flags, payload: payload), on: link, from: device.index)
    case .close(let link, let goodbye):
      trace.add("\(device.name) closes \(link): \(goodbye.sentence)")
      if device.openLinks.remove(link) == nil { faults.append("\(device.name) closed link \(link) twice") }
      network.send(.end, on: link, from: device.index)
    }
  }

  private func otherEnd(of link: LinkNumber, than device: SimulatedDevice) -> Int {
    guard let wire = network[link] else { return device.index }
    return wire.ends[1 - wire.end(of: device.index)]
  }

  private func note(_ report: SessionReport, by device: SimulatedDevice) {
    switch report {
    case .violation(let peer, let violation) where tamper != nil:
      trace.add("\(device.name) found \(name(of: peer)) breaking a rule: \(violation)")
    case .violation(let peer, let violation):
      faults.append("\(device.name) found \(name(of: peer)) breaking a rule: \(violation)")
    case .storeFailed(let text) where device.disk.hasStruck: trace.add("the store of \(device.name) failed: \(text)")
    case .storeFailed(let text): faults.append("the store of \(device.name) failed: \(text)")
    case .diverged(let peer): faults.append("\(device.name) and \(name(of: peer)) have diverged (R5)")
    case .forkSuspected(let replica, let peer):
      trace.add("\(device.name) finds a fork of \(replica) at \(name(of: peer))")
    case .cloneSuspected(let peer): trace.add("\(device.name) suspects a clone of \(name(of: peer))")
    case .withheld(let list, let peer):
      if !list.isEmpty { trace.add("\(name(of: peer)) keeps \(list.count) replicas' changes from its records") }
    case .removedHere: trace.add("\(device.name) is removed")
    case .snapshotAdopted(let peer): trace.add("\(device.name) has a snapshot of \(name(of: peer))")
    case .received(let count, let peer): trace.add("\(device.name) received \(count) from \(name(of: peer))")
    case .connected, .inUse, .synced, .acknowledged, .agreed, .sent, .membershipReceived, .membershipKnown, .closed,
      .shareKeyGiven, .shareKeyReceived, .certificateWanted, .certificateReceived:
      break
    }
  }

  func name(of device: DeviceID) -> String { devices.first { $0.device == device }?.name ?? "\(device)" }
}
