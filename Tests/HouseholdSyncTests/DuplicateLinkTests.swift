import HouseholdRecords
import HouseholdSync
import Testing

/// Two links to one device (D12).
struct DuplicateLinkTests {
  @Test func `links dialled from both sides at once leave one in use (P5)`() throws {
    for seed in UInt64(0)..<50 {
      let network = SimulatedNetwork(seed: seed, devices: 2)
      for _ in 0..<10 { network.write(network.random.below(2)) }
      for _ in 0..<(2 + network.random.below(3)) {
        if network.random.below(2) == 0 { network.connect(0, 1) } else { network.connect(1, 0) }
        for _ in 0..<network.random.below(6) { _ = network.step() }
      }
      network.pass(seconds: 4)

      let difference = try network.firstDifference()

      #expect(difference == nil, "seed \(seed)")
      for node in network.nodes {
        #expect(node.engine.peers.map(\.isSynced) == [true], "seed \(seed)")
      }
    }
  }

  @Test func `a session is told as in use once it is, and not at the hello (P14)`() {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    network.connect(0, 1)

    while network.step() {
      for node in network.nodes {
        let isTold = node.reports.contains { if case .inUse = $0 { true } else { false } }
        #expect(isTold == node.engine.peers.contains(where: \.isInUse))
      }
    }

    for node in network.nodes { #expect(node.engine.peers.map(\.isInUse) == [true]) }
  }

  @Test func `a half-open link gives way to a fresh one within two seconds (P5)`() throws {
    for vanishing in 0..<2 {
      let network = SimulatedNetwork(seed: 1, devices: 2)
      network.connect(0, 1)
      network.settle()
      network.vanish(vanishing)
      network.write(vanishing)

      network.connect(vanishing, 1 - vanishing)
      network.pass(seconds: 2)

      #expect(try network.firstDifference() == nil)
      #expect(network.nodes[1 - vanishing].engine.peers.filter(\.isInUse).map(\.isSynced).last == true)
    }
  }

  @Test func `a dead link is closed after thirteen seconds of silence (P11)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    network.connect(0, 1)
    network.settle()
    network.vanish(1)

    network.pass(seconds: 12)
    #expect(network.nodes[0].engine.peers.count == 1)
    network.pass(seconds: 2)

    #expect(network.nodes[0].engine.peers.isEmpty)
  }

  @Test func `only the smaller device says use, and says it on one link (P5)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2)

    network.connect(0, 1)
    network.connect(1, 0)
    network.pass(seconds: 2)

    #expect(network.sentTypes[Message.Kind.use.rawValue] == 1)
  }

  @Test func `two starts of one device that both answer are suspected to be clones and both go on (P5)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    network.connect(0, 1)
    network.settle()
    let clone = SimulatedNetwork.Node(store: network.nodes[1].store, engine: network.anotherEngine(1))
    network.nodes.append(clone)

    network.connect(2, 0)
    network.pass(seconds: 2)

    #expect(network.nodes[0].reports.contains(.cloneSuspected(SimulatedNetwork.device(1))))
    #expect(network.nodes[0].engine.peers.map(\.isInUse) == [true, true])
  }

  @Test func `a link to ourselves is closed (P5)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 1)
    let node = network.nodes[0]
    let opening = LinkOpening(
      link: LinkNumber(rawValue: 1), device: node.store.device,
      member: MemberID(bytes: [UInt8](repeating: 0, count: 16))!, weDialled: true)
    let effects = node.engine.handle(
      .linkOpened(opening), store: node.store, wall: network.wall, tick: network.tick)
    guard case .send(_, let type, let flags, let payload) = effects.first else {
      Issue.record("no hello was sent")
      return
    }

    let answer = node.engine.handle(
      .messageReceived(opening.link, type: type, flags: flags, payload: payload), store: node.store,
      wall: network.wall, tick: network.tick)

    #expect(answer.contains { if case .close(_, let goodbye) = $0 { goodbye.code == .ourselves } else { false } })
  }
}
