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
  /// Texts are looked at joined into one, because a call of `instr` for each of them costs more than the insertion.
  private static func suspicion(of type: RecordType) -> String {
    let columns = type.fields.map { (kind: $0.kind, column: "NEW.\(SchemaTables.quoted($0.name))") }
    let texts = columns.filter { [.text, .reference, .json].contains($0.kind) }.map { "coalesce(\($0.column), '')" }
    let lengths = (columns.filter { [.text, .reference, .json, .bytes].contains($0.kind) }.map(\.column) + ["NEW.id"])
      .map { "length(CAST(\($0) AS BLOB)) > \(Limits.idBytes)" }
    let meanings = type.fields.filter { ![.text, .reference, .bytes].contains($0.kind) }
      .flatMap { check(of: $0, in: type).prefix(1) }.map(\.isBad)
    let nul = "instr(\((texts + ["NEW.id"]).joined(separator: " || ")), char(0)) > 0"
    return (meanings + lengths + [nul]).map { "(\($0))" }.joined(separator: " OR ")
  }

  private typealias Check = (isBad: String, sentence: String)

  private static func idChecks(of type: RecordType) -> [Check] {
    [
      (
        "length(CAST(NEW.id AS BLOB)) > \(Limits.idBytes)",
        "\(type.name).id is longer than \(Limits.idBytes) bytes"
      ),
      ("instr(NEW.id, char(0)) > 0", "\(type.name).id holds a NUL character"),
    ]
  }

  /// A record must travel inside one message, so texts that are allowed one by one may be too much together.
  private static func sizeCheck(of type: RecordType) -> [Check] {
    let large = type.fields.filter { [.text, .json, .bytes].contains($0.kind) }
    guard large.count * Limits.textBytes > Limits.recordBytes else { return [] }
    let sum = large.map { "coalesce(length(CAST(NEW.\(SchemaTables.quoted($0.name)) AS BLOB)), 0)" }
    return [
      (
        "\(sum.joined(separator: " + ")) > \(Limits.recordBytes)",
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
    let nul: Check = ("instr(\(column), char(0)) > 0", "\(name) holds a NUL character")
    switch field.kind {
    case .text: return [tooLong, nul]
    case .reference:
      return [
        ("length(CAST(\(column) AS BLOB)) > \(Limits.idBytes)", "\(name) is longer than \(Limits.idBytes) bytes"), nul,
      ]
    case .boolean: return [("\(column) NOT IN (0, 1)", "\(name) must be 0 or 1")]
    case .date:
      return [
        (
          "\(column) IS NOT NULL AND date(\(column), '+0 days') IS NOT \(column)",
          "\(name) must be a calendar day YYYY-MM-DD"
        )
      ]
    case .timestamp:
      return [
        (
          "\(column) IS NOT NULL AND (julianday(\(column)) IS NULL OR \(column) NOT LIKE '____-__-__T__:__:__%Z')",
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
