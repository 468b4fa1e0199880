package import HouseholdRecords
internal import HouseholdReplica

/// What imports and recurring series write: never over what was ever here, and always behind what a person wrote.
extension Household {
  /// A transaction of a generator.
  package struct Generation {
    let generation: RecordGeneration

    /// Whether a record is here.
    package enum Presence: Hashable, Sendable { case absent, live, deleted }

    /// Whether a record is here, was here, or was never heard of.
    package func presence(_ type: RecordType, _ id: String) throws -> Presence {
      switch try Household.guarded({ try generation.presence(type, id) }) {
      case .absent: .absent
      case .live: .live
      case .deleted: .deleted
      }
    }

    /// Whether any of these fields was changed after the record was made.
    package func wasEdited(_ type: RecordType, _ id: String, _ fields: [String]) throws -> Bool {
      try Household.guarded { try generation.wasEdited(type, id, fields) }
    }

    /// For each record of a type that shows, the ids of those that are one thing with it and do not.
    package func former(_ type: RecordType) throws -> [RecordKey: [String]] {
      try Household.guarded { try generation.former(type) }
    }

    /// Makes a record that is not here.
    package func insert(_ type: RecordType, _ id: String, _ fields: [(name: String, value: FieldValue)]) throws {
      try Household.guarded { try generation.insert(type, id, fields) }
    }
  }

  /// Runs the body in one transaction whose writes are generated.
  package func generating<Result>(_ body: (Generation) throws -> Result) throws -> Result {
    try generating { try body(Generation(generation: RecordGeneration(access))) }
  }
}

/// What reports and plain files need beyond records.
extension Household {
  /// The names of who made each record of a type; what is not sealed yet was made on this device and is missing.
  package func creators(_ type: RecordType) throws -> [RecordKey: String] {
    try Self.guarded { try access.creators(type) }
  }

  /// What this device remembers about a record for its own use; nil for nothing.
  package func memory(of key: RecordKey) throws -> String? { try Self.guarded { try access.memory(of: key) } }

  /// Keeps a text about a record on this device in the place of an earlier one; nil forgets it.
  package func remember(_ text: String?, of key: RecordKey) throws {
    try Self.guarded { try access.remember(text, of: key) }
  }

  /// Which records changed since the token, whoever changed them; without one it only says where the changes stand now.
  package func changes(since token: ChangeToken?) throws -> RecordChanges {
    try Self.guarded {
      guard let token else {
        let now = ChangeToken(try access.feedPosition())
        return RecordChanges(changed: [], deleted: [], token: now, isComplete: false)
      }
      return RecordChanges(try access.feed(since: token.position))
    }
  }

  /// Copies the types' tables into a new SQLite file at this path.
  package func copyRecords(to path: String) throws { try Self.guarded { try access.copyRecords(to: path) } }
}
