import Foundation
import HouseholdRecords
import HouseholdTransport
import HouseholdTrust
import Testing

@Suite(.timeLimit(.minutes(1))) struct StrangerTests {
  @Test func `a device of another household is closed at once and hears why`() async throws {
    let anna = try Node(Fixtures.context())
    let other = try Node(Fixtures.hostile("signed-by-other-share"))

    let outcome = await other.dial(anna.listener.address)

    // TLS 1.3 tells the end that dials only after its own handshake is done.
    #expect(outcome.link != nil)
    _ = try await other.owner.opened()
    #expect(try await other.owner.closed() == .tls(.alert(48)))
    try await other.stop()
    try await anna.stop()
  }

  @Test func `a peer that shows no certificate is refused`() async throws {
    let anna = try Node(Fixtures.context())

    let text = try await opensslClient(anna.listener.address, "-alpn", "household/1")

    #expect(text.contains("alert certificate required"), "\(text)")
    try await anna.stop()
  }

  @Test func `the openssl program with a device certificate is let in`() async throws {
    let anna = try Node(Fixtures.context())

    async let text = opensslClient(
      anna.listener.address, "-alpn", "household/1", "-cert", Fixtures.path("Household/bert.pem"), "-key",
      Fixtures.path("Household/bert.key"), "-CAfile", Fixtures.path("Household/share.pem"))
    let (link, identity) = try await anna.owner.opened()
    link.close("The test has seen enough.")

    #expect(identity.peer?.member == MemberID(hex: "fedcba9876543210fedcba9876543210"))
    #expect(try await text.contains("TLSv1.3, Cipher is TLS_AES_256_GCM_SHA384"))
    try await anna.stop()
  }

  @Test(arguments: [["-tls1_2"], ["-alpn", "h2"], ["-ciphersuites", "TLS_AES_128_GCM_SHA256"]])
  func `an older TLS, another application and another cipher are refused`(arguments: [String]) async throws {
    let anna = try Node(Fixtures.context())

    let text = try await opensslClient(
      anna.listener.address, "-cert", Fixtures.path("Household/bert.pem"), "-key",
      Fixtures.path("Household/bert.key"), arguments[0], arguments.count > 1 ? arguments[1] : "-brief")

    #expect(text.contains("alert"), "\(text)")
    try await anna.stop()
  }

  @Test func `a peer that names no application is refused`() async throws {
    let anna = try Node(Fixtures.context())

    let text = try await opensslClient(
      anna.listener.address, "-cert", Fixtures.path("Household/bert.pem"), "-key", Fixtures.path("Household/bert.key"))

    #expect(text.contains("alert handshake failure"), "\(text)")
    try await anna.stop()
  }

  @Test func `plain text is closed at once`() async throws {
    let anna = try Node(Fixtures.context())
    let connection = try RawConnection(to: anna.listener.address)

    connection.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
    let answer = try await onThread { connection.readToEnd() }

    #expect(answer.count < 16)
    try await anna.stop()
  }

  @Test func `R8: whoever says nothing is closed when the time for the handshake is over`() async throws {
    var bounds = LinkBounds()
    bounds.handshakeMilliseconds = 50
    let anna = try Node(Fixtures.context(), bounds: bounds)
    let connection = try RawConnection(to: anna.listener.address)

    let answer = try await onThread { connection.readToEnd() }

    #expect(answer.isEmpty)
    try await anna.stop()
  }

  @Test func `R8: strangers over the limit make the oldest of them go, and members still get in`() async throws {
    var bounds = LinkBounds()
    bounds.strangers = 2
    let anna = try Node(Fixtures.context(), bounds: bounds)
    let bert = try Node(Fixtures.bert())
    let silent = try (0..<3).map { _ in try RawConnection(to: anna.listener.address) }

    let first = try await onThread { silent[0].readToEnd() }
    let outcome = await bert.dial(anna.listener.address)

    #expect(first.isEmpty)
    #expect(outcome.link != nil)
    withExtendedLifetime(silent) {}
    try await bert.stop()
    try await anna.stop()
  }

  @Test func `R8: links over the limit are closed`() async throws {
    var bounds = LinkBounds()
    bounds.links = 1
    let anna = try Node(Fixtures.context(), bounds: bounds)
    let bert = try Node(Fixtures.bert())

    let first = await bert.dial(anna.listener.address)
    _ = try await anna.owner.opened()
    let second = await bert.dial(anna.listener.address)

    #expect(first.link != nil && second.link == nil)
    try await bert.stop()
    try await anna.stop()
  }

  @Test func `R8: one device's links over its limit make its oldest go`() async throws {
    var bounds = LinkBounds()
    bounds.linksPerDevice = 2
    let anna = try Node(Fixtures.context(), bounds: bounds)
    let bert = try Node(Fixtures.bert())

    var links: [Link] = []
    for _ in 0..<3 {
      _ = await bert.dial(anna.listener.address)
      links.append(try await bert.owner.opened().link)
      if links.count < 3 { _ = try await anna.owner.opened() }
    }

    #expect(try await bert.owner.closed() == .closedByPeer)
    withExtendedLifetime(links) {}
    try await bert.stop()
    try await anna.stop()
  }

  @Test func `R8: a guest, who is a stranger, cannot make the host keep a large message`() async throws {
    let anna = try Node(Fixtures.context())
    let guest = try RawTLSClient(Fixtures.bert(), to: anna.listener.address, for: .pairing)
    try await onThread { try guest.handshake() }
    _ = try await anna.owner.opened()

    try guest.send(header(0x41, announcing: UInt32(Limits.guestMessageBytes + 1)))

    #expect(
      try await anna.owner.closed()
        == .violation(.messageTooLarge(type: 0x41, limit: Limits.guestMessageBytes)))
    _ = try await onThread { guest.connection.readToEnd() }
    try await anna.stop()
  }

  @Test func `R8: whoever sends the handshake byte by byte is cut off when its time is over`() async throws {
    var bounds = LinkBounds()
    bounds.handshakeMilliseconds = 200
    let anna = try Node(Fixtures.context(), bounds: bounds)
    let slow = try RawConnection(to: anna.listener.address)
    let hello = try RawTLSClient.hello(Fixtures.bert())

    let isCutOff = try await onThread { () -> Bool in
      // One byte, then the next as soon as nothing has come for a millisecond; the last one never.
      func hangsUp(within microseconds: Int) -> Bool {
        var patience = timeval(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
        setsockopt(slow.descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var buffer: [UInt8] = [0]
        let count = recv(slow.descriptor, &buffer, 1, 0)
        return count == 0 || count < 0 && errno != EAGAIN
      }
      for byte in hello.dropLast() {
        slow.send([byte])
        if hangsUp(within: 1000) { return true }
      }
      return hangsUp(within: 30_000_000)
    }

    #expect(isCutOff)
    try await anna.stop()
  }

  @Test func `a guest pairs as a stranger, both ends export the same`() async throws {
    let anna = try Node(Fixtures.context())
    let key = try KeyPair.generate()
    let certificate = try GuestCertificate.make(for: key, now: Instant(milliseconds: 0))
    let guest = try Node(
      TLSContext(
        identity: TLSIdentity(certificate: certificate, privateKey: key.privateKey()), applications: [],
        verification: ShareVerification(sharePublicKey: [])))

    _ = await guest.dial(anna.listener.address, for: .pairing)

    let host = try await guest.owner.opened().identity
    let stranger = try await anna.owner.opened().identity
    #expect(stranger.peer == nil && stranger.publicKey == key.publicKey && stranger.certificate == certificate)
    #expect(host.exporter == stranger.exporter && host.exporter.count == 32)
    try await guest.stop()
    try await anna.stop()
  }
}
