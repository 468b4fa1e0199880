import Foundation
import Testing

/// `compact` of nodes that run (D9), with real processes.
@Suite(.serialized, .ownThread) struct CompactingTests {
  @Test func `a running node compacts, names who is waited for, and stays in sync with one that did not`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    for home in [ana, ben] { try home.waitInSync() }
    try ana.put("note", "n1", "title=secret")
    try ana.json("delete", "note", "n1")
    try eventually("ben has it") {
      try ben.json("history", "note", "n1")["changes"].map { "\($0)" }?.contains("n1") == true
    }

    let early = try ana.json("compact", "--keep", "0s")
    let blockers = try #require(early["blockers"] as? [[String: Any]])
    #expect(blockers.map { $0["member"] as? String } == ["ben"])
    #expect(blockers.first?["state"] as? String == "active")

    try ben.put("note", "n2", "title=hello")
    try eventually("ana has it") { try ana.records("note")["n2"] != nil }
    let done = try ana.json("compact", "--keep", "0s")
    #expect((done["deleted"] as? [String: [String: Int]])?["collected"] == ["note": 1])
    #expect((done["blockers"] as? [Any])?.isEmpty == true)
    try ana.put("note", "n3", "title=after")
    try eventually("ben has it") { try ben.records("note")["n3"] != nil }
    for home in [ana, ben] { try home.waitInSync() }
    #expect(try ana.run("doctor", "--verify").code == 0)
    try ana.stop()
    #expect(try ana.run("compact", "--keep", "0s").code == 0, "without the node, too")
  }
}
