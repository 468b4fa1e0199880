import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Tables that other programs make anew")
struct RebuiltTableTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device

  init() throws {
    home = try TestHousehold("alex", "sam")
    (a, b) = (home["alex"], home["sam"])
    try a.put("category", "c1", [("name", .text("Garden")), ("sort", .integer(1)), ("note", .text("roses"))])
    try a.put("category", "c2", [("name", .text("Car")), ("note", .text("blue"))])
    try b.put("category", "c3", [("name", .text("Pets"))])
    try home.sync("alex", "sam")
    try b.put("category", "c1", [("sort", .integer(2))])
    try home.sync("alex", "sam")
  }

  /// New table, rows copied, old one dropped, and the new one under its name.
  private func rebuild(_ kind: String = "STRICT, WITHOUT ROWID") throws {
    try a.access.execute(
      """
      CREATE TABLE anew(id TEXT PRIMARY KEY NOT NULL, name TEXT, sort INTEGER, note TEXT) \(kind);
      INSERT INTO anew SELECT id, name, sort, note FROM category;
      DROP TABLE category; ALTER TABLE anew RENAME TO category
      """)
  }

  private func facts() throws -> StatusFacts {
    try StatusFacts.read(path: a.path, cryptography: OpenSSLCryptography())
  }

  @Test(arguments: ["STRICT, WITHOUT ROWID", "", "STRICT"], [false, true])
  func `is captured again, and so is what was written meanwhile`(kind: String, restarts: Bool) throws {
    try rebuild(kind)
    #expect(try facts().damagedTables == ["category": .uncaptured])
    try a.access.execute(
      """
      INSERT INTO category(id, name) VALUES ('c4', 'Boat');
      UPDATE category SET note = 'tulips' WHERE id = 'c1';
      DELETE FROM category WHERE id = 'c2'
      """)
    if restarts { try a.restart() }

    #expect(try a.seal())
    #expect(try facts().damagedTables == [:])
    try home.sync("alex", "sam")
    #expect(try b.fields("category", "c1") == ["name": .text("Garden"), "sort": .integer(2), "note": .text("tulips")])
    #expect(try b.fields("category", "c2") == nil)
    #expect(try b.fields("category", "c4")?["name"] == .text("Boat"))
    #expect(try home.difference("alex", "sam") == nil)

    // Each edit is captured by itself again, an id is made, and a value of the wrong kind is refused.
    try a.access.execute("INSERT INTO category(name) VALUES ('Roof'); UPDATE category SET sort = 5 WHERE id = 'c3'")
    #expect(throws: ReplicaError.self) { try a.access.execute("UPDATE category SET sort = 'x'") }
    try b.replica.restore(RecordKey(type: "category", id: "c2"), now: b.now)
    try home.sync("alex", "sam")
    #expect(try a.fields("category", "c2") == ["name": .text("Car"), "sort": .null, "note": .text("blue")])
    #expect(try b.fields("category", "c3")?["sort"] == .integer(5))
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `nothing is sealed of a table that was made anew and says the same`() throws {
    try rebuild()
    let before = try a.replica.vectors().applied

    try a.seal()

    #expect(try a.replica.vectors().applied == before)
    #expect(try a.replica.unsealedCount() == 0)
    #expect(try a.seal() == false)
  }

  @Test func `an edit that was captured before and one after are both sealed`() throws {
    try a.put("category", "c1", [("name", .text("Yard"))])
    try rebuild()
    try a.access.execute("UPDATE category SET note = 'tulips' WHERE id = 'c1'")

    try home.sync("alex", "sam")

    let expected: [String: FieldValue] = ["name": .text("Yard"), "sort": .integer(2), "note": .text("tulips")]
    #expect(try b.fields("category", "c1") == expected)
    #expect(try a.fields("category", "c1") == expected)
  }

  @Test func `a table that lacks a column, or whose rows do not fit, is left alone and named`() throws {
    try a.access.execute("ALTER TABLE letter RENAME COLUMN e TO f")
    try a.access.execute(
      """
      DROP TABLE category; CREATE TABLE category(id TEXT, name TEXT, sort INTEGER, note TEXT);
      INSERT INTO category VALUES ('c1', 'Garden', 'many', NULL)
      """)

    try a.seal()

    #expect(try facts().damagedTables == ["letter": .incomplete, "category": .uncaptured])
    #expect(try a.access.count(a.type("category")) == 1)
    try a.put("level", "v1", [("high", .integer(3))])
    try home.sync("alex", "sam")
    #expect(try b.fields("level", "v1")?["high"] == .integer(3))
    #expect(try b.fields("category", "c2") != nil)
  }
}
