import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Schema skew: what is not known here is kept, passed on, and shown after the upgrade")
struct SchemaSkewTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device
  let grown: Schema
  /// The membership heads before the upgrade.
  let heads: [EntryHash]

  init() throws {
    home = try TestHousehold("alex", "sam")
    a = home["alex"]
    b = home["sam"]
    try a.put("category", "c1", [("name", .text("Food")), ("note", .text("old"))])
    try home.sync("alex", "sam")
    var wanted = TestHousehold.schema
    wanted.types[1].fields.append(.init("tax", .text))
    wanted.types[1].fields.append(.init("goal", .reference, to: "goal"))
    wanted.types.append(RecordType(name: "goal", fields: [.init("title", .text)]))
    wanted.types.append(
      RecordType(name: "plan", fields: [.init("from", .text), .init("days", .integer)], together: [["from", "days"]]))
    grown = TestHousehold.schema.extended(by: wanted)
    heads = try a.replica.membership().heads
    _ = try a.replica.state(.schema(grown), at: a.now)
    try a.restart()
  }

  /// The other device hears of the schema.
  func upgrade(_ device: TestHousehold.Device) throws {
    _ = try device.replica.addMembership(try a.replica.membershipEntries(except: []))
    try device.restart()
  }

  func write() throws {
    try a.put("category", "c1", [("tax", .text("7%")), ("goal", .text("g1"))])
    try a.put("goal", "g1", [("title", .text("Holiday"))])
    try a.put("goal", "g2", [("title", .text("Gone"))])
    try a.seal()
    try a.delete("goal", "g2")
  }

  @Test func `an edit by a device that does not know a field clears nothing of it`() throws {
    try upgrade(b)
    try write()
    try home.sync("alex", "sam")
    try b.put("category", "c1", [("note", .text("new"))])
    try home.sync("alex", "sam")

    #expect(try a.fields("category", "c1")?["tax"] == .text("7%"))
    #expect(try a.fields("category", "c1")?["note"] == .text("new"))
    #expect(try home.difference("alex", "sam") == nil)
  }

  /// A changeset as a newer program seals it: with a type and fields that the schema entry is yet to bring.
  func newer(_ shapes: [Shape], _ operations: [Operation]) throws -> PackedChangeset {
    let cryptography = OpenSSLCryptography()
    let nonce = try #require(ReplicaNonce(bytes: [UInt8](repeating: 7, count: 16)))
    let replica = cryptography.replicaID(device: a.key.device, nonce: nonce)
    let known = Dependencies(try a.replica.receivedDependencies())
    let changeset = Changeset(
      name: ChangesetName(replica: replica, sequence: 1), previous: .zero,
      origin: ReplicaOrigin(device: a.key.device, nonce: nonce),
      stamp: Stamp.sealing(edited: a.now, last: .least, wall: a.now, overwritten: nil), editedAt: a.now,
      continues: false, dependencyChanges: known.changes(since: Dependencies()), schemaVersion: 2,
      membershipHeads: heads, shapes: shapes, operations: operations)
    return PackedChangeset(bytes: [0] + (try SignedChangeset(changeset, signer: a.key).bytes))
  }

  @Test(arguments: [false, true])
  func `unknown types and fields are shown after the upgrade, as for one who knew them before`(
    editsMeanwhile: Bool
  ) throws {
    let category = Shape(type: "category", fields: ["tax"])
    let whole = Shape(type: "category", fields: ["name", "sort", "note", "tax", "goal"])
    let goal = Shape(type: "goal", fields: ["title"])
    let packed = try newer(
      [category, whole, goal],
      [
        Operation(kind: .update, isWeak: false, shape: 0, id: "c1", life: 1, values: [.text("7%")]),
        Operation(
          kind: .insert, isWeak: false, shape: 1, id: "c2", life: 1,
          values: [.text("Trips"), .null, .null, .text("0%"), .text("g1")]),
        Operation(kind: .insert, isWeak: false, shape: 2, id: "g1", life: 1, values: [.text("Holiday")]),
      ])
    _ = try b.replica.receive([packed], from: a.key.device, token: nil, now: b.now)
    #expect(try b.fields("category", "c2")?["name"] == .text("Trips"))
    if editsMeanwhile { try b.put("category", "c1", [("note", .text("edited"))]) }
    try b.seal()

    try upgrade(b)
    _ = try a.replica.receive([packed], from: b.key.device, token: nil, now: a.now)
    try home.sync("alex", "sam")

    for device in [a, b] {
      #expect(try device.fields("category", "c1")?["tax"] == .text("7%"))
      #expect(try device.fields("category", "c1")?["note"] == .text(editsMeanwhile ? "edited" : "old"))
      #expect(try device.fields("category", "c2")?["tax"] == .text("0%"))
      #expect(try device.fields("category", "c2")?["goal"] == .text("g1"))
      #expect(try device.fields("goal", "g1") == ["title": .text("Holiday")])
    }
    #expect(try home.difference("alex", "sam") == nil)
  }

  /// Nothing tells, while the type is not known, that its fields are one cell.
  @Test(arguments: [false, true])
  func `fields that turn out to be one cell are put together again, also by way of a snapshot`(bySnapshot: Bool) throws
  {
    let packed = try newer(
      [Shape(type: "plan", fields: ["from", "days"])],
      [
        Operation(kind: .insert, isWeak: false, shape: 0, id: "p1", life: 1, values: [.null, .integer(95)]),
        Operation(kind: .insert, isWeak: false, shape: 0, id: "p2", life: 1, values: [.text("May"), .null]),
      ])
    let type = try #require(a.access.schema.type("plan"))
    for device in [a, b] { _ = try device.replica.receive([packed], from: a.key.device, token: nil, now: b.now) }
    var late = b
    if bySnapshot {
      let snapshot = try #require(try home.snapshot(of: "sam"))
      late = try home.add("kim", needsSnapshot: true)
      try home.adopt(snapshot, at: "kim")
    } else {
      try upgrade(b)
    }

    for device in [a, late] {
      #expect(try device.fields("plan", "p1") == ["from": .null, "days": .integer(95)], "\(device.name)")
      #expect(try device.fields("plan", "p2") == ["from": .text("May"), "days": .null], "\(device.name)")
    }
    for id in ["p1", "p2"] {
      let key = RecordKey(type: type.name, id: id)
      #expect(try a.replica.state(of: key) == late.replica.state(of: key))
    }
  }

  @Test func `a table that does not change keeps its triggers, and one that grows gets new ones`() throws {
    let type = TestHousehold.schema.types[1].name
    // Whatever is made anew in the file lies further behind.
    let moved = """
      SELECT 1 FROM temp.before AS b WHERE NOT EXISTS (
        SELECT 1 FROM sqlite_master AS m WHERE m.type = 'trigger' AND m.rowid = b.rowid AND m.name = b.name)
      """
    try b.access.execute(
      """
      CREATE TEMP TABLE before AS SELECT name, tbl_name, rowid FROM sqlite_master WHERE type = 'trigger';
      CREATE TEMP TABLE verdict(kept INTEGER CHECK (kept = 0), remade INTEGER CHECK (remade > 0));
      """)
    _ = try b.replica.addMembership(try a.replica.membershipEntries(except: []))
    try b.access.execute(
      """
      INSERT INTO temp.verdict SELECT
        (SELECT count(*) FROM (\(moved) AND b.tbl_name <> '\(type)')),
        (SELECT count(*) FROM (\(moved) AND b.tbl_name = '\(type)'))
      """)
    try b.restart()
    try b.put(type, "c2", [("name", .text("Tax")), ("tax", .text("7%"))])
    #expect(try b.replica.unsealedCount() == 1)
  }

  @Test func `a snapshot shows what the device that serves it does not know`() throws {
    let packed = try newer(
      [
        Shape(type: "category", fields: ["tax"]), Shape(type: "goal", fields: ["title"]),
      ],
      [
        Operation(kind: .update, isWeak: false, shape: 0, id: "c1", life: 1, values: [.text("7%")]),
        Operation(kind: .insert, isWeak: false, shape: 1, id: "g1", life: 1, values: [.text("Holiday")]),
      ])
    _ = try b.replica.receive([packed], from: a.key.device, token: nil, now: b.now)
    let snapshot = try #require(try home.snapshot(of: "sam"))
    try home.add("kim", needsSnapshot: true)
    try home.adopt(snapshot, at: "kim")

    let kim = home["kim"]
    #expect(try kim.fields("category", "c1")?["name"] == .text("Food"))
    #expect(try kim.fields("category", "c1")?["tax"] == .text("7%"))
    #expect(try kim.fields("goal", "g1") == ["title": .text("Holiday")])
  }
}

