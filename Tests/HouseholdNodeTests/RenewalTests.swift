import Foundation
import HouseholdNode
import HouseholdRecords
import HouseholdReplica
import HouseholdSync
import HouseholdTransport
import HouseholdTrust
import Testing

/// Certificates that run out: they connect, and are renewed on contact, by those who may and for those who belong.
@Suite(.serialized, .ownThread) struct RenewalTests {
  private static let year: Int64 = 365 * 86_400_000

  /// Gives a device, whose node does not run, a certificate that was made some years from now; returns who can make more.
  @discardableResult
  private func certify(_ home: Home, madeIn years: Int64, by owner: Home) throws -> ShareAuthority {
    let keys = try NodeKeys(DataDirectory(home.directory))
    let authority = try #require(try NodeKeys(DataDirectory(owner.directory)).authority)
    try authority.issue(
      publicKey: keys.key.publicKey, member: keys.device.member,
      now: SystemClock.now.advanced(byMilliseconds: years * Self.year)
    ).save(to: DataDirectory(home.directory).deviceCertificate)
    return authority
  }

  private func certificate(of home: Home) throws -> DeviceCertificate {
    try NodeKeys(DataDirectory(home.directory)).device
  }

  private func findings(_ home: Home) throws -> [String] {
    let findings = try #require(try home.status().report["findings"] as? [[String: Any]])
    return findings.compactMap { $0["code"] as? String }
  }

  /// The certificate that the node of a home shows on a link that begins now.
  private func shown(by home: Home, to owner: Home) async throws -> [UInt8] {
    let keys = try NodeKeys(DataDirectory(owner.directory))
    let loop = try EventLoop()
    let witness = ShownCertificate()
    let links = LinkSet(
      loop: loop,
      context: try TLSContext(
        identity: TLSIdentity(certificate: keys.device.der, privateKey: keys.key.privateKey()), applications: [],
        verification: witness))
    _ = await LinkDialer(links: links).dial([try SocketAddress(parsing: home.address)], for: .household, owner: Heard())
    await links.closeAll("seen")
    loop.stop()
    return witness.der
  }

  @Test(arguments: [-6, -4, 3])
  func `R6: a certificate out of its time, or near its end, connects and is renewed on contact (P20)`(years: Int64)
    async throws
  {
    let place = try Place()
    let (ana, ben) = try place.pair()
    try ana.json("demote", "ben", "--read-only")
    try ben.stop()
    try certify(ben, madeIn: years, by: ana)
    let old = try certificate(of: ben)
    let key = try Data(contentsOf: URL(filePath: ben.directory + "/share/device.key"))
    try #expect(findings(ben).contains("certificateExpired") == (years == -6))
    try #expect(findings(ben).contains("certificateDates") == (years == 3))

    try ben.start(peers: [ana])
    let pid = ben.pid
    try eventually("ben has another certificate") { try certificate(of: ben) != old }

    let new = try certificate(of: ben)
    #expect(new.device == old.device && new.member == old.member && !new.isDueForRenewal(SystemClock.now))
    #expect(try Data(contentsOf: URL(filePath: ben.directory + "/share/device.key")) == key)
    // The file comes first, and then the node takes it into use.
    var shown = try await shown(by: ben, to: ana)
    for _ in 0..<100 where shown != new.der { shown = try await self.shown(by: ben, to: ana) }
    #expect(shown == new.der && ben.pid == pid, "links from now on begin with it, without a restart")
    try eventually("ben is well") { try findings(ben).allSatisfy { !$0.hasPrefix("certificate") } }
    try ana.put("note", "n1", "title=still here")
    try eventually("and syncs") { try ben.records("note")["n1"] != nil }
    #expect(try ben.run("put", "note", "n2", "title=no").code == 77, "the role is the membership log's")
    try eventually("ana wrote it down once") { try ana.log().contains("a certificate was renewed") }
    #expect(try ana.log().components(separatedBy: "a certificate was renewed").count == 2)
  }

  @Test func `an owner's node with the share's key renews its own certificate`() throws {
    let place = try Place()
    let ana = try place.founder("ana")
    try ana.stop()
    try certify(ana, madeIn: -6, by: ana)
    try #expect(findings(ana).contains("certificateExpired"))

    try ana.start()

    try eventually("it is renewed") { try !certificate(of: ana).isDueForRenewal(SystemClock.now) }
    #expect(try findings(ana).allSatisfy { !$0.hasPrefix("certificate") })
  }

