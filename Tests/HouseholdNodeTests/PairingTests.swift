import Foundation
import HouseholdSync
import HouseholdTrust
import Testing

/// Invitations and joins as they go wrong.
@Suite(.serialized, .ownThread) struct PairingTests {
  /// Codes of which one character is another one: with the check character as it was, and with the one that fits.
  private func codes(like code: String) throws -> (slip: String, wrong: String) {
    var characters = Array(code.filter { $0 != "-" })
    characters[3] = characters[3] == "7" ? "8" : "7"
    let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U")
    var number: UInt64 = 0
    for character in characters.dropLast() {
      number = number << 5 | UInt64(try #require(digits.firstIndex(of: character)))
    }
    return (String(characters), String(characters.dropLast() + [digits[Int(number % 37)]]))
  }

  @Test func `a slip does not count, a wrong code does, and the third locks also across a restart`() throws {
    let place = try Place()
    let ana = try place.founder()
    let invitation = try ana.json("invite", "ben")
    let code = try #require(invitation["code"] as? String)
    let ben = place.home("ben")
    let (slip, wrong) = try codes(like: code)
    func join(_ code: String) throws -> Answer {
      try ben.run("join", code, "--address", ana.address, "--yes")
    }

    for _ in 0..<4 {
      let answer = try join(slip)
      #expect(answer.code == 1 && !answer.errors.contains("wrong try"), "\(answer.errors)")
    }
    for _ in 0..<2 {
      let answer = try join(wrong)
      #expect(answer.code == 1 && answer.errors.lowercased().contains("wrong"), "\(answer.errors)")
    }
    #expect((try ana.json("invitations")["invitations"] as? [Any])?.count == 1)
    try ana.stop()
    try ana.start()
    #expect(try join(wrong).code == 1)
    #expect((try ana.json("invitations")["invitations"] as? [Any])?.isEmpty == true, "the third try locks")
    try ana.stop()
    try ana.start()
    let locked = try join(code)
    #expect(locked.code == 1 && locked.errors.lowercased().contains("lock"), "\(locked.errors)")
    #expect(!FileManager.default.fileExists(atPath: ben.directory))

    try ben.join(try ana.invite("ben"))
  }

  @Test func `who waits for an invitation is told what became of it`() throws {
    let place = try Place()
    let ana = try place.founder()
    func open() throws -> [String] {
      let list = try #require(try ana.json("invitations")["invitations"] as? [[String: Any]])
      return list.compactMap { $0["code"] as? String }
    }
    /// Invites, does something, and gives what the waiting command came to.
    func fate(_ name: String, _ act: (String) throws -> Void) throws -> (code: Int32, errors: String) {
      let words = ["invite", name, "--wait", "--data-dir", ana.directory]
      let process = try Program.start(words, folder: place.folder, name: "wait-\(name)")
      try eventually("the invitation is open") { try !open().isEmpty }
      try act(try #require(try open().first))
      try eventually("the command ends") { !process.isRunning }
      return (process.terminationStatus, try String(contentsOfFile: place.path("wait-\(name).err"), encoding: .utf8))
    }

    let cancelled = try fate("zoe") { try ana.json("invitations", "cancel", $0) }
    let locked = try fate("kim") { code in
      let wrong = try codes(like: code).wrong
      for _ in 0..<3 { _ = try place.home("kim").run("join", wrong, "--address", ana.address, "--yes") }
    }
    let used = try fate("ben") { code in
      let joined = try place.home("ben").run("join", code, "--address", ana.address, "--yes")
      try #require(joined.code == 0, "\(joined.errors)")
    }

    #expect(cancelled.code == 1 && cancelled.errors.contains("was cancelled"), "\(cancelled)")
    #expect(locked.code == 1 && locked.errors.contains("is locked"), "\(locked)")
    #expect(used.code == 0 && used.errors.contains("is used"), "\(used)")
    let lower = try ana.run("invite", "ben", "--read-only")
    #expect(lower.code == 1 && lower.errors.contains("household demote"), "\(lower.errors)")
    #expect(try ana.run("invite", "ben").code == 0)
  }

  @Test func `used, expired and cancelled invitations are refused with that word`() throws {
    let place = try Place()
    let ana = try place.founder()
    func refusal(_ link: String, _ name: String) throws -> String {
      let answer = try place.home(name).run("join", link, "--device", "d", "--yes")
      #expect(answer.code == 1)
      return answer.errors.lowercased()
    }
    let used = try ana.invite("ben")
    try place.home("ben").join(used)
    let expired = try ana.invite("kim", "--expires", "1ms")
    let cancelled = try ana.json("invite", "zoe")
    let code = try #require(cancelled["code"] as? String)
    #expect(try ana.run("invitations", "cancel", code).code == 0)
    #expect(try ana.run("invitations", "cancel", code).code == 1)

    #expect(try refusal(used, "second").contains("used"))
    #expect(try refusal(expired, "kim").contains("expired"))
    #expect(try refusal(try #require(cancelled["link"] as? String), "zoe").contains("cancelled"))
  }

  @Test func `a guest without the key of the share cannot invite, and says so with 77`() throws {
    let place = try Place()
    let (_, ben) = try place.pair()

    let answer = try ben.run("invite", "kim", "--json")

    #expect(answer.code == 77)
    #expect((try answer.document()["error"] as? [String: Any])?["code"] as? String == "notAllowed")
  }

  @Test func `other names than the invited, and names that cannot be shown, are refused`() throws {
    let place = try Place()
    let ana = try place.founder()
    let link = try ana.invite("ben")
    let ben = place.home("ben")

    let other = try ben.run("join", link, "--member", "kim", "--yes")
    #expect(other.code == 1 && other.errors.contains("ben"), "\(other.errors)")
    let device = try ben.run("join", link, "--device", "a\u{1B}[2Jb", "--yes")
    #expect(device.code != 0 && !device.errors.contains("\u{1B}"), "\(device.errors)")
    let member = try ana.run("invite", "a\nb")
    #expect(member.code != 0 && !member.errors.contains("a\nb"), "\(member.errors)")
    #expect(!FileManager.default.fileExists(atPath: ben.directory))
    #expect(!FileManager.default.fileExists(atPath: ben.directory + ".joining"))
    let unasked = try ben.run("join", link)
    #expect(unasked.code != 0 && unasked.errors.contains("--yes"), "\(unasked.errors)")

    try ben.join(link)
  }

  @Test func `the same member and device name again replaces that device`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    try ben.put("note", "n1", "title=from the old device")
    try eventually("ana has it") { try ana.records("note")["n1"] != nil }
    try ben.stop()
    let again = place.home("ben-again")
    let answer = try again.run("join", try ana.invite("ben"), "--device", "ben-laptop", "--yes")
    #expect(answer.code == 0, "\(answer.errors)")
    try again.start(peers: [ana])

    try eventually("the new device has all") { try again.records("note")["n1"] != nil }
    let members = try #require(try ana.json("members")["members"] as? [[String: Any]])
    let bens = try #require(members.first { $0["name"] as? String == "ben" }?["devices"] as? [[String: Any]])
    #expect(bens.filter { $0["state"] as? String == "active" }.count == 1)
    #expect(members.count == 2)
    try again.put("note", "n1", "title=from the new device")
    try eventually("ana has the new device's edit") {
      try ana.records("note")["n1"]?["title"] as? String == "from the new device"
    }
    try ana.waitInSync()
  }

  @Test func `a guest that is killed leaves nothing that could be taken for a household, and can go on`() throws {
    let place = try Place()
    let ana = try place.founder()
    try ana.put("note", "n1", "title=hello")
    // Moments of the join, from its start to after its end.
    for (turn, milliseconds) in [20, 60, 100, 140, 200, 300].enumerated() {
      let guest = place.home("guest\(turn)")
      let link = try ana.invite(guest.name)
      let words = ["--data-dir", guest.directory, "join", link, "--device", "d", "--yes"]
      let process = try Program.start(words, folder: place.folder, name: "killed\(turn)")
      usleep(UInt32(milliseconds) * 1000)
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()

      if !FileManager.default.fileExists(atPath: guest.directory) {
        let again = try guest.run("join", link, "--device", "d", "--yes")
        if again.code != 0 { try guest.join(try ana.invite(guest.name)) }
      }
      try guest.start(peers: [ana])
      try eventually("guest \(turn) has the records") { try guest.records("note")["n1"] != nil }
      #expect(!FileManager.default.fileExists(atPath: guest.directory + ".joining"))
      try guest.stop()
    }
    let members = try #require(try ana.json("members")["members"] as? [[String: Any]])
    for member in members {
      let devices = try #require(member["devices"] as? [[String: Any]])
      #expect(devices.filter { $0["state"] as? String == "active" }.count == 1, "\(member["name"] ?? "")")
    }
  }

  @Test func `what a killed join left is taken away, and a confirmed join is finished`() throws {
    let place = try Place()
    let ana = try place.founder()
    let ben = place.home("ben")
    let files = FileManager.default
    let staging = ben.directory + ".joining"
    try files.createDirectory(atPath: staging + "/share", withIntermediateDirectories: true)
    try Data("half".utf8).write(to: URL(filePath: staging + "/share/device.key"))
    let link = try ana.invite("ben")
    try ben.join(link)
    #expect(!files.fileExists(atPath: staging))

    // As it was before the last step: everything is stored, the mark tells for which code.
    let code = try InvitationLink(link).code
    let mark = OpenSSLCryptography().sha256(Array("household-joining/1".utf8) + code.secret)
    try files.moveItem(atPath: ben.directory, toPath: staging)
    try Data(mark).write(to: URL(filePath: staging + "/joining"))
    try ben.join(link)
    #expect(!files.fileExists(atPath: staging) && !files.fileExists(atPath: ben.directory + "/joining"))
    try ana.put("note", "n1", "title=hello")
    try ben.start(peers: [ana])
    try eventually("ben has the records") { try ben.records("note")["n1"] != nil }
  }

  @Test func `a host that is killed while a guest joins leaves no half pair`() throws {
    let place = try Place()
    let ana = try place.founder()
    for (turn, milliseconds) in [60, 120, 200].enumerated() {
      let guest = place.home("guest\(turn)")
      let link = try ana.invite(guest.name)
      let words = ["--data-dir", guest.directory, "join", link, "--device", "d", "--yes"]
      let process = try Program.start(words, folder: place.folder, name: "left\(turn)")
      usleep(UInt32(milliseconds) * 1000)
      ana.kill()
      try eventually("the guest ends", seconds: 35) { !process.isRunning }
      try ana.start()
      if !FileManager.default.fileExists(atPath: guest.directory) {
        // The node has another port now: the old link does not lead there.
        try guest.join(try ana.invite(guest.name))
      }
      try guest.start(peers: [ana])
      try ana.put("note", "n\(turn)", "title=hello")
      try eventually("guest \(turn) has the records") { try guest.records("note")["n\(turn)"] != nil }
      try guest.stop()
    }
  }
}
