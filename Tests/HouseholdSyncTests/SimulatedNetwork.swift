import HouseholdRecords
import HouseholdSync

/// Several real engines, joined by links that keep order and can be cut, half-opened or restarted: one seed, one run.
final class SimulatedNetwork {
  /// One device: its store outlives its engine.
  final class Node {
    let store: MemoryStore
    var engine: SyncEngine
    var openLinks: Set<LinkNumber> = []
    var reports: [SessionReport] = []
    init(store: MemoryStore, engine: SyncEngine) {
      self.store = store
      self.engine = engine
    }
  }

  /// What travels on a link.
  enum Parcel {
    case message(type: UInt8, flags: UInt8, payload: [UInt8])
    case end
  }

  struct Wire {
    var ends: [Int]
    /// By the index of the end that receives.
    var queues: [[Parcel]] = [[], []]
    /// Whether packets vanish without anybody being told.
    var isDead = false
  }

  var nodes: [Node] = []
  var wires: [LinkNumber: Wire] = [:]
  var random: SplitMix64
  var tick = Tick(milliseconds: 0)
  /// How often each changeset crossed each link, either way.
  var crossings: [LinkNumber: [ChangesetName: Int]] = [:]
  /// How many messages of each type were sent.
  var sentTypes: [UInt8: Int] = [:]
  /// The same by the node that sent them.
  var sentTypesByNode: [Int: [UInt8: Int]] = [:]
  /// Everything that broke a rule of the network itself.
  var faults: [String] = []
  /// How wrong each node's wall clock is, in milliseconds.
  var clockErrors: [Int: Int64] = [:]
  private var nextLink: UInt64 = 1
  private var boots: UInt64 = 0

  init(seed: UInt64, devices: Int, joiners: Set<Int> = []) {
    random = SplitMix64(state: seed)
    var entries: [[UInt8]] = []
    for index in 0..<devices {
      let parents: [EntryHash] = entries.last.map { [testHash($0)] } ?? []
      entries.append(TestEntry(kind: .admit, device: Self.device(index), parents: parents).bytes)
    }
    for index in 0..<devices {
      let store = MemoryStore(
        device: Self.device(index), replica: ReplicaID(bytes: [UInt8](repeating: UInt8(index + 1), count: 16))!,
        entries: entries, needsSnapshot: joiners.contains(index))
      nodes.append(Node(store: store, engine: makeEngine(index)))
    }
  }

  static func device(_ index: Int) -> DeviceID { DeviceID(bytes: [UInt8](repeating: UInt8(index + 1), count: 32))! }

  /// A second start of the same device's node.
  func anotherEngine(_ index: Int) -> SyncEngine { makeEngine(index) }

  private func makeEngine(_ index: Int) -> SyncEngine {
    boots += 1
    var bytes = [UInt8](repeating: UInt8(index + 1), count: 16)
    bytes[15] = UInt8(truncatingIfNeeded: boots)
    bytes[14] = UInt8(truncatingIfNeeded: boots >> 8)
    return SyncEngine(bootNonce: BootNonce(bytes: bytes)!, programVersion: "test", addresses: ["[::1]:7411"])
  }

  var wall: Instant { Instant(milliseconds: 1_700_000_000_000 + tick.milliseconds) }

  // MARK: What happens

  @discardableResult
  func connect(_ a: Int, _ b: Int) -> LinkNumber {
    let link = LinkNumber(rawValue: nextLink)
    nextLink += 1
    wires[link] = Wire(ends: [a, b])
    for (end, other) in [(a, b), (b, a)] {
      nodes[end].openLinks.insert(link)
      let opening = LinkOpening(
        link: link, device: nodes[other].store.device,
        member: MemberID(bytes: nodes[other].store.device.bytes.prefix(16))!, weDialled: end == a)
      handle(end, .linkOpened(opening))
    }
    return link
  }

  /// Cuts a link: what is under way is lost, both ends hear of it.
  func cut(_ link: LinkNumber) {
    guard let wire = wires.removeValue(forKey: link) else { return }
    for end in wire.ends { endLink(link, at: end) }
  }

  private func endLink(_ link: LinkNumber, at end: Int) {
    if nodes[end].openLinks.remove(link) != nil { handle(end, .linkClosed(link)) }
  }

  /// A new start of the node: its links are cut, its store stays.
  func restart(_ index: Int) {
    for link in wires.keys.sorted() where wires[link]?.ends.contains(index) == true { cut(link) }
    nodes[index].engine = makeEngine(index)
    nodes[index].openLinks = []
  }

  /// The node is gone and its peers do not notice.
  func vanish(_ index: Int) {
    for link in wires.keys.sorted() where wires[link]?.ends.contains(index) == true {
      wires[link]?.isDead = true
      wires[link]?.queues = [[], []]
    }
    nodes[index].engine = makeEngine(index)
    nodes[index].openLinks = []
  }

