import HouseholdRecords
import HouseholdSync
import Testing

/// Random households on the simulated network; every failure names its seed.
struct ConvergenceTests {
  @Test func `two devices end with the same changesets, each sent once (R9, P7)`() throws {
    for seed in UInt64(0)..<30 {
      let network = SimulatedNetwork(seed: seed, devices: 2)
      for _ in 0..<network.random.below(20) { network.write(network.random.below(2)) }
      network.connect(0, 1)
      for _ in 0..<network.random.below(20) {
        network.write(network.random.below(2))
        _ = network.step()
      }
      network.settle()

      let difference = try network.firstDifference()

      #expect(difference == nil, "seed \(seed)")
      #expect(network.nodes.allSatisfy { $0.engine.peers.allSatisfy(\.isSynced) }, "seed \(seed)")
    }
  }

  @Test func `three in a line relay to each other (R7, R9, P9)`() throws {
    for seed in UInt64(0)..<30 {
      let network = SimulatedNetwork(seed: seed, devices: 3)
      network.connect(0, 1)
      network.connect(1, 2)
      for _ in 0..<40 {
        network.write(network.random.below(3))
        for _ in 0..<network.random.below(5) { _ = network.step() }
      }
      network.settle()

      let difference = try network.firstDifference()

      #expect(difference == nil, "seed \(seed)")
      #expect(network.nodes.allSatisfy { $0.engine.peers.allSatisfy(\.isSynced) }, "seed \(seed)")
    }
  }

  @Test func `a mesh of four converges while every link flaps and nodes restart (R2, R9, P9)`() throws {
    for seed in UInt64(0)..<30 {
      let network = SimulatedNetwork(seed: seed, devices: 4)
      for _ in 0..<100 { act(on: network) }
      for link in network.wires.keys.sorted() { network.cut(link) }
      connectAll(network)
      network.pass(seconds: 5)

      let difference = try network.firstDifference()

      #expect(difference == nil, "seed \(seed)")
      #expect(network.nodes.allSatisfy { $0.engine.peers.allSatisfy(\.isSynced) }, "seed \(seed)")
    }
  }

  @Test func `a mesh heals after failing stores and links that die silently (R1, R3, P11)`() throws {
    for seed in UInt64(0)..<20 {
      let network = SimulatedNetwork(seed: seed, devices: 4, joiners: seed % 2 == 0 ? [3] : [])
      for _ in 0..<50 {
        act(on: network)
        let node = network.nodes[network.random.below(4)]
        node.store.fault = network.random.below(3) == 0 ? MemoryStore.Fault() : nil
        if network.random.below(8) == 0 { network.vanish(network.random.below(4)) }
      }
      for node in network.nodes { node.store.fault = nil }
      network.pass(seconds: 15)
      for node in network.nodes { node.reports.removeAll { if case .storeFailed = $0 { true } else { false } } }
      for link in network.wires.keys.sorted() { network.cut(link) }
      connectAll(network)
      network.pass(seconds: 5)

      let difference = try network.firstDifference()

      #expect(difference == nil, "seed \(seed)")
      #expect(network.nodes.allSatisfy { $0.engine.peers.allSatisfy(\.isSynced) }, "seed \(seed)")
    }
  }

  private func act(on network: SimulatedNetwork) {
    let a = network.random.below(4)
    let b = (a + 1 + network.random.below(3)) % 4
    switch network.random.below(12) {
    case 0...4: network.write(a)
    case 5, 6: network.connect(a, b)
    case 7, 8:
      let links = network.wires.keys.sorted()
      if !links.isEmpty { network.cut(links[network.random.below(links.count)]) }
    case 9: network.restart(a)
    case 10: network.pass(seconds: 1)
    default: network.compact(a)
    }
    for _ in 0..<network.random.below(15) { _ = network.step() }
  }

  private func connectAll(_ network: SimulatedNetwork) {
    for a in network.nodes.indices {
      for b in network.nodes.indices where a < b { network.connect(a, b) }
    }
  }

  @Test func `what two peers offer is asked of one and fetched once (P9)`() throws {
    for seed in UInt64(0)..<50 {
      let network = SimulatedNetwork(seed: seed, devices: 4)
      for (a, b) in [(0, 1), (0, 2)] { network.connect(a, b) }
      for (a, b) in [(1, 3), (2, 3)] { network.connect(a, b) }
      network.pass(seconds: 3)
      network.sentTypesByNode = [:]

      network.write(0)
      network.settle()

      let difference = try network.firstDifference()
      #expect(difference == nil, "seed \(seed)")
      #expect(network.sentTypesByNode[3]?[Message.Kind.request.rawValue] == 1, "seed \(seed)")
    }
  }

  @Test func `a mesh sends nothing but keep-alives when nothing changes (R9)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 4)
    for index in 0..<4 { network.write(index) }
    connectAll(network)
    network.pass(seconds: 5)
    network.sentTypes = [:]

    network.pass(seconds: 60)

    let kinds = Set(network.sentTypes.keys)
    #expect(kinds == [Message.Kind.ping.rawValue, Message.Kind.pong.rawValue])
    #expect(try network.firstDifference() == nil)
  }

  @Test func `an edit in a mesh crosses each of the editor's links once and no other link`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 4)
    connectAll(network)
    network.pass(seconds: 5)
    network.crossings = [:]

    network.write(0)
    network.settle()

    let count = network.crossings.values.reduce(0) { $0 + $1.values.reduce(0, +) }
    #expect(count >= 3 && count <= 6)
    #expect(try network.firstDifference() == nil)
  }

  @Test func `a large log goes out within the window (P8, R8)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    for _ in 0..<400 { network.write(0, [UInt8](repeating: 1, count: 20_000)) }
    network.connect(0, 1)
    var most = 0
    while network.step() {
      let queued = network.wires.values.flatMap(\.queues).flatMap { $0 }
      let bytes = queued.reduce(0) { sum, parcel in
        if case .message(_, _, let payload) = parcel { sum + payload.count } else { sum }
      }
      most = max(most, bytes)
    }

    #expect(most <= Limits.unacknowledgedBytes + Limits.batchTargetBytes)
    #expect(try network.firstDifference() == nil)
  }
}
