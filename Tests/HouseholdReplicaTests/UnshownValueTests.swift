import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("What is stored and does not show can be listed (R3)")
struct UnshownValueTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device

  init() throws {
    home = try TestHousehold("alex", "sam")
    a = home["alex"]
    b = home["sam"]
    try a.put("category", "c1", [("name", .text("Food")), ("sort", .integer(1))])
    try home.sync("alex", "sam")
  }

  /// Sam receives what a newer or careless program of alex sealed.
  private func receive(_ shapes: [Shape], _ operations: [Operation]) throws {
    let cryptography = OpenSSLCryptography()
    let nonce = try #require(ReplicaNonce(bytes: [UInt8](repeating: 7, count: 16)))
    let replica = cryptography.replicaID(device: a.key.device, nonce: nonce)
    let known = Dependencies(try a.replica.receivedDependencies())
    let changeset = Changeset(
      name: ChangesetName(replica: replica, sequence: 1), previous: .zero,
      origin: ReplicaOrigin(device: a.key.device, nonce: nonce),
      stamp: Stamp.sealing(edited: a.now, last: .least, wall: a.now, overwritten: nil), editedAt: a.now,
      continues: false, dependencyChanges: known.changes(since: Dependencies()), schemaVersion: 1,
      membershipHeads: try a.replica.membership().heads, shapes: shapes, operations: operations)
    let packed = PackedChangeset(bytes: [0] + (try SignedChangeset(changeset, signer: a.key).bytes))
    _ = try b.replica.receive([packed], from: a.key.device, token: nil, now: b.now)
  }

  private func parked() throws -> [UnshownRecord] {
    var list: [UnshownRecord] = []
    try b.replica.forEachParked { list.append($0) }
    return list
  }

  private func quarantined() throws -> [UnshownRecord] {
    var list: [UnshownRecord] = []
    try b.replica.forEachQuarantined { list.append($0) }
    return list
  }

  @Test func `records of an unknown type and unknown fields are parked, with their author`() throws {
    try receive(
      [Shape(type: "goal", fields: ["title"]), Shape(type: "category", fields: ["tax"])],
      [
        Operation(kind: .insert, shape: 0, id: "g1", life: 1, values: [.text("Holiday")]),
        Operation(kind: .update, shape: 1, id: "c1", life: 1, values: [.text("7%")]),
      ])

    let found = try parked()

    #expect(found.map(\.key) == [RecordKey(type: "category", id: "c1"), RecordKey(type: "goal", id: "g1")])
    #expect(found.map(\.isOfUnknownType) == [false, true])
    #expect(found.map { $0.fields.map(\.name) } == [["tax"], ["title"]])
    #expect(found.map { $0.fields.map(\.value) } == [[.text("7%")], [.text("Holiday")]])
    #expect(found.allSatisfy { $0.author.member == "alex" })
    #expect(try quarantined().isEmpty)
  }

  @Test func `a value that its column cannot hold is quarantined until it is written anew`() throws {
    try receive(
      [Shape(type: "category", fields: ["sort"])],
      [Operation(kind: .update, shape: 0, id: "c1", life: 1, values: [.text("first")])])

    let found = try quarantined()

    #expect(found.map(\.key) == [RecordKey(type: "category", id: "c1")])
    #expect(found.first?.fields.map(\.name) == ["sort"] && found.first?.fields.map(\.value) == [.text("first")])

    try b.put("category", "c1", [("sort", .integer(2))])
    try b.seal()

    #expect(try quarantined().isEmpty)
    #expect(try parked().isEmpty)
  }
}
