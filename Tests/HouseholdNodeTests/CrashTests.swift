import Foundation
import Testing

/// Power cuts: what was acknowledged stays.
@Suite(.serialized, .ownThread) struct CrashTests {
  private static let rounds =
    Int(ProcessInfo.processInfo.environment["HOUSEHOLD_KILL_ROUNDS"] ?? "") ?? 20

  @Test func `R1: kill -9 of either node under load loses no acknowledged edit`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    var written: [String: String] = [:]
    for round in 0..<Self.rounds {
      let (dying, other) = round.isMultiple(of: 2) ? (ana, ben) : (ben, ana)
      // Many edits in one program, so that the node is busy sealing and sending when it dies.
      let ids = (0..<40).map { "r\(round)-\($0)" }
      _ = try dying.sqlite(ids.map { "INSERT INTO note(id, title) VALUES('\($0)', '\(round)');" }.joined())
      for id in ids { written[id] = "\(round)" }
      let id = "r\(round)-by-command"
      try other.put("note", id, "title=\(round)")
      written[id] = "\(round)"
      dying.kill()
      try dying.start(peers: [other])
    }

    for home in [ana, ben] { try home.waitInSync() }
    for home in [ana, ben] {
      let found = try home.records("note").mapValues { $0["title"] as? String ?? "" }
      let lost = written.keys.filter { found[$0] != written[$0] }.sorted()
      #expect(lost.isEmpty && found.count == written.count, "\(home.name) lacks \(lost.prefix(3))")
      #expect(try home.sqlite("PRAGMA integrity_check") == "ok")
    }
  }
}
