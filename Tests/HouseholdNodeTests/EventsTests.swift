import Foundation
import Testing

/// What `household events` tells.
@Suite(.ownThread) struct EventsTests {
  private let place: Place

  init() throws { place = try Place() }

  /// The documents that the command printed so far.
  private func told() throws -> [[String: Any]] {
    let text = try String(contentsOfFile: place.path("events.out"), encoding: .utf8)
    return try text.split(separator: "\n").filter { _ in text.hasSuffix("\n") }.map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }
  }

  /// Waits for an event that is not older than those that were told before.
  private func waitFor(_ event: String, after count: Int, _ isIt: ([String: Any]) -> Bool = { _ in true }) throws {
    try eventually("the event \(event)") {
      try told().dropFirst(count).contains { $0["event"] as? String == event && isIt($0) }
    }
  }

  @Test func `events tells who comes and goes, what moves, what conflicts and how it is`() throws {
    let (ana, ben) = try place.pair()
    try ana.put("note", "n1", "title=A", "text=")
    try ana.waitInSync()
    let process = try Program.start(
      ["events", "--json", "--data-dir", ana.directory], folder: place.folder, name: "events")
    defer {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    try waitFor("verdict", after: 0) { $0["verdict"] as? String == "inSync" && $0["reason"] as? String == "ok" }
    #expect(try told().prefix(3).map { $0["event"] as? String } == ["nodeStarted", "peerConnected", "verdict"])

    try ben.put("note", "n2", "title=B", "text=")
    func isBen(_ event: [String: Any]) -> Bool { (event["peer"] as? [String: Any])?["member"] as? String == "ben" }
    try waitFor("changesReceived", after: 3) { isBen($0) && $0["count"] as? Int ?? 0 > 0 }
    try ana.put("note", "n3", "title=C", "text=")
    try waitFor("changesSent", after: 3) { isBen($0) && $0["count"] as? Int ?? 0 > 0 }

    var before = try told().count
    try ben.stop()
    try waitFor("peerGone", after: before, isBen)
    try waitFor("verdict", after: before) { $0["reason"] as? String == "peerUnreachable" }
    before = try told().count
    try ana.put("note", "n1", "title=Ana's")
    try ben.put("note", "n1", "title=Ben's")
    try ben.start(peers: [ana])
    try waitFor("peerConnected", after: before, isBen)
    try waitFor("conflict", after: before) { $0["id"] as? String == "n1" && $0["field"] as? String == "title" }
    #expect(try String(contentsOfFile: place.path("events.out"), encoding: .utf8).contains("Ben's") == false)

    before = try told().count
    try ana.stop()
    try waitFor("nodeStopped", after: before)
    try waitFor("verdict", after: before) { $0["reason"] as? String == "nodeNotRunning" }
    #expect(process.isRunning)
  }

  @Test(arguments: ["events", "status --watch --json"])
  func `what goes on until stopped ends when nobody reads it any more, however quiet it is`(words: String) throws {
    let home = place.home("quiet")
    try home.json("init", "--member", "ana", "--device", "laptop")
    home.commandLauncher = ["timeout", "-s", "KILL", "10", "sh", "-c", "\"$0\" \"$@\" | head -n 1"]

    let answer = try home.run(words.split(separator: " ").map(String.init))

    #expect(answer.code == 0)
    #expect(answer.output.split(separator: "\n").count == 1)
  }
}
