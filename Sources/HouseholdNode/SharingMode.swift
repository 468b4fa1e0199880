internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTrust

/// With whom a device shares (design 2.9).
package enum SharingMode: String, Sendable {
  /// A store on this device alone: no node serves it.
  case off
  /// This member's own devices only.
  case personal
  /// Others are in, or invited, and this member is an owner.
  case owner
  /// This member has joined others.
  case participant

  /// What the file says.
  init(of facts: StatusFacts, now: Instant) {
    let member = facts.membership.members[facts.identity.member]
    let hasOthers = facts.membership.members.values.contains { $0.id != facts.identity.member && $0.state == .active }
    if facts.isOff {
      self = .off
    } else if member?.role == .owner {
      let invites = facts.invitesOthersUntil.map { $0 > now } ?? false
      self = hasOthers || invites ? .owner : .personal
    } else {
      self = .participant
    }
  }

  /// The mode of the household in this directory.
  package static func current(_ directory: DataDirectory) throws -> Self {
    try directory.requireHousehold()
    return try NodeError.guarding {
      Self(
        of: try StatusFacts.read(path: directory.replica, cryptography: OpenSSLCryptography()), now: SystemClock.now)
    }
  }

  /// Switches sharing off, which only one who is alone can, or on again; no node may run.
  package static func switchOff(_ isOff: Bool, _ directory: DataDirectory) throws {
    try directory.requireHousehold()
    try StoppedNode.inItsPlace(directory) { replica in
      let membership = replica.membershipNow
      let others = membership.devices.values.filter { $0.id != replica.identity.device && membership.admits($0.id) }
      if isOff, !others.isEmpty {
        throw NodeError(
          .notAllowed, "\(others.count) other devices share this household, which would wait for this one for ever.",
          remedy: "Leave first (household leave), or retire what is yours (household retire DEVICE).")
      }
      try replica.setOff(isOff)
    }
  }

  /// Throws where sharing is off: nothing listens then, and nobody can be let in.
  package static func requireOn(_ isOff: Bool) throws {
    guard !isOff else {
      throw NodeError(
        .sharingOff, "Sharing is off here: these records are a store on this device alone, and no node serves them.",
        remedy: "Switch it on first: household mode personal")
    }
  }
}