  @Test func `a member's device that asks without end, for another, or gives what nobody wants gets nowhere`()
    async throws
  {
    let stage = try HostileMemberTests.Stage()
    var link = try await stage.eve.dial()
    try link.getInUse()
    for _ in 0..<500 { link.say(.certificateWanted) }
    link.say(.ping(Ping(number: 7, wall: SystemClock.now)))
    try eventually("ana has read all of it") { !link.heard.all(.pong).isEmpty }

    guard case .certificate(let der)? = link.heard.all(.certificate).first else {
      Issue.record("no certificate came")
      return
    }
    let given = try DeviceCertificate(der: der, sharePublicKey: stage.eve.keys.share.publicKey)
    #expect(given.device == stage.eve.keys.device.device && given.member == stage.eve.keys.device.member)
    #expect(link.heard.all(.certificate).count == 1 && link.heard.closed == nil)

    let other = try NodeKeys(DataDirectory(stage.ben.directory)).key.publicKey
    link.link.send(type: Message.Kind.certificateWanted.rawValue, payload: other)
    try stage.expectRefusal(of: "a request for ben's key", on: link, naming: "not valid")
    link = try await stage.eve.dial()
    link.say(.certificateWanted)
    try stage.expectRefusal(of: "a request before the hello", on: link, naming: "no place")
    link = try await stage.eve.dial()
    try link.getInUse()
    link.say(.certificate(der))
    try stage.expectRefusal(of: "a certificate that nobody asked for", on: link, naming: "without being asked")
    link = try await stage.eve.dial()
    try link.getInUse()
    link.say(.certificate([UInt8](repeating: 0x30, count: Limits.certificateBytes + 1)))
    try stage.expectRefusal(of: "a certificate over the limit", on: link, naming: "not valid")

    try stage.ana.json("remove", "eve", "--yes")
    link = try await stage.eve.dial()
    link.say(.hello(try stage.eve.hello()))
    link.say(.membershipHave(try stage.eve.replica.membershipHashes()))
    link.say(.membership(MembershipPart(entries: [], more: false)))
    try eventually("a removed device is sent away") { link.heard.closed != nil }
    #expect(link.heard.all(.certificate).isEmpty)
    try stage.expectSyncGoesOn()
  }

  @Test func `an owner's device that answers with a wrong certificate changes nothing`() async throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    let home = place.home("eve")
    try home.join(try ana.invite("eve"))
    try ana.json("promote", "eve")
    try eventually("ben knows that eve is an owner") {
      let members = try ben.json("members")["members"] as? [[String: Any]] ?? []
      return members.contains { $0["name"] as? String == "eve" && $0["role"] as? String == "owner" }
    }
    try ben.stop()
    try ana.stop()
    let authority = try certify(ben, madeIn: -6, by: ana)
    let old = try certificate(of: ben)
    try ben.start()
    let eve = try HostileMember(home, against: ben)
    let now = SystemClock.now
    func issued(_ key: [UInt8], _ member: MemberID, years: Int64 = 0) throws -> [UInt8] {
      try authority.issue(publicKey: key, member: member, now: now.advanced(byMilliseconds: years * Self.year)).der
    }
    let impostor = try ShareAuthority.make(name: "Our home", now: now)
    let wrong: [(String, [UInt8])] = [
      ("for another key", try issued(KeyPair.generate().publicKey, old.member)),
      ("in eve's name", try issued(old.publicKey, eve.keys.device.member)),
      ("of eve's own", eve.keys.device.der), ("that has ended too", try issued(old.publicKey, old.member, years: -7)),
      ("that has not begun", try issued(old.publicKey, old.member, years: 9)),
      ("of another share", try impostor.issue(publicKey: old.publicKey, member: old.member, now: now).der),
      ("that is the share's", authority.certificate.der), ("that is none", [UInt8](repeating: 7, count: 400)),
    ]

    for (count, (what, der)) in wrong.enumerated() {
      let link = try await answered(eve, der)
      try eventually("ben says that he does not take one \(what)") {
        try ben.log().components(separatedBy: "a certificate that came is not used").count == count + 2
      }
      link.link.close("next")
      #expect(try certificate(of: ben) == old, "\(what)")
      #expect(try findings(ben).contains("certificateExpired"), "\(what)")
    }
    _ = try await answered(eve, try issued(old.publicKey, old.member))

    try eventually("the right one is taken") { try !certificate(of: ben).isDueForRenewal(SystemClock.now) }
  }

  /// Waits until the node asks, and answers it.
  private func answered(_ eve: HostileMember, _ der: [UInt8]) async throws -> HostileLink {
    let link = try await eve.dial()
    try link.getInUse()
    try eventually("ben asks") { !link.heard.all(.certificateWanted).isEmpty }
    link.say(.certificate(der))
    return link
  }
}

/// Lets in whoever answers, and keeps what was shown.
private final class ShownCertificate: PeerVerification, @unchecked Sendable {
  private let guardian = NSLock()
  private var kept: [UInt8] = []

  var der: [UInt8] { guardian.withLock { kept } }

  func device(of certificate: [UInt8]) throws(PeerRefusal) -> VerifiedDevice {
    guardian.withLock { kept = certificate }
    return try AnyHost().device(of: certificate)
  }
}
