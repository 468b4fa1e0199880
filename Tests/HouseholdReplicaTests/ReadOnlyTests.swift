import HouseholdRecords
import HouseholdReplica
import Testing

@Suite("Read-only: refused where it is written, and by everyone who receives it")
struct ReadOnlyTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device

  init() throws {
    home = try TestHousehold("ann", "bo")
    a = home["ann"]
    b = home["bo"]
    try a.put("category", "c1", [("name", .text("Pets"))])
    try home.settle("ann", "bo")
    try home.setRole("bo", .readOnly, by: "ann")
    try home.settle("ann", "bo")
  }

  @Test(arguments: [
    "UPDATE category SET name = 'x' WHERE id = 'c1'", "DELETE FROM category", "INSERT INTO category(id) VALUES ('c2')",
    "INSERT OR REPLACE INTO category(id, name) VALUES ('c1', 'x')",
  ])
  func `any program's SQL is refused with a sentence`(sql: String) throws {
    let error = #expect(throws: ReplicaError.self) { try b.access.execute(sql) }

    #expect(error?.code == .notAllowed)
    #expect(error?.message.hasPrefix("read-only: you may read") == true)
    #expect(try b.fields("category", "c1")?["name"] == .text("Pets"))
  }

  @Test func `repairs past the triggers are refused too`() throws {
    try a.put("category", "c1", [("name", .text("Animals"))])
    try home.settle("ann", "bo")
    var change: String?
    try b.access.history(RecordKey(type: "category", id: "c1")) { if $0.field == "name" { change = $0.change } }

    let error = #expect(throws: ReplicaError.self) { try b.replica.revert(change ?? "", now: b.now) }

    #expect(error?.code == .notAllowed)
  }

  @Test func `what others write goes on to show`() throws {
    try a.put("category", "c1", [("name", .text("Animals"))])
    try a.delete("category", "c1")
    try a.put("category", "c2", [("name", .text("Food"))])
    try home.settle("ann", "bo")

    #expect(try home.firstDifference("ann", "bo") == nil)
  }

  @Test func `a program that took the triggers away changes nothing for anyone`() throws {
    for event in ["insert", "update", "delete"] {
      try b.access.execute("DROP TRIGGER \"sync_protect_category_\(event)\"")
    }
    try b.put("category", "c1", [("name", .text("forged"))])
    try b.put("category", "c2", [("name", .text("forged"))])
    try home.settle("ann", "bo")

    #expect(try a.fields("category", "c1")?["name"] == .text("Pets"))
    #expect(try a.fields("category", "c2") == nil)
    #expect(try a.access.rejected().count == 1)
    #expect(try b.fields("category", "c1")?["name"] == .text("Pets"), "its own tables say what counts")
    #expect(try b.access.rejected().first?.isOwn == true)
    try a.put("category", "c3", [("name", .text("later"))])
    try home.settle("ann", "bo")
    #expect(try home.firstDifference("ann", "bo") == nil)
  }

  @Test func `a promotion lifts the protection`() throws {
    try home.setRole("bo", .member, by: "ann")
    try home.settle("ann", "bo")

    try b.put("category", "c1", [("name", .text("by bo"))])
    try home.settle("ann", "bo")

    #expect(try a.fields("category", "c1")?["name"] == .text("by bo"))
  }

  @Test func `edits made before the demotion was heard of are kept aside, not lost`() throws {
    try home.setRole("bo", .member, by: "ann")
    try home.settle("ann", "bo")
    try b.put("category", "c1", [("name", .text("unsealed"))])
    try home.setRole("bo", .readOnly, by: "ann")

    try home.settle("ann", "bo")

    #expect(try a.access.rejected().flatMap(\.edits).map(\.id) == ["c1"])
    #expect(try b.fields("category", "c1")?["name"] == .text("Pets"))
    #expect(try home.firstDifference("ann", "bo") == nil)
  }
}
