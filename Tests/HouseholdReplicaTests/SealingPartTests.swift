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
    for value in ["1", "2", "3"] { try a.put("letter", "x", [("e", .text(value))]) }
    try home.sync("alex", "sam")

    for device in [a, b] {
      let fields = try device.fields("letter", "x")
      #expect(fields?["a"] == .text("by alex"), "\(device.name)")
      #expect(fields?["c"] == .text("generated") && fields?["d"] == .text("generated"), "\(device.name)")
    }
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test(arguments: [1, 2, 3, 5], 1...5)
  func `what was written over in any part comes back as it was when the writer had no right to`(rows: Int, seed: Int)
    throws
  {
    var dice = Dice(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
    let home = try TestHousehold("ann")
    let ann = home["ann"]
    for _ in 0..<12 { try dice.edit(ann) }
    try ann.seal()
    // Bo's log holds nothing of before, so that what was written over is only where he has put it.
    let bo = try home.add("bo", needsSnapshot: true)
    try home.adoptSnapshot("bo", from: "ann")
    bo.replica.rowsSealedAtOnce = rows
    try bo.access.transaction {
      for _ in 0..<60 { try dice.edit(bo) }
    }
    _ = try bo.access.generating { for _ in 0..<3 { try dice.edit(bo) } }
    for _ in 0..<4 { try dice.edit(bo) }
    // Pauses cut them too.
    try bo.access.execute("UPDATE sync_outbox SET at = at + number / 3 * 2000")
    try bo.seal()

    try home.setRole("bo", .readOnly, by: "ann")
    try home.tell("bo", from: "ann")

    #expect(try home.difference("ann", "bo") == nil)
    for type in TestHousehold.schema.types {
      for id in ["a", "b", "c"] {
        let key = RecordKey(type: type.name, id: id)
        #expect(try bo.replica.state(of: key) == ann.replica.state(of: key), "\(key)")
      }
    }
  }
}
