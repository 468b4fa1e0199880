import HouseholdRecords
import HouseholdReplica
import Testing

@Suite("Capture and sealing of edits by any program")
struct CaptureTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device

  init() throws {
    home = try TestHousehold("alex", "sam")
    a = home["alex"]
    b = home["sam"]
  }

  @Test func `an insert, an update and a deletion by plain SQL reach the partner`() throws {
    try a.access.execute("INSERT INTO category(id, name, sort) VALUES ('c1', 'Garden', 7)")
    try home.sync("alex", "sam")
    #expect(try b.fields("category", "c1") == ["name": .text("Garden"), "sort": .integer(7), "note": .null])

    try b.access.execute("UPDATE category SET sort = 8 WHERE id = 'c1'")
    try home.sync("alex", "sam")
    #expect(try a.fields("category", "c1")?["sort"] == .integer(8))

    try a.access.execute("DELETE FROM category WHERE id = 'c1'")
    try home.sync("alex", "sam")
    #expect(try b.fields("category", "c1") == nil)
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test(arguments: [false, true])
  func `REPLACE of a live row is an update of the fields that differ, with recursive triggers or without`(
    recursive: Bool
  ) throws {
    try a.put("category", "c1", [("name", .text("Garden")), ("sort", .integer(7)), ("note", .text("roses"))])
    try home.sync("alex", "sam")
    try b.put("category", "c1", [("name", .text("Yard"))])

    if recursive { try a.access.execute("PRAGMA recursive_triggers = ON") }
    try a.access.execute("INSERT OR REPLACE INTO category(id, name, note) VALUES ('c1', 'Garden', 'tulips')")
    try home.sync("alex", "sam")

    let expected: [String: FieldValue] = ["name": .text("Yard"), "sort": .null, "note": .text("tulips")]
    #expect(try a.fields("category", "c1") == expected)
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `INSERT OR IGNORE of a row that is there changes nothing`() throws {
    try a.put("category", "c1", [("name", .text("Garden"))])
    try home.sync("alex", "sam")
    let before = try a.replica.vectors().applied

    try a.access.execute("INSERT OR IGNORE INTO category(id, name) VALUES ('c1', 'Other')")
    try a.seal()

    #expect(try a.replica.vectors().applied == before)
    #expect(try a.replica.unsealedCount() == 0)
  }

  @Test func `an upsert writes only the fields it sets`() throws {
    try a.put("category", "c1", [("name", .text("Garden")), ("sort", .integer(1))])
    try home.sync("alex", "sam")
    try b.put("category", "c1", [("name", .text("Yard"))])

    try a.access.execute(
      "INSERT INTO category(id, name, sort) VALUES ('c1', 'x', 5) ON CONFLICT(id) DO UPDATE SET sort = excluded.sort")
    try home.sync("alex", "sam")

    #expect(try a.fields("category", "c1") == ["name": .text("Yard"), "sort": .integer(5), "note": .null])
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `an id that changes is a deletion and an insert`() throws {
    try a.put("category", "c1", [("name", .text("Garden"))])
    try home.sync("alex", "sam")

    try a.access.execute("UPDATE category SET id = 'c2' WHERE id = 'c1'")
    try home.sync("alex", "sam")

    #expect(try b.fields("category", "c1") == nil)
    #expect(try b.fields("category", "c2")?["name"] == .text("Garden"))
  }

  @Test func `a write of the same value is no change`() throws {
    try a.put("category", "c1", [("name", .text("Garden"))])
    try a.seal()
    let before = try a.replica.vectors().applied

    try a.put("category", "c1", [("name", .text("Garden"))])

    #expect(try a.seal() == false)
    #expect(try a.replica.vectors().applied == before)
  }

  @Test func `what sync writes is never captured`() throws {
    try a.put("category", "c1", [("name", .text("Garden"))])
    try home.sync("alex", "sam")

    #expect(try b.replica.unsealedCount() == 0)
    #expect(try b.replica.vectors().applied[b.replica.replica] == 0)
  }

  @Test func `an omitted id gets a fresh one`() throws {
    try a.access.execute("INSERT INTO category(name) VALUES ('one')")
    try a.access.execute("INSERT INTO category(name) VALUES ('two')")
    try home.sync("alex", "sam")

    #expect(try b.access.count(b.type("category")) == 2)
  }

  @Test func `edits with a pause between are sealed one by one, and the deletion that follows loses nothing`() throws {
    try a.put("category", "c1", [("name", .text("Garden")), ("sort", .integer(1))])
    try a.seal()
    try a.access.execute(
      """
      UPDATE category SET name = 'Yard' WHERE id = 'c1';
      UPDATE sync_outbox SET at = at - 10000;
      UPDATE category SET sort = 2 WHERE id = 'c1'
      """)
    let before = try a.replica.vectors().applied[a.replica.replica]

    try a.seal()

    #expect(try a.replica.vectors().applied[a.replica.replica] == before + 2)
    try home.sync("alex", "sam")
    #expect(try b.fields("category", "c1") == ["name": .text("Yard"), "sort": .integer(2), "note": .null])
  }

  @Test func `a deletion keeps all values of the record, an edit just before it included`() throws {
    try a.put("category", "c1", [("name", .text("Garden")), ("sort", .integer(1))])
    try home.sync("alex", "sam")
    try a.access.execute("UPDATE category SET name = 'Yard' WHERE id = 'c1'; DELETE FROM category WHERE id = 'c1'")
    try home.sync("alex", "sam")

    for device in [a, b] {
      let state = try #require(try device.replica.state(of: RecordKey(type: "category", id: "c1")))
      #expect(!state.isAlive)
      #expect(state.winner(of: "name")?.value == .fields([.text("Yard")]))
      #expect(state.winner(of: "sort")?.value == .fields([.integer(1)]))
    }
    #expect(
      try a.replica.state(of: RecordKey(type: "category", id: "c1"))
        == b.replica.state(of: RecordKey(type: "category", id: "c1")))
  }

  @Test func `a record made and deleted before it was sealed leaves no trace`() throws {
    try a.access.execute("INSERT INTO category(id, name) VALUES ('c1', 'x'); DELETE FROM category WHERE id = 'c1'")
    #expect(try a.seal())
    #expect(try a.replica.vectors().applied.isEmpty)
    #expect(try a.replica.unsealedCount() == 0)
  }

  @Test func `every kind of value comes through without loss`() throws {
    let values: [(String, FieldValue)] = [
      ("text", .text("mit Pfand 🍾 \u{65}\u{301} 'quoted' \"double\"\nline")), ("integer", .integer(.max)),
      ("real", .real(0.1 + 0.2)), ("boolean", .integer(1)), ("date", .text("2024-02-29")),
      ("timestamp", .text("2026-03-01T09:30:00.000Z")), ("bytes", .bytes([0, 1, 255])), ("json", .text("{\"a\":[1]}")),
    ]
    try a.put("sample", "s1", values)
    try a.put("sample", "s2", [("integer", .integer(.min)), ("text", .text("")), ("bytes", .bytes([]))])
    try home.sync("alex", "sam")

    let expected = Dictionary(uniqueKeysWithValues: values)
    #expect(try b.fields("sample", "s1") == expected)
    #expect(try b.fields("sample", "s2")?["text"] == .text(""))
    #expect(try b.fields("sample", "s2")?["bytes"] == .bytes([]))
    #expect(try b.fields("sample", "s2")?["real"] == .null)

    // The images of a deletion go through JSON text; what they bring back must be the same to the last bit.
    try a.access.execute("UPDATE sample SET boolean = 0 WHERE id = 's1'; DELETE FROM sample WHERE id = 's1'")
    try home.sync("alex", "sam")
    let state = try #require(try a.replica.state(of: RecordKey(type: "sample", id: "s1")))
    for (field, value) in values where field != "boolean" {
      #expect(state.winner(of: field)?.value == .fields([value]))
    }
    #expect(
      try a.replica.state(of: RecordKey(type: "sample", id: "s1"))
        == b.replica.state(of: RecordKey(type: "sample", id: "s1")))
  }

  @Test(arguments: [
    "plain", "", "\"quoted\"", "back\\slash", "line\nbreak", "tab\tand bell\u{7}", "é", "e\u{301}", "🙂", "[1,null]",
    "null", "a,b", "\u{7F}", "\u{2028}",
  ])
  func `a text is the same in the history after it was written over`(text: String) throws {
    let home = try TestHousehold("alex")
    let a = home["alex"]
    try a.put("letter", "one", [("a", .text(text)), ("b", .text("kept"))])
    try a.seal()
    try a.put("letter", "one", [("a", .text("new"))])
    try a.seal()

    var before: [FieldValue] = []
    try a.access.history(RecordKey(type: "letter", id: "one")) { if $0.field == "a" { before.append($0.from) } }
    #expect(before == [.text(text)])
  }

  @Test(arguments: [0, 1, -1, 999_999_999_999_999_999, 1_000_000_000_000_000_000, .max, .min] as [Int64])
  func `a number is the same in the history after it was written over`(number: Int64) throws {
    let home = try TestHousehold("alex")
    let a = home["alex"]
    let values: [(String, FieldValue)] = [
      ("integer", .integer(number)), ("real", .real(Double(number) / 3)), ("bytes", .bytes([0, 255])),
    ]
    try a.put("sample", "one", values)
    try a.seal()
    try a.put("sample", "one", values.map { ($0.0, .null) })
    try a.seal()

    var before: [String: FieldValue] = [:]
    try a.access.history(RecordKey(type: "sample", id: "one")) { before[$0.field ?? ""] = $0.from }
    for (field, value) in values { #expect(before[field] == value) }
  }

  @Test func `what an update overwrites is told to the last bit, and of the rest nothing`() throws {
    let home = try TestHousehold("alex")
    let a = home["alex"]
    let values: [(String, FieldValue)] = [
      ("integer", .integer(0)), ("real", .real(0.1 + 0.2)), ("bytes", .bytes([])), ("text", .text("")),
    ]
    try a.put("sample", "one", values)
    try a.seal()
    try a.put("sample", "one", values + [("date", .text("2026-03-01"))])
    try a.seal()
    try a.put(
      "sample", "one", [("integer", .integer(1)), ("real", .real(0)), ("bytes", .bytes([1])), ("text", .text("x"))])
    try a.seal()
    try a.put("sample", "one", [("real", .null), ("bytes", .null)])
    try a.seal()

    var before: [String: [FieldValue]] = [:]
    try a.access.history(RecordKey(type: "sample", id: "one")) { change in
      if let field = change.field { before[field, default: []].append(change.from) }
    }
    #expect(Set(before["real"] ?? []) == [.real(0.1 + 0.2), .real(0)])
    #expect(Set(before["bytes"] ?? []) == [.bytes([]), .bytes([1])])
    #expect(before["integer"] == [.integer(0)])
    #expect(before["text"] == [.text("")])
    #expect(before["date"] == [.null])
  }

  @Test func `a file with older triggers gets the present ones when its node opens it, and keeps what they captured`()
    throws
  {
    try a.put("category", "c1", [("name", .text("Garden"))])
    try home.sync("alex", "sam")
    try a.access.execute("UPDATE category SET sort = 7 WHERE id = 'c1'")
    try a.access.execute(
      """
      DELETE FROM sync_meta WHERE name = 'triggers';
      DROP TRIGGER sync_capture_category_update;
      CREATE TRIGGER sync_capture_category_update AFTER UPDATE ON category BEGIN SELECT RAISE(ABORT, 'older'); END
      """)
    #expect(throws: ReplicaError.self) { try a.access.execute("UPDATE category SET note = 'x'") }

    try a.restart()
    try a.access.execute("UPDATE category SET note = 'roses'")
    try home.sync("alex", "sam")

    #expect(try b.fields("category", "c1") == ["name": .text("Garden"), "sort": .integer(7), "note": .text("roses")])
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `a record that no message could carry is refused at the writer, one that fits comes through`() throws {
    let most = FieldValue.text(String(repeating: "x", count: Limits.textBytes))
    let error = #expect(throws: ReplicaError.self) {
      try a.put("letter", "l1", ["a", "b", "c", "d", "e"].map { ($0, most) })
    }
    #expect(error?.message.contains("letter: the record is larger than \(Limits.recordBytes) bytes") == true)

    try a.put("letter", "l1", ["a", "b", "c", "d"].map { ($0, most) })
    try home.sync("alex", "sam")
    #expect(try b.fields("letter", "l1")?["d"] == most)
  }

  @Test func `an id over the limit is refused, the longest one comes through`() throws {
    let error = #expect(throws: ReplicaError.self) {
      try a.put("category", String(repeating: "i", count: Limits.idBytes + 1), [("name", .text("x"))])
    }
    #expect(error?.message.contains("category.id") == true)

    let longest = String(repeating: "ü", count: Limits.idBytes / 2)
    try a.put("category", longest, [("name", .text("x"))])
    try home.sync("alex", "sam")
    #expect(try b.fields("category", longest)?["name"] == .text("x"))
  }

  @Test(arguments: [
    ("date", FieldValue.text("2026-02-30")), ("date", .text("now")), ("boolean", .integer(2)),
    ("timestamp", .text("yesterday")), ("json", .text("{")), ("text", .text("a\u{0}b")),
    // SQLite's own functions look no further than a NUL.
    ("timestamp", .text("2026-03-01T09:30:00Z\u{0}b")), ("json", .text("1\u{0}b")), ("date", .text("2026-03-01\u{0}b")),
    ("integer", .text("many")), ("text", .text(String(repeating: "x", count: Limits.textBytes + 1))),
    ("real", .text("x")), ("bytes", .text("text")), ("date", .text("0000-05-05")),
    ("timestamp", .text("2026-02-30T09:30:00Z")), ("timestamp", .text("2026-03-01T24:00:00Z")),
    ("timestamp", .text("2026-03-01T09:30:00z")), ("timestamp", .text("2026-03-01T09:30:00 Z")),
    ("timestamp", .text("2026-03-01 09:30:00Z")), ("timestamp", .text("2026-03-01T09:30:00.Z")),
    ("timestamp", .text("2026-03-01T09:30:00+01:00")),
  ])
  func `a bad value is refused at the writer with the field named`(field: String, value: FieldValue) throws {
    try a.put("sample", "s2", [("text", .text("kept"))])
    try a.seal()
    for id in ["s1", "s2"] {
      let error = #expect(throws: ReplicaError.self) { try a.put("sample", id, [(field, value)]) }
      #expect(error?.code == .badValue)
      #expect(error?.message.contains("sample.\(field)") == true, "\(error?.message ?? "")")
    }

    #expect(try a.fields("sample", "s1") == nil)
    #expect(try a.fields("sample", "s2")?["text"] == .text("kept"))
    #expect(try a.replica.unsealedCount() == 0)
  }

  @Test func `an empty id is refused, and times with any fraction are taken`() throws {
    let error = #expect(throws: ReplicaError.self) { try a.put("category", "", [("name", .text("x"))]) }
    #expect(error?.message.contains("category.id") == true)

    for time in [
      "2026-03-01T09:30:59.9999Z", "2024-02-29T23:59:59Z", "0001-01-01T00:00:00.5Z", "9999-12-31T23:59:59.999Z",
    ] {
      #expect(Instant.isUTCTimestamp(time))
      try a.put("sample", "s", [("timestamp", .text(time))])
    }
  }
}
