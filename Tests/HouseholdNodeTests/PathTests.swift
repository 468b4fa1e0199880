import Foundation
import HouseholdBudget
import Testing

/// The main job as a new user meets it: make, invite, join, edit on both sides.
@Suite(.serialized, .ownThread) struct PathTests {
  @Test func `two people pair by link and edit both ways`() throws {
    let place = try Place()
    let ana = try place.founder()

    let invitation = try ana.json("invite", "ben")
    #expect(Set(invitation.keys) == ["code", "link", "expiresAt", "member", "role"])
    #expect(invitation["member"] as? String == "ben" && invitation["role"] as? String == "member")
    let open = try #require(try ana.json("invitations")["invitations"] as? [[String: Any]])
    #expect(open.count == 1 && Set(["code", "member", "role", "expiresAt"]).isSubset(of: open[0].keys))

    let ben = place.home("ben")
    try ben.join(try #require(invitation["link"] as? String))
    #expect(try ben.status().report["reason"] as? String == "nodeNotRunning")
    try ben.start(peers: [ana])
    try ana.put("transaction", "t1", "date=2026-03-01", "amount_minor=-1250", "payee=Café Zoë")
    try eventually("ana's edit is at ben's") { try ben.records("transaction")["t1"]?["amount_minor"] as? Int == -1250 }
    try ben.put("transaction", "t1", "note=mit Pfand 🍾")
    try eventually("ben's edit is at ana's") {
      try ana.records("transaction")["t1"]?["note"] as? String == "mit Pfand 🍾"
    }

    #expect(try ana.records("transaction")["t1"]?["payee"] as? String == "Café Zoë")
    let modified = try #require(try ana.json("get", "transaction", "t1")["modified"] as? [String: Any])
    #expect(modified["member"] as? String == "ben" && modified["device"] as? String == "ben-laptop")
    for home in [ana, ben] { try home.waitInSync() }
    #expect((try ana.json("invitations")["invitations"] as? [[String: Any]])?.isEmpty == true)
    #expect(try ben.stop() == 0)
    #expect(try ana.stop() == 0)
  }

  @Test func `a third member edits by way of the second, and a restart changes nothing`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    let kim = place.home("kim")
    let code = try #require(try ana.json("invite", "kim")["code"] as? String)
    let spelled = code.lowercased().replacingOccurrences(of: "-", with: " ")
    let joined = try kim.run("join", spelled, "--address", ana.address, "--device", "kim-laptop", "--yes", "--json")
    #expect(joined.code == 0, "\(joined.errors)")
    try eventually("ben knows kim") {
      (try ben.json("members")["members"] as? [[String: Any]])?.contains { $0["name"] as? String == "kim" } == true
    }
    try ana.stop()

    try kim.start(peers: [ben])
    try kim.put("note", "n1", "title=from kim")
    try eventually("ben has it") { try ben.records("note")["n1"] != nil }
    try kim.stop()
    try ana.start(peers: [ben])
    try eventually("ana has it by way of ben") { try ana.records("note")["n1"] != nil }
    #expect(try ana.status().code == 1, "kim is away, so ana is not in sync")
    try kim.start(peers: [ben, ana])
    for home in [ana, ben, kim] { try home.waitInSync() }

    let author = try #require(try ana.json("get", "note", "n1")["created"] as? [String: Any])
    #expect(author["member"] as? String == "kim")
  }

  @Test func `status tells every key of the contract, with and without a node`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    try ana.waitInSync()
    let (code, report) = try ana.status()
    #expect(code == 0)
    let wanted: [String: Set<String>] = [
      "household": ["id", "name", "mode", "schema"], "device": ["id", "name", "member", "role"],
      "node": ["running", "pid", "startedAt", "listening", "version"], "records": ["total", "byType"],
      "changes": ["unsealed", "unacknowledged", "parked", "held", "quarantined", "rejected"],
    ]
    let peerKeys: Set<String> = [
      "member", "device", "deviceID", "role", "connected", "address", "lastSeen", "lastSync", "hasOurs",
      "weHaveTheirs", "clockOffsetMs", "schemaVersion", "bytesSent", "bytesReceived", "changesSent",
      "changesReceived", "addresses", "lastError",
    ]

    func check(_ report: [String: Any]) throws {
      let top: Set<String> = [
        "verdict", "reason", "summary", "remedy", "asOf", "household", "device", "node", "records", "changes",
        "conflicts", "attention", "digest", "peers", "findings",
      ]
      #expect(top.subtracting(report.keys).isEmpty)
      for (key, inner) in wanted {
        let found = try #require(report[key] as? [String: Any])
        #expect(inner.subtracting(found.keys).isEmpty, "\(key)")
      }
      let peer = try #require((report["peers"] as? [[String: Any]])?.first)
      #expect(peerKeys.subtracting(peer.keys).isEmpty)
      for side in ["hasOurs", "weHaveTheirs"] {
        let holding = try #require(peer[side] as? [String: Any])
        #expect(Set(["complete", "missing", "through"]).subtracting(holding.keys).isEmpty)
      }
      for address in try #require(peer["addresses"] as? [[String: Any]]) {
        #expect(Set(address.keys) == ["address", "lastTried", "error"])
      }
      for finding in try #require(report["findings"] as? [[String: Any]]) {
        #expect(Set(finding.keys) == ["code", "severity", "subject", "summary", "remedy"])
      }
    }

    try check(report)
    let members = try #require(try ana.json("members")["members"] as? [[String: Any]])
    let devices = try members.flatMap { try #require($0["devices"] as? [[String: Any]]) }
    #expect(members.allSatisfy { Set($0.keys) == ["name", "role", "self", "devices"] })
    #expect(devices.allSatisfy { Set($0.keys) == ["name", "id", "self", "lastSeen", "state"] })

    try ben.stop()
    try eventually("ana says that ben is away") { try ana.status().report["reason"] as? String == "peerUnreachable" }
    #expect(try ana.status().code == 1)
    try check(try ana.status().report)
    try ana.stop()
    let down = try ana.status()
    #expect(down.code == 3 && down.report["reason"] as? String == "nodeNotRunning")
    try check(down.report)
  }

  @Test func `wait-acked returns when the partner has it, and says 75 when it is away`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    try ana.put("note", "n1", "title=a")

    #expect(try ana.run("status", "--wait-acked", "20s").code == 0)
    #expect(try ben.records("note")["n1"] != nil)
    try ben.stop()
    try ana.put("note", "n1", "title=b")
    #expect(try ana.run("status", "--wait-acked", "300ms", "--peer", "ben").code == 75)
    #expect(try ana.run("status", "--wait-acked", "300ms", "--peer", "zoe").code == 1)
  }

  @Test func `a second node on one directory is refused, and a taken port is said and clears`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()

    let second = try ana.run("node", "--listen", "127.0.0.1:0")
    #expect(second.code == 75, "\(second.errors)")
    #expect(try ana.status().code < 3)

    let kim = place.home("kim")
    try kim.join(try ana.invite("kim"))
    let taken = try Program.start(
      ["node", "--data-dir", kim.directory, "--listen", ben.address], folder: place.folder, name: "taken")
    defer {
      kill(taken.processIdentifier, SIGTERM)
      taken.waitUntilExit()
    }
    try eventually("the port is taken") { try kim.status().report["reason"] as? String == "portInUse" }
    #expect(try kim.status().code == 3)
    try ben.stop()
    try eventually("the node listens once the port is free") {
      try kim.status().report["reason"] as? String != "portInUse"
    }
  }
}
