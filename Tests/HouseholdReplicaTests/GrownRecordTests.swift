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
    try grow()
    try generate("c", tax: "5%")
    try home.add("kim", needsSnapshot: true)
    let page = try pages(of: b)
    try adopt(page, at: home["kim"])
    try home.pull(home["kim"], from: a)

    #expect(try home["kim"].fields("category", "c")?["name"] == .text("Trips"))
    #expect(try home["kim"].fields("category", "c")?["tax"] == .text("5%"))
  }

  @Test func `a snapshot goes on as it began while the schema grows where it is served`() throws {
    try a.put("category", "c", [("name", .text("Trips"))])
    try home.add("kim", needsSnapshot: true)
    let served = try pages(of: a) { try grow(restarts: false) }
    try home.tell("kim", from: "alex")
    try home["kim"].restart()
    try adopt(served, at: home["kim"])

    #expect(try home["kim"].fields("category", "c")?["name"] == .text("Trips"))
    try home["kim"].put("category", "c", [("tax", .text("7%"))])
    try home.sync("alex", "kim")
    #expect(try home.difference("alex", "kim") == nil)
  }

  /// A snapshot with its pages.
  private struct Served {
    var offer: SnapshotOffer
    var pages: [SnapshotPage] = []
    var server: TestHousehold.Device
  }

  private func pages(of server: TestHousehold.Device, afterFirst body: () throws -> Void = {}) throws -> Served {
    server.replica.lastNow = server.now
    let replica = server.replica
    var served = Served(offer: try #require(try replica.openSnapshot(resuming: nil)), server: server)
    repeat {
      served.pages.append(try replica.snapshotPage(served.offer.id, after: served.pages.last?.cursor ?? []))
      if served.pages.count == 1 { try body() }
    } while served.pages.last?.isLast == false
    return served
  }

  private func adopt(_ served: Served, at device: TestHousehold.Device) throws {
    for page in served.pages { try device.replica.stage(page, of: served.offer.id) }
    try device.replica.adoptSnapshot(
      served.offer.id, from: served.server.key.device,
      token: ChangeToken(incarnation: served.server.replica.incarnation, position: served.offer.position),
      now: device.now)
  }
}
