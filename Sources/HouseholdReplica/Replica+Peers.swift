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

  package func acknowledge(_ vector: VersionVector, by device: DeviceID, at now: Instant?) throws {
    // Whatever a power cut takes of it the peer says again.
    try write(durably: false) {
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
          acknowledged = excluded.acknowledged, last_seen = coalesce(excluded.last_seen, last_seen)
        """, .bytes(device.bytes), .bytes(writer.bytes), now.map { .integer($0.milliseconds) } ?? .null)
    }
  }

  package func replicas(of device: DeviceID) throws -> Set<ReplicaID> {
    Set(replicas.entries.values.filter { $0.device == device }.map(\.id))
  }

  func setToken(_ token: ChangeToken, of device: DeviceID) throws {
    try connection.run(
      "INSERT INTO sync_peer(device, token) VALUES (?, ?) ON CONFLICT(device) DO UPDATE SET token = excluded.token",
      .bytes(device.bytes), .bytes(token.bytes))
  }

  /// Remembers that the peer was here, when a sync was completed, if one was, and what status shows of it (JSON).
  package func saw(_ device: DeviceID, at now: Instant, completedSync: Instant?, contact: String) throws {
    try write(durably: false) {
      try connection.run(
        """
        INSERT INTO sync_peer(device, last_seen, last_sync, contact) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT(device) DO UPDATE SET
          last_seen = ?2, last_sync = coalesce(?3, last_sync), contact = ?4
        """, .bytes(device.bytes), .integer(now.milliseconds),
        completedSync.map { .integer($0.milliseconds) } ?? .null, .text(contact))
    }
  }
}

extension Replica {
  /// What was remembered of each peer for status (JSON).
  package func contacts() throws -> [DeviceID: String] {
    let statement = try connection.statement("SELECT device, contact FROM sync_peer WHERE contact IS NOT NULL")
    defer { statement.reset() }
    var contacts: [DeviceID: String] = [:]
    while try statement.step() {
      if let device = DeviceID(bytes: statement.bytes(0)) { contacts[device] = statement.text(1) }
    }
    return contacts
  }

  /// The membership as it is evaluated now.
  package var membershipNow: MembershipState { membershipState }

  /// Whether this device seals, or sealed, under this id.
  package func isOwn(_ id: ReplicaID) -> Bool { replicas[id]?.device == identity.device }

  /// Whether edits were captured that are not sealed yet.
  package func hasUnsealedEdits() throws -> Bool { try !outbox.isEmpty() }
}
