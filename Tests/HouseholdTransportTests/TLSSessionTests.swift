import HouseholdRecords
import HouseholdTransport
import HouseholdTrust
import Testing

/// Two sessions that talk in memory.
final class MemoryPair {
  let client: TLSSession
  let server: TLSSession

  init(
    client: TLSContext, server: TLSContext, application: LinkApplication = .household
  ) throws {
    self.client = try TLSSession(context: client, dialling: application)
    self.server = try TLSSession(context: server, dialling: nil)
  }

  /// Lets both go on until both are done, or one of them fails and the other has heard of it.
  func handshake() -> (client: Result<Bool, TLSFault>, server: Result<Bool, TLSFault>) {
    var results: (Result<Bool, TLSFault>, Result<Bool, TLSFault>) = (.success(false), .success(false))
    for _ in 0..<4 {
      results.0 = step(client, to: server, results.0)
      results.1 = step(server, to: client, results.1)
    }
    return results
  }

  private func step(
    _ session: TLSSession, to other: TLSSession, _ before: Result<Bool, TLSFault>
  ) -> Result<Bool, TLSFault> {
    guard case .success(let isDone) = before else { return before }
    do throws(TLSFault) {
      var result = before
      if isDone { _ = try read(session) } else { result = .success(try session.handshake()) }
      try pass(from: session, to: other)
      return result
    } catch {
      do throws(TLSFault) { try pass(from: session, to: other) } catch { return .failure(error) }
      return .failure(error)
    }
  }

  func pass(from session: TLSSession, to other: TLSSession) throws(TLSFault) {
    var bytes: [UInt8] = []
    session.takeOutput(into: &bytes)
    try other.receive(bytes[...])
  }

  func read(_ session: TLSSession) throws(TLSFault) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 1024)
    guard case .bytes(let count) = try session.read(into: &buffer) else { return [] }
    return Array(buffer.prefix(count))
  }
}

@Suite struct TLSSessionTests {
  @Test func `two devices of one share talk and know each other`() throws {
    let pair = try MemoryPair(client: Fixtures.bert(), server: Fixtures.context())

    let results = pair.handshake()

    #expect(results.client == .success(true) && results.server == .success(true))
    #expect(pair.client.application == .household && pair.server.application == .household)
    #expect(pair.server.peer?.member == MemberID(hex: "fedcba9876543210fedcba9876543210"))
    #expect(pair.client.peer?.member == MemberID(hex: "0123456789abcdef0123456789abcdef"))
    try pair.client.write([1, 2, 3])
    try pair.pass(from: pair.client, to: pair.server)
    #expect(try pair.read(pair.server) == [1, 2, 3])
    #expect(try pair.client.pairingExporter() == pair.server.pairingExporter())
  }

  @Test(arguments: ["signed-by-other-share", "self-signed"])
  func `a device of another household is refused, and told so`(name: String) throws {
    let pair = try MemoryPair(client: Fixtures.hostile(name), server: Fixtures.context())

    let results = pair.handshake()

    #expect(results.server == .failure(.refusedPeer(.otherHousehold)))
    #expect(results.client == .failure(.alert(48)))
    #expect(TLSFault.alert(48).description.contains("another household"))
  }

  @Test(arguments: ["expired", "not-yet-valid"])
  func `R6: dates refuse nobody`(name: String) throws {
    let pair = try MemoryPair(client: Fixtures.hostile(name), server: Fixtures.context())

    let results = pair.handshake()

    #expect(results.client == .success(true) && results.server == .success(true))
  }

  @Test func `a name that the share has signed for another member is TLS's truth, and the membership log's to judge`()
    throws
  {
    let pair = try MemoryPair(client: Fixtures.hostile("identity-of-another-member"), server: Fixtures.context())

    #expect(pair.handshake().server == .success(true))
    #expect(pair.server.peer?.member == MemberID(hex: "0123456789abcdef0123456789abcdef"))
  }

  @Test func `a host of another household is refused by the device that dials`() throws {
    let pair = try MemoryPair(client: Fixtures.context(), server: Fixtures.hostile("signed-by-other-share"))

    let results = pair.handshake()

    #expect(results.client == .failure(.refusedPeer(.otherHousehold)))
    #expect(results.server == .failure(.alert(48)))
  }

  @Test func `a guest with any key pairs as a stranger, with one exporter at both ends`() throws {
    let key = try KeyPair.generate()
    let certificate = try GuestCertificate.make(for: key, now: Instant(milliseconds: 0))
    let guest = try TLSContext(
      identity: TLSIdentity(certificate: certificate, privateKey: key.privateKey()), applications: [],
      verification: Fixtures.verification())
    let pair = try MemoryPair(client: guest, server: Fixtures.context(), application: .pairing)

    let results = pair.handshake()

    #expect(results.client == .success(true) && results.server == .success(true))
    #expect(pair.server.peer == nil)
    #expect(pair.server.peerPublicKey == key.publicKey)
    #expect(try pair.client.pairingExporter() == pair.server.pairingExporter())
  }

  @Test func `a guest may pin the host that it pairs with`() throws {
    let picky = try TLSContext(
      identity: Fixtures.identity("Household/bert.pem", key: "Household/bert.key"), applications: [],
      verification: ShareVerification(sharePublicKey: [], acceptsHosts: false))
    let pair = try MemoryPair(client: picky, server: Fixtures.context(), application: .pairing)

    #expect(pair.handshake().client == .failure(.refusedPeer(.otherHousehold)))
  }

  @Test func `a node that does not pair refuses a guest`() throws {
    let pair = try MemoryPair(
      client: Fixtures.bert(), server: Fixtures.context(applications: [.household]), application: .pairing)

    let results = pair.handshake()

    #expect(results.server == .failure(.noApplication))
    #expect(results.client == .failure(.alert(120)))
  }

  @Test func `what is no TLS is refused at once`() throws {
    let server = try TLSSession(context: Fixtures.context(), dialling: nil)
    try server.receive(Array("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n".utf8)[...])

    #expect(throws: TLSFault.notTLS) { try server.handshake() }
  }

  @Test func `a key that does not belong to the certificate makes no context`() throws {
    let identity = try Fixtures.identity("Household/anna.pem", key: "Household/bert.key")

    #expect(throws: TLSFault.self) {
      try TLSContext(identity: identity, applications: [.household], verification: Fixtures.verification())
    }
  }
}
