internal import HouseholdRecords

/// Bytes in the tables that are no UTF-8, and what text they are.
///
/// The checks refuse most of them at the writer (``WriterChecks``), and a file may hold what was written before they did.
/// Nothing that is no text can travel, and what would be put in its place elsewhere must stand here too. So it is read as
/// what it most likely is, the encoding of older Windows programs, and goes out as an edit.
enum MalformedText {
  /// Thrown when such bytes were met while edits were sealed: they are to be read as text first.
  struct Found: Error {}

  /// The text that these bytes are: what is UTF-8 is that, each other byte is a character of Windows-1252.
  static func read(_ bytes: [UInt8]) -> String {
    var text = ""
    var index = 0
    while index < bytes.count {
      let length =
        switch bytes[index] {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
      let end = min(index + length, bytes.count)
      if let character = String(validating: bytes[index..<end], as: UTF8.self) {
        text += character
        index = end
      } else {
        text.unicodeScalars.append(character(bytes[index]))
        index += 1
      }
    }
    return text
  }

  private static func character(_ byte: UInt8) -> Unicode.Scalar {
    (0x80..<0xA0).contains(byte) ? windows[Int(byte) - 0x80] : Unicode.Scalar(byte)
  }

  /// What 0x80 to 0x9F stand for in Windows-1252; the five that stand for nothing are themselves.
  private static let windows = Array(
    "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)

  /// How many texts that are none were read on a connection.
  final class Count {
    var value = 0
  }
}

extension Replica {
  /// Reads as text what is none in the tables and in what was captured; each such row is captured as edited.
  func readMalformedTexts() throws {
    try readMalformedOutbox()
    for table in registry.sorted where table.type.name != AliasFact.typeName { try readMalformedRows(of: table) }
  }

  private func readMalformedOutbox() throws {
    let statement = try connection.prepare("SELECT number, id, image FROM sync_outbox")
    var found: [(number: Int64, id: String, image: FieldValue)] = []
    while try statement.step() {
      let (id, image) = (statement.malformedText(1), statement.malformedText(2))
      guard id != nil || image != nil else { continue }
      found.append(
        (statement.integer(0), id ?? statement.text(1), image.map(FieldValue.text) ?? statement.value(2)))
    }
    for row in found {
      try connection.run(
        "UPDATE sync_outbox SET id = ?, image = ? WHERE number = ?", .text(row.id), row.image, .integer(row.number))
    }
  }

  /// A row with such bytes: its id as it stands, and the texts that they are, by the columns after the id.
  private struct MalformedRow {
    var bytes: [UInt8]
    var id: String
    var isIDMalformed: Bool
    var texts: [(field: Int, text: String)]
  }

  private func readMalformedRows(of table: TypeTable) throws {
    let columns = (["id"] + table.fieldNames).map(SchemaTables.quoted).joined(separator: ", ")
    let statement = try connection.prepare("SELECT \(columns) FROM \(SchemaTables.quoted(table.type.name))")
    var found: [MalformedRow] = []
    while try statement.step() {
      let id = statement.malformedText(0)
      let texts = table.fieldNames.indices.compactMap { field in
        statement.malformedText(Int32(field) + 1).map { (field: field, text: $0) }
      }
      guard id != nil || !texts.isEmpty else { continue }
      found.append(
        MalformedRow(
          bytes: statement.bytes(0), id: id ?? statement.text(0), isIDMalformed: id != nil, texts: texts))
    }
    for row in found { try write(row, of: table) }
  }

  private func write(_ row: MalformedRow, of table: TypeTable) throws {
    let name = SchemaTables.quoted(table.type.name)
    let id = row.isIDMalformed ? try freeID(row.id, of: table) : row.id
    let isCaptured = try connection.integer(
      "SELECT 1 FROM sync_outbox WHERE type = ? AND id = ? LIMIT 1", .integer(table.number), .text(id))
    if row.isIDMalformed {
      try connection.run("UPDATE \(name) SET id = ? WHERE id = CAST(? AS TEXT)", .text(id), .bytes(row.bytes))
    }
    if isCaptured == nil {
      let isNew = row.isIDMalformed && table.owner == nil
      let fields = row.texts.reduce(UInt64(0)) { $0 | 1 << UInt64($1.field) }
      // What others have in its place is in the image, read as it was sent.
      let image = isNew ? nil : try image(of: id, table)
      try connection.run(
        "INSERT INTO sync_outbox(type, id, kind, fields, at, image) VALUES (?, ?, ?, ?, \(CaptureTriggers.now), ?)",
        .integer(table.number), .text(id), .integer((isNew ? OutboxRow.Kind.inserted : .updated).rawValue),
        .integer(isNew ? 0 : Int64(bitPattern: fields)), image.map(FieldValue.text) ?? .null)
    }
    for (field, text) in row.texts {
      let column = SchemaTables.quoted(table.fieldNames[field])
      try connection.run("UPDATE \(name) SET \(column) = ? WHERE id = ?", .text(text), .text(id))
    }
  }

  private func image(of id: String, _ table: TypeTable) throws -> String? {
    try connection.text(
      """
      SELECT \(CaptureTriggers.image(of: table.type, row: "old")) FROM \(SchemaTables.quoted(table.type.name)) AS old
      WHERE id = ?
      """, .text(id))
  }

  /// The id, or if a record has it the next one that none has.
  private func freeID(_ id: String, of table: TypeTable) throws -> String {
    var (free, number) = (id, 1)
    while true {
      let isTaken = try connection.integer(
        """
        SELECT 1 FROM \(SchemaTables.quoted(table.type.name)) WHERE id = ?1
        UNION ALL SELECT 1 FROM sync_record WHERE type = ?2 AND id = ?1 LIMIT 1
        """, .text(free), .integer(table.number))
      if isTaken == nil { return free }
      number += 1
      free = "\(id)-\(number)"
    }
  }
}
