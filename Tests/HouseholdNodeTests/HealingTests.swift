import Foundation
import Testing

/// Another program's lock and a full disk: status tells, and it heals by itself.
@Suite(.serialized, .ownThread) struct HealingTests {
  @Test func `a lock of another program is told and never in sync, and it heals`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    try ana.waitInSync()
    let holder = Process()
    holder.executableURL = URL(filePath: "/usr/bin/sqlite3")
    holder.arguments = ["\(ben.directory)/replica.sqlite"]
    let (input, output) = (Pipe(), Pipe())
    holder.standardInput = input
    holder.standardOutput = output
    try holder.run()
    input.fileHandleForWriting.write(Data(".timeout 10000\nBEGIN IMMEDIATE;\nSELECT 'locked';\n".utf8))
    #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "locked\n")
    let begun = Date()

    try ana.put("note", "n1", "title=while locked")
    var reasons: Set<String> = []
    try eventually("the lock is told", seconds: 15) {
      let (code, report) = try ben.status()
      reasons.insert(report["reason"] as? String ?? "")
      #expect(try ana.status().code != 0, "ana cannot be in sync while ben stores nothing")
      return code != 0 && Date().timeIntervalSince(begun) > 8
    }
    let blocked = try ben.run("put", "note", "n2", "title=mine")
    #expect(blocked.code == 75, "\(blocked.errors)")
    #expect(reasons.contains("databaseLocked"), "\(reasons)")
    input.fileHandleForWriting.write(Data("COMMIT;\n.quit\n".utf8))
    holder.waitUntilExit()

    try eventually("ben has the edit") { try ben.records("note")["n1"] != nil }
    for home in [ana, ben] { try home.waitInSync() }
  }

  @Test func `a full disk is told, keeps what is there, and heals`() throws {
    try #require(geteuid() == 0)
    let place = try Place()
    let disk = place.path("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    func tool(_ words: String...) throws -> Int32 {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = words
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      return process.terminationStatus
    }
    guard try tool("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", disk) == 0 else {
      print("left out: mounting a small file system is not allowed here")
      return
    }
    defer { do { _ = try tool("umount", "-l", disk) } catch { print("left \(disk): \(error)") } }
    let ana = try place.founder()
    let ben = place.home("disk/ben")
    try ben.joinAs("ben", try ana.invite("ben"))
    try ben.start(peers: [ana])
    try ana.waitInSync()

    _ = try tool("sh", "-c", "dd if=/dev/zero of=\(disk)/filler bs=4k 2>/dev/null")
    let rows = (0..<400).map { "INSERT INTO note(id, title, text) VALUES('n\($0)', 't', printf('%.4000c', 'x'));" }
    _ = try ana.sqlite("BEGIN;" + rows.joined() + "COMMIT;")
    try eventually("the full disk is told") { try ben.status().report["reason"] as? String == "diskFull" }
    #expect(try ben.status().code == 3)
    #expect(try ana.status().code != 0)
    #expect(try ben.run("list", "note").code == 0)
    try FileManager.default.removeItem(atPath: disk + "/filler")

    do {
      try eventually("all comes once there is space", seconds: 60) { try ben.records("note").count == 400 }
    } catch {
      print("ben's log: \(try ben.log().suffix(3000))\nana's log: \(try ana.log().suffix(1500))")
      print("ANA \(try ana.run("status", "--json"))\nBEN \(try ben.run("status", "--json"))")
      throw error
    }
    for home in [ana, ben] { try home.waitInSync() }
    #expect(try ben.sqlite("PRAGMA integrity_check") == "ok")
    try ben.stop()
  }
}

extension Home {
  /// Joins with another device name than the one of the directory.
  func joinAs(_ device: String, _ link: String) throws {
    let answer = try run("join", link, "--device", device, "--yes")
    try #require(answer.code == 0, "\(answer.errors)")
  }
}
