internal import HouseholdRecords

/// The triggers that refuse every edit, by any program, on a device that may not write.
///
/// They are made and dropped when the membership log says that this device's right has changed, by the connection that
/// learns it; like all triggers they are off on the engine's own connection, which goes on showing what others write.
enum WriteProtection {
  /// How each refusal begins; ``Connection`` knows it by that.
  static let prefix = "read-only: "

  /// Why the device may not write; nil if it may.
  static func reason(for device: DeviceID, in membership: MembershipState) -> String? {
    guard membership.devices[device] != nil, !membership.mayWrite(device) else { return nil }
    return membership.admits(device)
      ? "read-only: you may read this household and not write; an owner can change that"
      : "read-only: this device belongs to the household no longer; export gives you its records"
  }

  /// The triggers that protect one type; none if there is no reason.
  static func triggers(for type: RecordType, reason: String?) -> [SchemaTables.Trigger] {
    guard let reason else { return [] }
    return events.map { event in
      (
        name(type, event),
        """
        CREATE TRIGGER \(SchemaTables.quoted(name(type, event))) BEFORE \(event) ON \(SchemaTables.quoted(type.name)) BEGIN
          SELECT RAISE(ABORT, \(SchemaTables.literal(reason)));
        END
        """
      )
    }
  }

  /// Puts the protection of one type in place, or takes it away.
  static func protect(_ type: RecordType, reason: String?, on connection: Connection) throws {
    let made = try SchemaTables.triggers(of: type.name, on: connection)
    let triggers = triggers(for: type, reason: reason)
    let there = events.map { name(type, $0) }.filter { made[$0] != nil }
    if there.count == triggers.count, triggers.allSatisfy({ made[$0.name] == $0.statement }) { return }
    try SchemaTables.drop(there, on: connection)
    for trigger in triggers { try connection.execute(trigger.statement) }
  }

  private static let events = ["INSERT", "UPDATE", "DELETE"]

  private static func name(_ type: RecordType, _ event: String) -> String {
    "sync_protect_\(type.name)_\(event.lowercased())"
  }
}

extension Replica {
  /// Switches the protection on or off if the membership says other than it said before.
  func protect(before: MembershipState) throws {
    let reason = WriteProtection.reason(for: identity.device, in: membershipState)
    let isNew = membershipState.schema != before.schema && reason != nil
    guard isNew || reason != WriteProtection.reason(for: identity.device, in: before) else { return }
    for type in membershipState.schema.types {
      try WriteProtection.protect(type, reason: reason, on: connection)
    }
    connection.forgetStatements()
  }

  /// Throws on a device that may not write; for edits that the engine's own connection makes, past the triggers.
  func requireRightToWrite() throws {
    guard let reason = WriteProtection.reason(for: identity.device, in: membershipState) else { return }
    throw ReplicaError(.notAllowed, reason)
  }
}

extension RecordAccess {
  /// Throws on a device that may not write, before anything is prepared for what its edits would be refused.
  package func requireRightToWrite() throws {
    let device: DeviceID = try Facts(connection).identifier256(.device)
    guard let reason = WriteProtection.reason(for: device, in: membership) else { return }
    throw ReplicaError(.notAllowed, reason)
  }
}
