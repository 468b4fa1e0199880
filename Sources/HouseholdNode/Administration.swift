package import HouseholdRecords
package import HouseholdReplica

/// The owner's acts, and renaming: each writes a signed entry into the membership log of this node.
///
/// On the replica's thread, like the driver.
package struct Administration {
  let replica: Replica

  package init(replica: Replica) { self.replica = replica }

  var membership: MembershipState { replica.membershipNow }

  /// Whom a word names: an active member or device, by name or id.
  enum Named {
    case member(MembershipState.Member)
    case device(MembershipState.Device)
  }

  /// Ends the membership of a person with all devices, or of one device.
  package func remove(_ word: String, now: Instant) throws {
    try requireOwner()
    switch try named(word) {
    case .member(let member):
      try requireOtherOwner(than: member, "be removed")
      guard member.id != replica.identity.member else { throw Self.oneself }
      let devices = membership.devices.values.filter { $0.member == member.id }.map(\.id).sorted()
      try end(.member(member.id), .removed, devices: devices, now: now)
    case .device(let device):
      guard device.id != replica.identity.device else { throw Self.oneself }
      try end(.device(device.id), .removed, devices: [device.id], now: now)
    }
  }

  /// Ends one device of a member who stays: an old machine, of one's own or, for an owner, of anybody.
  func retire(_ word: String, now: Instant) throws {
    guard case .device(let device) = try named(word) else {
      throw NodeError(
        .notFound, "There is no device \(word); it is the name of a member.", remedy: "List them: household members")
    }
    if device.member != replica.identity.member { try requireOwner() }
    guard device.id != replica.identity.device else { throw Self.oneself }
    try end(.device(device.id), .retired, devices: [device.id], now: now)
  }

  /// Gives a member or a device another name.
  func rename(_ word: String, to name: String, now: Instant) throws {
    switch try named(word) {
    case .member(let member):
      try Names.check(name, of: "member")
      if member.id != replica.identity.member { try requireOwner() }
      try requireFree(name, among: membership.members.values.filter { $0.id != member.id }.map(\.name))
      _ = try replica.state(.rename(.init(subject: .member(member.id), name: name)), at: now)
    case .device(let device):
      try Names.check(name, of: "device")
      if device.member != replica.identity.member { try requireOwner() }
      let others = membership.devices.values.filter { $0.member == device.member && $0.id != device.id }
      try requireFree(name, among: others.map(\.name))
      _ = try replica.state(.rename(.init(subject: .device(device.id), name: name)), at: now)
    }
  }

  private func end(
    _ subject: MembershipEntry.Subject, _ reason: MembershipEntry.Removal.Reason, devices: [DeviceID], now: Instant
  ) throws {
    let removal = MembershipEntry.Removal(
      subject: subject, reason: reason, cutoffs: try devices.map { try replica.cutoffs(of: $0) })
    _ = try replica.state(.removal(removal), at: now)
  }

  func named(_ word: String) throws -> Named {
    let members = membership.members.values.filter { $0.state == .active }.sorted { $0.id < $1.id }
    if let member = members.first(where: { $0.name == word || $0.id.description == word }) { return .member(member) }
    let devices = membership.devices.values.filter { $0.state == .active || $0.state == .dormant }
      .sorted { $0.id < $1.id }.filter { $0.name == word || $0.id.description == word }
    guard let device = devices.first else {
      throw NodeError(
        .notFound, "There is no member or device \(word).", remedy: "List them: household members")
    }
    guard devices.count == 1 else {
      throw NodeError(
        .notFound, "Several devices have the name \(word).", remedy: "Name it by its id: household members --json")
    }
    return .device(device)
  }

  /// Throws unless this device's member is an owner.
  func requireOwner() throws {
    guard membership.isOwner(replica.identity.device) else {
      throw NodeError(.notAllowed, "Only an owner can do this.", remedy: "Ask an owner: household members shows them.")
    }
  }

  /// Throws if nobody could let anyone in or out any more.
  func requireOtherOwner(than member: MembershipState.Member, _ what: String) throws {
    let owners = Set(membership.devices.keys.filter(membership.isOwner).compactMap { membership.member(of: $0)?.id })
    guard member.role != .owner || owners.contains(where: { $0 != member.id }) else {
      throw NodeError(
        .notAllowed, "\(member.name) is the last owner and cannot \(what).",
        remedy: "Make another member an owner first: household promote NAME")
    }
  }

  private func requireFree(_ name: String, among names: [String]) throws {
    guard !names.contains(name) else {
      throw NodeError(.badArgument, "The name \(name) is taken.", remedy: "Choose another name.")
    }
  }

  private static var oneself: NodeError {
    NodeError(
      .notAllowed, "This is yourself, and the device at hand.", remedy: "To go yourself: household leave")
  }
}
