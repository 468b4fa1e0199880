internal import HouseholdRecords

/// What an owned type's table has beside those of other types: an index by owner, and the bound on a set's size.
enum OwnedSetChecks {
  /// The statement that makes the index by owner.
  static func index(of type: RecordType, in ownership: Schema.Ownership) -> String {
    let index = SchemaTables.quoted("sync_set_\(type.name)")
    let (table, owner) = (SchemaTables.quoted(type.name), SchemaTables.quoted(ownership.set.by))
    return "CREATE INDEX IF NOT EXISTS \(index) ON \(table)(\(owner))"
  }

  /// The triggers that bound a set.
  static func triggers(for type: RecordType, in ownership: Schema.Ownership) -> [SchemaTables.Trigger] {
    let table = SchemaTables.quoted(type.name)
    let owner = SchemaTables.quoted(ownership.set.by)
    let others = "(SELECT * FROM \(table) WHERE \(owner) = NEW.\(owner) AND id <> NEW.id) AS r"
    let size = "(\(size(of: type, row: "NEW")) + (SELECT total(\(size(of: type, row: "r"))) FROM \(others)))"
    let sentence = "\(type.name).\(ownership.set.by): one \(ownership.owner) has at most \(Limits.rowsPerSet) rows"
    let bytes =
      "\(type.name).\(ownership.set.by): the rows of one \(ownership.owner) hold at most \(Limits.setBytes) bytes"
    return ["INSERT", "UPDATE"].map { event in
      let name = "sync_check_set_\(type.name)_\(event.lowercased())"
      return (
        name,
        """
        CREATE TRIGGER \(SchemaTables.quoted(name)) BEFORE \(event) ON \(table) WHEN NEW.\(owner) IS NOT NULL BEGIN
          SELECT RAISE(ABORT, \(SchemaTables.literal(sentence)))
          WHERE (SELECT count(*) FROM \(others)) >= \(Limits.rowsPerSet);
          SELECT RAISE(ABORT, \(SchemaTables.literal(bytes))) WHERE \(size) > \(Limits.setBytes);
        END
        """
      )
    }
  }

  /// An expression for the bytes of a row's texts.
  private static func size(of type: RecordType, row: String) -> String {
    let texts = type.fields.filter { ![.integer, .boolean, .real].contains($0.kind) }
    let parts = texts.map { "coalesce(length(CAST(\(row).\(SchemaTables.quoted($0.name)) AS BLOB)), 0)" }
    return "(" + (["length(CAST(\(row).id AS BLOB))"] + parts).joined(separator: " + ") + ")"
  }
}
