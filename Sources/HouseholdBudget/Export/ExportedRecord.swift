package import HouseholdRecords

/// A record as an export takes it: what its table shows.
package struct ExportedRecord: Hashable, Sendable {
  package var id: String
  /// The values by field; a field that is left out is null.
  package var fields: [String: FieldValue]

  package init(id: String, fields: [String: FieldValue]) {
    self.id = id
    self.fields = fields
  }
}

/// By the bytes of the id, as SQLite orders them.
func inOrder(_ records: [ExportedRecord]) -> [ExportedRecord] {
  records.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
}
