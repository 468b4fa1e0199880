import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Owned sets: the splits of a transaction are one cell of it")
struct OwnedSetTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device

  static let schema = Schema(
    name: "sets", version: 1,
    types: [
      RecordType(
        name: "transaction", fields: [.init("amount_minor", .integer), .init("note", .text)],
        owns: [OwnedSet(type: "split", by: "parent", sum: SetSum(of: "amount_minor", equals: "amount_minor"))]),
      RecordType(
        name: "split",
        fields: [.init("parent", .reference, to: "transaction"), .init("amount_minor", .integer), .init("note", .text)]),
    ])

  init() throws {
    home = try TestHousehold("alex", "sam", schema: Self.schema)
    a = home["alex"]
    b = home["sam"]
    try a.access.execute(
      """
      INSERT INTO "transaction"(id, amount_minor) VALUES ('t1', -300), ('t2', -50);
      INSERT INTO split(id, parent, amount_minor) VALUES ('s1', 't1', -100), ('s2', 't1', -200), ('s9', 't2', -50)
      """)
    try home.sync("alex", "sam")
  }

  /// What the split table shows: `parent amount` by id.
  func splits(_ device: TestHousehold.Device) throws -> [String: String] {
    var shown: [String: String] = [:]
    try device.access.forEach(device.type("split")) { record in
      shown[record.key.id] = "\(record.values[0].text ?? "-") \(record.values[1].integer ?? 0)"
    }
    return shown
  }

  func open(_ device: TestHousehold.Device) throws -> [ShownConflict] {
    try device.access.conflicts(includingClosed: false)
  }

  func attention(_ device: TestHousehold.Device) throws -> [String] {
    try device.access.attention().map { "\($0.key) \($0.code)" }
  }

  static let t1 = RecordKey(type: "transaction", id: "t1")

  @Test func `different splits edited on two devices: one set wins whole, the other is a conflict on both`() throws {
    try a.access.execute("UPDATE split SET amount_minor = -101 WHERE id = 's1'")
    try b.access.execute(
      "DELETE FROM split WHERE id = 's2'; INSERT INTO split(id, parent, amount_minor) VALUES ('s3', 't1', -199)")
    try home.sync("alex", "sam")

    let (ofA, ofB) = (["s1": "t1 -101", "s2": "t1 -200"], ["s1": "t1 -100", "s3": "t1 -199"])
    let shown = try splits(a).filter { $0.key != "s9" }
    #expect(shown == ofA || shown == ofB)
    #expect(try splits(a) == splits(b))
    #expect(try open(a).count == 1)
    #expect(try open(a) == open(b))
    let conflict = try open(a)[0]
    #expect((conflict.type, conflict.id, conflict.field) == ("transaction", "t1", "split"))
    let lost =
      shown == ofA
      ? #"[{"id":"s1","amount_minor":-100},{"id":"s3","amount_minor":-199}]"#
      : #"[{"id":"s1","amount_minor":-101},{"id":"s2","amount_minor":-200}]"#
    #expect(conflict.lost.object == #"{"split":\#(lost)}"#)

    let loser = shown == ofA ? b : a
    try loser.replica.resolve(conflict.conflict, .mine, now: loser.now)
    try home.sync("alex", "sam")
    for device in [a, b] {
      #expect(try splits(device).filter { $0.key != "s9" } == (shown == ofA ? ofB : ofA))
      #expect(try open(device).isEmpty)
    }
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `what won can be confirmed, though nothing changes`() throws {
    try a.access.execute("UPDATE split SET amount_minor = -101 WHERE id = 's1'")
    try b.access.execute("UPDATE split SET amount_minor = -202 WHERE id = 's2'")
    try home.sync("alex", "sam")
    let before = try splits(a)
    let conflict = try open(a)[0]
    let winner = conflict.kept.author?.member == "alex" ? a : b

    try winner.replica.resolve(conflict.conflict, .mine, now: winner.now)
    try home.sync("alex", "sam")

    for device in [a, b] {
      #expect(try splits(device) == before)
      #expect(try open(device).isEmpty)
    }
  }

  @Test func `a value cannot be taken for a set`() throws {
    try a.access.execute("UPDATE split SET amount_minor = -101 WHERE id = 's1'")
    try b.access.execute("UPDATE split SET amount_minor = -202 WHERE id = 's2'")
    try home.sync("alex", "sam")
    let name = try open(a)[0].conflict

    let error = #expect(throws: ReplicaError.self) {
      try a.replica.resolve(name, .value(.text("x")), now: a.now)
    }
    #expect(error?.code == .badValue)
    #expect(try open(a).count == 1)
  }

  @Test func `an edit of the transaction leaves its splits alone`() throws {
    try a.put("transaction", "t1", [("note", .text("with Kim"))])
    try b.access.execute("UPDATE split SET note = 'x' WHERE id = 's1'")
    try home.sync("alex", "sam")

    #expect(try b.fields("transaction", "t1")?["note"] == .text("with Kim"))
    #expect(try a.fields("split", "s1")?["note"] == .text("x"))
    #expect(try open(a).isEmpty)
  }

  @Test func `a split that moves touches both transactions`() throws {
    try a.access.execute("UPDATE split SET parent = 't2' WHERE id = 's2'")
    try home.sync("alex", "sam")
    for device in [a, b] {
      #expect(try splits(device) == ["s1": "t1 -100", "s2": "t2 -200", "s9": "t2 -50"])
      #expect(try device.replica.state(of: Self.t1)?.set(of: "split").rows.map(\.id) == ["s1"])
    }
    #expect(try open(a).isEmpty)
  }

  @Test func `a split in two winning sets shows once, and the other transaction asks for attention`() throws {
    b.now = b.now.advanced(byMilliseconds: 5000)
    try b.access.execute("UPDATE split SET amount_minor = -111 WHERE id = 's1'")
    try b.access.execute("UPDATE sync_outbox SET at = at + 5000")
    try a.access.execute("UPDATE split SET parent = 't2' WHERE id = 's2'")
    try home.sync("alex", "sam")

    let holders = try [Self.t1, RecordKey(type: "transaction", id: "t2")].filter { key in
      try a.replica.state(of: key)?.set(of: "split").row("s2") != nil
    }
    // Sam's set of t1, which still holds the row, may win or lose against the one that alex left behind.
    #expect(try splits(a) == splits(b))
    #expect(try attention(a) == attention(b))
    #expect(try attention(a).contains { $0.hasSuffix("elsewhere") } == (holders.count == 2))
    #expect(holders.count == 2)
    #expect(try home.difference("alex", "sam") == nil)

    try a.access.execute("DELETE FROM split WHERE id = 's2'")
    try home.sync("alex", "sam")
    for device in [a, b] {
      #expect(try splits(device)["s2"] == nil)
      #expect(try !attention(device).contains { $0.hasSuffix("elsewhere") })
    }
  }

  @Test func `a split without a transaction is a record of its own, and can come into one`() throws {
    try a.access.execute("INSERT INTO split(id, amount_minor) VALUES ('s5', -5)")
    try home.sync("alex", "sam")
    #expect(try splits(b)["s5"] == "- -5")

    try b.access.execute("UPDATE split SET parent = 't2' WHERE id = 's5'")
    try home.sync("alex", "sam")
    #expect(try splits(a)["s5"] == "t2 -5")

    try a.access.execute("UPDATE split SET parent = NULL WHERE id = 's9'")
    try home.sync("alex", "sam")
    #expect(try splits(b)["s9"] == "- -50")
    try b.access.execute("DELETE FROM split WHERE id = 's9'")
    try home.sync("alex", "sam")
    #expect(try splits(a)["s9"] == nil)
    try a.replica.restore(RecordKey(type: "split", id: "s9"), now: a.now)
    try home.sync("alex", "sam")
    #expect(try splits(b)["s9"] == "- -50")
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `splits of a transaction that is not here yet show`() throws {
    try a.access.execute("INSERT INTO split(id, parent, amount_minor) VALUES ('s5', 'later', -5)")
    try home.sync("alex", "sam")
    #expect(try splits(b)["s5"] == "later -5")
    #expect(try open(b).isEmpty)

    try b.access.execute("INSERT INTO \"transaction\"(id, amount_minor) VALUES ('later', -5)")
    try home.sync("alex", "sam")
    for device in [a, b] {
      #expect(try splits(device)["s5"] == "later -5")
      #expect(try attention(device).isEmpty)
    }
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test(arguments: [false, true])
  func `a program that deletes the splits with the transaction loses none for whoever restores it`(
    splitsFirst: Bool
  ) throws {
    let statements = ["DELETE FROM split WHERE parent = 't1'", "DELETE FROM \"transaction\" WHERE id = 't1'"]
    let sql = splitsFirst ? statements : statements.reversed()
    try a.access.execute("BEGIN; \(sql.joined(separator: "; ")); COMMIT")
    try home.sync("alex", "sam")
    #expect(try splits(b) == ["s9": "t2 -50"])

    try b.replica.restore(Self.t1, now: b.now)
    try home.sync("alex", "sam")

    for device in [a, b] {
      #expect(try splits(device) == ["s1": "t1 -100", "s2": "t1 -200", "s9": "t2 -50"])
      #expect(try device.fields("transaction", "t1")?["amount_minor"] == .integer(-300))
    }
    #expect(try open(a).isEmpty)
  }

  @Test func `an edit of a split just before the deletion of its transaction is kept`() throws {
    try a.access.execute(
      """
      UPDATE split SET amount_minor = -150 WHERE id = 's1';
      DELETE FROM split WHERE parent = 't1'; DELETE FROM "transaction" WHERE id = 't1'
      """)
    try home.sync("alex", "sam")
    try b.replica.restore(Self.t1, now: b.now)
    try home.sync("alex", "sam")

    #expect(try splits(a) == ["s1": "t1 -150", "s2": "t1 -200", "s9": "t2 -50"])
  }

  @Test func `a deletion takes the splits, and a set edited meanwhile can be taken with the transaction`() throws {
    try a.delete("transaction", "t1")
    try b.access.execute("UPDATE split SET amount_minor = -150 WHERE id = 's1'")
    try home.sync("alex", "sam")
    for device in [a, b] { #expect(try splits(device) == ["s9": "t2 -50"]) }
    let conflict = try #require(try open(a).first)
    #expect(conflict.kept.object == nil)
    #expect(try open(a) == open(b))

    try a.replica.resolve(conflict.conflict, .theirs, now: a.now)
    try home.sync("alex", "sam")

    for device in [a, b] {
      #expect(try splits(device) == ["s1": "t1 -150", "s2": "t1 -200", "s9": "t2 -50"])
      #expect(try open(device).isEmpty)
    }
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `a split written under a deleted transaction does not show, and comes back with it`() throws {
    try a.delete("transaction", "t1")
    try a.seal()
    try a.access.execute("INSERT INTO split(id, parent, amount_minor) VALUES ('s7', 't1', -7)")
    try home.sync("alex", "sam")
    for device in [a, b] { #expect(try splits(device) == ["s9": "t2 -50"]) }

    try b.replica.restore(Self.t1, now: b.now)
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
}
