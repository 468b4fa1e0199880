import Foundation
import Testing

/// A device that is there through another one (contract 1.5), and what doctor says of the ways to it.
@Suite(.serialized, .ownThread) struct RelayTests {
  @Test func `a partner behind a relay is there and confirms, until it goes`() throws {
    let place = try Place()
    let hub = try place.founder("hub")
    let (ana, ben) = (place.home("ana"), place.home("ben"))
    for home in [ana, ben] { try home.join(try hub.invite(home.name)) }
    // Neither knows an address of the other.
    try ana.start(peers: [hub], words: ["--advertise", "127.0.0.1:9"])
    try ben.start(peers: [hub], words: ["--advertise", "127.0.0.1:9"])
    for home in [ana, ben, hub] { try home.waitInSync() }
    let there = try ana.peer("ben")
    #expect(there["connected"] as? Bool == false)
    #expect(there["through"] as? String == "hub-laptop")

    try ana.put("note", "n1", "title=over the relay")
    #expect(try ana.run("status", "--wait-acked", "20s", "--peer", "ben").code == 0)
    #expect(try ben.records("note")["n1"] != nil)
    let answer = try ana.run("doctor", "--json")
    #expect(answer.code == 0, "\(answer.output)\(answer.errors)")

    try ben.stop()
    try eventually("ana hears that ben is away") { try ana.status().report["reason"] as? String == "peerUnreachable" }
    try ana.put("note", "n1", "title=and later")
    #expect(try ana.run("status", "--wait-acked", "500ms", "--peer", "ben").code == 75)
    let wrong = try ana.run("doctor", "--peer", "ben", "--json")
    #expect(wrong.code == 1)
  }
}
