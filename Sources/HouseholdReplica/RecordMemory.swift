package import HouseholdRecords

/// What this device remembers about a record for its own use: it lies in `sync_meta` and is sent to nobody.
extension RecordAccess {
  /// The text that was kept about the record; nil for none.
  package func memory(of key: RecordKey) throws -> String? {
    try connection.text("SELECT value FROM sync_meta WHERE name = ?", .text(Self.name(key)))
  }

  /// Keeps a text about the record in the place of an earlier one; nil forgets it.
  package func remember(_ text: String?, of key: RecordKey) throws {
    guard let text else {
      return try connection.run("DELETE FROM sync_meta WHERE name = ?", .text(Self.name(key)))
    }
    try connection.run(
      "INSERT INTO sync_meta(name, value) VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value",
      .text(Self.name(key)), .text(text))
  }

  /// No fact of the engine's own has a slash in its name.
  private static func name(_ key: RecordKey) -> String { "memory/\(key.type)/\(key.id)" }
}
