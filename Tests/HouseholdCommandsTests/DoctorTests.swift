import Foundation
import Testing

/// `doctor`, `parked` and `quarantine` on a household without a node.
struct DoctorTests {
  private struct Check {
    var area: String
    var name: String
    var state: String
    var remedy: String
  }

  private func checks(_ answer: Desk.Answer) throws -> [Check] {
    let list = try #require(try answer.document()["checks"] as? [[String: Any]])
    return list.map { check in
      Check(
        area: check["area"] as? String ?? "", name: check["check"] as? String ?? "",
        state: check["state"] as? String ?? "", remedy: check["remedy"] as? String ?? "")
    }
  }

  @Test func `a fresh household lacks nothing but its node`() async throws {
    let desk = try await Desk.withHousehold()

    let answer = await desk.run("doctor", "--verify", "--json")

    #expect(answer.code == 1)
    #expect(try answer.document()["ok"] as? Bool == false)
    let made = try checks(answer)
    #expect(made.filter { $0.state == "failed" }.map(\.name) == ["nodeNotRunning"])
    #expect(
      Set(made.map(\.area)) == ["disk", "certificates", "replica", "membership", "schema", "clock", "network"])
    #expect(made.allSatisfy { $0.remedy.isEmpty == ($0.state != "failed") })
  }

  @Test func `where sharing is off no node is missed`() async throws {
    let desk = try Desk()
    let made = await desk.run("init", "Home", "--mode", "off")
    try #require(made.code == 0, "\(made.errors)")

    let answer = await desk.run("doctor", "--json")

    #expect(answer.code == 0)
    #expect(try checks(answer).filter { $0.area == "network" }.map(\.name) == ["off"])
  }

  @Test func `for people the first that fails is explained with the next step`() async throws {
    let desk = try await Desk.withHousehold()

    let answer = await desk.run("doctor")

    #expect(
      answer.output == "wrong: No node is running here, so nothing is exchanged.\n  next: Start it: household node\n")
  }

  @Test func `a key that others can read is found before what comes after it`() async throws {
    let desk = try await Desk.withHousehold()
    let key = desk.path("home/share/device.key")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)

    let made = try checks(await desk.run("doctor", "--json"))

    #expect(made.filter { $0.state == "failed" }.map(\.name) == ["keyMode"])
    #expect(!made.contains { $0.area == "network" })
  }

  @Test func `a key that is gone is found`() async throws {
    let desk = try await Desk.withHousehold()
    try FileManager.default.removeItem(atPath: desk.path("home/share/device.key"))

    let made = try checks(await desk.run("doctor", "--json"))

    #expect(made.filter { $0.state == "failed" }.map(\.name) == ["keys"])
  }

  @Test func `a file that is no replica is found, and nothing crashes over it`() async throws {
    let desk = try await Desk.withHousehold()
    let replica = desk.path("home/replica.sqlite")
    for ending in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: replica + ending) {
      try FileManager.default.removeItem(atPath: replica + ending)
    }
    try Data(repeating: 7, count: 8192).write(to: URL(filePath: replica))

    let answer = await desk.run("doctor", "--verify", "--json")

    #expect(answer.code == 1)
    #expect(try checks(answer).contains { $0.area == "replica" && $0.state == "failed" })
  }

  @Test func `where there is no household that is said`() async throws {
    let desk = try Desk()

    let answer = await desk.run("doctor", "--json")

    #expect(answer.code == 1)
    #expect((try answer.document()["error"] as? [String: Any])?["code"] as? String == "noHousehold")
  }

  @Test func `a peer that is not known is an error`() async throws {
    let desk = try await Desk.withHousehold()

    let answer = await desk.run("doctor", "--peer", "zoe", "--json")

    #expect((try answer.document()["error"] as? [String: Any])?["code"] as? String == "notFound")
  }

  @Test(arguments: ["parked", "quarantine"]) func `nothing that does not show is listed`(word: String) async throws {
    let desk = try await Desk.withHousehold()

    let answer = await desk.run(word, "--json")

    #expect(answer.code == 0)
    #expect((try answer.document()[word] as? [Any])?.isEmpty == true)
  }
}
