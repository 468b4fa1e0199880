package import HouseholdRecords

/// What is remembered of peers from one contact to the next.
extension Replica {
  package func peer(_ device: DeviceID) throws -> PeerRecord {
    let statement = try connection.statement("SELECT token, acknowledged FROM sync_peer WHERE device = ?")
    try statement.bind(1, device.bytes)
    defer { statement.reset() }
    guard try statement.step() else { return PeerRecord() }
    return PeerRecord(
      token: statement.isNull(0) ? nil : ChangeToken(bytes: statement.bytes(0)),
      acknowledged: statement.isNull(1) ? VersionVector() : try Self.vector(statement.bytes(1)))
  }

  static func vector(_ bytes: [UInt8]) throws -> VersionVector {
    var reader = ByteReader(bytes)
    do {
      return try reader.vector()
    } catch {
      throw ReplicaError(.corrupt, "A vector of a peer cannot be read.", cause: "\(error)")
    }
  }

  package func acknowledge(_ vector: VersionVector, by device: DeviceID, at now: Instant) throws {
    try write {
      // Never more than is here: what a peer claims beyond that is none of ours.
      var counted = try peer(device).acknowledged
      let received = replicas.vectors.received
      for entry in vector.sorted {
        counted[entry.replica] = max(counted[entry.replica], min(entry.sequence, received[entry.replica]))
      }
      var writer = ByteWriter()
      writer.vector(counted)
      try connection.run(
        """
        INSERT INTO sync_peer(device, acknowledged, last_seen) VALUES (?, ?, ?) ON CONFLICT(device) DO UPDATE SET
          acknowledged = excluded.acknowledged, last_seen = excluded.last_seen
        """, .bytes(device.bytes), .bytes(writer.bytes), .integer(now.milliseconds))
    }
  }

  func setToken(_ token: ChangeToken, of device: DeviceID) throws {
    try connection.run(
      "INSERT INTO sync_peer(device, token) VALUES (?, ?) ON CONFLICT(device) DO UPDATE SET token = excluded.token",
      .bytes(device.bytes), .bytes(token.bytes))
  }

  /// Remembers that the peer was here, and whether a sync was completed.
  package func saw(_ device: DeviceID, at now: Instant, completedSync: Bool) throws {
    try write {
      try connection.run(
        """
        INSERT INTO sync_peer(device, last_seen, last_sync) VALUES (?1, ?2, ?3) ON CONFLICT(device) DO UPDATE SET
          last_seen = ?2, last_sync = coalesce(?3, last_sync)
        """, .bytes(device.bytes), .integer(now.milliseconds),
        completedSync ? .integer(now.milliseconds) : .null)
    }
  }

  /// Keeps what status shows of a peer (JSON): addresses, outcomes, counters.
  package func setContact(_ json: String, of device: DeviceID) throws {
    try write {
      try connection.run(
        "INSERT INTO sync_peer(device, contact) VALUES (?1, ?2) ON CONFLICT(device) DO UPDATE SET contact = ?2",
        .bytes(device.bytes), .text(json))
    }
  }
}
