import HouseholdRecords
import Testing

@Suite("A device that belongs no longer is told that and little else (P4)")
struct MembershipNewsTests {
  /// What Bo's device is told, who has all entries but those from a number on.
  private func news(_ home: MembershipHousehold, for device: String = "bo", of member: String, from number: Int) throws
    -> [EntryHash]
  {
    let log = try home.log()
    let hashes = home.entries.map { SignedEntry(bytes: $0).hash(home.cryptography) }
    let news = log.news(ending: home.device(device), of: home.member(member), known: Set(hashes.prefix(number)))
    return hashes.filter(news.contains)
  }

  @Test func `it gets the entry that ended it, with what this names, and nothing that came later or beside it`() throws
  {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", by: "ann", after: [home.begin()])
    let known = home.entries.count
    let laptop = home.admit("Ann", on: "laptop", by: "ann", after: [bo])
    _ = home.setRole("Bo", .readOnly, by: "laptop", after: [laptop])
    let schema = home.write("ann", after: [bo], .schema(Schema(name: "s", version: 1, types: [])))
    let removal = home.remove("Bo", by: "ann", after: [schema])
    _ = home.admit("Cy", on: "cy", by: "ann", after: [removal])

    #expect(try news(home, of: "Bo", from: known) == [schema, removal])
    #expect(try news(home, of: "Bo", from: home.entries.count).isEmpty, "who has all gets nothing")
  }

  @Test func `a device that another one took the place of gets that join`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "old", by: "ann", after: [home.begin()])
    let known = home.entries.count
    let invite = home.invite("Bo", by: "ann", after: [bo])
    let join = home.join("new", with: invite, by: "ann", replacing: ["old"])
    home.write("ann", after: [join], .schema(Schema(name: "s", version: 1, types: [])))

    #expect(try news(home, for: "old", of: "Bo", from: known) == [invite, join])
  }

  @Test func `whoever would not believe that entry alone gets all that he lacks`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", as: .owner, by: "ann", after: [home.begin()])
    let cy = home.admit("Cy", on: "cy", as: .owner, by: "ann", after: [bo])
    // For Bo his own removal of Cy voids Cy's of him, until he hears that Ann had taken the right to it from him.
    _ = home.remove("Cy", by: "bo", after: [cy])
    let known = home.entries.count
    let removal = home.remove("Bo", by: "cy", after: [cy])
    let demotion = home.setRole("Bo", .member, by: "ann", after: [cy])
    let schema = home.write("ann", after: [demotion], .schema(Schema(name: "s", version: 1, types: [])))

    #expect(try news(home, of: "Bo", from: known) == [removal, demotion, schema])
  }

  @Test(arguments: [Limits.endsTold - 1, Limits.endsTold])
  func `of more entries about it than are looked at it gets all that it lacks`(others: Int) throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", by: "ann", after: [home.begin()])
    let cy = home.admit("Cy", on: "cy", by: "ann", after: [bo])
    let known = home.entries.count
    // Cy is no owner: what he says of Bo has no effect.
    let void = (0..<others).map { _ in home.remove("Bo", by: "cy", after: [cy]) }
    let schema = home.write("ann", after: [cy], .schema(Schema(name: "s", version: 1, types: [])))
    let removal = home.remove("Bo", by: "ann", after: [schema])

    let expected = others < Limits.endsTold ? [schema, removal] : void + [schema, removal]
    #expect(try news(home, of: "Bo", from: known) == expected)
  }
}
