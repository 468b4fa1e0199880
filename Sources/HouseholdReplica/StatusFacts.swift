package import HouseholdRecords

/// What the file itself says of sync health; read without the node and without writing.
package struct StatusFacts: Sendable {
  package var identity: ReplicaIdentity
  package var membership: MembershipState
  package var recordCounts: [(type: String, count: Int64)]
  package var unsealed: Int64
  package var waiting: Int64
  /// Changesets whose deletions wait for a decision.
  package var held: Int64
  package var needsSnapshot: Bool
  /// The digest of the records as of the applied vector, if the node has computed it since the last change.
  package var digest: [UInt8]?
  /// Open conflicts.
  package var conflicts: Int64
  /// Records with a value that does not fit its column.
  package var quarantined: Int64
  /// Changesets that were rejected, of this device and of others.
  package var rejectedOwn: Int64 = 0
  package var rejectedOthers: Int64 = 0
  /// Of those of this device, the ones that somebody here has put aside.
  package var dismissedOwn: Int64 = 0
  /// Records of types that the schema here does not know.
  package var parked: Int64
  /// How many things need a person's attention.
  package var attention: Int64 = 0
  /// The first of them.
  package var attentionItems: [AttentionItem] = []
  /// Tables that are not as the engine made them, by type.
  package var damagedTables: [String: TableCondition] = [:]
  /// Records that show as hidden for others that were not.
  package var hiddenTwins: [RecordKey] = []
  package var vectors: StoreVectors
  /// Own changesets: the replica ids of this device and their last seq.
  package var own: VersionVector
  /// When it was last noticed that this device was put back to an older state, or that a copy of it runs.
  package var restoredAt: Instant?
  package var clonedAt: Instant?
  /// Whether no sync was completed since this device was put back.
  package var awaitsCatchUp = false
  /// Whether sharing is switched off on this device.
  package var isOff = false
  /// When the last open invitation of another member ends, if there is one.
  package var invitesOthersUntil: Instant?
  /// Active devices for which the log is kept longer than it would have to be.
  package var keptFor: [Compaction.Blocker] = []
  /// Whose replicas they are.
  package var replicaDevices: [ReplicaID: DeviceID]
  package var peers: [DeviceID: Peer]
  /// When each device was let in last, by the clock of whoever did it.
  package var joinedAt: [DeviceID: Instant] = [:]
  /// Who ended the membership of this device, and when, if anybody did.
  package var ending: (by: String, at: Instant, reason: MembershipEntry.Removal.Reason)?

  /// What of the vector the device has not confirmed, as far as it told us; its own changesets it has anyway.
  package func missing(of vector: VersionVector, at device: DeviceID) -> UInt64 {
    let others = VersionVector(vector.entries.filter { replicaDevices[$0.key] != device })
    return others.excess(over: peers[device]?.acknowledged ?? VersionVector())
  }

  /// What is remembered of a peer.
  package struct Peer: Sendable {
    package var acknowledged: VersionVector
    package var lastSeen: Instant?
    package var lastSync: Instant?
    package var contact: String?
    /// When the newest of our changesets that it has was made.
    package var hasOursThrough: Instant?
    /// When the newest of its own changesets that we have was made.
    package var weHaveThrough: Instant?
  }

  /// Reads everything in one transaction.
  ///
  /// - Parameter now: this device's clock; without it nothing is said of who keeps the log from being collected.
  package static func read(path: String, cryptography: any Cryptography, now: Instant? = nil) throws -> StatusFacts {
    let connection = try Connection.reader(path: path, busyMilliseconds: 2000)
    defer { connection.close() }
    try connection.execute("BEGIN")
    try EngineTables.require(on: connection)
    let facts = Facts(connection)
    let identity = ReplicaIdentity(
      household: try facts.identifier256(.household), member: try facts.identifier128(.member),
      device: try facts.identifier256(.device))
    let log = try Replica.loadMembership(connection, household: identity.household, cryptography: cryptography)
    let (membership, rights) = MembershipEvaluation.evaluate(log)
    let replicas = try ReplicaTable(connection)
    var result = StatusFacts(
      identity: identity, membership: membership, recordCounts: [],
      unsealed: try connection.integer("SELECT count(*) FROM sync_outbox") ?? 0,
      waiting: try connection.integer("SELECT count(*) FROM sync_changeset WHERE state = 0") ?? 0,
      held: try connection.integer("SELECT count(*) FROM sync_changeset WHERE state = 2") ?? 0,
      needsSnapshot: try facts.integer(.needsSnapshot) == 1,
      digest: try Replica.keptDigest(
        facts, of: Replica.digestKey(replicas.vectors.applied, membership.heads, cryptography)),
      conflicts: try connection.integer("SELECT count(*) FROM sync_conflict WHERE open = 1") ?? 0,
      quarantined: try connection.integer("SELECT count(*) FROM sync_record WHERE flags & 2") ?? 0, parked: 0,
      vectors: replicas.vectors,
      own: VersionVector(
        replicas.entries.values.filter { $0.device == identity.device }
          .reduce(into: [:]) { $0[$1.id] = $1.received }),
      replicaDevices: replicas.entries.mapValues(\.device), peers: [:])
    result.restoredAt = try facts.integer(.restoredAt).map(Instant.init(milliseconds:))
    result.isOff = try facts.integer(.isOff) == 1
    result.invitesOthersUntil = try connection.integer(
      "SELECT max(expires_at) FROM sync_invitation WHERE state = 'open' AND member IS NOT ?",
      .bytes(identity.member.bytes)
    ).map(Instant.init(milliseconds:))
    result.awaitsCatchUp = try facts.integer(.awaitsCatchUp) == 1
    result.clonedAt = try facts.integer(.clonedAt).map(Instant.init(milliseconds:))
    try result.readTables(connection)
    for known in log.ordered {
      if let device = known.introduces { result.joinedAt[device] = known.entry.at }
    }
    if !membership.admits(identity.device) { result.ending = Self.ending(of: identity, in: log, membership) }
    let known = Set(membership.schema.types.map(\.name) + [AliasFact.typeName])
    try result.countRejected(connection, replicas, rights)
    for (name, number) in try TypeRegistry(schema: membership.schema, connection: connection).all
    where !known.contains(name) && !name.hasPrefix("sync_") {
      result.parked +=
        try connection.integer(
          "SELECT count(*) FROM sync_record WHERE type = ?", .integer(number)) ?? 0
    }
    result.attention = try connection.integer("SELECT count(*) FROM sync_attention") ?? 0
    result.attentionItems = try AttentionItem.all(on: connection, limit: Int64(Limits.attentionShown))
    result.hiddenTwins = try readHiddenTwins(connection)
    try result.readPeers(connection, replicas: replicas)
    if let now { try result.readKeptFor(connection, replicas: replicas, now: now) }
    return result
  }

  private mutating func readTables(_ connection: Connection) throws {
    for type in membership.schema.types {
      let condition = try SchemaTables.condition(of: type, on: connection)
      if condition != .asMade { damagedTables[type.name] = condition }
      if condition == .incomplete { continue }
      let count = try connection.integer("SELECT count(*) FROM \(SchemaTables.quoted(type.name))") ?? 0
      recordCounts.append((type: type.name, count: count))
    }
  }

  private mutating func readKeptFor(_ connection: Connection, replicas: ReplicaTable, now: Instant) throws {
    let keep = CompactionRule.keptMilliseconds
    let age = LogAge(connection: connection, replicas: replicas, device: identity.device)
    // Most households are younger.
    guard try age.position(at: now.advanced(byMilliseconds: -keep)) > 0 else { return }
    keptFor = try CompactionView(
      connection: connection, replicas: replicas, log: ChangesetLog(connection), membership: membership,
      device: identity.device, keepMilliseconds: keep, now: now
    ).blockers.filter { !$0.isDormant }
  }

  private static func readHiddenTwins(_ connection: Connection) throws -> [RecordKey] {
    let statement = try connection.statement(
      """
      SELECT DISTINCT t.name, m.survivor FROM sync_merged m JOIN sync_type t ON t.number = m.type
      WHERE m.hides = 1 ORDER BY t.name, m.survivor
      """)
    defer { statement.reset() }
    var keys: [RecordKey] = []
    while try statement.step() { keys.append(RecordKey(type: statement.text(0), id: statement.text(1))) }
    return keys
  }

  private mutating func countRejected(
    _ connection: Connection, _ replicas: ReplicaTable, _ rights: WriteRights
  ) throws {
    for entry in replicas.sorted {
      let count =
        try connection.integer(
          """
          SELECT count(*) FROM sync_changeset WHERE replica = ? AND state >= 3 AND state = 3
            AND (body IS NOT NULL OR position IN (SELECT writer FROM sync_displaced WHERE writer = displacer))
          """, .integer(entry.number)) ?? 0
      if entry.device != identity.device {
        rejectedOthers += count
      } else if membership.admits(entry.device) {
        rejectedOwn += count
        dismissedOwn +=
          try connection.integer(
            "SELECT count(*) FROM sync_changeset WHERE replica = ? AND state >= 3 AND state = 4", .integer(entry.number)
          )
          ?? 0
      } else if let last = rights.cutoff(of: entry.id, device: entry.device, begunAt: entry.begun) {
        // What a device that belongs no longer wrote too late stays in its tables, and counts for nobody else.
        rejectedOwn += Int64(clamping: entry.received - min(last, entry.received))
      }
    }
  }

  private static func ending(
    of identity: ReplicaIdentity, in log: MembershipLog, _ membership: MembershipState
  ) -> (by: String, at: Instant, reason: MembershipEntry.Removal.Reason)? {
    for known in log.ordered.reversed() {
      guard case .removal(let removal) = known.entry.statement,
        removal.subject == .member(identity.member) || removal.subject == .device(identity.device)
      else { continue }
      return (
        by: membership.member(of: known.entry.author)?.name ?? "a former member", at: known.entry.at,
        reason: removal.reason
      )
    }
    return nil
  }

  private mutating func readPeers(_ connection: Connection, replicas: ReplicaTable) throws {
    let statement = try connection.statement(
      "SELECT device, acknowledged, last_seen, last_sync, contact FROM sync_peer")
    defer { statement.reset() }
    while try statement.step() {
      guard let device = DeviceID(bytes: statement.bytes(0)) else { continue }
      func instant(_ column: Int32) -> Instant? {
        statement.isNull(column) ? nil : Instant(milliseconds: statement.integer(column))
      }
      peers[device] = Peer(
        acknowledged: statement.isNull(1) ? VersionVector() : try Replica.vector(statement.bytes(1)),
        lastSeen: instant(2), lastSync: instant(3), contact: statement.isNull(4) ? nil : statement.text(4))
    }
    for device in peers.keys.sorted() {
      guard var peer = peers[device] else { continue }
      for entry in replicas.sorted {
        if entry.device == identity.device {
          let time = try Self.editedAt(entry, sequence: peer.acknowledged[entry.id], connection)
          peer.hasOursThrough = [peer.hasOursThrough, time].compactMap(\.self).max()
        } else if entry.device == device {
          let time = try Self.editedAt(entry, sequence: entry.received, connection)
          peer.weHaveThrough = [peer.weHaveThrough, time].compactMap(\.self).max()
        }
      }
      peers[device] = peer
    }
  }

  private static func editedAt(
    _ entry: ReplicaTable.Entry, sequence: UInt64, _ connection: Connection
  ) throws -> Instant? {
    guard sequence > 0 else { return nil }
    return try connection.integer(
      "SELECT edited_at FROM sync_changeset WHERE replica = ? AND seq = ?", .integer(entry.number),
      .integer(Int64(clamping: sequence))
    ).map(Instant.init(milliseconds:))
  }
}
