import Testing

/// `compact` on a household of one device, without a node.
struct CompactCommandTests {
  @Test func `compact keeps what may still be restored, unless it is told otherwise`() async throws {
    let desk = try await Desk.withHousehold()
    #expect(await desk.run("put", "note", "n1", "title=secret").code == 0)
    // It seals first, as a node does.
    #expect(await desk.run("compact").code == 0)
    #expect(await desk.run("delete", "note", "n1").code == 0)

    let kept = try await desk.run("compact", "--json").document()
    #expect((kept["log"] as? [String: Any])?["collected"] as? Int == 0)
    #expect((kept["deleted"] as? [String: [String: Int]])?["kept"] == ["inLog": 1])
    #expect(await desk.run("restore", "note", "n1").code == 0)
    #expect(await desk.run("compact").code == 0)
    #expect(await desk.run("delete", "note", "n1").code == 0)

    let done = try await desk.run("compact", "--keep", "0s", "--json").document()
    #expect((done["deleted"] as? [String: [String: Int]])?["collected"] == ["note": 1])
    #expect((done["blockers"] as? [Any])?.isEmpty == true)
    let refused = await desk.run("restore", "note", "n1")
    #expect(refused.code == 1)
    #expect(refused.errors.contains("compact has collected its values"))
    #expect(await desk.run("put", "note", "n1", "title=new").code == 0)
    #expect(try await desk.records("note")["n1"]?["title"] as? String == "new")
    let history = await desk.run("history", "note", "n1")
    #expect(history.code == 0)
  }

  @Test func `compact says in words what it did and what it kept`() async throws {
    let desk = try await Desk.withHousehold()
    #expect(await desk.run("put", "note", "n1", "title=one").code == 0)

    let none = await desk.run("compact")
    let some = await desk.run("compact", "--keep", "0s")

    #expect(none.output.hasPrefix("No change in the log may go yet"))
    #expect(some.output.contains("went from the log"))
    #expect(await desk.run("compact", "--keep", "soon").code == 64)
  }
}
