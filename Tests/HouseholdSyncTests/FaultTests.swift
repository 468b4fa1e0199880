import HouseholdRecords
import HouseholdSync
import Testing

/// What peers and disks do wrong.
struct FaultTests {
  @Test func `nothing is acknowledged when the store fails, and it comes again later (R1, R3)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    network.connect(0, 1)
    network.settle()
    network.sentTypes = [:]
    network.nodes[1].store.fault = MemoryStore.Fault()

    network.write(0)
    network.settle()

    #expect(network.sentTypes[Message.Kind.acknowledge.rawValue] == nil)
    #expect(network.nodes[1].reports.contains(.storeFailed("database is locked")))
    #expect(network.nodes[0].engine.peers.isEmpty)
    let acknowledged = try network.nodes[0].store.peer(network.nodes[1].store.device).acknowledged
    #expect(acknowledged.isEmpty)

    network.nodes[1].store.fault = nil
    network.nodes[1].reports = []
    network.connect(1, 0)
    network.settle()
    #expect(try network.firstDifference() == nil)
  }

  @Test func `a violation closes its link and no other, with a sentence (P1, P12)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 3)
    let link = network.connect(0, 1)
    network.connect(0, 2)
    network.settle()

    network.handle(0, .messageReceived(link, type: Message.Kind.batch.rawValue, flags: 0, payload: [0xFF]))
    network.settle()

    let violations = network.nodes[0].reports.filter { if case .violation = $0 { true } else { false } }
    #expect(violations.count == 1)
    #expect(network.nodes[0].engine.peers.map(\.device) == [network.nodes[2].store.device])
    let goodbyes = network.nodes[1].reports.compactMap {
      if case .closed(_, _, let goodbye, byPeer: true) = $0 { goodbye } else { nil }
    }
    #expect(goodbyes.map(\.code) == [.violation])
    #expect(goodbyes.allSatisfy { !$0.sentence.isEmpty && $0.retryAfterMilliseconds > 0 })
  }

  @Test func `an unknown message is skipped if it may be, else the link closes (P2)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    let link = network.connect(0, 1)
    network.settle()

    network.handle(0, .messageReceived(link, type: 0x3F, flags: MessageCodec.ignorableFlag, payload: [1, 2]))
    #expect(network.nodes[0].engine.peers.count == 1)
    network.handle(0, .messageReceived(link, type: 0x3F, flags: 0, payload: [1, 2]))

    #expect(network.nodes[0].engine.peers.isEmpty)
  }

  @Test func `any message in any order and any bytes never trap (R8)`() throws {
    for seed in UInt64(0)..<100 {
      let network = SimulatedNetwork(seed: seed, devices: 2)
      let link = network.connect(0, 1)
      for _ in 0..<network.random.below(12) { _ = network.step() }
      for _ in 0..<8 {
        let kind = Message.Kind.allCases[network.random.below(Message.Kind.allCases.count)]
        let payload = (0..<network.random.below(40)).map { _ in UInt8(network.random.below(4)) }
        if network.nodes[0].openLinks.contains(link) {
          network.handle(0, .messageReceived(link, type: kind.rawValue, flags: 0, payload: payload))
        }
      }
      network.settle()
      #expect(network.faults.isEmpty, "seed \(seed)")
    }
  }

  @Test func `a link that does not get ready in thirty seconds is closed (P11)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    let link = network.connect(0, 1)
    network.wires[link]?.isDead = true
    network.wires[link]?.queues = [[], []]

    for _ in 0..<31 {
      network.tick = network.tick.advanced(byMilliseconds: 1000)
      network.handle(
        0,
        .messageReceived(
          link, type: Message.Kind.ping.rawValue, flags: 0,
          payload: MessageCodec.encode(.ping(Ping(number: 1, wall: network.wall)))))
      network.handle(0, .tick)
      if !network.nodes[0].openLinks.contains(link) { break }
    }

    let codes = network.nodes[0].reports.compactMap {
      if case .closed(_, _, let goodbye, byPeer: false) = $0 { goodbye.code } else { nil }
    }
    #expect(codes == [.tooSlow])
  }

  @Test func `clocks that differ by years refuse nothing and are reported (R6)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    network.write(0)
    network.clockErrors = [0: 0, 1: 315_360_000_000]
    network.connect(0, 1)
    network.pass(seconds: 7)

    #expect(try network.firstDifference() == nil)
    #expect(network.nodes[0].engine.peers.map(\.clockOffsetMilliseconds) == [315_360_000_000])
  }

  @Test func `a clock that is set on a quiet link is noticed on both ends, and when it is set right again`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    network.write(0)
    network.connect(0, 1)
    network.pass(seconds: 7)

    for error: Int64 in [86_400_000, 0] {
      network.clockErrors = [0: 0, 1: error]
      network.pass(seconds: 8)

      let offsets = network.nodes.map { $0.engine.peers.map(\.clockOffsetMilliseconds) }
      #expect(offsets == [[error], [-error]])
    }
  }

  @Test func `equal vectors and heads with different digests are reported (R5, P13)`() throws {
    for isCorrupt in [false, true] {
      let network = SimulatedNetwork(seed: 1, devices: 2)
      for node in network.nodes { node.store.hasDigest = true }
      network.nodes[0].store.isCorrupt = isCorrupt

      network.connect(0, 1)
      network.settle()

      for (index, node) in network.nodes.enumerated() {
        let partner = network.nodes[1 - index].store.device
        #expect(node.reports.contains(.diverged(partner)) == isCorrupt)
      }
    }
  }

  @Test func `another hash at the same seq is reported as a fork by both (D4)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    let replica = network.nodes[0].store.replica
    network.write(0)
    let link = network.connect(0, 1)
    network.settle()
    network.cut(link)
    network.nodes[1].store.hashPrefix = 2

    network.connect(0, 1)
    network.settle()

    for (index, node) in network.nodes.enumerated() {
      let partner = network.nodes[1 - index].store.device
      #expect(node.reports.contains(.forkSuspected(replica, partner)))
    }
  }

  @Test func `a peer that acknowledges more than was sent is refused (P8)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    let link = network.connect(0, 1)
    network.settle()
    let payload = MessageCodec.encode(.acknowledge(Acknowledgement(bytes: 1, received: [])))

    network.handle(
      0, .messageReceived(link, type: Message.Kind.acknowledge.rawValue, flags: 0, payload: payload))

    #expect(network.nodes[0].engine.peers.isEmpty)
  }

  @Test func `another household or another device than the certificate's is refused (P4)`() throws {
    for isOtherHousehold in [true, false] {
      let network = SimulatedNetwork(seed: 1, devices: 2)
      let link = network.connect(0, 1)
      let hello = Hello(
        household: isOtherHousehold ? testHash([1]) : testHousehold,
        device: isOtherHousehold ? network.nodes[1].store.device : testHash([2]),
        replica: network.nodes[1].store.replica, bootNonce: BootNonce(bytes: [UInt8](repeating: 1, count: 16))!,
        membershipHeads: [], schemaVersion: 0, wall: network.wall, programVersion: "", addresses: [])

      network.handle(
        0,
        .messageReceived(
          link, type: Message.Kind.hello.rawValue, flags: 0, payload: MessageCodec.encode(.hello(hello))))

      let codes = network.nodes[0].reports.compactMap {
        if case .closed(_, _, let goodbye, byPeer: false) = $0 { goodbye.code } else { nil }
      }
      #expect(codes == [.notAdmitted])
    }
  }

  @Test func `a node that stops says goodbye on every link and takes no new one (P12)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 3)
    network.connect(0, 1)
    network.connect(0, 2)
    network.settle()

    network.handle(0, .shutDown)
    network.settle()

    for index in 1...2 {
      #expect(network.nodes[index].engine.peers.isEmpty)
      #expect(
        network.nodes[index].reports.contains {
          if case .closed(_, _, let goodbye, byPeer: true) = $0 { goodbye.code == .shuttingDown } else { false }
        })
    }
    #expect(network.faults.isEmpty)
  }

  @Test func `merging is the store's, the engine passes bytes on as they came (R4, R7)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 3)
    network.connect(0, 1)
    network.connect(1, 2)
    network.write(0, Array(0...255))
    network.settle()

    #expect(network.nodes[2].store.contents == network.nodes[0].store.contents)
    #expect(try network.firstDifference() == nil)
  }
}
