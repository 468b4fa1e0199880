internal import HouseholdRecords

/// Whether a file has the triggers that this program makes: a file keeps the words of those that made it.
///
/// Older ones do the same, and slower; so a replica gets the present ones when it is opened, once for each change of
/// their words. The words of an example's stand for those of all types.
enum TriggerWords {
  /// A number of the present words: another one, with near certainty, when any of them changes.
  static let number: Int64 = {
    let triggers = SchemaTables.triggers(for: example.types[0], number: 0, ownership: example.ownerships.first)
    // FNV-1a, 64 bits.
    let hash = triggers.flatMap(\.statement.utf8).reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    return Int64(bitPattern: hash)
  }()

  /// A type with every kind of field, and with more texts than a record may hold, that is a set of another's.
  private static let example: Schema = {
    let kinds: [FieldDefinition] = [
      FieldDefinition("integer", .integer), FieldDefinition("real", .real), FieldDefinition("boolean", .boolean),
      FieldDefinition("date", .date), FieldDefinition("timestamp", .timestamp), FieldDefinition("bytes", .bytes),
      FieldDefinition("json", .json), FieldDefinition("owner", .reference, to: "owner"),
    ]
    let texts = (0..<Limits.recordBytes / Limits.textBytes).map { FieldDefinition("text\($0)", .text) }
    let owner = RecordType(name: "owner", fields: [], owns: [OwnedSet(type: "example", by: "owner")])
    return Schema(name: "example", version: 1, types: [RecordType(name: "example", fields: kinds + texts), owner])
  }()
}

extension Replica {
  /// Gives the tables the present triggers. Only who has the device's key does it: others look at the file, and may not
  /// be able to write.
  func renewTriggers() throws {
    guard canSeal, try facts.integer(.triggers) != TriggerWords.number else { return }
    try connection.transaction {
      let nothing = Schema(name: membershipState.schema.name, version: 0, types: [])
      let conditions = try membershipState.schema.types.map {
        ($0.name, try SchemaTables.condition(of: $0, on: connection))
      }
      // Tables without triggers are for `mendTables`, which captures what was written meanwhile.
      let others = Set(conditions.filter { $1 != .asMade }.map(\.0))
      try SchemaTables.adopt(membershipState.schema, after: nothing, except: others, on: connection)
      // Older triggers let them pass.
      try readMalformedTexts()
      try facts.set(.triggers, .integer(TriggerWords.number))
    }
  }
}
