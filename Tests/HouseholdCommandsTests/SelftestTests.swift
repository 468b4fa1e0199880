import Testing

struct SelftestTests {
  @Test func `selftest plays the one household of a seed and says that it passed`() async throws {
    let desk = try Desk()

    let answer = await desk.run("selftest", "--seed", "7", "--json")

    let document = try answer.document()
    #expect(answer.code == 0)
    #expect(document["passed"] as? Int == 1)
    #expect(document["failed"] as? Int == 0)
    #expect(document["firstSeed"] as? Int == 7)
    #expect((document["events"] as? Int ?? 0) > 100)
  }
}
