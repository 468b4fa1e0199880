import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

/// From 20,000 captured edits on they are sealed in parts. Here a part is one edit.
@Suite("Edits that are sealed in parts say the same as those sealed in one go")
struct SealingPartTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device

  init() throws {
    home = try TestHousehold("alex", "sam")
    a = home["alex"]
    b = home["sam"]
    try a.put("letter", "x", [("a", .text("1")), ("b", .text("2"))])
    try home.sync("alex", "sam")
    a.replica.rowsSealedAtOnce = 1
  }

  @Test func `a replacement is one edit, and a concurrent edit of another field stands`() throws {
    try a.access.execute("INSERT OR REPLACE INTO letter(id, a, b) VALUES ('x', 'new', '2')")
    try b.put("letter", "x", [("b", .text("by sam"))])
    try home.sync("alex", "sam")

    for device in [a, b] {
      #expect(try device.fields("letter", "x")?["a"] == .text("new"))
      #expect(try device.fields("letter", "x")?["b"] == .text("by sam"))
    }
  }

  @Test func `a transaction ends although what was to follow came to nothing`() throws {
    try a.access.transaction {
      try a.put("letter", "x", [("a", .text("new"))])
      try a.put("letter", "y", [("a", .text("made"))])
      try a.delete("letter", "y")
    }
    try home.sync("alex", "sam")

    #expect(try b.fields("letter", "x")?["a"] == .text("new"))
    #expect(try b.replica.vectors().applied == a.replica.vectors().applied)
  }

  @Test func `a value is sealed as it was before later parts deleted the record or a machine changed it`() throws {
    try a.put("letter", "y", [("a", .text("1"))])
    try a.seal()
    try a.access.execute("INSERT INTO letter(id, a) VALUES ('y', '2') ON CONFLICT(id) DO UPDATE SET a = '2'")
    try a.delete("letter", "y")
    try a.put("letter", "x", [("a", .text("by alex"))])
    _ = try a.access.generating { try a.put("letter", "x", [("a", .text("generated"))]) }
    try home.sync("alex", "sam")

    for device in [a, b] { #expect(try device.fields("letter", "x")?["a"] == .text("by alex"), "\(device.name)") }
    try b.replica.restore(RecordKey(type: "letter", id: "y"), now: b.now)
    try home.sync("alex", "sam")
    for device in [a, b] { #expect(try device.fields("letter", "y")?["a"] == .text("2"), "\(device.name)") }
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `a generated value that waits in the row for a later part is not taken for the person's`() throws {
    try a.access.execute(
      "INSERT INTO letter(id, a) VALUES ('x', 'by alex') ON CONFLICT(id) DO UPDATE SET a = 'by alex'")
    while try a.seal() {}
    _ = try a.access.generating { try a.put("letter", "x", [("a", .text("generated")), ("c", .text("generated"))]) }
    _ = try a.access.generating { try a.put("letter", "x", [("d", .text("generated"))]) }
    try home.sync("alex", "sam")

    for device in [a, b] {
      let fields = try device.fields("letter", "x")
      #expect(fields?["a"] == .text("by alex"), "\(device.name)")
      #expect(fields?["c"] == .text("generated") && fields?["d"] == .text("generated"), "\(device.name)")
    }
    #expect(try home.difference("alex", "sam") == nil)
  }
}
