import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Owned sets: sums, history, snapshots, bounds and every order")
struct OwnedSetRuleTests {
  let household: SplitHousehold
  var home: TestHousehold { household.home }
  var a: TestHousehold.Device { household.a }
  var b: TestHousehold.Device { household.b }

  init() throws { household = try SplitHousehold() }

  func splits(_ device: TestHousehold.Device) throws -> [String: String] { try household.splits(device) }
  func open(_ device: TestHousehold.Device) throws -> [ShownConflict] { try household.open(device) }
  func attention(_ device: TestHousehold.Device) throws -> [String] { try household.attention(device) }

  @Test func `a split written under a deleted transaction does not show, and comes back with it`() throws {
    try a.delete("transaction", "t1")
    try a.seal()
    try a.access.execute("INSERT INTO split(id, parent, amount_minor) VALUES ('s7', 't1', -7)")
    try home.sync("alex", "sam")
    for device in [a, b] { #expect(try splits(device) == ["s9": "t2 -50"]) }

    try b.replica.restore(SplitHousehold.t1, now: b.now)
    try home.sync("alex", "sam")
    #expect(try splits(a) == ["s1": "t1 -100", "s2": "t1 -200", "s7": "t1 -7", "s9": "t2 -50"])
  }

  @Test func `a transaction made again under its old id has no old splits`() throws {
    try a.access.execute(
      "DELETE FROM \"transaction\" WHERE id = 't1'; DELETE FROM split WHERE parent = 't1'")
    try a.seal()
    try a.access.execute("INSERT INTO \"transaction\"(id, amount_minor) VALUES ('t1', -1)")
    try home.sync("alex", "sam")

    for device in [a, b] {
      #expect(try splits(device) == ["s9": "t2 -50"])
      #expect(try open(device).isEmpty)
    }
  }

  @Test func `sums that are off ask for attention on both devices until they are right, and nothing is rewritten`()
    throws
  {
    #expect(try attention(a).isEmpty)
    try a.put("transaction", "t1", [("amount_minor", .integer(-400))])
    try home.sync("alex", "sam")
    for device in [a, b] {
      #expect(try attention(device) == ["transaction/t1 sum"])
      #expect(try device.fields("transaction", "t1")?["amount_minor"] == .integer(-400))
    }
    #expect(try a.access.attention() == b.access.attention())

    try b.access.execute("UPDATE split SET amount_minor = -300 WHERE id = 's2'")
    try home.sync("alex", "sam")
    for device in [a, b] { #expect(try attention(device).isEmpty) }

    try b.access.execute("UPDATE split SET amount_minor = 9223372036854775807 WHERE parent = 't1'")
    try home.sync("alex", "sam")
    #expect(try attention(a) == ["transaction/t1 sum"])
    try a.delete("transaction", "t1")
    try home.sync("alex", "sam")
    for device in [a, b] { #expect(try attention(device).isEmpty) }
  }

  @Test func `a newcomer by snapshot shows the same sets, conflicts and attention items`() throws {
    try a.access.execute("UPDATE split SET amount_minor = -101 WHERE id = 's1'")
    try b.access.execute("UPDATE split SET amount_minor = -202 WHERE id = 's2'")
    try a.access.execute("INSERT INTO split(id, parent, amount_minor) VALUES ('s5', 'later', -5), ('s6', NULL, -6)")
    try home.sync("alex", "sam")
    let c = try home.add("kim", needsSnapshot: true)
    let offer = try #require(try a.replica.openSnapshot(resuming: nil))
    var cursor: [UInt8] = []
    while true {
      let page = try a.replica.snapshotPage(offer.id, after: cursor)
      try c.replica.stage(page, of: offer.id)
      cursor = page.cursor
      if page.isLast { break }
    }
    a.replica.closeSnapshot(offer.id)
    try c.replica.adoptSnapshot(
      offer.id, from: a.key.device, token: ChangeToken(incarnation: a.replica.incarnation, position: offer.position),
      now: c.now)

    #expect(try splits(c) == splits(a))
    #expect(try attention(c) == attention(a))
    #expect(try open(c).map(\.conflict) == open(a).map(\.conflict))
    #expect(try home.difference("alex", "kim") == nil)
  }

  @Test func `history, provenance and undoing work for each split`() throws {
    try b.access.execute("UPDATE split SET amount_minor = -110 WHERE id = 's1'")
    try home.sync("alex", "sam")
    try a.access.execute("DELETE FROM split WHERE id = 's2'")
    try home.sync("alex", "sam")

    let made = try #require(try a.access.provenance(a.type("split"), "s1"))
    #expect((made.created.member, made.modified.member) == ("alex", "sam"))
    var changes: [ShownChange] = []
    try a.access.history(RecordKey(type: "split", id: "s1")) { changes.append($0) }
    let change = try #require(changes.first { $0.field == "amount_minor" })
    #expect((change.from, change.to, change.author.member) == (.integer(-100), .integer(-110), "sam"))
    #expect(changes.contains { $0.field == "id" })

    try a.replica.revert(change.change, now: a.now)
    try a.replica.restore(RecordKey(type: "split", id: "s2"), now: a.now)
    try home.sync("alex", "sam")
    for device in [a, b] { #expect(try splits(device) == ["s1": "t1 -100", "s2": "t1 -200", "s9": "t2 -50"]) }
    #expect(throws: ReplicaError.self) {
      try a.replica.restore(RecordKey(type: "split", id: "s2"), now: a.now)
    }
  }

  @Test func `edits of one set with pauses between are sealed one after another, each as it stood`() throws {
    try a.access.execute(
      """
      UPDATE split SET amount_minor = -101 WHERE id = 's1';
      UPDATE sync_outbox SET at = at - 10000;
      UPDATE split SET amount_minor = -202 WHERE id = 's2'
      """)
    let before = try a.replica.vectors().applied[a.replica.replica]
    try a.seal()
    let replica = a.replica.replica
    var sets: [[String]] = []
    for logged in try a.replica.changesets(of: replica, from: before + 1, through: before + 2, limitBytes: .max) {
      let changeset = try Replica.unpack(logged.packed).1
      for operation in changeset.operations where operation.kind == .set {
        sets.append(
          operation.rows.rows.map { "\($0.id) \(operation.rows.value(of: "amount_minor", in: $0).integer ?? 0)" })
      }
    }

    #expect(sets == [["s1 -101", "s2 -200"], ["s1 -101", "s2 -202"]])
  }

  @Test func `generated rows do not take the place of a person's set`() throws {
    try a.access.execute("UPDATE split SET amount_minor = -101 WHERE id = 's1'")
    try b.access.generating { try b.access.execute("UPDATE split SET amount_minor = -7 WHERE id = 's1'") }
    try home.sync("alex", "sam")
    #expect(try splits(b)["s1"] == "t1 -101")
    #expect(try open(a).isEmpty)

    try b.access.generating { try b.access.execute("UPDATE split SET amount_minor = -7 WHERE id = 's1'") }
    try home.sync("alex", "sam")
    for device in [a, b] { #expect(try splits(device)["s1"] == "t1 -101") }
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `a set over the bound is refused at the writer with the field named, one at it comes through`() throws {
    let most = Limits.rowsPerSet - 1
    try a.access.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(most))
      INSERT INTO split(id, parent) SELECT 'x' || i, 't2' FROM n
      """)
    let error = #expect(throws: ReplicaError.self) { try a.put("split", "y", [("parent", .text("t2"))]) }
    #expect(error?.message.contains("split.parent") == true, "\(error?.message ?? "")")
    try home.sync("alex", "sam")
    #expect(try b.access.count(b.type("split")) == Int64(Limits.rowsPerSet + 2))

    let half = FieldValue.text(String(repeating: "x", count: Limits.setBytes / 2))
    try a.put("split", "s1", [("note", half)])
    let tooLarge = #expect(throws: ReplicaError.self) { try a.put("split", "s2", [("note", half)]) }
    #expect(tooLarge?.message.contains("split.parent") == true)
  }

  @Test func `the order in which concurrent edits come makes no difference`() throws {
    let authors = try ["kim", "lee"].map { try home.add($0) } + [a, b]
    let observers = try (0..<24).map { try home.add("observer \($0)") }
    for device in authors + observers { try home.pull(device, from: a) }
    let edits = [
      "UPDATE split SET parent = 't2' WHERE id = 's2'",
      "UPDATE split SET amount_minor = -111 WHERE id = 's1'; DELETE FROM split WHERE id = 's9'",
      "DELETE FROM split WHERE parent = 't2'; DELETE FROM \"transaction\" WHERE id = 't2'",
      "UPDATE split SET parent = NULL WHERE id = 's1'; INSERT INTO split(id, parent) VALUES ('s2x', 't1')",
    ]
    let start = try a.replica.logEnd()
    var sealed: [PackedChangeset] = []
    for (author, edit) in zip(authors, edits) {
      try author.access.execute(edit)
      try author.seal()
      let own = try author.replica.vectors().applied[author.replica.replica]
      sealed += try author.replica.changesets(of: author.replica.replica, from: own, through: own, limitBytes: .max)
        .map(\.packed)
    }
    #expect(sealed.count == 4)
    #expect(start <= (try a.replica.logEnd()))

    var orders: [[Int]] = [[]]
    for next in 0..<4 {
      orders = orders.flatMap { order in
        (0...order.count).map { place in
          var longer = order
          longer.insert(next, at: place)
          return longer
        }
      }
    }
    for (observer, order) in zip(observers, orders) {
      for index in order {
        _ = try observer.replica.receive([sealed[index]], from: a.key.device, token: nil, now: observer.now)
      }
      #expect(try splits(observer) == splits(observers[0]), "\(order)")
      #expect(try attention(observer) == attention(observers[0]), "\(order)")
      #expect(try open(observer).map(\.conflict).sorted() == open(observers[0]).map(\.conflict).sorted(), "\(order)")
      #expect(try observer.replica.computeDigest().bytes == observers[0].replica.computeDigest().bytes, "\(order)")
    }
  }

  @Test func `a field of a row that is not known here survives an edit of the set, and shows after the upgrade`() throws
  {
    // As a newer program of alex' seals it, before the schema entry is here.
    let nonce = try #require(ReplicaNonce(bytes: [UInt8](repeating: 7, count: 16)))
    let known = Dependencies(try a.replica.receivedDependencies())
    let rows = OwnedRows([
      ("s1", ["amount_minor": .integer(-100), "tag": .text("x")]), ("s2", ["amount_minor": .integer(-200)]),
    ])
    let changeset = Changeset(
      name: ChangesetName(
        replica: OpenSSLCryptography().replicaID(device: a.key.device, nonce: nonce), sequence: 1), previous: .zero,
      origin: ReplicaOrigin(device: a.key.device, nonce: nonce),
      stamp: Stamp.sealing(edited: a.now, last: .least, wall: a.now, overwritten: nil), editedAt: a.now,
      dependencyChanges: known.changes(since: Dependencies()), schemaVersion: 2,
      membershipHeads: try a.replica.membership().heads, shapes: [Shape(type: "transaction", fields: ["split"])],
      operations: [Operation(kind: .set, shape: 0, id: "t1", life: 1, values: [], rows: rows)])
    let packed = PackedChangeset(bytes: [0] + (try SignedChangeset(changeset, signer: a.key).bytes))
    for device in [a, b] {
      _ = try device.replica.receive([packed], from: a.key.device, token: nil, now: device.now)
    }
    try b.access.execute("UPDATE split SET amount_minor = -201 WHERE id = 's2'")
    try home.sync("alex", "sam")

    var wanted = SplitHousehold.schema
    wanted.types[1].fields.append(.init("tag", .text))
    _ = try a.replica.state(.schema(SplitHousehold.schema.extended(by: wanted)), at: a.now)
    _ = try b.replica.addMembership(try a.replica.membershipEntries(except: []))
    for device in [a, b] {
      try device.restart()
      #expect(try device.fields("split", "s1")?["tag"] == .text("x"))
      #expect(try device.fields("split", "s2")?["amount_minor"] == .integer(-201))
    }
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `a changeset that writes a set twice is refused`() throws {
    let nonce = try #require(ReplicaNonce(bytes: [UInt8](repeating: 7, count: 16)))
    let operation = Operation(kind: .set, shape: 0, id: "t1", life: 1, values: [])
    let changeset = Changeset(
      name: ChangesetName(
        replica: OpenSSLCryptography().replicaID(device: a.key.device, nonce: nonce), sequence: 1), previous: .zero,
      origin: ReplicaOrigin(device: a.key.device, nonce: nonce), stamp: .least, editedAt: a.now,
      dependencyChanges: [], schemaVersion: 1, membershipHeads: try a.replica.membership().heads,
      shapes: [Shape(type: "transaction", fields: ["split"])], operations: [operation, operation])
    let packed = PackedChangeset(bytes: [0] + (try SignedChangeset(changeset, signer: a.key).bytes))

    let violation = #expect(throws: Violation.self) {
      _ = try b.replica.receive([packed], from: a.key.device, token: nil, now: b.now)
    }
    #expect(violation?.code == .badChangeset)
    #expect(try splits(b)["s1"] == "t1 -100")
  }

  @Test func `the rows' table keeps its triggers when the owner's grows, and gets new ones when it grows itself`()
    throws
  {
    try a.access.execute(
      """
      CREATE TEMP TABLE before AS SELECT name, rowid AS place FROM sqlite_master WHERE tbl_name = 'split';
      CREATE TEMP TABLE verdict(moved INTEGER CHECK (moved = 0));
      """)
    var grown = SplitHousehold.schema
    grown.types[0].fields.append(.init("memo", .text))
    grown = SplitHousehold.schema.extended(by: grown)
    _ = try a.replica.state(.schema(grown), at: a.now)
    try a.access.execute(
      """
      INSERT INTO temp.verdict SELECT count(*) FROM temp.before AS b WHERE NOT EXISTS (
        SELECT 1 FROM sqlite_master AS m WHERE m.rowid = b.place AND m.name = b.name)
      """)

    var again = grown
    again.types[1].fields.append(.init("tax", .text))
    _ = try a.replica.state(.schema(grown.extended(by: again)), at: a.now)
    try a.access.readMembershipAnew(cryptography: OpenSSLCryptography())
    #expect(a.access.schema.type("split")?.field("tax") != nil)
    try a.access.execute("UPDATE split SET tax = '7%' WHERE id = 's1'")
    #expect(try a.replica.unsealedCount() == 1)
    #expect(throws: ReplicaError.self) { try a.access.execute("UPDATE split SET tax = 'a' || char(0) WHERE id = 's1'") }
  }
}
