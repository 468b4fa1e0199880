import HouseholdRecords
import HouseholdSync
import Testing

/// Who is there over a relay, and what they have of ours (P17).
struct PresenceTests {
  private func line() -> SimulatedNetwork {
    let network = SimulatedNetwork(seed: 1, devices: 3)
    network.connect(0, 1)
    network.connect(1, 2)
    network.settle()
    return network
  }

  private func device(_ index: Int) -> DeviceID { SimulatedNetwork.device(index) }

  private func confirmed(of author: Int, by other: Int, at index: Int, in network: SimulatedNetwork) throws -> UInt64 {
    try network.nodes[index].store.peer(device(other)).acknowledged[network.nodes[author].store.replica]
  }

  @Test func `the ends of a line know of each other through the middle (P17)`() {
    let network = line()

    #expect(network.nodes[0].engine.relayed == [device(2): device(1)])
    #expect(network.nodes[2].engine.relayed == [device(0): device(1)])
    #expect(network.nodes[1].engine.relayed.isEmpty)
  }

  @Test func `an edit is confirmed through the relay (P17)`() throws {
    let network = line()

    for _ in 0..<3 { network.write(0) }
    network.settle()

    #expect(try confirmed(of: 0, by: 2, at: 0, in: network) == 3)
  }

  @Test func `what is not at the far end is not confirmed (P17)`() throws {
    let network = line()
    network.nodes[2].store.fault = MemoryStore.Fault()

    network.write(0)
    network.settle()

    #expect(try confirmed(of: 0, by: 1, at: 0, in: network) == 1)
    #expect(try confirmed(of: 0, by: 2, at: 0, in: network) == 0)
  }

  @Test func `a device that leaves the relay is not there any more (P17)`() throws {
    let network = line()

    network.cut(try #require(network.wires.keys.max()))
    network.settle()

    #expect(network.nodes[0].engine.relayed.isEmpty)
  }

  @Test func `two devices that are never on at once confirm through a third (P17)`() throws {
    let network = SimulatedNetwork(seed: 1, devices: 3)
    network.write(0)
    let first = network.connect(0, 1)
    network.settle()
    network.cut(first)
    let second = network.connect(1, 2)
    network.settle()
    network.cut(second)
    #expect(try confirmed(of: 0, by: 2, at: 0, in: network) == 0)

    network.connect(0, 1)
    network.settle()

    #expect(try confirmed(of: 0, by: 2, at: 0, in: network) == 1)
    #expect(network.nodes[0].engine.relayed.isEmpty)
  }

  @Test func `where everybody hears everybody, an edit brings no word of others (P17, R9)`() {
    let network = SimulatedNetwork(seed: 1, devices: 3)
    for (a, b) in [(0, 1), (1, 2), (0, 2)] { network.connect(a, b) }
    network.settle()
    let before = network.sentTypes[Message.Kind.present.rawValue]

    for index in 0..<3 { network.write(index) }
    network.settle()

    #expect(network.sentTypes[Message.Kind.present.rawValue] == before)
  }

  @Test func `what is said of a device that does not belong is passed over (P17)`() throws {
    let network = line()
    network.write(0)
    network.settle()
    let stranger = device(7)
    let said = Message.present([
      Presence(
        device: stranger, isLinked: true, confirmed: VersionVector([network.nodes[0].store.replica: 1]))
    ])

    let link = try #require(network.wires.keys.min())
    network.handle(
      0,
      .messageReceived(
        link, type: said.kind.rawValue, flags: said.kind.flags, payload: MessageCodec.encode(said)))

    #expect(network.nodes[0].engine.relayed.isEmpty)
    #expect(try network.nodes[0].store.peer(stranger).acknowledged.isEmpty)
  }

  @Test func `more devices than a household can have are refused (R8)`() {
    var writer = ByteWriter()
    writer.varint(Limits.presences + 1)

    #expect(throws: DecodingViolation.overLimit) { try MessageCodec.decode(.present, writer.bytes) }
  }
}