@Suite("A schema grows and never shrinks (D13)")
struct SchemaGrowthTests {
  private let base = Schema(
    name: "s", version: 3,
    types: [RecordType(name: "a", fields: [.init("x", .text), .init("y", .integer)], together: [["x", "y"]])])

  private func with(_ change: (inout Schema) -> Void) -> Schema {
    var schema = base
    change(&schema)
    return schema
  }

  @Test func `what another schema leaves out stays, and what it has besides is added behind`() {
    let other = Schema(
      name: "s", version: 9,
      types: [
        RecordType(name: "b", fields: [.init("z", .text)]),
        RecordType(name: "a", fields: [.init("new", .date), .init("y", .integer)]),
      ])

    let grown = base.extended(by: other)

    #expect(grown.types.map(\.name) == ["a", "b"])
    #expect(grown.types[0].fields.map(\.name) == ["x", "y", "new"])
    #expect(grown.types[0].cells == [["x", "y"], ["new"]])
    #expect(grown.version == 9)
    #expect(grown.extended(by: other) == grown)
  }

  @Test func `of two fields of one name the one that stands keeps its type`() {
    let text = with { $0.types[0].fields.append(.init("tax", .text)) }
    let number = with { $0.types[0].fields.append(.init("tax", .integer)) }

    #expect(base.extended(by: text).extended(by: number).types[0].field("tax")?.type == "text")
    #expect(base.extended(by: text).version == 4)
  }

  @Test func `a new field is no part of the one cell of a type in which the last writer wins`() {
    let whole = with {
      $0.types[0].strategy = "lastWriterWins"; $0.types[0].together = []
    }
    var more = whole
    more.types[0].fields.append(.init("tax", .text))

    #expect(whole.types[0].cells == [["x", "y"]])
    #expect(whole.extended(by: more).types[0].cells == [["x", "y"], ["tax"]])
  }

  @Test func `a change of what stands is a contradiction, an addition is none`() {
    #expect(base.contradiction(to: with { $0.types[0].fields[1] = .init("y", .text) })?.contains("a.y") == true)
    #expect(base.contradiction(to: with { $0.types[0].strategy = "ask" }) != nil)
    #expect(base.contradiction(to: with { $0.types[0].together = [] }) != nil)
    #expect(base.contradiction(to: with { $0.types[0].fields.append(.init("z", .text)) }) == nil)
    #expect(base.contradiction(to: with { $0.types = [] }) == nil)
  }
}
