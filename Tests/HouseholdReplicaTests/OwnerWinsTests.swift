import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("ownerWins: the writes of owners go first, by the role that each author had when he wrote (design 2.4)")
struct OwnerWinsTests {
  private static let schema = Schema(
    name: "rules", version: 1,
    types: [
      RecordType(
        name: "rule", fields: [.init("text", .text), .init("comment", .text)],
        strategies: ["text": "ownerWins"])
    ])

  private func household(_ names: String...) throws -> TestHousehold {
    let home = try TestHousehold(names[0], schema: Self.schema)
    for name in names.dropFirst() { try home.add(name) }
    try home["ann"].put("rule", "r1", [("text", .text("first")), ("comment", .text("first"))])
    for name in names.dropFirst() { try home.pull(name, from: "ann") }
    return home
  }

  private func text(_ device: TestHousehold.Device) throws -> String? { try device.fields("rule", "r1")?["text"]?.text }

  /// Writes a text at a time: later ones have greater stamps.
  private func write(_ text: String, _ field: String = "text", by device: TestHousehold.Device, minutes: Int64) throws {
    device.now = device.now.advanced(byMilliseconds: minutes * 60_000)
    try device.put("rule", "r1", [(field, .text(text))])
    // Two writes may come within one millisecond of the true clock.
    try device.access.execute("UPDATE sync_outbox SET at = at + \(minutes * 60_000)")
    try device.seal()
  }

  @Test func `an owner's write wins against a member's later one, and the member's is a conflict everywhere`() throws {
    let home = try household("ann", "bo")
    try write("ann's", by: home["ann"], minutes: 1)
    try write("bo's", by: home["bo"], minutes: 9)
    try write("ann's", "comment", by: home["ann"], minutes: 1)
    try write("bo's", "comment", by: home["bo"], minutes: 9)

    try home.settle("ann", "bo")

    #expect(try home.firstDifference("ann", "bo") == nil)
    for device in home.devices {
      let fields = try device.fields("rule", "r1")
      #expect(fields?["text"] == .text("ann's"), "\(device.name)")
      #expect(fields?["comment"] == .text("bo's"), "the other field has no such strategy")
      let lost = try device.access.conflicts(includingClosed: false).filter { $0.field == "text" }
      #expect(lost.map(\.lost.object) == [#"{"text":"bo's"}"#], "\(device.name)")
    }
  }

  @Test func `a member who has seen the owner's write overwrites it, as anyone does`() throws {
    let home = try household("ann", "bo")
    try write("ann's", by: home["ann"], minutes: 1)
    try home.settle("ann", "bo")

    try write("bo's", by: home["bo"], minutes: 2)
    try home.settle("ann", "bo")

    #expect(try text(home["ann"]) == "bo's")
    #expect(try home["ann"].access.conflicts(includingClosed: false).isEmpty)
  }

  @Test func `a later promotion does not make an earlier write an owner's`() throws {
    let home = try household("ann", "bo", "cy")
    try write("bo, a member", by: home["bo"], minutes: 9)
    try write("ann's", by: home["ann"], minutes: 1)

    try home.makeOwner("bo", by: "ann")
    try home.settle("ann", "bo", "cy")

    for device in home.devices { #expect(try text(device) == "ann's", "\(device.name)") }
    #expect(try home.firstDifference("ann", "bo", "cy") == nil)
    try write("bo, an owner", by: home["bo"], minutes: 20)
    try write("cy's", by: home["cy"], minutes: 40)
    try home.settle("ann", "bo", "cy")
    for device in home.devices { #expect(try text(device) == "bo, an owner", "\(device.name)") }
    #expect(try home.firstDifference("ann", "bo", "cy") == nil)
  }

  @Test func `when a promotion turns out to be void, what it had decided is decided anew, in every order`() throws {
    let home = try household("ann", "bo", "cy", "di")
    try home.makeOwner("bo", by: "ann")
    try home.settle("ann", "bo", "cy", "di")
    try home.setRole("cy", .owner, by: "bo")
    try home.tell("cy", from: "bo")
    try write("cy's", by: home["cy"], minutes: 1)
    try write("di's", by: home["di"], minutes: 9)
    // Di hears of the promotion and of the write before she hears of the removal that makes it void.
    try home.pull("di", from: "cy")
    #expect(try text(home["di"]) == "cy's")

    try home.remove("bo", by: "ann")
    try home.settle("ann", "cy", "di")

    for name in ["ann", "cy", "di"] {
      #expect(try text(home[name]) == "di's", "\(name): cy never was an owner, so the later write stands")
      let lost = try home[name].access.conflicts(includingClosed: false)
      #expect(lost.map(\.lost.object) == [#"{"text":"cy's"}"#], "\(name)")
    }
    #expect(try home.firstDifference("ann", "cy", "di") == nil)
  }
}
