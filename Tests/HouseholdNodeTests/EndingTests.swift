import Foundation
import Testing

/// How sharing begins and ends: the modes, a leave that is delivered late, and an owner who dissolves the household.
@Suite(.serialized, .ownThread) struct EndingTests {
  private func mode(_ home: Home) throws -> String {
    let household = try #require(try home.status().report["household"] as? [String: Any])
    let told = try home.json("mode")["mode"] as? String
    #expect(household["mode"] as? String == told)
    return told ?? ""
  }

  @Test func `off is a store that no node serves, and inviting and joining change the mode`() throws {
    let place = try Place()
    let ana = place.home("ana")
    try #require(try ana.run("init", "--member", "ana", "--device", "a", "--mode", "off").code == 0)
    #expect(try mode(ana) == "off")
    try ana.put("note", "n1", "title=mine")
    let (code, report) = try ana.status()
    #expect(code == 0 && report["reason"] as? String == "off")
    for words in [["node", "--listen", "127.0.0.1:0"], ["invite", "ben"]] {
      let refused = try ana.run(words)
      #expect(refused.code == 1 && refused.errors.contains("household mode personal"), "\(words): \(refused.errors)")
    }
    #expect(try ana.run("mode", "owner").code == 64)

    #expect(try ana.json("mode", "personal")["mode"] as? String == "personal")
    try ana.start()
    #expect(try ana.run("mode", "off").code == 75, "the node runs")
    let link = try ana.invite("ben")
    #expect(try mode(ana) == "owner")
    let ben = place.home("ben")
    try #require(try ben.run("init", "--member", "ben", "--device", "b", "--mode", "off").code == 0)
    try ben.put("note", "n2", "title=of ben")
    let joined = try ben.run("join", link, "--device", "ben-laptop", "--data", "merge", "--yes")
    try #require(joined.code == 0, "\(joined.errors)")
    #expect(try mode(ben) == "participant")
    try ben.start(peers: [ana])
    try eventually("both have both") {
      try [ana, ben].allSatisfy { try $0.records("note").keys.sorted() == ["n1", "n2"] }
    }
    try ana.stop()
    let refused = try ana.run("mode", "off")
    #expect(refused.code == 77, "\(refused.errors)")
  }

  @Test func `a leave is delivered by the leaver's restarted node, which then dials nobody`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    try ana.waitInSync()
    try ben.stop()
    try ben.json("leave", "--yes")
    let untold = try ben.status().report
    #expect(untold["reason"] as? String == "left" && (untold["summary"] as? String)?.contains("no partner") == true)

    // Ana does not know where ben's node is, and waits for him.
    try ben.start()
    try eventually("ana hears of it") { try !ana.run("members").output.contains("ben") }
    try eventually("ben knows that she has") {
      try (ben.status().report["summary"] as? String)?.contains("no partner") == false
    }
    func meetings() throws -> Int { try ana.log().components(separatedBy: "peer connected").count }
    let before = try meetings()
    try ben.stop()
    try ben.start()
    try ana.put("note", "n1", "title=alone")
    try ana.waitInSync()
    try #require(try ben.status().report["node"] != nil)
    #expect(try meetings() == before && !ben.log().contains("peer connected"))
    #expect(try ben.status().report["reason"] as? String == "left")
  }

  @Test func `the last owner ends the sharing: each keeps what they have, and edits that reached nobody are exported`()
    throws
  {
    let place = try Place()
    let (ana, ben) = try place.pair()
    try ana.put("note", "n1", "title=shared")
    try eventually("ben has it") { try ben.records("note")["n1"] != nil }
    try ben.stop()
    try ben.put("note", "n2", "title=unsent")
    let refused = try ana.run("leave", "--yes")
    #expect(refused.code == 77 && refused.errors.contains("promote") && refused.errors.contains("--dissolve"))
    #expect(try ben.run("leave", "--dissolve", "--yes").code == 77)
    #expect(try ana.run("leave", "--dissolve", "--keep", "none", "--yes").code == 64)
    let preview = try ana.json("leave", "--dissolve", "--dry-run")
    #expect(preview["partners"] as? [String] == ["ben"] && preview["dissolves"] as? Bool == true)
    #expect(try mode(ana) == "owner")

    let ended = try ana.json("leave", "--dissolve", "--yes")

    #expect(FileManager.default.fileExists(atPath: ended["copy"] as? String ?? ""))
    #expect(try mode(ana) == "personal")
    #expect(try ana.records("note").keys.sorted() == ["n1"])
    try ben.start(peers: [ana])
    try eventually("ben is told") { try ben.status().report["reason"] as? String == "sharingEnded" }
    let summary = try ben.status().report["summary"] as? String ?? ""
    #expect(summary.contains("by ana on"), "\(summary)")
    #expect(try ben.records("note").keys.sorted() == ["n1", "n2"])
    #expect(try ben.run("export", "--format", "json").output.contains("unsent"))
    let waited = try ben.run("status", "--wait-acked", "1s")
    #expect(waited.code == 77 && waited.errors.contains("The sharing was ended"), "\(waited.errors)")
    #expect(!waited.errors.contains("is confirmed"))
    #expect(try ben.run("put", "note", "n3", "title=x").code == 77)
    try ana.put("note", "n4", "title=alone")
    try ana.waitInSync()
    #expect(try ana.records("note").keys.sorted() == ["n1", "n4"])
  }
}
