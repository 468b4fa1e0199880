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
    return ["INSERT", "UPDATE"].map { event in
      let name = "sync_check_\(type.name)_\(event.lowercased())"
      return (
        name,
        """
        CREATE TRIGGER \(SchemaTables.quoted(name)) BEFORE \(event) ON \(table) WHEN \(suspicion) BEGIN
          SELECT CASE \(cases) END;
        END
        """
      )
    }
  }

  /// True for every bad row and few good ones, and cheap for the rest: most rows are short and hold no NUL.
  ///
  /// Texts are looked at joined into one: to look at each of them costs more than the insertion, and every program that
  /// opens the file reads all of this.
  private static func suspicion(of type: RecordType) -> String {
    let columns = type.fields.map { (kind: $0.kind, column: "NEW.\(SchemaTables.quoted($0.name))") }
    let meanings = type.fields.filter { ![.text, .reference, .bytes].contains($0.kind) }
      .flatMap { check(of: $0, in: type).prefix(1) }.map { "(\($0.isBad))" }
    let lengths = columns.filter { $0.kind == .bytes }.map { "length(\($0.column)) > \(Limits.idBytes)" }
    let texts = columns.filter { [.text, .reference, .json, .timestamp].contains($0.kind) }.map(\.column)
    let joined = "(SELECT \(joined(["NEW.id"] + texts)) AS texts)"
    let text = "(SELECT length(CAST(texts AS BLOB)) > \(Limits.idBytes) OR instr(texts, char(0)) FROM \(joined))"
    return (meanings + lengths + [text]).joined(separator: " OR ")
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
      ("instr(NEW.id, char(0))", "\(type.name).id holds a NUL character"),
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
    let nul: Check = ("instr(\(column), char(0))", "\(name) holds a NUL character")
    switch field.kind {
    case .text: return [tooLong, nul]
    case .reference:
      return [
        ("length(CAST(\(column) AS BLOB)) > \(Limits.idBytes)", "\(name) is longer than \(Limits.idBytes) bytes"), nul,
      ]
    case .boolean: return [("\(column) NOT IN (0, 1)", "\(name) must be 0 or 1")]
    case .date:
      return [("date(\(column), '+0 days') IS NOT \(column)", "\(name) must be a calendar day YYYY-MM-DD")]
    case .timestamp:
      return [
        (
          "\(column) IS NOT NULL AND (julianday(\(column)) IS NULL OR \(column) NOT LIKE '____-__-__T__:__:__%Z')",
          "\(name) must be a time such as 2026-03-01T09:30:00Z"
        ), nul,
      ]
    case .json: return [("\(column) IS NOT NULL AND NOT json_valid(\(column))", "\(name) must be JSON"), tooLong, nul]
    case .bytes:
      return [("length(\(column)) > \(Limits.textBytes)", "\(name) is longer than \(Limits.textBytes) bytes")]
    case .integer, .real, nil: return []
    }
  }
}
