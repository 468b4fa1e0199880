import Foundation
import HouseholdRecords
import HouseholdTransport
import HouseholdTrust
import Testing

/// Every certificate of `Certificates/Hostile`, shown over TLS to a node that listens and by a node that is dialled.
@Suite(.timeLimit(.minutes(1))) struct HostileCertificateTests {
  /// A certificate that must be refused, and why.
  struct Wrong: CustomTestStringConvertible, Sendable {
    let name: String
    let reason: TrustError
    var certificate = ""
    var key = "Hostile/device.key"

    var testDescription: String { name }
    var path: String { certificate.isEmpty ? "Hostile/\(name).pem" : certificate }

    /// What the handshake says at the end that refuses.
    var refusal: PeerRefusal {
      reason == .signedByAnotherShare ? .otherHousehold : .malformed(reason.description)
    }
    /// The alert that the other end gets: unknown_ca or bad_certificate.
    var alert: TLSFault { .alert(reason == .signedByAnotherShare ? 48 : 42) }

    func context() throws -> TLSContext { try Fixtures.context(path, key: key) }
  }

  static let all: [Wrong] = [
    // Who signed it.
    Wrong(name: "self-signed", reason: .signedByAnotherShare),
    Wrong(name: "signed-by-other-share", reason: .signedByAnotherShare),
    Wrong(name: "signed-by-impostor", reason: .signedByAnotherShare),
    Wrong(name: "signed-by-device", reason: .signedByAnotherShare),
    Wrong(name: "signed-by-authority", reason: .signedByAnotherShare),
    Wrong(name: "changed-signature", reason: .signedByAnotherShare, key: "Household/bert.key"),
    Wrong(name: "changed-number", reason: .signedByAnotherShare, key: "Household/bert.key"),
    // What its key may be used for.
    Wrong(name: "authority", reason: .isAnAuthority),
    Wrong(
      name: "the share itself", reason: .isAnAuthority, certificate: "Household/share.pem", key: "Household/share.key"),
    Wrong(name: "wrong-key-usage", reason: .wrongKeyUsage), Wrong(name: "no-key-usage", reason: .wrongKeyUsage),
    Wrong(name: "no-basic-constraints", reason: .wrongKeyUsage),
    Wrong(name: "no-extended-key-usage", reason: .wrongKeyUsage), Wrong(name: "client-only", reason: .wrongKeyUsage),
    Wrong(name: "code-signing", reason: .wrongKeyUsage),
    Wrong(name: "unknown-critical-extension", reason: .notACertificate),
    // Whom it names.
    Wrong(name: "no-identity", reason: .noSingleIdentity), Wrong(name: "two-identities", reason: .noSingleIdentity),
    Wrong(name: "two-lists-of-identities", reason: .notACertificate),
    Wrong(name: "identity-and-host-name", reason: .noSingleIdentity),
    Wrong(name: "host-name-only", reason: .noSingleIdentity),
    Wrong(name: "mail-address-only", reason: .noSingleIdentity),
    Wrong(name: "identity-in-capitals", reason: .noSingleIdentity),
    Wrong(name: "identity-with-more", reason: .noSingleIdentity),
    Wrong(name: "identity-of-another-kind", reason: .noSingleIdentity),
    Wrong(name: "identity-before-zero", reason: .noSingleIdentity),
    Wrong(name: "identity-of-another-device", reason: .identityOfAnotherKey),
    Wrong(name: "identity-of-another-household", reason: .identityOfAnotherHousehold),
    // How large it is.
    Wrong(name: "large", reason: .certificateTooLarge),
  ]

  @Test(arguments: all) func `a node that listens refuses it, for its own reason`(wrong: Wrong) async throws {
    let inMemory = try MemoryPair(client: wrong.context(), server: Fixtures.context()).handshake()
    #expect(inMemory.server == .failure(.refusedPeer(wrong.refusal)))
    #expect(inMemory.client == .failure(wrong.alert))

    let anna = try Node(Fixtures.context())
    let stranger = try Node(wrong.context())
    let bert = try Node(Fixtures.bert())
    _ = await stranger.dial(anna.listener.address)
    _ = try await stranger.owner.opened()
    #expect(try await stranger.owner.closed() == .tls(wrong.alert))
    let outcome = await bert.dial(anna.listener.address)

    // The first whom the listening node hears of is the member.
    #expect(outcome.link != nil)
    #expect(try await anna.owner.opened().identity.peer?.member == MemberID(hex: "fedcba9876543210fedcba9876543210"))
    for node in [stranger, bert, anna] { try await node.stop() }
  }

  @Test(arguments: all) func `a node that dials refuses it, for its own reason`(wrong: Wrong) async throws {
    let host = try Node(wrong.context())
    let bert = try Node(Fixtures.bert())

    let outcome = await bert.dial(host.listener.address)

    #expect(outcome.link == nil)
    #expect(outcome.attempts.map(\.error) == [TLSFault.refusedPeer(wrong.refusal).description])
    for node in [host, bert] { try await node.stop() }
  }

  @Test(arguments: [
    // A chain up to the share makes no difference: only the share itself signs devices.
    ["signed-by-device", "device", "unknown ca", "signed-by-device.chain"],
    ["signed-by-authority", "device", "unknown ca", "signed-by-authority.chain"],
    ["oversized", "device", "alert", ""], ["rsa", "rsa", "alert", ""], ["p256", "p256", "alert", ""],
    ["ed448", "ed448", "alert", ""],
  ])
  func `the openssl program cannot get in with a chain, a large certificate or another kind of key`(
    words: [String]
  ) async throws {
    let anna = try Node(Fixtures.context())
    let bert = try Node(Fixtures.bert())

    let text = try await opensslClient(
      anna.listener.address, "-alpn", "household/1", "-cert", Fixtures.path("Hostile/\(words[0]).pem"), "-key",
      Fixtures.path("Hostile/\(words[1]).key"), words[3].isEmpty ? "-cipher" : "-cert_chain",
      words[3].isEmpty ? "DEFAULT@SECLEVEL=0" : Fixtures.path("Hostile/\(words[3])"))
    _ = await bert.dial(anna.listener.address)

    #expect(text.contains(words[2]), "\(text)")
    #expect(try await anna.owner.opened().identity.peer?.member == MemberID(hex: "fedcba9876543210fedcba9876543210"))
    for node in [bert, anna] { try await node.stop() }
  }

  @Test func `nothing can be resumed: a second session shows its certificate again`() async throws {
    let anna = try Node(Fixtures.context())
    let folder = FileManager.default.temporaryDirectory.appending(path: "session-" + UUID().uuidString).path
    defer { unlink(folder) }
    let words = [
      "-alpn", "household/1", "-cert", Fixtures.path("Household/bert.pem"), "-key", Fixtures.path("Household/bert.key"),
      "-sess_out", folder,
    ]

    async let first = opensslClient(anna.listener.address, words)
    try await anna.owner.opened().link.close("The test has seen enough.")
    let text = try await first

    #expect(text.contains("TLSv1.3") && !text.contains("NewSessionTicket") && !text.contains("Post-Handshake"))
    #expect(!FileManager.default.fileExists(atPath: folder), "there is a session that could be resumed")
    try await anna.stop()
  }

  @Test func `a certificate that was cut off is none`() throws {
    let bytes = try DurableFile(path: Fixtures.path("Hostile/truncated.der")).read()

    #expect(throws: TLSFault.self) {
      try TLSContext(
        identity: TLSIdentity(
          certificate: bytes, privateKey: KeyPair(contentsOf: Fixtures.path("Household/anna.key")).privateKey()),
        applications: [.household], verification: Fixtures.verification())
    }
    #expect(throws: PeerRefusal.malformed(TrustError.notACertificate.description)) {
      try Fixtures.verification().device(of: bytes)
    }
  }
}
