internal import HouseholdRecords

/// The triggers that write every local edit, by any program, into the outbox.
///
/// They use SQLite's built-in functions only: a function of ours would make other programs' statements fail. The
/// engine's own connection has triggers switched off, so what sync writes is never captured: no echo can arise (R9).
enum CaptureTriggers {
  /// Milliseconds since 1970 by this machine's clock; SQLite 3.40 has no shorter way.
  static let now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

  /// The triggers of one type.
  static func triggers(for type: RecordType, number: Int64) -> [SchemaTables.Trigger] {
    let table = SchemaTables.quoted(type.name)
    let columns = "INSERT INTO sync_outbox(type, id, kind, fields, at, image)"
    let insert = """
      CREATE TRIGGER \(SchemaTables.quoted(name(type, "insert"))) AFTER INSERT ON \(table) BEGIN
        \(columns) VALUES (\(number), NEW.id, 1, 0, \(now), NULL);
      END
      """
    let replace = """
      CREATE TRIGGER \(SchemaTables.quoted(name(type, "replace"))) BEFORE INSERT ON \(table)
      WHEN EXISTS (SELECT 1 FROM \(table) WHERE id = NEW.id) BEGIN
        \(columns) SELECT \(number), NEW.id, 0, 0, \(now), \(image(of: type, row: "old")) FROM \(table) AS old
        WHERE old.id = NEW.id;
      END
      """
    let update = """
      CREATE TRIGGER \(SchemaTables.quoted(name(type, "update"))) AFTER UPDATE ON \(table)
      WHEN OLD.id = NEW.id BEGIN
        \(columns) SELECT \(number), NEW.id, 2, changed, \(now), \(imageOfChanged(of: type))
        FROM (SELECT \(changedFields(of: type)) AS changed) WHERE changed;
      END
      """
    let move = """
      CREATE TRIGGER \(SchemaTables.quoted(name(type, "move"))) AFTER UPDATE OF id ON \(table) WHEN OLD.id <> NEW.id BEGIN
        \(columns) VALUES (\(number), OLD.id, 3, 0, \(now), \(image(of: type, row: "OLD")));
        \(columns) VALUES (\(number), NEW.id, 1, 0, \(now), NULL);
      END
      """
    // The row in whose place another one is put: `UPDATE OR REPLACE` takes it away without another word.
    let displace = """
      CREATE TRIGGER \(SchemaTables.quoted(name(type, "displace"))) BEFORE UPDATE OF id ON \(table)
      WHEN OLD.id <> NEW.id BEGIN
        \(columns) SELECT \(number), NEW.id, 0, 0, \(now), \(image(of: type, row: "old")) FROM \(table) AS old
        WHERE old.id = NEW.id;
      END
      """
    let delete = """
      CREATE TRIGGER \(SchemaTables.quoted(name(type, "delete"))) AFTER DELETE ON \(table) BEGIN
        \(columns) VALUES (\(number), OLD.id, 3, 0, \(now), \(image(of: type, row: "OLD")));
      END
      """
    return [
      ("insert", insert), ("replace", replace), ("update", update), ("displace", displace), ("move", move),
      ("delete", delete),
    ].map { (name: name(type, $0), statement: $1) }
  }

  /// The names of the triggers of one type.
  static func names(of type: RecordType) -> [String] {
    ["insert", "replace", "update", "displace", "move", "delete"].map { name(type, $0) }
  }

  private static func name(_ type: RecordType, _ event: String) -> String { "sync_capture_\(type.name)_\(event)" }

  /// An expression with bit n set where field n changed.
  private static func changedFields(of type: RecordType) -> String {
    if type.fields.isEmpty { return "0" }
    let bits = type.fields.enumerated().map { index, field in
      let column = SchemaTables.quoted(field.name)
      return "(OLD.\(column) IS NOT NEW.\(column)) * \(1 << index)"
    }
    return bits.joined(separator: " + ")
  }

  /// The row as a JSON array in the order of the fields, without loss.
  static func image(of type: RecordType, row: String) -> String {
    let parts = type.fields.map { field in
      let column = "\(row).\(SchemaTables.quoted(field.name))"
      return lossless(column, of: field) ?? column
    }
    return "json_array(\(parts.joined(separator: ", ")))"
  }

  /// What an update overwrites, as an image in which the fields that it leaves alone are null.
  private static func imageOfChanged(of type: RecordType) -> String {
    let parts = type.fields.map { field in
      let column = SchemaTables.quoted(field.name)
      let overwritten = "nullif(OLD.\(column), NEW.\(column))"
      return lossless(overwritten, of: field) ?? overwritten
    }
    return "json_array(\(parts.joined(separator: ", ")))"
  }

  /// A value that JSON would not hold without loss, as a text: real as 17 digits, bytes as hexadecimal; nil for others.
  private static func lossless(_ value: String, of field: FieldDefinition) -> String? {
    switch field.kind {
    case .real: "CASE WHEN \(value) IS NOT NULL THEN printf('%!.17g', \(value)) END"
    case .bytes: "CASE WHEN \(value) IS NOT NULL THEN hex(\(value)) END"
    default: nil
    }
  }

  /// The row that an image holds, in the order of the type's fields.
  static func row(fromImage image: String, of type: RecordType, on connection: Connection) throws -> [FieldValue] {
    if let plain = PlainImage.values(of: image, count: type.fields.count),
      !zip(plain, type.fields).contains(where: { !$0.isNull && ($1.kind == .real || $1.kind == .bytes) })
    {
      return plain
    }
    let statement = try connection.statement("SELECT value FROM json_each(?) ORDER BY key")
    try statement.bind(1, image)
    defer { statement.reset() }
    var values: [FieldValue] = []
    while try statement.step() {
      guard values.count < type.fields.count else { break }
      let value = statement.value(0)
      switch (type.fields[values.count].kind, value) {
      case (.real, .text(let text)): values.append(Double(text).map(FieldValue.real) ?? .null)
      case (.bytes, .text(let text)): values.append(bytes(hex: text).map(FieldValue.bytes) ?? .null)
      default: values.append(value)
      }
    }
    // The table may have got more columns since the image was taken.
    while values.count < type.fields.count { values.append(.null) }
    return values
  }
}
