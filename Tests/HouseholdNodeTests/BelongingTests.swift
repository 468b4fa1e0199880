import Foundation
import HouseholdNode
import HouseholdRecords
import HouseholdReplica
import HouseholdSync
import HouseholdTrust
import Testing

/// Roles, leaving, and a member's device that goes on writing after it lost the right to.
@Suite(.serialized, .ownThread) struct BelongingTests {
  @Test func `who is let in by a device that has not heard of its end is told that the invitation does not count`()
    throws
  {
    let place = try Place()
    let ana = try place.founder()
    let old = place.home("old")
    try old.joinAs("old", try ana.invite("--device"))
    try old.start(peers: [ana])
    try eventually("the share's key comes") {
      FileManager.default.fileExists(atPath: "\(old.directory)/share/household.key")
    }
    try old.waitInSync()
    try ana.stop()
    let eve = place.home("eve")
    try eve.join(try old.invite("eve"))
    try old.json("promote", "eve")
    try old.stop()

    try ana.start()
    try ana.json("retire", "old")
    try eve.start(peers: [ana])

    try eventually("eve is told") { try eve.status().report["reason"] as? String == "removed" }
    let summary = try eve.status().report["summary"] as? String ?? ""
    #expect(summary.contains("does not count"), "\(summary)")
    #expect(try eve.run("put", "note", "n1", "title=x").code == 77)
    #expect(try !ana.run("members").output.contains("eve"))
    try eventually("her node is quiet") { try eve.log().contains("belongs") }
  }

  @Test func `a demoted member cannot write, and a promoted one invites while the founder is away`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    #expect(try ben.run("promote", "ben").code == 77)
    #expect(try ana.run("demote", "ana").code == 77, "the last owner")
    try ana.json("demote", "ben", "--read-only")
    try eventually("ben is read-only") { try ben.run("put", "note", "n1", "title=x").code == 77 }
    #expect(try ana.run("demote", "ben", "--read-only").code == 1, "he is read-only already")

    try ana.json("promote", "ben")
    try ana.json("promote", "ben")
    let key = "\(ben.directory)/share/household.key"
    try eventually("the share's key comes") { FileManager.default.fileExists(atPath: key) }
    let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    try ana.stop()
    let kim = place.home("kim")
    try kim.join(try ben.invite("kim", "--read-only"))
    try kim.start(peers: [ben])
    try ben.put("note", "n2", "title=after")
    try eventually("kim reads") { try kim.records("note")["n2"] != nil }
    #expect(try kim.run("put", "note", "n3", "title=x").code == 77)

    try ana.start(peers: [ben])
    try eventually("ana knows kim") { try ana.run("members").output.contains("kim") }
    try ana.json("demote", "ben")
    try eventually("the key goes again") { !FileManager.default.fileExists(atPath: key) }
    #expect(try ben.run("invite", "zoe").code == 77)
  }

  @Test func `leaving without a node says what goes, keeps a copy, and is delivered later`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    try ana.put("note", "of-ana", "title=1")
    try eventually("ben has it") { try ben.records("note")["of-ana"] != nil }
    try ben.stop()
    try ben.put("note", "of-ben", "title=2")

    let preview = try ben.json("leave", "--keep", "mine", "--dry-run")
    #expect((preview["gone"] as? [String: Int])?["note"] == 1)
    #expect(try ben.run("leave", "--keep", "mine").code == 64, "nobody to ask")
    let left = try ben.json("leave", "--keep", "mine", "--yes")

    #expect(left["unsent"] as? [String] == ["note/of-ben"])
    let copy = try #require(left["copy"] as? String)
    #expect(FileManager.default.fileExists(atPath: copy))
    #expect(try ben.records("note").keys.sorted() == ["of-ben"])
    #expect(try ben.status().report["reason"] as? String == "left")
    #expect(try ben.run("put", "note", "late", "title=3").code == 77)
    try ben.start()
    try ana.stop()
    try ana.start(peers: [ben])
    try eventually("ana hears of it") { try !ana.run("members").output.contains("ben") }
    #expect(try ana.records("note").keys.sorted() == ["of-ana"])
    let last = try ana.run("leave", "--yes")
    #expect(last.code == 77 && last.errors.contains("only member"), "\(last.errors)")
    try ben.stop()
  }

  /// A changeset of eve's device that deletes a note.
  private func deletion(
    by eve: HostileMember, nonce: ReplicaNonce, after previous: [UInt8]?, heads: [EntryHash]
  ) throws -> [UInt8] {
    let device = eve.replica.identity.device
    let cryptography = OpenSSLCryptography()
    return try SignedChangeset(
      Changeset(
        name: ChangesetName(
          replica: cryptography.replicaID(device: device, nonce: nonce), sequence: previous == nil ? 1 : 2),
        previous: previous.map { cryptography.hashed($0) } ?? .zero,
        origin: previous == nil ? ReplicaOrigin(device: device, nonce: nonce) : nil, stamp: Stamp(rawValue: 1 << 20),
        editedAt: SystemClock.now, dependencyChanges: [], schemaVersion: try eve.replica.membership().schema.version,
        membershipHeads: heads, shapes: [Shape(type: "note", fields: [])],
        operations: [Operation(kind: .delete, shape: 0, id: "n0", life: 1, values: [])]),
      signer: eve.keys.key
    ).bytes
  }

  @Test func `a demoted device that goes on writing under what it knew before changes nothing`() async throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    let home = place.home("eve")
    try home.join(try ana.invite("eve"))
    let eve = try HostileMember(home, against: ana)
    try ana.put("note", "n0", "title=kept")
    let before = try eve.hello().membershipHeads
    try ana.json("demote", "eve", "--read-only")
    var random = SecureRandom()

    let link = try await eve.dial()
    try link.getInUse()
    let now = try eve.hello().membershipHeads
    #expect(now != before)
    link.say(link.batch([try deletion(by: eve, nonce: .random(from: &random), after: nil, heads: before)]))
    link.say(link.batch([try deletion(by: eve, nonce: .random(from: &random), after: nil, heads: now)]))
    try eventually("both are kept aside") {
      (try ana.json("rejected")["rejected"] as? [Any])?.count == 2
    }
    let nonce = ReplicaNonce.random(from: &random)
    let first = try deletion(by: eve, nonce: nonce, after: nil, heads: now)
    link.say(link.batch([first, try deletion(by: eve, nonce: nonce, after: first, heads: before)]))
    try eventually("who unsees a demotion is cut off") { link.heard.closed != nil }
    #expect(link.goodbye?.contains("membership") == true, "\(link.goodbye ?? "")")
    let second = try await eve.dial()
    try second.getInUse()
    second.say(.shareKey(try KeyPair.generate().privateKey()))
    try eventually("a key that nobody asked for closes the link") { second.heard.closed != nil }

    try eventually("ben has the note") { try ben.records("note")["n0"] != nil }
    #expect(try ana.records("note")["n0"]?["title"] as? String == "kept")
    #expect(try ana.sqlite("PRAGMA integrity_check") == "ok")
    let changes = try ana.status().report["changes"] as? [String: Any]
    #expect(changes?["rejected"] as? Int == 2)
  }
}
