import HouseholdRecords
import HouseholdSync
import Testing

/// Membership goes before data.
struct MembershipTests {
  @Test func `logs that differ are made equal before any data (P4)`() throws {
    for seed in UInt64(0)..<50 {
      let network = SimulatedNetwork(seed: seed, devices: 3)
      for index in 0..<3 {
        for extra in 0..<network.random.below(3) {
          network.nodes[index].store.append(.admit, SimulatedNetwork.device(10 + index * 5 + extra))
        }
        network.write(index)
      }
      network.connect(0, 1)
      network.connect(1, 2)
      for _ in 0..<network.random.below(30) { _ = network.step() }
      network.nodes[1].store.append(.admit, SimulatedNetwork.device(40))
      network.handle(1, .membershipChanged)
      network.settle()

      let difference = try network.firstDifference()

      #expect(difference == nil, "seed \(seed)")
      #expect(network.nodes.allSatisfy { $0.engine.peers.allSatisfy(\.isSynced) }, "seed \(seed)")
    }
  }

  @Test func `a device that only the partner's log admits gets in after the exchange (P4)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    let old = MemoryStore(
      device: SimulatedNetwork.device(2), replica: ReplicaID(bytes: [UInt8](repeating: 3, count: 16))!,
      entries: network.nodes[0].store.entries)
    network.nodes.append(SimulatedNetwork.Node(store: old, engine: network.anotherEngine(2)))
    old.append(.admit, old.device)
    network.write(0)

    network.connect(0, 2)
    network.settle()

    #expect(network.nodes[0].engine.peers.map(\.isSynced) == [true])
  }

  @Test func `a device that no log admits is told so and gets no data (P4)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 1)
    let stranger = MemoryStore(
      device: SimulatedNetwork.device(5), replica: ReplicaID(bytes: [UInt8](repeating: 3, count: 16))!,
      entries: network.nodes[0].store.entries)
    network.nodes.append(SimulatedNetwork.Node(store: stranger, engine: network.anotherEngine(5)))
    network.write(0)

    network.connect(0, 1)
    network.settle()

    let codes = network.nodes[1].reports.compactMap {
      if case .closed(_, _, let goodbye, byPeer: true) = $0 { goodbye.code } else { nil }
    }
    #expect(codes == [.notAdmitted])
    #expect(stranger.contents.isEmpty)
  }

  @Test func `a removed device is sent the entry that removed it and then goodbye (P4)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 3)
    network.connect(0, 1)
    network.connect(0, 2)
    network.settle()

    network.nodes[0].store.append(.remove, network.nodes[2].store.device)
    network.handle(0, .membershipChanged)
    network.settle()

    #expect(network.nodes[2].reports.contains(.removedHere))
    #expect(network.nodes[2].engine.peers.isEmpty)
    #expect(try network.nodes[1].store.membership().heads == network.nodes[2].store.membership().heads)
    #expect(network.nodes[0].engine.peers.map(\.device) == [network.nodes[1].store.device])
  }

  @Test func `what comes on a session after the membership changed under it is discarded (P4)`() throws {
    for removesPeer in [true, false] {
      let network = SimulatedNetwork(seed: 1, devices: 2)
      let link = network.connect(0, 1)
      network.settle()
      let (node, peer) = (network.nodes[0], network.nodes[1])
      peer.store.write()
      let sent = peer.engine.handle(.localChanges, store: peer.store, wall: network.wall, tick: network.tick)
      let before = try node.store.vectors()

      node.store.append(.remove, removesPeer ? peer.store.device : node.store.device)
      let ends = node.engine.handle(.membershipChanged, store: node.store, wall: network.wall, tick: network.tick)
      var answers: [Effect] = []
      for case .send(_, let type, let flags, let payload) in sent {
        answers += node.engine.handle(
          .messageReceived(link, type: type, flags: flags, payload: payload), store: node.store, wall: network.wall,
          tick: network.tick)
      }

      let codes = ends.compactMap { if case .close(_, let goodbye) = $0 { goodbye.code } else { nil } }
      #expect(codes == [.removed])
      #expect(!sent.isEmpty && answers.isEmpty)
      #expect(try node.store.vectors() == before)
    }
  }

  @Test func `a new entry goes before the changesets that may name it (P4)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    network.connect(0, 1)
    network.settle()
    let node = network.nodes[0]

    node.store.append(.admit, SimulatedNetwork.device(9))
    node.store.write()
    let effects = node.engine.handle(.localChanges, store: node.store, wall: network.wall, tick: network.tick)

    let types = effects.compactMap { if case .send(_, let type, _, _) = $0 { type } else { nil } }
    #expect(types == [Message.Kind.membership.rawValue, Message.Kind.batch.rawValue])
  }
}
