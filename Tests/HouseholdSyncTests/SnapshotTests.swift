import HouseholdRecords
import HouseholdSync
import Testing

/// Joiners, and peers whose vector does not cover the base.
struct SnapshotTests {
  @Test func `a joiner gets a snapshot and then the log (P10)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2, joiners: [1])
    for _ in 0..<30 { network.write(0) }
    network.compact(0)
    for _ in 0..<5 { network.write(0) }

    network.connect(0, 1)
    network.pass(seconds: 3)

    #expect(try network.firstDifference() == nil)
    #expect(network.nodes[1].store.adoptions == 1)
    #expect(network.nodes[0].store.openSnapshots == 0)
    #expect(network.nodes.allSatisfy { $0.engine.peers.allSatisfy(\.isSynced) })
  }

  @Test func `a snapshot goes on where it was cut off (P10)`() throws {
    for seed in UInt64(0)..<50 {
      let network = SimulatedNetwork(seed: seed, devices: 2, joiners: [1])
      for _ in 0..<100 { network.write(0) }
      network.compact(0)
      for _ in 0..<20 {
        let link = network.connect(0, 1)
        for _ in 0..<network.random.below(25) { _ = network.step() }
        if network.random.below(4) == 0 { network.restart(1) }
        network.cut(link)
      }
      network.connect(0, 1)
      network.pass(seconds: 3)

      let difference = try network.firstDifference()

      #expect(difference == nil, "seed \(seed)")
      #expect(network.nodes[1].store.adoptions == 1, "seed \(seed)")
      #expect(network.nodes[1].store.stagedPages == 25, "each page is stored once, seed \(seed)")
      #expect(network.nodes[0].store.openSnapshots == 0, "seed \(seed)")
    }
  }

  @Test func `a snapshot comes over one link while the other waits (P10)`() throws {
    for seed in UInt64(0)..<50 {
      let network = SimulatedNetwork(seed: seed, devices: 3, joiners: [2])
      network.connect(0, 1)
      for _ in 0..<60 { network.write(network.random.below(2)) }
      network.settle()
      network.connect(0, 2)
      let second = network.connect(1, 2)
      for _ in 0..<network.random.below(60) { _ = network.step() }
      if network.random.below(3) == 0 { network.cut(second) }
      network.pass(seconds: 4)

      let difference = try network.firstDifference()

      #expect(difference == nil, "seed \(seed)")
      #expect(network.nodes[2].store.adoptions == 1, "seed \(seed)")
    }
  }

  @Test func `a joiner behind a joiner gets its snapshot once the other has one`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 3, joiners: [1, 2])
    for _ in 0..<30 { network.write(0) }
    network.connect(1, 2)
    network.pass(seconds: 3)
    #expect(network.nodes[2].store.adoptions == 0)

    network.connect(0, 1)
    network.pass(seconds: 5)

    #expect(try network.firstDifference() == nil)
    #expect(network.nodes[2].store.adoptions == 1)
  }

  @Test func `two that cannot serve each other's base do not lock each other out (mesh seed 30, P10)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2, joiners: [1])
    for _ in 0..<3 { network.write(1) }
    network.compact(1)
    network.write(0)

    network.connect(0, 1)
    network.pass(seconds: 5)

    #expect(try network.firstDifference() == nil)
    #expect(network.nodes.allSatisfy { $0.engine.peers.allSatisfy(\.isSynced) })
  }

  @Test func `a peer that is not covered by the base is brought up by a snapshot and keeps its own edits (P6)`() throws
  {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    for _ in 0..<30 { network.write(0) }
    network.compact(0)
    for _ in 0..<3 { network.write(1) }

    network.connect(0, 1)
    network.pass(seconds: 3)

    #expect(try network.firstDifference() == nil)
    #expect(network.nodes[1].store.adoptions == 1)
  }

  @Test func `a token of another numbering reads from the start and sends nothing twice (P6)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    for _ in 0..<5 { network.write(0) }
    let link = network.connect(0, 1)
    network.settle()
    network.cut(link)
    network.compact(0)
    network.write(0)

    network.connect(0, 1)
    network.settle()

    #expect(try network.firstDifference() == nil)
    #expect(network.nodes[1].store.adoptions == 0)
  }
}
