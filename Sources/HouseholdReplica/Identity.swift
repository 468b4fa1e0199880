package import HouseholdRecords

/// Who this replica belongs to; stands in `sync_meta`.
package struct ReplicaIdentity: Hashable, Sendable {
  package var household: HouseholdID
  package var member: MemberID
  package var device: DeviceID

  package init(household: HouseholdID, member: MemberID, device: DeviceID) {
    self.household = household
    self.member = member
    self.device = device
  }
}

/// The facts of `sync_meta`, each under its name.
struct Facts {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  /// The names that are used.
  enum Name: String {
    case household, member, device, replica, nonce, incarnation, schema
    case lastStamp = "last_stamp"
    case needsSnapshot = "needs_snapshot"
    case pairingSalt = "pairing_salt"
    case digest
    /// The version of the schema whose rules the index of keys was made by.
    case indexedSchema = "indexed_schema"
    case restoredAt = "restored_at"
    case clonedAt = "cloned_at"
    case watchedSince = "watched_since"
    case backupAt = "backup_at"
    case isOff = "is_off"
    case awaitsCatchUp = "awaits_catch_up"
    /// The words of the triggers (``TriggerWords``).
    case triggers
    /// The number of the file's schema for which the tables were found as they should be.
    case tables
  }

  func bytes(_ name: Name) throws -> [UInt8]? {
    try connection.bytes("SELECT value FROM sync_meta WHERE name = ?", .text(name.rawValue))
  }

  func integer(_ name: Name) throws -> Int64? {
    try connection.integer("SELECT value FROM sync_meta WHERE name = ?", .text(name.rawValue))
  }

  func set(_ name: Name, _ value: FieldValue) throws {
    try connection.run(
      "INSERT INTO sync_meta(name, value) VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value",
      .text(name.rawValue), value)
  }

  func identifier256<Kind>(_ name: Name) throws -> Identifier256<Kind> {
    guard let bytes = try bytes(name), let value = Identifier256<Kind>(bytes: bytes) else {
      throw ReplicaError(.notAReplica, "The file does not say what its \(name.rawValue) is.")
    }
    return value
  }

  func identifier128<Kind>(_ name: Name) throws -> Identifier128<Kind> {
    guard let bytes = try bytes(name), let value = Identifier128<Kind>(bytes: bytes) else {
      throw ReplicaError(.notAReplica, "The file does not say what its \(name.rawValue) is.")
    }
    return value
  }
}
