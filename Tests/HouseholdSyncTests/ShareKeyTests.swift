import HouseholdRecords
import HouseholdSync
import Testing

/// The share's key goes to owners' devices that lack it, and to no other.
struct ShareKeyTests {
  private let key: [UInt8] = [1, 2, 3]

  /// The first of three has the key; these are owners, as the first, or the second of them itself, sees it.
  private func network(owners: [Int], seenBySecond: [Int]) -> SimulatedNetwork {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    network.nodes[0].store.owners = Set(owners.map(SimulatedNetwork.device))
    network.nodes[1].store.owners = Set(seenBySecond.map(SimulatedNetwork.device))
    network.nodes[0].engine.shareKey = key
    network.connect(0, 1)
    network.settle()
    return network
  }

  private func received(_ network: SimulatedNetwork, _ index: Int) -> [[UInt8]] {
    network.nodes[index].reports.compactMap { if case .shareKeyReceived(let key, _) = $0 { key } else { nil } }
  }

  @Test func `a new owner's device asks and gets it (P15)`() {
    let network = network(owners: [0, 1], seenBySecond: [0, 1])

    #expect(received(network, 1) == [key])
    #expect(network.nodes[0].reports.contains(.shareKeyGiven(to: SimulatedNetwork.device(1))))
  }

  @Test func `who is no owner does not ask`() {
    let network = network(owners: [0], seenBySecond: [0])

    #expect(network.sentTypes[Message.Kind.shareKeyWanted.rawValue] == nil)
  }

  @Test func `who asks and is no owner in the log of who has it gets no answer (P15)`() {
    let network = network(owners: [0], seenBySecond: [0, 1])

    #expect(network.sentTypes[Message.Kind.shareKeyWanted.rawValue] == 1)
    #expect(network.sentTypes[Message.Kind.shareKey.rawValue] == nil)
    #expect(network.nodes[0].engine.peers.count == 1, "it may merely know more than we do")
  }

  @Test func `a promotion while the link is up is enough`() {
    let network = network(owners: [0], seenBySecond: [0])

    for node in network.nodes { node.store.owners = Set([0, 1].map(SimulatedNetwork.device)) }
    for index in 0..<2 { network.handle(index, .membershipChanged) }
    network.settle()

    #expect(received(network, 1) == [key])
  }

  @Test func `a key that nobody asked for closes the link (P15)`() {
    let network = network(owners: [0], seenBySecond: [0])
    let link = network.wires.keys.sorted()[0]

    network.handle(
      1,
      .messageReceived(
        link, type: Message.Kind.shareKey.rawValue, flags: 0, payload: MessageCodec.encode(.shareKey([9]))))
    network.settle()

    #expect(received(network, 1).isEmpty)
    #expect(network.nodes[1].engine.peers.isEmpty)
  }
}
