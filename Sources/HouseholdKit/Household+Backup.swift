package import HouseholdNode
package import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTrust

/// Backups of a household, and putting them back.
package struct HouseholdBackup {
  private let recovery: Recovery
  private let directory: DataDirectory

  /// How the records differ from those of the backup.
  package struct Difference: Hashable, Sendable {
    /// Records that were deleted since, and come back.
    package var missing: Int64 = 0
    /// Records with other values.
    package var changed: Int64 = 0
    /// Records that were made since, and go.
    package var added: Int64 = 0

    init(_ types: [RecordAccess.Difference]) {
      for type in types {
        missing += type.missing
        changed += type.changed
        added += type.added
      }
    }
  }

  package init(_ directory: DataDirectory) {
    self.directory = directory
    recovery = Recovery(directory)
  }

  /// Writes a consistent copy without identity, with the node running or not; never over a file that is there.
  package func write(to file: String, now: Instant) throws { try recovery.backUp(to: file, now: now) }

  /// When the backup was made, and how many records it has; throws for anything that is no backup of this household.
  package func check(_ file: String) throws -> (madeAt: Instant, records: Int64) {
    let facts = try recovery.facts(of: file)
    return (facts.madeAt, facts.records)
  }

  /// What putting this device back would take that is nowhere else: changesets, and edits that are not sealed yet.
  package func loss(comparedTo file: String) throws -> (changesets: UInt64, edits: Int64) {
    let loss = try recovery.loss(comparedTo: file)
    return (loss.changesets, loss.edits)
  }

  /// Puts this device back; what came since comes back from its peers.
  package func putBackDevice(_ file: String, now: Instant) throws { try recovery.putBack(file, now: now) }

  /// What rolling the household back would change.
  package func preview(_ file: String) throws -> Difference {
    Difference(try recovery.rollBack(to: file, isDry: true))
  }

  /// Writes the old values as new changes for everyone; returns what differed.
  package func rollBackHousehold(_ file: String, now: Instant) throws -> Difference {
    Difference(try recovery.rollBackHousehold(to: file, now: now))
  }

  /// Whether this device was put back to an older state and waits for its first sync since: what is generated or
  /// imported before that might bring back what was deleted.
  package static func awaitsCatchUp(_ directory: DataDirectory) throws -> Bool {
    try directory.requireHousehold()
    return try Household.guarded {
      try StatusFacts.read(path: directory.replica, cryptography: OpenSSLCryptography()).awaitsCatchUp
    }
  }
}