  func write(_ index: Int, _ payload: [UInt8] = [7]) {
    nodes[index].store.write(payload)
    handle(index, .localChanges)
  }

  func compact(_ index: Int) {
    nodes[index].store.compact()
    handle(index, .localChanges)
  }

  func handle(_ index: Int, _ event: Event) {
    let effects = nodes[index].engine.handle(
      event, store: nodes[index].store,
      wall: wall.advanced(byMilliseconds: clockErrors[index] ?? 0), tick: tick)
    for effect in effects { obey(effect, by: index) }
  }

  private func obey(_ effect: Effect, by index: Int) {
    switch effect {
    case .report(let report): nodes[index].reports.append(report)
    case .send(let link, let type, let flags, let payload):
      if !nodes[index].openLinks.contains(link) { faults.append("node \(index) sent on closed link \(link)") }
      sentTypes[type, default: 0] += 1
      sentTypesByNode[index, default: [:]][type, default: 0] += 1
      count(type, payload, on: link)
      enqueue(.message(type: type, flags: flags, payload: payload), on: link, by: index)
    case .close(let link, _):
      if nodes[index].openLinks.remove(link) == nil { faults.append("node \(index) closed link \(link) twice") }
      enqueue(.end, on: link, by: index)
    }
  }

  private func enqueue(_ parcel: Parcel, on link: LinkNumber, by index: Int) {
    guard let wire = wires[link], !wire.isDead else { return }
    wires[link]?.queues[wire.ends[0] == index ? 1 : 0].append(parcel)
  }

  private func count(_ type: UInt8, _ payload: [UInt8], on link: LinkNumber) {
    guard type == Message.Kind.batch.rawValue, case .batch(let batch)? = try? MessageCodec.decode(.batch, payload)
    else { return }
    for changeset in batch.changesets.compactMap(MemoryChangeset.init) {
      crossings[link, default: [:]][changeset.name, default: 0] += 1
    }
  }

  // MARK: Time and delivery

  /// Delivers one parcel of a link picked by the seed; false if nothing is under way.
  func step() -> Bool {
    var choices: [(LinkNumber, Int)] = []
    for link in wires.keys.sorted() {
      for end in 0..<2 where wires[link]?.queues[end].isEmpty == false { choices.append((link, end)) }
    }
    guard !choices.isEmpty else { return false }
    let (link, end) = choices[Int(random.next() % UInt64(choices.count))]
    guard let wire = wires[link], let parcel = wires[link]?.queues[end].removeFirst() else { return false }
    let node = wire.ends[end]
    switch parcel {
    case .message(let type, let flags, let payload):
      if nodes[node].openLinks.contains(link) {
        handle(node, .messageReceived(link, type: type, flags: flags, payload: payload))
      }
    case .end:
      endLink(link, at: node)
      wires[link] = nil
    }
    return true
  }

  /// Delivers until nothing is under way; fails if that never happens.
  func settle(limit: Int = 200_000) {
    for _ in 0..<limit where !step() { return }
    faults.append("traffic does not stop")
  }

  /// Lets time pass, half a second at a time, delivering everything in between.
  func pass(seconds: Int) {
    for _ in 0..<(seconds * 2) {
      tick = tick.advanced(byMilliseconds: 500)
      for index in nodes.indices { handle(index, .tick) }
      settle()
    }
  }

  // MARK: Judgement

  /// The first way in which the nodes differ, or a rule of the protocol that was broken; nil if all is well.
  func firstDifference() throws -> String? {
    if let fault = faults.first { return fault }
    for link in crossings.keys.sorted() {
      for (name, count) in (crossings[link] ?? [:]).sorted(by: { $0.key < $1.key }) where count > 1 {
        return "\(name) crossed link \(link) \(count) times (R9)"
      }
    }
    for (index, node) in nodes.enumerated() {
      for case .violation(_, let violation) in node.reports { return "node \(index) met a violation: \(violation)" }
      for case .storeFailed(let text) in node.reports { return "node \(index) failed: \(text)" }
      if node.store.contents != nodes[0].store.contents {
        return "node \(index) has \(node.store.contents.count) changesets, node 0 \(nodes[0].store.contents.count)"
      }
      if try node.store.vectors().received != nodes[0].store.vectors().received {
        return "node \(index) has another received vector than node 0"
      }
      if try node.store.membership().heads != nodes[0].store.membership().heads {
        return "node \(index) has other membership heads than node 0"
      }
      // What status says of a peer is what the store remembers of it: it must not lag behind.
      let own = node.store.replica
      let direct = node.engine.peers.filter(\.isInUse).map(\.device)
      for device in direct + node.engine.relayed.keys.sorted() {
        let counted = try node.store.peer(device).acknowledged[own]
        let written = try node.store.vectors().received[own]
        guard counted >= written else {
          return "node \(index) counts \(counted) of its \(written) changesets at \(device)"
        }
      }
    }
    return nil
  }
}

/// A small generator whose whole state is the seed (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014).
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number from 0 to one less than `bound`.
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
