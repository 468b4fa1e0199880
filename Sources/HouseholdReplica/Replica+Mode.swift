package import HouseholdRecords

/// The mode off (design 2.9): a store on this device alone, which no node serves. It stands in the file and goes nowhere.
extension Replica {
  /// Whether sharing is switched off on this device.
  package var isOff: Bool { get throws { try facts.integer(.isOff) == 1 } }

  /// Switches sharing off or on; edits that were made meanwhile are sealed, with their own times, once it is on.
  package func setOff(_ isOff: Bool) throws { try write { try facts.set(.isOff, .integer(isOff ? 1 : 0)) } }

  /// The same for who only has the file; false if there is none, or it cannot be read.
  package static func isOff(path: String) throws -> Bool {
    let connection = try Connection.reader(path: path)
    defer { connection.close() }
    return try Facts(connection).integer(.isOff) == 1
  }

  /// Ends the sharing for everyone: all other members belong no longer, and what they had by then counts.
  package func dissolve(now: Instant) throws {
    lastNow = now
    try write {
      _ = try sealInTransaction(now: now)
      for member in membershipState.members.values.sorted(by: { $0.id < $1.id })
      where member.id != identity.member && member.state == .active {
        let devices = membershipState.devices.values.filter { $0.member == member.id }.map(\.id).sorted()
        let removal = MembershipEntry.Removal(
          subject: .member(member.id), reason: .dissolved, cutoffs: try devices.map { try cutoffs(of: $0) })
        _ = try state(.removal(removal), at: now)
      }
      try connection.run("UPDATE sync_invitation SET state = 'cancelled' WHERE state = 'open'")
    }
  }
}
