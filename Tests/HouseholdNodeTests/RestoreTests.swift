import Foundation
import Testing

/// Data directories that were copied, put back or moved, and backups, with real processes.
@Suite(.serialized, .ownThread) struct RestoreTests {
  private func findings(_ home: Home) throws -> [String: String] {
    let list = try home.status().report["findings"] as? [[String: Any]] ?? []
    return Dictionary(list.map { ($0["code"] as? String ?? "", $0["severity"] as? String ?? "") }) { first, _ in first }
  }

  private func notes(_ home: Home) throws -> [String: String] {
    try home.records("note").mapValues { $0["title"] as? String ?? "" }
  }

  private func copies(_ home: Home) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: home.directory + "/snapshots")
  }

  private func replica(_ home: Home) throws -> String {
    try home.sqlite("SELECT hex(value) FROM sync_meta WHERE name = 'replica'")
  }

  @Test func `a raw copy that is put back after more writes is noticed, and nothing is lost`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    try ben.put("note", "n1", "title=1")
    for home in [ana, ben] { try home.waitInSync() }
    try ben.stop()
    let copy = ben.directory + "-copy"
    try FileManager.default.copyItem(atPath: ben.directory, toPath: copy)
    try ben.start(peers: [ana])
    try ben.put("note", "n2", "title=2")
    for home in [ana, ben] { try home.waitInSync() }
    try ben.stop()
    try FileManager.default.removeItem(atPath: ben.directory)
    try FileManager.default.moveItem(atPath: copy, toPath: ben.directory)
    let before = try replica(ben)
    try ben.put("note", "n3", "title=3")
    try ben.start(peers: [ana])

    try eventually("the records are back") { try notes(ben) == ["n1": "1", "n2": "2", "n3": "3"] }
    try eventually("the partner has them") { try notes(ana) == ["n1": "1", "n2": "2", "n3": "3"] }
    #expect(try replica(ben) != before)
    for home in [ana, ben] { try home.waitInSync() }
    #expect(try findings(ben)["restored"] == "information")
  }

  @Test func `a directory that stays where it is goes on under one replica id`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    let before = try replica(ben)
    for round in 1...3 {
      try ben.put("note", "n\(round)", "title=x")
      for home in [ana, ben] { try home.waitInSync() }
      if round == 2 { ben.kill() } else { try ben.stop() }
      try ben.start(peers: [ana])
    }
    for home in [ana, ben] { try home.waitInSync() }
    #expect(try replica(ben) == before)
    #expect(try findings(ben)["restored"] == nil)
  }

  @Test func `a file that is put back in its own place is noticed by what was sealed last`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    for home in [ana, ben] { try home.waitInSync() }
    try ben.stop()
    let file = ben.directory + "/replica.sqlite"
    let old = try Data(contentsOf: URL(filePath: file))
    try ben.start(peers: [ana])
    try ben.put("note", "n1", "title=1")
    for home in [ana, ben] { try home.waitInSync() }
    try ben.stop()
    // The same inode with the older contents.
    let handle = try #require(FileHandle(forWritingAtPath: file))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: old)
    try handle.close()
    let before = try replica(ben)
    try ben.start(peers: [ana])

    #expect(try replica(ben) != before)
    try eventually("what was lost is back") { try notes(ben) == ["n1": "1"] }
  }

  @Test func `a copy of this device that is met is told, also when its node is gone and ours is down`() throws {
    let place = try Place()
    let ana = place.home("ana")
    try ana.json("init", "Our home", "--member", "ana", "--device", "ana-laptop")
    let copy = place.home("copy")
    try FileManager.default.copyItem(atPath: ana.directory, toPath: copy.directory)

    try ana.start()
    try copy.start(peers: [ana])

    for home in [ana, copy] {
      try eventually("\(home.name) has met the other") { try findings(home)["cloned"] == "broken" }
      #expect(try home.status().code == 3)
    }
    try copy.stop()
    try ana.stop()
    #expect(try findings(ana)["cloned"] == "broken")
  }

  @Test func `a backup holds no key, no code and no address, and is not written over`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    try ana.put("note", "n1", "title=secret recipe")
    let code = try ana.invite("cleo")
    for home in [ana, ben] { try home.waitInSync() }
    let file = place.path("sunday.backup")
    #expect(try ana.run("backup", file).code == 0)
    #expect(try ana.run("backup", file).code == 1)

    let bytes = try Data(contentsOf: URL(filePath: file))
    #expect(bytes.range(of: Data("secret recipe".utf8)) != nil)
    #expect(bytes.range(of: Data("PRIVATE KEY".utf8)) == nil)
    #expect(bytes.range(of: Data(ben.address.utf8)) == nil)
    let spelled = code.split(separator: "#").last.map(String.init) ?? code
    #expect(bytes.range(of: Data(spelled.utf8)) == nil)
    let stored = try ana.sqlite("SELECT code FROM sync_invitation WHERE state = 'open'")
    #expect(!stored.isEmpty && bytes.range(of: Data(stored.utf8)) == nil)
  }

  @Test func `an import waits after a restore until the first sync`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    for home in [ana, ben] { try home.waitInSync() }
    let file = place.path("sunday.backup")
    #expect(try ben.run("backup", file).code == 0)
    try ben.stop()
    #expect(try ben.run("recover", file).code == 64)
    #expect(try ben.run("recover", file, "--scope", "device", "--yes").code == 0)
    let bank = place.path("bank.csv")
    try "date,amount_minor,currency,payee\n2026-03-01,-500,EUR,Shop\n".write(
      toFile: bank, atomically: true, encoding: .utf8)
    #expect(try ben.run("import", bank).code == 75)
    try ben.start(peers: [ana])
    try ben.waitInSync()
    #expect(try ben.run("import", bank).code == 0)
  }
  @Test func `no series is posted after a restore until the first sync`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    try ana.put("recurring", "rent", "every=year", "start=2024-02-29", "end=2024-12-31", "amount_minor=-5")
    for home in [ana, ben] { try home.waitInSync() }
    let file = place.path("sunday.backup")
    #expect(try ben.run("backup", file).code == 0)
    let posted = try #require(try ana.json("recurring", "run")["posted"] as? [[String: Any]])
    let id = try #require(posted.first?["id"] as? String)
    for home in [ana, ben] { try home.waitInSync() }
    #expect(try ben.run("delete", "transaction", id).code == 0)
    for home in [ana, ben] { try home.waitInSync() }
    for home in [ana, ben] { try home.stop() }
    #expect(try ben.run("recover", file, "--scope", "device", "--yes").code == 0)
    try ben.put("recurring", "rent", "auto_post:=true")

    try ben.start()
    try eventually("the node says that it waits") { try ben.log().contains("recurring payments wait") }
    #expect(try ben.run("recurring", "run").code == 75)
    #expect(try ben.records("transaction").isEmpty)
    try ben.stop()
    try ana.start()
    try ben.start(peers: [ana])
    for home in [ana, ben] { try home.waitInSync() }

    try eventually("the partner has the series") { try ana.records("recurring")["rent"]?["auto_post"] as? Bool == true }
    #expect(try ben.run("recurring", "run").code == 0)
    for home in [ana, ben] { #expect(try home.records("transaction").isEmpty) }
  }

  @Test func `a store whose sharing is off stays so when a backup is put back`() throws {
    let place = try Place()
    let ana = place.home("ana")
    try #require(try ana.run("init", "--member", "ana", "--device", "a", "--mode", "off").code == 0)
    try ana.put("note", "n1", "title=1")
    let file = place.path("backup.sqlite")
    try ana.json("backup", file)
    try ana.put("note", "n2", "title=2")

    let answer = try ana.run("recover", file, "--scope", "device", "--yes")

    #expect(answer.code == 0, "\(answer.errors)")
    #expect(try notes(ana) == ["n1": "1"])
    #expect(try ana.json("mode")["mode"] as? String == "off")
  }

  @Test func `who was away and meets only a device that began with a snapshot keeps a copy before the two are merged`()
    throws
  {
    let place = try Place()
    let (ana, ben) = try place.pair()
    try ben.put("note", "n1", "title=before")
    for home in [ana, ben] { try home.waitInSync() }
    try ben.stop()
    try ana.put("note", "n2", "title=meanwhile")
    let cy = place.home("cy")
    try cy.join(try ana.invite("cy"))
    try cy.start(peers: [ana])
    try eventually("cy has all") { try notes(cy).count == 2 }
    try ana.stop()
    try ben.put("note", "n3", "title=offline")

    try ben.start(peers: [cy])

    try eventually("ben has what came meanwhile") { try notes(ben).count == 3 }
    let copies = try self.copies(ben)
    let copy = try #require(copies.first)
    #expect(copies.count == 1 && copy.hasSuffix("-before-resync.sqlite"), "\(copies)")
    let kept = try ben.sqlite("SELECT group_concat(id) FROM note", file: "snapshots/" + copy)
    #expect(kept == "n1,n3", "ben's own, and nothing of the snapshot")
    #expect(try self.copies(cy) == [], "who joins has nothing to copy")
  }
}
