package import HouseholdRecords
internal import HouseholdReplica

/// What an owner lets members do: each change is a signed entry; a loss of the right to write names what still counts.
extension Administration {
  /// Makes a read-only member a member, and a member an owner; returns the member as it is then.
  package func promote(_ word: String, now: Instant) throws -> MembershipState.Member {
    let member = try requireMember(word)
    switch member.role {
    case .readOnly: return try set(.member, of: member, now: now)
    case .member: return try set(.owner, of: member, now: now)
    case .owner:
      throw NodeError(.badArgument, "\(member.name) is an owner already.", remedy: "There is nothing above an owner.")
    }
  }

  /// Makes an owner a member, or anyone read-only; returns the member as it is then.
  package func demote(_ word: String, toReadOnly: Bool, now: Instant) throws -> MembershipState.Member {
    let member = try requireMember(word)
    try requireOtherOwner(than: member, "be demoted")
    switch member.role {
    case .owner: return try set(toReadOnly ? .readOnly : .member, of: member, now: now)
    case .member where toReadOnly: return try set(.readOnly, of: member, now: now)
    case .member:
      throw NodeError(
        .badArgument, "\(member.name) is a member and no owner.",
        remedy: "To let them read only: household demote \(member.name) --read-only")
    case .readOnly:
      throw NodeError(
        .badArgument, "\(member.name) is read-only already.", remedy: "To end the membership: household remove")
    }
  }

  private func requireMember(_ word: String) throws -> MembershipState.Member {
    try requireOwner()
    guard case .member(let member) = try named(word) else {
      throw NodeError(
        .notFound, "There is no member \(word); it is the name of a device, and roles are the members'.",
        remedy: "List them: household members")
    }
    return member
  }

  private func set(_ role: Role, of member: MembershipState.Member, now: Instant) throws -> MembershipState.Member {
    var change = MembershipEntry.RoleChange(member: member.id, role: role)
    if role == .readOnly {
      // An owner who demotes himself keeps what he wrote until now.
      if member.id == replica.identity.member { _ = try replica.seal(now: now) }
      let devices = membership.devices.values.filter { $0.member == member.id }.map(\.id).sorted()
      change.cutoffs = try devices.map { try replica.cutoffs(of: $0) }
    }
    _ = try replica.state(.role(change), at: now)
    var changed = member
    changed.role = role
    return changed
  }
}
