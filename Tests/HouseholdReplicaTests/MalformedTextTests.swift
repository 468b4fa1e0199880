import HouseholdRecords
import HouseholdReplica
import Testing

@Suite("Bytes that are no text")
struct MalformedTextTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device

  init() throws {
    home = try TestHousehold("alex", "sam")
    a = home["alex"]
    b = home["sam"]
  }

  private func text(_ hex: String) -> String { "CAST(X'\(hex)' AS TEXT)" }

  @Test(arguments: [
    // é at the end and between letters in Latin-1; half a character; a surrogate; overlong; beside U+FFFD.
    "636166E9", "63E9676F", "C3", "EDA080", "C0AF", "E080AF", "FF", "EFBFBDE9", "E9EFBFBD",
  ])
  func `bytes that are no UTF-8 are refused at the writer with the field named`(hex: String) throws {
    try a.put("category", "c1", [("name", .text("kept"))])
    for (field, statement) in [
      ("id", "INSERT INTO category(id, name) VALUES (\(text(hex)), 'x')"),
      ("note", "INSERT INTO category(id, note) VALUES ('c2', \(text(hex)))"),
      ("note", "UPDATE category SET note = \(text(hex))"), ("id", "UPDATE category SET id = \(text(hex))"),
    ] {
      let error = #expect(throws: ReplicaError.self) { try a.access.execute(statement) }
      #expect(error?.message.contains("category.\(field)") == true, "\(statement): \(error?.message ?? "")")
    }

    try home.sync("alex", "sam")
    #expect(try b.access.count(b.type("category")) == 1)
  }

  @Test func `every character that there is is taken and comes through`() throws {
    var texts = [
      "\u{FFFD}", "\u{FFFE}x\u{FFFF}", "°§£«»¿", "Ãÿ", "é’ “x” – €", "日本語", "😀👩‍👩‍👧", "\u{7FF}\u{800}\u{10FFFF}",
    ]
    for start in [0x80, 0x700, 0xD700, 0xE000, 0xFF00, 0x10000] {
      texts.append(String(String.UnicodeScalarView((start..<start + 0x100).compactMap { Unicode.Scalar($0) })))
    }
    for (index, text) in texts.enumerated() { try a.put("category", "\(text)", [("note", .text("\(index)\(text)"))]) }

    try home.sync("alex", "sam")

    for (index, text) in texts.enumerated() {
      #expect(try b.fields("category", text)?["note"] == .text("\(index)\(text)"))
    }
  }

  @Test func `what passes the checks is sealed as Windows-1252, the row's id too, and stands here as there`() throws {
    // `é’` and `é°`: lead bytes of three with one byte after them. `5 €`. Then three bytes of the four of a face.
    try a.access.execute(
      "INSERT INTO category(id, name, note) VALUES ('caf' || \(text("E992")), 'Bar', 'caf' || \(text("E9B0")))")
    try a.access.execute(
      "INSERT INTO letter(id, a, b) VALUES ('l1', 'good', 'x'), ('l2', \(text("352080")), NULL); UPDATE letter SET b = \(text("C3A9E996")), c = \(text("F09F98")) WHERE id = 'l1'"
    )

    try home.sync("alex", "sam")

    for device in [a, b] {
      #expect(try device.fields("category", "café’")?["note"] == .text("café°"))
      #expect(try device.fields("letter", "l1")?["b"] == .text("éé–"))
      #expect(try device.fields("letter", "l1")?["c"] == .text("ðŸ˜"))
      #expect(try device.fields("letter", "l2")?["a"] == .text("5 €"))
      #expect(try device.access.count(device.type("category")) == 1)
    }
    #expect(try home.difference("alex", "sam") == nil)
    #expect(try a.replica.unsealedCount() == 0)
  }

  @Test func `rows that older triggers let pass go out when the file is opened, and none takes another's place`() throws
  {
    try a.put("category", "né–", [("name", .text("other"))])
    try a.put("category", "c1", [("name", .text("first"))])
    try home.sync("alex", "sam")
    // As an older program left them: captured, sealed without them, and forgotten.
    try a.access.execute(
      """
      DELETE FROM sync_meta WHERE name = 'triggers';
      INSERT INTO category(id, name) VALUES (\(text("6EE996")), 'new');
      UPDATE category SET name = \(text("E992")) WHERE id = 'c1';
      DELETE FROM sync_outbox
      """)

    try a.restart()
    try home.sync("alex", "sam")

    for device in [a, b] {
      #expect(try device.fields("category", "né–")?["name"] == .text("other"))
      #expect(try device.fields("category", "né–-2")?["name"] == .text("new"))
    }
    #expect(try b.fields("category", "c1")?["name"] == .text("é’"))
    #expect(try home.difference("alex", "sam") == nil)
  }
}
