import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Merge of what two devices wrote")
struct MergeTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device
  let c: TestHousehold.Device

  init() throws {
    home = try TestHousehold("alex", "sam", "kim")
    a = home["alex"]
    b = home["sam"]
    c = home["kim"]
  }

  func start() throws {
    try a.put(
      "transaction", "t1",
      [("date", .text("2026-03-01")), ("amount_minor", .integer(-100)), ("currency", .text("EUR"))])
    try settle()
  }

  func settle() throws {
    for _ in 0..<2 {
      try home.sync("alex", "sam")
      try home.sync("sam", "kim")
      try home.sync("alex", "kim")
    }
    #expect(try home.difference("alex", "sam") == nil)
    #expect(try home.difference("alex", "kim") == nil)
  }

  @Test func `edits of different fields both survive`() throws {
    try start()
    try a.put("transaction", "t1", [("payee", .text("Café"))])
    try b.put("transaction", "t1", [("note", .text("with Kim"))])
    try settle()

    #expect(try c.fields("transaction", "t1")?["payee"] == .text("Café"))
    #expect(try c.fields("transaction", "t1")?["note"] == .text("with Kim"))
  }

  @Test func `an amount and its currency win or lose together`() throws {
    try start()
    try a.put("transaction", "t1", [("amount_minor", .integer(-150_000)), ("currency", .text("JPY"))])
    try b.put("transaction", "t1", [("amount_minor", .integer(-1234))])
    try settle()

    let fields = try #require(try a.fields("transaction", "t1"))
    let pair = [fields["amount_minor"], fields["currency"]]
    #expect(pair == [.integer(-150_000), .text("JPY")] || pair == [.integer(-1234), .text("EUR")])
  }

  @Test func `a later edit wins whatever the clocks say`() throws {
    try start()
    b.now = b.now.advanced(byMilliseconds: 10 * 365 * 86_400_000)
    try b.put("transaction", "t1", [("note", .text("from the future"))])
    try b.access.execute("UPDATE sync_outbox SET at = at + 315360000000")
    try settle()
    try a.put("transaction", "t1", [("note", .text("corrected"))])
    try settle()

    #expect(try b.fields("transaction", "t1")?["note"] == .text("corrected"))
  }

  @Test func `a concurrent deletion wins, and the edit is kept beside it`() throws {
    try start()
    try a.delete("transaction", "t1")
    try b.put("transaction", "t1", [("note", .text("insurance pays half"))])
    try settle()

    #expect(try c.fields("transaction", "t1") == nil)
    let state = try #require(try c.replica.state(of: RecordKey(type: "transaction", id: "t1")))
    #expect(state.cells["note"]?.contains { $0.value == .fields([.text("insurance pays half")]) } == true)
    #expect(state.winner(of: "date")?.value == .fields([.text("2026-03-01")]))
  }

  @Test func `a record made again under its old id has no old values`() throws {
    try start()
    try a.put("transaction", "t1", [("note", .text("old"))])
    try settle()
    try b.put("transaction", "t1", [("payee", .text("of the former life"))])
    try a.delete("transaction", "t1")
    try a.put("transaction", "t1", [("amount_minor", .integer(7))])
    try settle()

    let expected: [String: FieldValue] = [
      "date": .null, "amount_minor": .integer(7), "currency": .null, "payee": .null, "note": .null,
      "category": .null,
    ]
    for device in home.devices { #expect(try device.fields("transaction", "t1") == expected) }
  }

  @Test func `two who make the same record agree, and a value goes before the other's null`() throws {
    try a.put("category", "c1", [("name", .text("Pets")), ("note", .text("dog"))])
    try b.put("category", "c1", [("name", .text("pets")), ("sort", .integer(3))])
    try settle()

    let fields = try #require(try c.fields("category", "c1"))
    #expect(fields["note"] == .text("dog"))
    #expect(fields["sort"] == .integer(3))
  }

  @Test func `the greatest value wins in a max field, and a later edit may lower it`() throws {
    try a.put("level", "l1", [("high", .integer(1)), ("low", .integer(9))])
    try settle()
    try a.put("level", "l1", [("high", .integer(5)), ("low", .integer(5))])
    try b.put("level", "l1", [("high", .integer(7)), ("low", .integer(7))])
    try settle()
    #expect(try c.fields("level", "l1") == ["high": .integer(7), "low": .integer(5)])

    try c.put("level", "l1", [("high", .integer(2))])
    try settle()
    #expect(try a.fields("level", "l1")?["high"] == .integer(2))
  }

  @Test func `generated rows lose against what a person wrote`() throws {
    let type = a.type("category")
    _ = try a.access.generating { try a.access.put(type, "c1", [("name", .text("generated"))]) }
    try b.put("category", "c1", [("name", .text("by hand"))])
    try settle()

    #expect(try c.fields("category", "c1")?["name"] == .text("by hand"))
  }

  @Test func `a changeset that came before what it depends on waits and is then applied`() throws {
    try a.put("category", "c1", [("name", .text("one"))])
    try home.pull(b, from: a)
    try b.put("category", "c1", [("name", .text("two"))])
    try b.seal()
    let ofB = try b.replica.log(after: .start, skipping: try a.replica.vectors().received, limitBytes: .max)

    let early = try c.replica.receive(ofB.changesets.map(\.packed), from: b.key.device, token: nil, now: c.now)
    #expect((early.stored, early.applied) == (1, 0))
    #expect(try c.fields("category", "c1") == nil)

    let late = try home.pull(c, from: a)
    #expect((late.stored, late.applied) == (1, 2))
    #expect(try c.fields("category", "c1")?["name"] == .text("two"))
  }

  @Test func `a batch that fails half-way leaves the clock as it was, however often it comes`() throws {
    try start()
    a.now = a.now.advanced(byMilliseconds: 20 * 3_600_000)
    try a.put("category", "ahead", [("name", .text("twenty hours ahead"))])
    try a.access.execute("UPDATE sync_outbox SET at = \(a.now.milliseconds)")
    try a.seal()
    let slice = try a.replica.log(after: .start, skipping: try b.replica.vectors().received, limitBytes: .max)
    var batch = slice.changesets.map(\.packed)
    batch.append(PackedChangeset(bytes: [0] + [UInt8](repeating: 0x55, count: 200)))

    for _ in 0..<50 {
      #expect(throws: Violation.self) {
        try b.replica.receive(batch, from: a.key.device, token: nil, now: b.now)
      }
    }
    try b.put("category", "mine", [("name", .text("now"))])
    try b.access.execute("UPDATE sync_outbox SET at = \(b.now.milliseconds)")
    try b.seal()

    #expect(try b.fields("category", "ahead") == nil)
    let written = try #require(try b.replica.state(of: RecordKey(type: "category", id: "mine"))?.winner(of: "name"))
    #expect(written.stamp.wall.milliseconds(since: b.now).magnitude < 1000)
  }

  @Test func `state survives a restart`() throws {
    try start()
    try a.put("transaction", "t1", [("note", .text("a"))])
    try b.put("transaction", "t1", [("note", .text("b"))])
    try settle()
    let before = try a.replica.state(of: RecordKey(type: "transaction", id: "t1"))
    try a.restart()

    #expect(try a.replica.state(of: RecordKey(type: "transaction", id: "t1")) == before)
    #expect(try home.difference("alex", "sam") == nil)
  }
}
