internal import HouseholdRecords

/// The triggers that refuse a bad value where it is written, with the field named, for every program alike.
///
/// STRICT tables check the storage class; these check what a value means. Like all triggers they are off on the
/// engine's own connection: what another device accepted is never refused here (R3).
enum WriterChecks {
  /// The triggers that check one type.
  static func triggers(for type: RecordType) -> [SchemaTables.Trigger] {
    let table = SchemaTables.quoted(type.name)
    let checks = type.fields.flatMap { check(of: $0, in: type) } + idChecks(of: type) + sizeCheck(of: type)
    let cases = checks.map { "WHEN \($0.isBad) THEN RAISE(ABORT, \(SchemaTables.literal($0.sentence)))" }
      .joined(separator: "\n    ")
    let suspicion = suspicion(of: type)
    let texts = textCheck(of: type)
    return ["INSERT", "UPDATE"].map { event in
      let name = "sync_check_\(type.name)_\(event.lowercased())"
      return (
        name,
        """
        CREATE TRIGGER \(SchemaTables.quoted(name)) BEFORE \(event) ON \(table) WHEN \(suspicion) BEGIN
          SELECT CASE \(cases) END;
          \(texts);
        END
        """
      )
    }
  }

  /// True for every bad row and few good ones, and cheap for the rest: most rows are short and hold neither a NUL nor U+FFFD.
  ///
  /// Texts are looked at joined into one: to look at each of them costs more than the insertion, and every program that
  /// opens the file reads all of this.
  private static func suspicion(of type: RecordType) -> String {
    let columns = type.fields.map { (kind: $0.kind, column: "NEW.\(SchemaTables.quoted($0.name))") }
    let meanings = type.fields.filter { ![.text, .reference, .bytes].contains($0.kind) }
      .flatMap { check(of: $0, in: type).prefix(1) }.map { "(\($0.isBad))" }
    let lengths = columns.filter { $0.kind == .bytes }.map { "length(\($0.column)) > \(Limits.idBytes)" }
    let joined = "(SELECT \(joined(texts(of: type).map(\.column))) AS texts)"
    let text =
      "(SELECT length(CAST(texts AS BLOB)) > \(Limits.idBytes) OR instr(texts, char(0)) OR texts GLOB \(strange) "
      + "FROM \(joined))"
    return (["NEW.id = ''"] + meanings + lengths + [text]).joined(separator: " OR ")
  }

  /// The id and the fields that are texts of any kind, by their names.
  private static func texts(of type: RecordType) -> [(name: String, column: String)] {
    let fields = type.fields.filter { [.text, .reference, .json, .timestamp].contains($0.kind) }
    return (["id"] + fields.map(\.name)).map { ("\(type.name).\($0)", "NEW.\(SchemaTables.quoted($0))") }
  }

  /// `*X*` for U+FFFD, as which SQLite reads most of what is no UTF-8. To look for other signs of it costs as much as the
  /// insertion.
  private static let strange = "char(42,65533,42)"

  /// Refuses texts that cannot travel: with a NUL, or of bytes that are no UTF-8.
  ///
  /// Three good characters are read as U+FFFD too, and left out before one looks. Some bad bytes pass as characters: those
  /// that would go on with one and follow none, and a lead byte with some, but too few or too many, after it. They are read
  /// as text when they are sealed (``MalformedText``).
  private static func textCheck(of type: RecordType) -> String {
    let texts = texts(of: type)
    let cases = texts.enumerated()
      .map {
        "WHEN \($0) THEN RAISE(ABORT, \(SchemaTables.literal("\($1.name) holds a NUL or bytes that are no UTF-8")))"
      }
    let rows = texts.enumerated().map { $0 == 0 ? "SELECT 0 AS i, \($1.column) AS t" : "SELECT \($0), \($1.column)" }
    let plain = [65533, 65534, 65535].reduce("t") { "replace(\($0), char(\($1)), ' ')" }
    return """
      SELECT CASE i \(cases.joined(separator: " ")) END FROM (\(rows.joined(separator: " UNION ALL ")))
        WHERE instr(t, char(0)) OR \(plain) GLOB \(strange)
      """
  }

  /// The columns' texts as one, nulls left out.
  private static func joined(_ columns: [String]) -> String {
    columns.map { "ifnull(\($0), '')" }.joined(separator: " || ")
  }

  private typealias Check = (isBad: String, sentence: String)

  private static func idChecks(of type: RecordType) -> [Check] {
    [
      (
        "length(CAST(NEW.id AS BLOB)) > \(Limits.idBytes)",
        "\(type.name).id is longer than \(Limits.idBytes) bytes"
      ),
      ("NEW.id = ''", "\(type.name).id is empty"),
    ]
  }

  /// A record must travel inside one message, so texts that are allowed one by one may be too much together.
  private static func sizeCheck(of type: RecordType) -> [Check] {
    let large = type.fields.filter { [.text, .json, .bytes].contains($0.kind) }
    guard large.count * Limits.textBytes > Limits.recordBytes else { return [] }
    let all = joined(large.map { "NEW.\(SchemaTables.quoted($0.name))" })
    return [
      (
        "length(CAST(\(all) AS BLOB)) > \(Limits.recordBytes)",
        "\(type.name): the record is larger than \(Limits.recordBytes) bytes"
      )
    ]
  }

  private static func check(of field: FieldDefinition, in type: RecordType) -> [Check] {
    let column = "NEW.\(SchemaTables.quoted(field.name))"
    let name = "\(type.name).\(field.name)"
    let tooLong: Check = (
      "length(CAST(\(column) AS BLOB)) > \(Limits.textBytes)", "\(name) is longer than \(Limits.textBytes) bytes"
    )
    switch field.kind {
    case .text: return [tooLong]
    case .reference:
      return [("length(CAST(\(column) AS BLOB)) > \(Limits.idBytes)", "\(name) is longer than \(Limits.idBytes) bytes")]
    case .boolean: return [("\(column) NOT IN (0, 1)", "\(name) must be 0 or 1")]
    case .date:
      return [
        (
          "date(\(column), '+0 days') IS NOT \(column) OR \(column) < '0001'",
          "\(name) must be a calendar day YYYY-MM-DD"
        )
      ]
    case .timestamp:
      // Only with a modifier SQLite makes 2 March of 30 February. A fraction is read apart, as it may be rounded up.
      let start = "substr(\(column), 1, 19)"
      return [
        (
          "strftime('%Y-%m-%dT%H:%M:%S', \(start), '+0 days') IS NOT \(start) OR \(column) NOT GLOB '*[0-9]Z' "
            + "OR julianday(\(column)) IS NULL AND \(column) IS NOT NULL",
          "\(name) must be a time such as 2026-03-01T09:30:00Z"
        )
      ]
    case .json: return [("\(column) IS NOT NULL AND NOT json_valid(\(column))", "\(name) must be JSON"), tooLong]
    case .bytes:
      return [("length(\(column)) > \(Limits.textBytes)", "\(name) is longer than \(Limits.textBytes) bytes")]
    case .integer, .real, nil: return []
    }
  }
}
