import Foundation
import HouseholdNode
import HouseholdRecords
import HouseholdReplica
import HouseholdSync
import HouseholdTransport
import HouseholdTrust
import Testing

/// Devices with certificates that TLS accepts and the membership log does not, and members who say too much.
@Suite(.serialized, .ownThread) struct HostileDeviceTests {
  private typealias Stage = HostileMemberTests.Stage

  /// A certificate that ana's copy of the share's key signs: whoever stole it can make one.
  private func certificate(_ stage: Stage, key: KeyPair, member: MemberID) throws -> [UInt8] {
    let authority = try #require(try NodeKeys(DataDirectory(stage.ana.directory)).authority)
    return try authority.issue(publicKey: key.publicKey, member: member, now: SystemClock.now).der
  }

  @Test func `a stolen share key lets nobody in: the membership log decides`() async throws {
    let stage = try Stage()
    let membership = try stage.eve.replica.membership()
    let ana = try #require(membership.members.values.first { $0.name == "ana" }).id

    // Eve's own key, under ana's name.
    var link = try await stage.eve.dial(showing: try certificate(stage, key: stage.eve.keys.key, member: ana))
    link.say(.hello(try stage.eve.hello()))
    try eventually("ana asks for the membership") { !link.heard.all(.hello).isEmpty }
    if link.heard.closed == nil {
      link.say(.membershipHave(try stage.eve.replica.membershipHashes()))
      link.say(.membership(MembershipPart(entries: [], more: false)))
    }
    try stage.expectRefusal(of: "a certificate in ana's name", on: link, naming: "another member")

    // A key that never joined.
    let key = try KeyPair.generate()
    let stranger = try StrangeDevice(key, certificate: try certificate(stage, key: key, member: ana))
    link = try await stranger.dial(stage)
    var hello = try stage.eve.hello()
    hello.device = key.device
    link.say(.hello(hello))
    try eventually("ana greets") { !link.heard.all(.hello).isEmpty }
    link.say(.membershipHave(try stage.eve.replica.membershipHashes()))
    link.say(.membership(MembershipPart(entries: [], more: false)))
    try eventually("the stranger is sent away") { link.heard.closed != nil }
    #expect(link.goodbye?.contains("does not name this device") == true, "\(link.goodbye ?? "")")
    #expect(link.heard.all(.batch).isEmpty && link.heard.all(.have).isEmpty)
    stranger.stop()
    try stage.expectSyncGoesOn()
  }

  private struct Unexpected: Error { var entries: [MembershipEntry] }

