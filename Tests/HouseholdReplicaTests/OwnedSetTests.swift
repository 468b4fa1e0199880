import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Owned sets: the splits of a transaction are one cell of it")
struct OwnedSetTests {
  let household: SplitHousehold
  var home: TestHousehold { household.home }
  var a: TestHousehold.Device { household.a }
  var b: TestHousehold.Device { household.b }

  init() throws { household = try SplitHousehold() }

  func splits(_ device: TestHousehold.Device) throws -> [String: String] { try household.splits(device) }
  func open(_ device: TestHousehold.Device) throws -> [ShownConflict] { try household.open(device) }
  func attention(_ device: TestHousehold.Device) throws -> [String] { try household.attention(device) }

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
      #expect(try device.replica.state(of: SplitHousehold.t1)?.set(of: "split").rows.map(\.id) == ["s1"])
    }
    #expect(try open(a).isEmpty)
  }

  @Test func `a split in two winning sets shows once, and the other transaction asks for attention`() throws {
    b.now = b.now.advanced(byMilliseconds: 5000)
    try b.access.execute("UPDATE split SET amount_minor = -111 WHERE id = 's1'")
    try b.access.execute("UPDATE sync_outbox SET at = at + 5000")
    try a.access.execute("UPDATE split SET parent = 't2' WHERE id = 's2'")
    try home.sync("alex", "sam")

    let holders = try [SplitHousehold.t1, RecordKey(type: "transaction", id: "t2")].filter { key in
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

  @Test func `who rejects the deletion of two transactions that hold one split brings both back`() throws {
    for number in 0..<20 { try a.put("transaction", "more\(number)", [("note", .text("more"))]) }
    try home.sync("alex", "sam")
    b.now = b.now.advanced(byMilliseconds: 5000)
    try b.access.execute("UPDATE split SET amount_minor = -111 WHERE id = 's1'")
    try b.access.execute("UPDATE sync_outbox SET at = at + 5000")
    try a.access.execute("UPDATE split SET parent = 't2' WHERE id = 's2'")
    try home.sync("alex", "sam")
    try b.access.execute("DELETE FROM \"transaction\"")
    try home.pull(a, from: b)
    let held = try #require(try a.replica.heldChangesets().first)

    try a.replica.decide(held.name, approving: false, now: a.now)
    try a.seal()
    try home.sync("alex", "sam")

    for device in [a, b] {
      #expect(try device.access.count(device.type("transaction")) == 22, "\(device.name)")
      #expect(try splits(device).keys.sorted() == ["s1", "s2", "s9"], "\(device.name)")
    }
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `a split that two sets hold needs no attention once a person moved it to one`() throws {
    b.now = b.now.advanced(byMilliseconds: 5000)
    try b.access.execute("UPDATE split SET amount_minor = -111 WHERE id = 's1'")
    try b.access.execute("UPDATE sync_outbox SET at = at + 5000")
    try a.access.execute("UPDATE split SET parent = 't2' WHERE id = 's2'")
    try home.sync("alex", "sam")
    #expect(try attention(a).contains { $0.hasSuffix("elsewhere") })
    let hidden = try splits(a)["s2"]?.hasPrefix("t1") == true ? "t2" : "t1"

    try a.access.execute("UPDATE split SET parent = '\(hidden)' WHERE id = 's2'")
    try home.sync("alex", "sam")

    for device in [a, b] {
      #expect(try splits(device)["s2"]?.hasPrefix(hidden) == true)
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

    try b.replica.restore(SplitHousehold.t1, now: b.now)
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
    try b.replica.restore(SplitHousehold.t1, now: b.now)
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

  @Test(arguments: [false, true])
  func `a transaction that was restored takes its splits along when it is deleted again`(inOneGo: Bool) throws {
    try a.delete("transaction", "t1")
    try a.seal()
    #expect(try splits(a)["s1"] == nil)
    try a.replica.restore(RecordKey(type: "transaction", id: "t1"), now: a.now)
    #expect(try splits(a)["s1"] == "t1 -100")
    if !inOneGo { try a.seal() }
    try a.delete("transaction", "t1")
    try home.sync("alex", "sam")
    for device in [a, b] { #expect(try splits(device).filter { $0.value.hasPrefix("t1") } == [:], "\(device.name)") }
    #expect(try home.difference("alex", "sam") == nil)
  }
}
