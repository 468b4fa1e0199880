import Foundation
import Testing

/// What lies on the disk is the owner's alone, and logs hold no contents.
@Suite(.serialized, .ownThread) struct SecretsTests {
  private func mode(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  @Test func `files are for the owner only, also when they were opened to others before`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    for home in [ana, ben] {
      #expect(try mode(home.directory) == 0o700)
      #expect(try mode(home.directory + "/node.sock") == 0o600)
      #expect(try mode(home.directory + "/share/device.key") == 0o600)
    }
    #expect(try mode(ana.directory + "/share/household.key") == 0o600)
    #expect(!FileManager.default.fileExists(atPath: ben.directory + "/share/household.key"))

    try ana.stop()
    #expect(!FileManager.default.fileExists(atPath: ana.directory + "/node.sock"))
    for name in ["", "/share/household.key", "/share/device.key"] { chmod(ana.directory + name, 0o755) }
    try ana.start()
    #expect(try mode(ana.directory) == 0o700)
    #expect(try mode(ana.directory + "/share/household.key") == 0o600)
    #expect(try mode(ana.directory + "/share/device.key") == 0o600)
  }

  @Test func `no record, code or key is in a log`() throws {
    let place = try Place()
    let ana = try place.founder()
    let ben = place.home("ben")
    let invitation = try ana.json("invite", "ben")
    let code = try #require(invitation["code"] as? String)
    try ben.join(try #require(invitation["link"] as? String))
    try ben.start(peers: [ana])
    try ana.put("transaction", "t1", "payee=Zanzibar Apotheke", "note=Geheimnis", "amount_minor=-987654")
    try ana.put("transaction", "t1", "payee=Zanzibar Zwei")
    try eventually("ben has it") { try ben.records("transaction")["t1"]?["payee"] as? String == "Zanzibar Zwei" }
    _ = try place.home("eve").run("join", code, "--address", ana.address, "--yes")
    let statement = place.path("Wettbuero.csv")
    try "Date,Payee,Amount\n2026-03-01,Quacksalber,-4321.98\n2026-02-30,Quacksalber,-1.00\n".write(
      toFile: statement, atomically: true, encoding: .utf8)
    #expect(try ana.run("import", statement, "--account", "Schwarzgeld").code == 0)
    try eventually("ben has the statement") { try ben.records("transaction").count == 2 }
    // What a check refuses must not be quoted either.
    _ = try ana.sqlite("UPDATE \"transaction\" SET date = 'Zanzibar' WHERE id = 't1'")
    for home in [ana, ben] { try home.stop() }

    for home in [ana, ben] {
      let log = try home.log()
      let key =
        try String(contentsOfFile: home.directory + "/share/device.key", encoding: .utf8)
        .split(separator: "\n").dropFirst().first ?? "no key"
      #expect(log.contains("peer connected"))
      for secret in [
        "Zanzibar", "Geheimnis", "987654", "Quacksalber", "4321", "Schwarzgeld", "Wettbuero", code,
        code.replacingOccurrences(of: "-", with: ""), String(key),
      ] {
        #expect(!log.contains(secret), "\(home.name)'s log holds \(secret.prefix(6))...")
      }
    }
  }
}
