package import HouseholdRecords

/// Confirming: a device that only reads, or has nothing to write, says what it has applied by an empty changeset (D9).
///
/// Its other changesets say so anyway. An empty one asks for no confirmation, so two devices never answer each other.
extension Replica {
  /// How long after its last changeset a device seals an empty one at the earliest, in milliseconds: a day.
  package static let confirmationPause: Int64 = 86_400_000

  /// Seals an empty changeset if there is anything to confirm and the last one is a day old; returns whether it did.
  package func confirm(now: Instant) throws -> Bool {
    guard canSeal, membershipState.admits(identity.device), try !needsSnapshot, try isConfirmationDue(now) else {
      return false
    }
    lastNow = now
    return try write {
      // Edits that wait say the same.
      if try sealInTransaction(now: now) { return true }
      _ = try appendOwn([], editedAt: now, continues: false, overwritten: nil, now: now)
      return true
    }
  }

  private func isConfirmationDue(_ now: Instant) throws -> Bool {
    let own = ChangesetName(replica: replica, sequence: replicas[replica]?.received ?? 0)
    let last = try log.header(of: own, replicas: replicas)
    if let last, now.milliseconds(since: last.editedAt).magnitude < UInt64(Self.confirmationPause) { return false }
    guard last == nil || isAdmitted(own) else { return false }
    for entry in replicas.sorted where entry.id != replica && entry.applied > entry.fork {
      let seen = last?.dependencies.sequence(of: entry.id) ?? 0
      if try log.hasContents(of: entry, after: seen, through: entry.applied, replicas: replicas) { return true }
    }
    return false
  }
}
