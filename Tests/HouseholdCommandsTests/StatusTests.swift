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
}
