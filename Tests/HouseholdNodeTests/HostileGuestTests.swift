import Foundation
import HouseholdNode
import HouseholdRecords
import HouseholdSync
import HouseholdTransport
import HouseholdTrust
import Testing

/// A guest who knows the code and then does what it likes: it is refused with a sentence, and nobody has joined.
@Suite(.serialized, .ownThread) struct HostileGuestTests {
  /// One pairing link of a guest.
  private final class Guest {
    let key: KeyPair
    private let loop: EventLoop
    private let link: Link
    private let heard = Heard()
    private let secret: InvitationCode

    init(_ invitation: String, _ address: String) async throws {
      key = try KeyPair.generate()
      secret = try InvitationLink(invitation).code
      loop = try EventLoop()
      let links = LinkSet(
        loop: loop,
        context: try TLSContext(
          identity: TLSIdentity(
            certificate: GuestCertificate.make(for: key, now: SystemClock.now), privateKey: key.privateKey()),
          applications: [], verification: AnyHost()))
      let outcome = await LinkDialer(links: links).dial(
        [try SocketAddress(parsing: address)], for: .pairing, owner: heard)
      link = try #require(outcome.link)
    }

    deinit { loop.stop() }

    func say(_ message: PairingMessage) {
      let (type, payload) = PairingMessageCodec.encode(message)
      link.send(type: type, payload: payload)
    }

    /// The messages that came.
    var answers: [PairingMessage] {
      heard.raw.compactMap { message in
        do { return try PairingMessageCodec.decode(type: message.type, payload: message.payload) } catch { return nil }
      }
    }

    /// Proves the code over this link, or over another one.
    func prove(exporter other: [UInt8]? = nil) throws {
      try eventually("the host greets") { !answers.isEmpty }
      guard case .welcome(_, let salt) = answers[0], let identity = link.identity else { return }
      let channel = PairingChannel(
        exporter: other ?? identity.exporter, guestPublicKey: key.publicKey, hostPublicKey: identity.publicKey)
      let pairing = try PairingSecret(code: secret.secret, salt: salt)
      say(.proof(mac: pairing.proof(of: channel.guestTranscript)))
      try eventually("the host answers") { answers.count > 1 }
    }

    func refusal() throws -> PairingRefusal {
      var found: PairingRefusal?
      try eventually("the host refuses") {
        for case .refused(let refusal) in answers { found = refusal }
        return found != nil
      }
      return try #require(found)
    }
  }

  @Test func `a request that is cut off, changed or another key's, and a proof of another session, are refused`()
    async throws
  {
    let place = try Place()
    let ana = try place.founder()
    let other = try KeyPair.generate()
    let right = try SigningRequest.make(for: other).der
    var changed = right
    changed[changed.count - 1] ^= 1
    let invitation = try ana.invite("ben")

    for (what, request) in [("cut off", Array(right.dropLast(20))), ("changed", changed), ("another key's", right)] {
      let guest = try await Guest(invitation, ana.address)
      try guest.prove()
      guard case .preview = guest.answers[1] else {
        Issue.record("\(what): \(guest.answers)")
        return
      }
      guest.say(.request(signingRequest: request, deviceName: "d"))
      let refusal = try guest.refusal()
      #expect([.failed, .unexpected].contains(refusal.code), "\(what): \(refusal)")
    }
    let early = try await Guest(invitation, ana.address)
    early.say(.request(signingRequest: right, deviceName: "d"))
    #expect(try early.refusal().code == .unexpected, "a request without a proof")
    let middle = try await Guest(invitation, ana.address)
    try middle.prove(exporter: [UInt8](repeating: 1, count: 32))
    #expect(try middle.refusal().code == .wrong, "a proof over another session")

    #expect((try ana.json("members")["members"] as? [Any])?.count == 1)
    let ben = place.home("ben")
    try ben.join(invitation)
  }

  @Test func `an invitation that is cancelled while the guest decides lets nobody in`() async throws {
    let place = try Place()
    let ana = try place.founder()
    let invitation = try ana.invite("ben")
    let guest = try await Guest(invitation, ana.address)
    try guest.prove()

    let cancelled = try ana.run("invitations", "cancel", "\(try InvitationLink(invitation).code)")
    #expect(cancelled.code == 0, "\(cancelled.errors)")
    guest.say(.request(signingRequest: try SigningRequest.make(for: guest.key).der, deviceName: "d"))

    #expect(try guest.refusal().code == .cancelled)
    #expect((try ana.json("members")["members"] as? [Any])?.count == 1)
  }

  @Test func `who cancels when a join is signed is told so, and no further one is signed`() async throws {
    let place = try Place()
    let ana = try place.founder()
    let invitation = try ana.invite("ben")
    let guest = try await Guest(invitation, ana.address)
    try guest.prove()
    guest.say(.request(signingRequest: try SigningRequest.make(for: guest.key).der, deviceName: "d"))
    try eventually("the join is signed") { guest.answers.count > 2 }

    let cancelled = try ana.run("invitations", "cancel", "\(try InvitationLink(invitation).code)")
    #expect(cancelled.code == 1 && cancelled.errors.contains("household remove"), "\(cancelled.errors)")
    #expect((try ana.json("invitations")["invitations"] as? [Any])?.isEmpty == true)
    guest.say(.stored)

    try eventually("what the guest has counts") {
      (try ana.json("members")["members"] as? [Any])?.count == 2
    }
  }
}
