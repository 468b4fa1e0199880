import HouseholdRecords
import HouseholdSync
import Testing

/// A device whose certificate runs out asks an owner's device, and takes nothing that it did not ask for.
struct RenewalTests {
  private let der: [UInt8] = [4, 5, 6]

  /// The first of two is an owner's device with the share's key; the second's certificate runs out.
  private func network(hasKey: Bool = true, owners: [Int] = [0], isDue: Bool = true) -> SimulatedNetwork {
    let network = SimulatedNetwork(seed: 1, devices: 2)
    for node in network.nodes { node.store.owners = Set(owners.map(SimulatedNetwork.device)) }
    network.nodes[0].engine.shareKey = hasKey ? [1] : nil
    network.nodes[1].engine.wantsCertificate = isDue
    network.connect(0, 1)
    network.settle()
    return network
  }

  private func asked(_ network: SimulatedNetwork) -> [LinkNumber] {
    network.nodes[0].reports.compactMap { if case .certificateWanted(let link, _) = $0 { link } else { nil } }
  }

  private func received(_ network: SimulatedNetwork) -> [[UInt8]] {
    network.nodes[1].reports.compactMap { if case .certificateReceived(let der, _) = $0 { der } else { nil } }
  }

  private func say(_ message: Message, to index: Int, _ network: SimulatedNetwork) {
    let link = network.wires.keys.sorted()[0]
    network.handle(
      index,
      .messageReceived(link, type: message.kind.rawValue, flags: 0, payload: MessageCodec.encode(message)))
    network.settle()
  }

  @Test func `who needs a certificate asks an owner's device and gets it (P20)`() throws {
    let network = network()
    let link = try #require(asked(network).first)
    #expect(network.nodes[0].reports.contains(.certificateWanted(link, by: SimulatedNetwork.device(1))))

    network.handle(0, .certificateIssued(link, der))
    network.settle()

    #expect(received(network) == [der])
    #expect(try network.firstDifference() == nil)
  }

  @Test func `who needs none asks nobody, and who is no owner is not asked (P20)`() {
    #expect(network(isDue: false).sentTypes[Message.Kind.certificateWanted.rawValue] == nil)
    #expect(network(owners: []).sentTypes[Message.Kind.certificateWanted.rawValue] == nil)
  }

  @Test func `without the share's key there is no answer, and the next session asks again (P20)`() {
    let network = network(hasKey: false)
    #expect(asked(network).isEmpty && network.nodes[0].engine.peers.count == 1)
    network.pass(seconds: 5)
    #expect(network.sentTypes[Message.Kind.certificateWanted.rawValue] == 1, "once in a session")

    network.nodes[0].engine.shareKey = [1]
    network.cut(network.wires.keys.sorted()[0])
    network.connect(0, 1)
    network.settle()

    #expect(asked(network).count == 1)
  }

  @Test func `an end that comes while the node makes the certificate does no harm`() throws {
    let network = network()
    let link = try #require(asked(network).first)
    network.cut(link)

    network.handle(0, .certificateIssued(link, der))
    network.settle()

    #expect(received(network).isEmpty && network.faults.isEmpty)
  }

  @Test func `a flood of questions costs one certificate a minute (P20, R8)`() {
    let network = network()

    for _ in 0..<1000 { say(.certificateWanted, to: 0, network) }
    #expect(asked(network).count == 1)
    network.pass(seconds: 61)
    for _ in 0..<1000 { say(.certificateWanted, to: 0, network) }

    #expect(asked(network).count == 2)
  }

  @Test func `a device that the log no longer admits gets none, though its link is still there (P20)`() throws {
    let network = network(isDue: false)
    let store = network.nodes[0].store
    let removal = TestEntry(
      kind: .remove, device: SimulatedNetwork.device(1), parents: try store.membership().heads)
    _ = try store.addMembership([removal.bytes])

    say(.certificateWanted, to: 0, network)

    #expect(asked(network).isEmpty)
  }

  @Test func `a certificate that nobody asked for, or a second one, closes the link (P20)`() throws {
    let unasked = network(isDue: false)
    say(.certificate(der), to: 1, unasked)
    #expect(received(unasked).isEmpty && unasked.nodes[1].engine.peers.isEmpty)

    let twice = network()
    say(.certificate(der), to: 1, twice)
    #expect(twice.nodes[1].engine.peers.count == 1)
    say(.certificate(der), to: 1, twice)
    #expect(received(twice) == [der] && twice.nodes[1].engine.peers.isEmpty)
  }

  @Test func `a question that names something is none (P1)`() {
    let network = network(isDue: false)
    let link = network.wires.keys.sorted()[0]

    network.handle(
      0,
      .messageReceived(
        link, type: Message.Kind.certificateWanted.rawValue, flags: 0, payload: [UInt8](repeating: 1, count: 44)))

    #expect(asked(network).isEmpty && network.nodes[0].engine.peers.isEmpty)
  }

  @Test func `a program that does not know the question may skip it (P2)`() {
    #expect(Message.Kind.certificateWanted.flags == MessageCodec.ignorableFlag)
  }
}
