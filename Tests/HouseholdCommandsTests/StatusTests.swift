import Foundation
import Testing

/// `status` for people, and what a file of another program's makes it say.
struct StatusTests {
  @Test func `for people every finding is told once, with its next step, also where nobody else is in yet`()
    async throws
  {
    let desk = try await Desk.withHousehold()
    _ = await desk.run("put", "note", "n1", "title=first")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: desk.path("home"))

    let told = await desk.run("status").output
    let findings = try #require(try await desk.run("status", "--json").document()["findings"] as? [[String: Any]])

    #expect(findings.compactMap { $0["code"] as? String } == ["directoryMode", "nodeNotRunning", "unsealed"])
    for finding in findings {
      for part in ["summary", "remedy"] {
        let sentence = try #require(finding[part] as? String)
        #expect(told.components(separatedBy: sentence).count == 2, "\(sentence) in \(told)")
      }
    }
    #expect(told.hasPrefix("broken: No node is running here"))
  }

  /// Puts the version of the file's layout to one that is still to come.
  private func makeNewer(_ desk: Desk) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/sqlite3")
    process.arguments = [desk.path("home/replica.sqlite"), "PRAGMA user_version = 1000"]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  @Test func `a file of a newer version is named as what is wrong, and nothing is written into it`() async throws {
    let desk = try await Desk.withHousehold()
    try makeNewer(desk)

    let status = try await desk.run("status", "--json").document()
    #expect(status["verdict"] as? String == "broken" && status["reason"] as? String == "newerVersion")
    #expect((status["remedy"] as? String)?.contains("Update household") == true)
    let doctor = await desk.run("doctor")
    #expect(doctor.code == 1 && doctor.output.contains("newer version") && doctor.output.contains("Update household"))
    let file = desk.path("copy.backup")
    for words in [["put", "note", "n1", "title=x"], ["list", "note"], ["backup", file]] {
      let answer = await desk.run(words + ["--json"])
      let error = try #require(try answer.document()["error"] as? [String: Any], "\(words)")
      #expect(answer.code == 1, "\(words)")
      #expect((error["message"] as? String)?.contains("replica.sqlite was written by a newer version") == true)
      #expect((error["remedy"] as? String)?.contains("Update household") == true, "\(words): \(error)")
    }
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test func `a directory that cannot be looked into is not one without a household`() async throws {
    let desk = try Desk()
    try FileManager.default.createSymbolicLink(atPath: desk.path("home"), withDestinationPath: desk.path("home"))

    for word in ["status", "doctor", "members"] {
      let answer = await desk.run(word, "--json")
      let error = try #require(try answer.document()["error"] as? [String: Any])
      #expect(answer.code == 1)
      #expect(error["code"] as? String == "dataDirectory", "\(error)")
      #expect((error["message"] as? String)?.contains("symbolic links") == true, "\(error)")
    }
  }
}
