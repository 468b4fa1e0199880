internal import HouseholdRecords

/// What has become of the table of a type in the hands of other programs.
package enum TableCondition: Hashable, Sendable {
  case asMade
  /// It was made anew: nothing captures what is written there, or its columns take what they should not.
  case uncaptured
  /// It is gone, or lacks columns: what stood there stands nowhere else on this device.
  case incomplete
}

extension SchemaTables {
  /// Looks at the table of a type: its columns, its kind, and whether there is a trigger for each kind of edit.
  static func condition(of type: RecordType, on connection: Connection) throws -> TableCondition {
    let columns = try columns(of: type.name, on: connection)
    guard (["id"] + type.fields.map(\.name)).allSatisfy({ columns[$0] != nil }) else { return .incomplete }
    let isOfKind = type.fields.allSatisfy { columns[$0.name] == storage(of: $0).rawValue }
    let made = try triggers(of: type.name, on: connection)
    let isCaptured = CaptureTriggers.names(of: type).allSatisfy { made[$0] != nil }
    return try isOfKind && isCaptured && isAsMade(type.name, on: connection) ? .asMade : .uncaptured
  }

  /// Whether a table is strict, is kept by its ids, and makes an id where none is given.
  private static func isAsMade(_ table: String, on connection: Connection) throws -> Bool {
    try connection.integer(
      """
      SELECT 1 FROM pragma_table_list(?1) l, pragma_table_info(?1) c
      WHERE l.schema = 'main' AND l.wr AND l.strict AND c.name = 'id' AND c.pk AND c.dflt_value = ?2
      """, .text(table), .text(freshID)) != nil
  }

  /// Makes a table as it should be of one with the same columns and another kind; false if its rows do not go into it.
  ///
  /// What other programs have made of their own, views and triggers, goes on naming the table by its name.
  static func makeAnew(_ type: RecordType, on connection: Connection) throws -> Bool {
    let columns = try columns(of: type.name, on: connection)
    if try isAsMade(type.name, on: connection),
      type.fields.allSatisfy({ columns[$0.name] == storage(of: $0).rawValue })
    {
      return true
    }
    let (table, aside) = (quoted(type.name), quoted("sync_aside_\(type.name)"))
    let names = (["id"] + type.fields.map(\.name)).map(quoted).joined(separator: ", ")
    connection.forgetStatements()
    try connection.execute("SAVEPOINT sync_anew; PRAGMA legacy_alter_table = ON")
    do {
      for name in try triggers(of: type.name, on: connection).keys.sorted() where name.hasPrefix("sync_") {
        try connection.execute("DROP TRIGGER \(quoted(name))")
      }
      try connection.execute("ALTER TABLE \(table) RENAME TO \(aside)")
      try make(type, on: connection)
      try connection.execute("INSERT INTO \(table)(\(names)) SELECT \(names) FROM \(aside); DROP TABLE \(aside)")
      try connection.execute("PRAGMA legacy_alter_table = OFF; RELEASE sync_anew")
      return true
    } catch {
      try connection.execute("PRAGMA legacy_alter_table = OFF")
      guard let refused = error as? ReplicaError, refused.code == .badValue else { throw error }
      try connection.execute("ROLLBACK TO sync_anew; RELEASE sync_anew")
      connection.forgetStatements()
      return false
    }
  }
}