  @Test func `a removed device is told so and learns nothing more`() async throws {
    let stage = try Stage()
    let before = try stage.eve.hello()
    try stage.ana.json("remove", "eve", "--yes")
    try stage.ana.json("rename", "ben", "Benjamin")
    try stage.ana.put("note", "later", "title=not for eve")

    let link = try await stage.eve.dial()
    link.say(.hello(before))
    try eventually("ana greets") { !link.heard.all(.hello).isEmpty }
    link.say(.membershipHave(try stage.eve.replica.membershipHashes()))
    link.say(.membership(MembershipPart(entries: [], more: false)))

    try eventually("the link closes") { link.heard.closed != nil }
    #expect(link.goodbye?.contains("belongs no longer") == true, "\(link.goodbye ?? "")")
    var entries: [MembershipEntry] = []
    for case .membership(let part) in link.heard.all(.membership) {
      entries += try part.entries.map { try SignedEntry(bytes: $0).decoded() }
    }
    #expect(entries.count == 1, "the entry that removed it is sent, and nothing else")
    guard case .removal = entries.first?.statement else { throw Unexpected(entries: entries) }
    for kind in [Message.Kind.have, .batch, .snapshotPage, .offer] { #expect(link.heard.all(kind).isEmpty, "\(kind)") }
    try stage.expectSyncGoesOn()
  }

  @Test func `what is played back, out of order or not true closes the link with a sentence`() async throws {
    let stage = try Stage()
    var link = try await stage.eve.dial()
    try eventually("ana greets") { !link.heard.all(.hello).isEmpty }
    guard case .hello(let anas) = link.heard.all(.hello)[0] else { return }
    link.say(.hello(anas))
    try stage.expectRefusal(of: "ana's own hello played back", on: link, naming: "another device")

    func inUse() async throws -> HostileLink {
      let link = try await stage.eve.dial()
      try link.getInUse()
      return link
    }
    link = try await inUse()
    link.say(.acknowledge(Acknowledgement(bytes: 1 << 20, received: [])))
    try stage.expectRefusal(of: "more acknowledged than sent", on: link, naming: "acknowledged more")
    link = try await inUse()
    link.say(.use)
    link.say(.use)
    try stage.expectRefusal(of: "a second use", on: link, naming: "use")
    link = try await inUse()
    link.say(
      .batch(Batch(subscription: 99, more: false, token: nil, answers: nil, changesets: [])))
    try stage.expectRefusal(of: "a batch of no subscription", on: link, naming: "subscription")
    link = try await inUse()
    let twice = Subscription(number: 1, token: nil, received: [], snapshot: .none)
    link.say(.subscribe(twice))
    link.say(.subscribe(twice))
    try stage.expectRefusal(of: "a number used twice", on: link, naming: "number")
    link = try await inUse()
    link.say(.shareKey([UInt8](repeating: 1, count: 48)))
    try stage.expectRefusal(of: "a key that nobody asked for", on: link, naming: "key")
    try stage.expectSyncGoesOn()
  }

  @Test func `entries that a member has no right to are kept without effect, and changed ones are refused`()
    async throws
  {
    let stage = try Stage()
    let (eve, ana) = (stage.eve, stage.ana)
    let membership = try eve.replica.membership()
    let own = eve.replica.identity
    let other = try #require(membership.members.values.first { $0.name == "ben" }).id

    var link = try await eve.dial()
    try link.getInUse()
    let entries = [
      try eve.replica.sign(.role(.init(member: own.member, role: .owner)), at: SystemClock.now).bytes,
      try eve.replica.sign(.removal(.init(subject: .member(other), reason: .removed, cutoffs: [])), at: SystemClock.now)
        .bytes,
      try eve.replica.sign(.rename(.init(subject: .member(other), name: "mallory")), at: SystemClock.now).bytes,
    ]
    link.say(.membership(MembershipPart(entries: entries, more: false)))
    try eventually("ana has them") {
      try ana.sqlite("SELECT count(*) FROM sync_membership") == String(try eve.replica.membershipHashes().count + 3)
    }
    let members = try #require(try ana.json("members")["members"] as? [[String: Any]])
    #expect(members.compactMap { $0["name"] as? String }.sorted() == ["ana", "ben", "eve"])
    #expect(members.first { $0["name"] as? String == "eve" }?["role"] as? String == "member")

    // The genesis of this household with one letter of its name changed.
    link = try await eve.dial()
    try link.getInUse()
    var genesis = try #require(try eve.replica.membershipEntries(except: []).first)
    let letter = try #require(genesis.firstIndex(of: UInt8(ascii: "O")))
    genesis[letter] = UInt8(ascii: "0")
    link.say(.membership(MembershipPart(entries: [genesis], more: false)))
    try stage.expectRefusal(of: "a changed genesis", on: link, naming: "beginning")
    // One that follows on what nobody has.
    link = try await eve.dial()
    try link.getInUse()
    let orphan = try SignedEntry(
      MembershipEntry(
        author: own.device, parents: [EntryHash(bytes: [UInt8](repeating: 9, count: 32))!], at: SystemClock.now,
        statement: .rename(.init(subject: .member(own.member), name: "e")))
    ) { try eve.keys.key.signature(of: $0) }
    link.say(.membership(MembershipPart(entries: [orphan.bytes], more: false)))
    try stage.expectRefusal(of: "an entry without its parents", on: link, naming: "membership")
    try stage.expectSyncGoesOn()
  }

  @Test func `two changesets under one number become two branches, and neither is lost`() async throws {
    let stage = try Stage()
    var random = SecureRandom()
    let nonce = ReplicaNonce.random(from: &random)
    let device = stage.eve.replica.identity.device
    func first(_ id: String) throws -> [UInt8] {
      try SignedChangeset(
        Changeset(
          name: ChangesetName(
            replica: OpenSSLCryptography().replicaID(device: device, nonce: nonce), sequence: 1),
          previous: .zero, origin: ReplicaOrigin(device: device, nonce: nonce), stamp: Stamp(rawValue: 1 << 20),
          editedAt: SystemClock.now, dependencyChanges: [],
          schemaVersion: try stage.eve.replica.membership().schema.version,
          membershipHeads: try stage.eve.hello().membershipHeads, shapes: [Shape(type: "note", fields: [])],
          operations: [Operation(kind: .delete, shape: 0, id: id, life: 1, values: [])]),
        signer: stage.eve.keys.key
      ).bytes
    }

    let link = try await stage.eve.dial()
    try link.getInUse()
    link.say(link.batch([try first("x1")]))
    link.say(link.batch([try first("x2")]))

    try eventually("both are stored") {
      try stage.ana.sqlite("SELECT count(*) FROM sync_replica WHERE parent IS NOT NULL") == "1"
    }
    try stage.expectSyncGoesOn()
  }
}

/// A device with a certificate of the share that never joined.
private final class StrangeDevice {
  private let loop: EventLoop
  private let links: LinkSet

  init(_ key: KeyPair, certificate: [UInt8]) throws {
    loop = try EventLoop()
    links = LinkSet(
      loop: loop,
      context: try TLSContext(
        identity: TLSIdentity(certificate: certificate, privateKey: key.privateKey()), applications: [],
        verification: AnyHost()))
  }

  func dial(_ stage: HostileMemberTests.Stage) async throws -> HostileLink {
    let heard = Heard()
    let outcome = await LinkDialer(links: links).dial(
      [try SocketAddress(parsing: stage.ana.address)], for: .household, owner: heard)
    return HostileLink(link: try #require(outcome.link), heard: heard, member: stage.eve)
  }

  func stop() { loop.stop() }
}
