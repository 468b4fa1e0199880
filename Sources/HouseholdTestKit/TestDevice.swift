internal import FoundationEssentials
public import HouseholdKit
internal import HouseholdNode
internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdSync
internal import HouseholdTrust

/// One device of a test's household: the real replica, the real engine, and a store on it as an app has one.
///
/// Unchecked: whatever changes is used by the household only, behind its lock.
public final class TestDevice: @unchecked Sendable {
  /// The name of the member whose device this is.
  public let member: String
  /// The name of the device.
  public let name: String
  /// The records of the device, as an app sees them: give it to the code that is tested.
  public let store: HouseholdStore

  let index: Int
  let memberID: MemberID
  let clock: DeviceClock
  let node: TestNode
  let replica: Replica
  var engine: SyncEngine
  var isRunning = true
  var openLinks: Set<LinkNumber> = []
  private var contacts: [DeviceID: PeerContact] = [:]
  private var diverged: Set<DeviceID> = []
  private var storeError: LiveFacts.StoreError?

  init(
    _ replica: Replica, member: (name: String, id: MemberID), name: String, index: Int, clock: DeviceClock,
    node: TestNode, in directory: DataDirectory, records: [any HouseholdRecord.Type]
  ) throws {
    self.replica = replica
    self.member = member.name
    self.name = name
    self.index = index
    self.clock = clock
    self.node = node
    memberID = member.id
    engine = Self.makeEngine()
    store = try HouseholdStore(directory, node: node, records: records)
  }

  static func makeEngine() -> SyncEngine {
    var random = SecureRandom()
    return SyncEngine(bootNonce: .random(from: &random), programVersion: "HouseholdTestKit", addresses: [])
  }

  var device: DeviceID { replica.identity.device }

  /// Takes note of what the engine says of a peer.
  func note(_ report: SessionReport) throws {
    switch report {
    case .connected(_, let peer):
      change(peer.device) { contact in
        contact.clockOffsetMs = peer.clockOffsetMilliseconds
        contact.schemaVersion = peer.schemaVersion
        contact.programVersion = peer.programVersion
      }
      try remember(peer.device, completedSync: false)
    case .synced(let peer):
      storeError = nil
      try replica.caughtUp()
      change(peer) { $0.lastError = nil }
      try remember(peer, completedSync: true)
    case .acknowledged: break
    case .agreed(let peer): diverged.remove(peer)
    case .received(let count, let peer): change(peer) { $0.changesReceived += UInt64(count) }
    case .sent(let count, let peer): change(peer) { $0.changesSent += UInt64(count) }
    case .diverged(let peer): diverged.insert(peer)
    case .withheld(let list, let peer):
      let own = list.filter { replica.isOwn($0.replica) }
      change(peer) { contact in
        contact.heldThere = own.contains { $0.reason == .held }
        contact.rejectedThere = own.contains { $0.reason == .rejected }
      }
      try remember(peer, completedSync: false)
    case .violation(let peer, let violation): change(peer) { $0.lastError = violation.sentence }
    case .storeFailed(let text): storeError = LiveFacts.StoreError(code: "other", message: text)
    case .closed(_, let peer, let goodbye, _):
      if ![.duplicate, .branches, .shuttingDown].contains(goodbye.code) {
        change(peer) { $0.lastError = goodbye.sentence }
      }
    case .membershipKnown(let peer):
      guard !replica.membershipNow.admits(device), replica.membershipNow.admits(peer) else { return }
      change(peer) { $0.knowsEnd = true }
      try remember(peer, completedSync: false)
    case .inUse, .snapshotAdopted, .membershipReceived, .forkSuspected, .cloneSuspected, .shareKeyReceived,
      .shareKeyGiven,
      .removedHere, .certificateWanted, .certificateReceived:
      break
    }
  }

  /// Takes note that the way to a peer was cut.
  func lost(_ peer: DeviceID) throws {
    change(peer) { $0.lastError = "the connection was cut" }
    try remember(peer, completedSync: false)
  }

  private func change(_ peer: DeviceID, _ body: (inout PeerContact) -> Void) {
    body(&contacts[peer, default: PeerContact()])
  }

  private func remember(_ peer: DeviceID, completedSync: Bool) throws {
    let json = String(decoding: try JSONEncoder().encode(contacts[peer] ?? PeerContact()), as: UTF8.self)
    try replica.saw(peer, at: clock.now, completedSync: completedSync ? clock.now : nil, contact: json)
  }

  /// What a running node tells for status.
  func facts() throws -> LiveFacts {
    let received = try replica.vectors().received
    let sessions = Dictionary(engine.peers.map { ($0.device, $0) }) { old, new in new.isInUse ? new : old }
    var peers: [String: LiveFacts.Peer] = [:]
    for peer in Set(contacts.keys).union(sessions.keys).union(engine.relayed.keys) {
      let session = sessions[peer]
      peers[peer.description] = LiveFacts.Peer(
        connected: session?.isInUse ?? false, through: engine.relayed[peer]?.description,
        missingHere: session?.received.excess(over: received) ?? 0, synced: session?.isSynced ?? false,
        caughtUp: session?.isCaughtUp ?? false,
        contact: contacts[peer] ?? PeerContact(), diverged: diverged.contains(peer))
    }
    return LiveFacts(
      pid: 0, startedAt: clock.now.milliseconds, listening: [], version: "HouseholdTestKit", storeError: storeError,
      peers: peers)
  }
}

/// The node of a test's device as its store sees it: syncing is done when somebody asks, and nothing comes of waiting.
///
/// Unchecked: the way to the household is set once, before the device is used.
final class TestNode: StoreNode, @unchecked Sendable {
  let clock: ClockedFileSystem?
  weak var household: TestHousehold?
  private let index: Int

  init(index: Int, clock: DeviceClock) throws {
    self.index = index
    self.clock = try ClockedFileSystem { clock.now }
  }

  func facts() throws -> NodeAnswer { try household?.facts(index).map(NodeAnswer.facts) ?? .notRunning }
  func look() throws -> Bool { try household?.look(index) ?? false }
  func pause() async throws -> Bool { false }
  func begin() throws {}
  func end() throws {}
  func close() throws {}
}
