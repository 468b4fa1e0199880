import Foundation
import HouseholdRecords
import HouseholdTransport
import HouseholdTrust
import Testing

@Suite(.timeLimit(.minutes(1))) struct LinkTests {
  @Test func `two nodes open a link and know each other`() async throws {
    let anna = try Node(Fixtures.context())
    let bert = try Node(Fixtures.bert())

    let outcome = await bert.dial(anna.listener.address)

    let (berts, host) = try await bert.owner.opened()
    let (_, guest) = try await anna.owner.opened()
    #expect(outcome.link === berts)
    #expect(outcome.attempts.map(\.succeeded) == [true])
    #expect(host.peer?.member == MemberID(hex: "0123456789abcdef0123456789abcdef"))
    #expect(guest.peer?.member == MemberID(hex: "fedcba9876543210fedcba9876543210"))
    #expect(host.isDialled && !guest.isDialled)
    #expect(host.address == anna.listener.address)
    #expect(guest.address.host == "127.0.0.1")
    try await bert.stop()
    #expect(try await anna.owner.closed() == .closedByPeer)
    try await anna.stop()
  }

  @Test func `messages arrive both ways, in order, with type and flags`() async throws {
    let pair = try await LinkedPair()

    for number in 0..<10_000 {
      pair.berts.send(type: 0x41, payload: [UInt8(number & 255), UInt8(number >> 8)])
    }
    pair.annas.send(type: 0x01, flags: .ignorable, payload: [])

    for number in 0..<10_000 {
      let message = try await pair.anna.owner.message()
      #expect(message.payload == [UInt8(number & 255), UInt8(number >> 8)])
    }
    let back = try await pair.bert.owner.message()
    #expect(back.type == 1 && back.flags == .ignorable && back.payload.isEmpty)
    // 8 bytes each, corked: TLS adds 22 bytes to a record, which would be over 200,000 for single ones.
    #expect(pair.berts.traffic.bytesSent < 120_000)
    #expect(pair.annas.traffic.bytesReceived == pair.berts.traffic.bytesSent)
    try await pair.stop()
  }

  @Test(arguments: [UInt8(0x01), 0x40])
  func `the largest message is cut into frames and joined again`(type: UInt8) async throws {
    let pair = try await LinkedPair()
    let payload = SecureRandom.bytes(Limits.messageBytes)

    pair.berts.send(type: type, flags: .ignorable, payload: payload)

    let message = try await pair.anna.owner.message()
    #expect(message.type == type && message.flags == .ignorable)
    #expect(message.payload == payload)
    try await pair.stop()
  }

  @Test func `closing sends what is queued, then says goodbye`() async throws {
    let pair = try await LinkedPair()

    pair.berts.send(type: 0x40, payload: [UInt8](repeating: 1, count: 3 << 20))
    pair.berts.send(type: 0x02, payload: [9])
    pair.berts.close("All is said.")
    pair.berts.send(type: 0x02, payload: [10])

    #expect(try await pair.anna.owner.message().payload.count == 3 << 20)
    #expect(try await pair.anna.owner.message().payload == [9])
    #expect(try await pair.anna.owner.closed() == .closedByPeer)
    #expect(try await pair.bert.owner.closed() == .closedHere("All is said."))
    try await pair.stop()
  }

  @Test func `R8: a link stops reading while its owner does not consume, and goes on afterwards`() async throws {
    let pair = try await LinkedPair(annaConsumes: false)
    let mebibyte = [UInt8](repeating: 5, count: 1 << 20)

    for _ in 0..<24 { pair.berts.send(type: 0x40, payload: mebibyte) }
    for _ in 0..<9 { _ = try await pair.anna.owner.message() }

    // Nine were delivered, one over the bound; what follows stays with the sender but for what was being read.
    #expect(pair.annas.traffic.bytesReceived < 11 << 20)
    pair.annas.consumed(9 << 20)
    for _ in 9..<24 {
      #expect(try await pair.anna.owner.message().payload == mebibyte)
      pair.annas.consumed(1 << 20)
    }
    try await pair.stop()
  }

  @Test func `R8: a queue over its bound closes the link`() async throws {
    let pair = try await LinkedPair(annaConsumes: false)

    for _ in 0..<60 { pair.berts.send(type: 0x40, payload: [UInt8](repeating: 5, count: 1 << 20)) }

    #expect(try await pair.bert.owner.closed() == .queueFull)
    try await pair.stop()
  }

  @Test func `R8: a peer that takes nothing cannot keep a link from closing`() async throws {
    var bounds = LinkBounds()
    bounds.closingMilliseconds = 50
    let pair = try await LinkedPair(annaConsumes: false, bertsBounds: bounds)

    for _ in 0..<30 { pair.berts.send(type: 0x40, payload: [UInt8](repeating: 5, count: 1 << 20)) }
    pair.berts.close("The node stops.")

    #expect(try await pair.bert.owner.closed() == .closedHere("The node stops."))
    try await pair.stop()
  }

  @Test func `R8: a frame over the limit closes the link`() async throws {
    let anna = try Node(Fixtures.context())
    let client = try RawTLSClient(Fixtures.bert(), to: anna.listener.address)
    try await onThread { try client.handshake() }
    _ = try await anna.owner.opened()

    try client.send(header(0x01, announcing: .max))

    #expect(try await anna.owner.closed() == .violation(.frameTooLarge(type: 1, bytes: Int(UInt32.max))))
    _ = try await onThread { client.connection.readToEnd() }
    try await anna.stop()
  }

  @Test func `a connection that breaks off is not taken for an orderly end`() async throws {
    let anna = try Node(Fixtures.context())
    let client = try RawTLSClient(Fixtures.bert(), to: anna.listener.address)
    try await onThread { try client.handshake() }
    _ = try await anna.owner.opened()
    try client.send(frame(0x40, 0, [1, 2]) + frame(0x40, 0, [3, 4]).dropLast())

    client.connection.endWriting()

    #expect(try await anna.owner.message().payload == [1, 2])
    #expect(try await anna.owner.closed() == .cutOff)
    _ = try await onThread { client.connection.readToEnd() }
    try await anna.stop()
  }

  @Test func `a link leaves nothing behind once it is closed`() async throws {
    let links = try await closedLinks()

    #expect(links.allSatisfy { $0.link == nil })
  }

  private struct WeakLink {
    weak var link: Link?
  }

  private func closedLinks() async throws -> [WeakLink] {
    let pair = try await LinkedPair()
    try await pair.stop()
    // What the owners heard names the links too.
    _ = try await (pair.anna.owner.closed(), pair.bert.owner.closed())
    return [WeakLink(link: pair.annas), WeakLink(link: pair.berts)]
  }

  @Test func `the context is replaceable while the node runs`() async throws {
    let anna = try Node(nil)
    let bert = try Node(Fixtures.bert())

    let before = await bert.dial(anna.listener.address)
    anna.links.context = try Fixtures.context()
    let after = await bert.dial(anna.listener.address)

    #expect(before.link == nil && before.attempts.count == 1)
    #expect(after.link != nil)
    try await bert.stop()
    try await anna.stop()
  }
}

/// A TLS client whose bytes on the socket are in a test's hand.
final class RawTLSClient: @unchecked Sendable {
  let connection: RawConnection
  private let session: TLSSession

  init(_ context: TLSContext, to address: SocketAddress, for application: LinkApplication = .household) throws {
    connection = try RawConnection(to: address)
    session = try TLSSession(context: context, dialling: application)
  }

  /// The first message of a handshake.
  static func hello(_ context: TLSContext) throws -> [UInt8] {
    let session = try TLSSession(context: context, dialling: .household)
    _ = try session.handshake()
    var bytes: [UInt8] = []
    session.takeOutput(into: &bytes)
    return bytes
  }

  func handshake() throws {
    while try !session.handshake() {
      flush()
      var buffer = [UInt8](repeating: 0, count: 16384)
      let count = recv(connection.descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { throw POSIXError(.ECONNRESET) }
      try session.receive(buffer[..<count])
    }
    flush()
  }

  func send(_ bytes: [UInt8]) throws {
    try session.write(bytes)
    flush()
  }

  private func flush() {
    var bytes: [UInt8] = []
    if session.takeOutput(into: &bytes) { connection.send(bytes) }
  }
}
