package import HouseholdRecords

/// What a device keeps of the records when its member leaves.
package enum KeptRecords: String, Sendable { case all, mine, none }

/// Leaving: the signed entry, and with it what goes from this device; partners keep everything.
extension Replica {
  /// How many records of each type would stay here and go.
  package func countsForLeaving(keeping choice: KeptRecords) throws -> (kept: [String: Int64], gone: [String: Int64]) {
    var kept: [String: Int64] = [:]
    var gone: [String: Int64] = [:]
    for (type, count) in try recordCounts() {
      let mine = choice == .mine ? try countOfMine(type) : 0
      kept[type] = choice == .all ? count : min(mine, count)
      gone[type] = count - (kept[type] ?? 0)
    }
    return (kept, gone)
  }

  private func countOfMine(_ type: String) throws -> Int64 {
    guard let number = registry.known(type) else { return 0 }
    return try connection.integer(
      "SELECT count(*) FROM \(SchemaTables.quoted(type)) WHERE id IN (\(Self.mineSQL))", .integer(number),
      .bytes(identity.member.bytes)) ?? 0
  }

  /// The live records of a type (1) that a member (2) made.
  private static let mineSQL = """
    SELECT r.id FROM sync_record r
    JOIN sync_changeset c ON c.position = r.writer
    JOIN sync_replica p ON p.number = c.replica
    JOIN sync_device d ON d.id = p.device
    WHERE r.type = ?1 AND r.alive = 1 AND d.member = ?2
    """

  /// The records with sealed edits of this device that no other device has confirmed, in order.
  package func unsentRecords() throws -> [RecordKey] {
    var confirmed = VersionVector()
    for device in membershipState.devices.keys.sorted()
    where device != identity.device && membershipState.admits(device) {
      confirmed.merge(try peer(device).acknowledged)
    }
    var keys: Set<RecordKey> = []
    for entry in replicas.sorted where entry.device == identity.device {
      var sequence = max(confirmed[entry.id], entry.base)
      while sequence < entry.received {
        sequence += 1
        let name = ChangesetName(replica: entry.id, sequence: sequence)
        guard let header = try log.header(of: name, replicas: replicas) else { continue }
        let changeset = try body(of: header)
        for operation in changeset.operations {
          keys.insert(RecordKey(type: changeset.shapes[operation.shape].type, id: operation.id))
        }
      }
    }
    return keys.sorted()
  }

  /// Leaves the household with all devices of this member, and takes away what is not kept on this one.
  package func leave(keeping choice: KeptRecords, now: Instant) throws {
    lastNow = now
    try write {
      _ = try sealInTransaction(now: now)
      let devices = membershipState.devices.values.filter { $0.member == identity.member }.map(\.id).sorted()
      let removal = MembershipEntry.Removal(
        subject: .member(identity.member), reason: .left, cutoffs: try devices.map { try cutoffs(of: $0) })
      _ = try state(.removal(removal), at: now)
      guard !membershipState.admits(identity.device) else {
        throw ReplicaError(.notAllowed, "The last owner cannot leave.")
      }
      if choice != .all { try purge(keeping: choice) }
    }
    if choice != .all {
      // The pages that went are overwritten in the file itself, not only in the log beside it.
      try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }
  }

  /// Takes records, their history and the changesets that hold them off this device.
  private func purge(keeping choice: KeptRecords) throws {
    let member = FieldValue.bytes(identity.member.bytes)
    for (name, number) in registry.all {
      let kept = choice == .mine ? Self.mineSQL : "SELECT NULL WHERE ?1 IS NULL AND ?2 IS NULL"
      let goes = "id NOT IN (SELECT id FROM temp.sync_kept)"
      try connection.execute("CREATE TEMP TABLE IF NOT EXISTS sync_kept(id TEXT PRIMARY KEY)")
      try connection.run("DELETE FROM temp.sync_kept")
      try connection.run("INSERT OR IGNORE INTO temp.sync_kept \(kept)", .integer(number), member)
      if registry[number] != nil { try connection.run("DELETE FROM \(SchemaTables.quoted(name)) WHERE \(goes)") }
      for table in ["sync_record", "sync_change", "sync_conflict"] {
        try connection.run("DELETE FROM \(table) WHERE type = ? AND \(goes)", .integer(number))
      }
    }
    let others = """
      replica IN (SELECT p.number FROM sync_replica p LEFT JOIN sync_device d ON d.id = p.device
        WHERE d.member IS NOT ?1 OR ?2)
      """
    try connection.run(
      "UPDATE sync_changeset SET body = NULL, state = 1 WHERE \(others)", member, .integer(choice == .none ? 1 : 0))
    try connection.run("UPDATE sync_replica SET base = received")
    try connection.run("DELETE FROM sync_snapshot_page")
    // What these records were counts for nobody but this device from now on.
    try connection.run("DELETE FROM sync_displaced")
    replicas = try ReplicaTable(connection)
    held = try readHeld()
    digestCache = nil
  }
}
