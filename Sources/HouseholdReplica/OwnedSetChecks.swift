internal import HouseholdRecords

/// What an owned type's table has beside those of other types: an index by owner, and the bound on a set's size.
enum OwnedSetChecks {
  /// The statements that put them in place; none for a type that nobody owns.
  static func statements(for type: RecordType, in ownerships: [Schema.Ownership]) -> [String] {
    guard let ownership = ownerships.first(where: { $0.set.type == type.name }) else { return [] }
    let table = SchemaTables.quoted(type.name)
    let owner = SchemaTables.quoted(ownership.set.by)
    let index = SchemaTables.quoted("sync_set_\(type.name)")
    var statements = ["CREATE INDEX IF NOT EXISTS \(index) ON \(table)(\(owner))"]
    let others = "(SELECT * FROM \(table) WHERE \(owner) = NEW.\(owner) AND id <> NEW.id) AS r"
    let size = "(\(size(of: type, row: "NEW")) + (SELECT total(\(size(of: type, row: "r"))) FROM \(others)))"
    let sentence = "\(type.name).\(ownership.set.by): one \(ownership.owner) has at most \(Limits.rowsPerSet) rows"
    let bytes =
      "\(type.name).\(ownership.set.by): the rows of one \(ownership.owner) hold at most \(Limits.setBytes) bytes"
    for event in ["INSERT", "UPDATE"] {
      let name = SchemaTables.quoted("sync_check_set_\(type.name)_\(event.lowercased())")
      statements.append("DROP TRIGGER IF EXISTS \(name)")
      statements.append(
        """
        CREATE TRIGGER \(name) BEFORE \(event) ON \(table) WHEN NEW.\(owner) IS NOT NULL BEGIN
          SELECT RAISE(ABORT, \(SchemaTables.literal(sentence)))
          WHERE (SELECT count(*) FROM \(others)) >= \(Limits.rowsPerSet);
          SELECT RAISE(ABORT, \(SchemaTables.literal(bytes))) WHERE \(size) > \(Limits.setBytes);
        END
        """)
    }
    return statements
  }

  /// An expression for the bytes of a row's texts.
  private static func size(of type: RecordType, row: String) -> String {
    let texts = type.fields.filter { ![.integer, .boolean, .real].contains($0.kind) }
    let parts = texts.map { "coalesce(length(CAST(\(row).\(SchemaTables.quoted($0.name)) AS BLOB)), 0)" }
    return "(" + (["length(CAST(\(row).id AS BLOB))"] + parts).joined(separator: " + ") + ")"
  }
}
