import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

/// A record has been written as its author's schema was, whatever the schema of who keeps it.
@Suite("Records from before their type had a field have not written it (D7, D13)")
struct GrownRecordTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device

  init() throws {
    home = try TestHousehold("alex", "sam")
    a = home["alex"]
    b = home["sam"]
  }

  /// The owner adds a field to the categories, and a type.
  ///
  /// - Parameter restarts: whether the tests' own connection is to know it.
  private func grow(restarts: Bool = true) throws {
    var wanted = TestHousehold.schema
    wanted.types[1].fields.append(.init("tax", .text))
    wanted.types.append(RecordType(name: "goal", fields: [.init("title", .text)]))
    _ = try a.replica.state(.schema(TestHousehold.schema.extended(by: wanted)), at: a.now)
    if restarts { try a.restart() }
  }

  private func generate(_ id: String, tax: String) throws {
    _ = try a.access.generating { try a.put("category", id, [("name", .text("Trips")), ("tax", .text(tax))]) }
    try a.seal()
  }

  private func upgrade(_ device: TestHousehold.Device) throws {
    try home.tell(device.name, from: "alex")
    try device.restart()
  }

  @Test(arguments: [false, true])
  func `a generated value of a new field goes before nothing, on who had the plain row and on who had not`(
    growsTwice: Bool
  ) throws {
    try b.put("category", "c", [("name", .text("Trips"))])
    try b.seal()
    try grow()
    try generate("c", tax: "5%")

    try upgrade(b)
    if growsTwice {
      var wanted = a.access.schema
      wanted.types[1].fields.append(.init("another", .integer))
      _ = try a.replica.state(.schema(a.access.schema.extended(by: wanted)), at: a.now)
      try a.restart()
      try upgrade(b)
    }
    try home.sync("alex", "sam")

    for device in [a, b] { #expect(try device.fields("category", "c")?["tax"] == .text("5%"), "\(device.name)") }
    let key = RecordKey(type: "category", id: "c")
    #expect(try a.replica.state(of: key) == b.replica.state(of: key))
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `a snapshot from before the schema grew brings records that have not written the new field`() throws {
    try b.put("category", "c", [("name", .text("Trips"))])
    try b.seal()
    let snapshot = try #require(try home.snapshot(of: "sam"))
    try grow()
    try generate("c", tax: "5%")
    try home.add("kim", needsSnapshot: true)
    try home.adopt(snapshot, at: "kim")
    try home.pull(home["kim"], from: a)

    #expect(try home["kim"].fields("category", "c")?["name"] == .text("Trips"))
    #expect(try home["kim"].fields("category", "c")?["tax"] == .text("5%"))
  }

  @Test func `a snapshot goes on as it began while the schema grows where it is served`() throws {
    try a.put("category", "c", [("name", .text("Trips"))])
    try home.add("kim", needsSnapshot: true)
    let snapshot = try #require(try home.snapshot(of: "alex") { try grow(restarts: false) })
    try upgrade(home["kim"])
    try home.adopt(snapshot, at: "kim")

    #expect(try home["kim"].fields("category", "c")?["name"] == .text("Trips"))
    try home["kim"].put("category", "c", [("tax", .text("7%"))])
    try home.sync("alex", "kim")
    #expect(try home.difference("alex", "kim") == nil)
  }

  @Test(arguments: [["text", "integer"], ["integer", "text"]])
  func `of two owners' additions of one name one stands everywhere, and the other's values are kept unshown`(
    types: [String]
  ) throws {
    try home.makeOwner("sam", by: "alex")
    try home.settle("alex", "sam")
    let values: [String: FieldValue] = ["text": .text("5 %"), "integer": .integer(5)]
    for (device, type) in [(a, types[0]), (b, types[1])] {
      var wanted = TestHousehold.schema
      wanted.types[1].fields.append(.init("tax", type == "text" ? .text : .integer))
      _ = try device.replica.state(.schema(TestHousehold.schema.extended(by: wanted)), at: device.now)
      try device.restart()
      try device.put("category", "by \(device.name)", [("name", .text(type)), ("tax", values[type] ?? .null)])
      try device.seal()
    }
    for other in [a, b] {
      try home.tell("alex", from: "sam")
      try home.tell("sam", from: "alex")
      try other.restart()
    }
    try home.settle("alex", "sam")

    let standing = try #require(a.access.schema.types[1].field("tax")?.type)
    #expect(b.access.schema.types[1].field("tax")?.type == standing)
    for device in [a, b] {
      for (author, type) in zip(["alex", "sam"], types) {
        let shown = try device.fields("category", "by \(author)")
        #expect(shown?["name"] == .text(type))
        #expect(shown?["tax"] == (type == standing ? values[type] : .null), "\(device.name): by \(author)")
      }
      var kept: [FieldValue] = []
      try device.replica.forEachQuarantined { kept += $0.fields.map(\.value) }
      #expect(kept == [values[standing == "text" ? "integer" : "text"]])
    }
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `a snapshot from before another owner's field of that name was heard of is no fault of its server`() throws
  {
    try home.makeOwner("sam", by: "alex")
    try home.settle("alex", "sam")
    var snapshots: [TestHousehold.Snapshot] = []
    for (device, kind, value) in [
      (a, FieldDefinition("tax", .text), FieldValue.text("5 %")),
      (b, FieldDefinition("tax", .integer), FieldValue.integer(5)),
    ] {
      var wanted = TestHousehold.schema
      wanted.types[1].fields.append(kind)
      _ = try device.replica.state(.schema(TestHousehold.schema.extended(by: wanted)), at: device.now)
      try device.restart()
      try device.put("category", "c", [("tax", value)])
      try device.seal()
      snapshots.append(try #require(try home.snapshot(of: device.name)))
    }
    try home.tell("alex", from: "sam")
    try home.tell("sam", from: "alex")
    for device in [a, b] { try device.restart() }
    let isText = a.access.schema.types[1].field("tax")?.kind == .text
    try home.add("kim", needsSnapshot: true)
    for name in ["alex", "sam"] { try home.tell("kim", from: name) }

    let fault = #expect(throws: Violation.self) { try home.adopt(snapshots[isText ? 1 : 0], at: "kim") }
    #expect(fault?.isHonest == true, "\(fault.map(String.init(describing:)) ?? "none")")
    try home.adoptSnapshot("kim", from: isText ? "sam" : "alex")
    try home.settle("alex", "sam", "kim")
    try home["kim"].restart()
    #expect(try home.firstDifference("alex", "sam", "kim") == nil)
  }

  /// Cy has a goal of a type that Bo has added as an owner; then the type goes, as Ann, who had not heard of it, has taken
  /// Bo's right to add it.
  private func householdWhoseTypeWent(goal: [(String, FieldValue)]) throws -> (TestHousehold, grown: Schema) {
    let home = try TestHousehold("ann", "bo", "cy")
    var wanted = TestHousehold.schema
    wanted.types[1].fields.append(.init("tax", .text))
    wanted.types.append(RecordType(name: "goal", fields: [.init("title", .text), .init("amount", .integer)]))
    let grown = TestHousehold.schema.extended(by: wanted)
    try home.makeOwner("bo", by: "ann")
    for name in ["bo", "cy"] { try home.tell(name, from: "ann") }
    _ = try home["bo"].replica.state(.schema(grown), at: home["bo"].now)
    try home.tell("cy", from: "bo")
    for name in ["bo", "cy"] { try home[name].restart() }
    try home["cy"].put("category", "c", [("name", .text("Food"))])
    try home["cy"].seal()
    try home.pull(home["bo"], from: home["cy"])
    try home["bo"].put("goal", "b", [("title", .text("Bo's"))])
    try home["bo"].put("category", "c", [("tax", .text("9%"))])
    try home["bo"].seal()
    try home["cy"].put("goal", "g", goal)
    try home["cy"].seal()
    try home.pull(home["cy"], from: home["bo"])
    #expect(try home["cy"].fields("goal", "b") != nil)
    #expect(try home["cy"].fields("category", "c")?["tax"] == .text("9%"))
    try home.setRole("bo", .readOnly, by: "ann")
    try home.tell("cy", from: "ann")
    try home["cy"].restart()
    return (home, grown)
  }

  @Test func `a type that went and is there again has what counts by then, also the nulls that somebody wrote`() throws
  {
    let (home, grown) = try householdWhoseTypeWent(goal: [("title", .text("Holiday"))])
    let cy = home["cy"]
    let key = RecordKey(type: "goal", id: "g")
    let before = try cy.replica.state(of: key)

    _ = try home["ann"].replica.state(.schema(grown), at: home["ann"].now)
    try home.tell("cy", from: "ann")
    try cy.restart()

    #expect(try cy.fields("goal", "g")?["title"] == .text("Holiday"))
    // Bo's was withdrawn while there was no table to take it out of.
    #expect(try cy.fields("goal", "b") == nil)
    #expect(try cy.fields("category", "c")?["tax"] == .null)
    #expect(try cy.replica.state(of: key) == before)
    #expect(before?.cells["amount"]?.first?.value == .fields([.null]))
  }

  @Test func `nobody writes into the table of a type that went, as nobody would get it`() throws {
    let (home, grown) = try householdWhoseTypeWent(goal: [("title", .text("Holiday"))])

    let refusal = #expect(throws: ReplicaError.self) {
      try home["cy"].access.execute("INSERT INTO goal(id, title) VALUES ('x', 'lost')")
    }
    #expect(refusal?.message.contains("no record type goal") == true, "\(String(describing: refusal))")

    _ = try home["ann"].replica.state(.schema(grown), at: home["ann"].now)
    try home.tell("cy", from: "ann")
    try home["cy"].access.execute("UPDATE goal SET amount = 5 WHERE id = 'g'")
    try home["cy"].restart()
    try home["cy"].seal()
    #expect(try home["cy"].fields("goal", "g")?["amount"] == .integer(5))
  }

  @Test func `what was written in a field that turns out not to count stays, and shows once the field is there again`()
    throws
  {
    let home = try TestHousehold("ann", "bo", "cy")
    var wanted = TestHousehold.schema
    wanted.types[1].fields.append(.init("tax", .text))
    wanted.types.append(RecordType(name: "goal", fields: [.init("title", .text)]))
    let grown = TestHousehold.schema.extended(by: wanted)
    try home.makeOwner("bo", by: "ann")
    for name in ["bo", "cy"] { try home.tell(name, from: "ann") }
    _ = try home["bo"].replica.state(.schema(grown), at: home["bo"].now)
    try home.tell("cy", from: "bo")
    try home["cy"].restart()
    try home["cy"].put("category", "c1", [("name", .text("Food")), ("tax", .text("7%"))])
    try home["cy"].put("goal", "g1", [("title", .text("Holiday"))])
    try home["cy"].seal()

    // Ann has not heard of the schema when she takes Bo's right to say so.
    try home.setRole("bo", .readOnly, by: "ann")
    try home.tell("cy", from: "ann")
    try home["cy"].restart()
    #expect(home["cy"].access.schema.type("category")?.field("tax") == nil)
    let key = RecordKey(type: "category", id: "c1")
    #expect(try home["cy"].replica.state(of: key)?.winner(of: "tax")?.value == .fields([.text("7%")]))

    _ = try home["ann"].replica.state(.schema(grown), at: home["ann"].now)
    try home.tell("cy", from: "ann")
    try home["cy"].restart()
    #expect(try home["cy"].fields("category", "c1")?["tax"] == .text("7%"))
    #expect(try home["cy"].fields("goal", "g1")?["title"] == .text("Holiday"))
  }
}
