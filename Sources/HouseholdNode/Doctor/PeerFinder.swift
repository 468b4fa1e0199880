internal import FoundationEssentials
internal import HouseholdRecords
internal import HouseholdReplica

/// What is known of the ways to the other devices, from the node if it runs, else from the file.
struct PeerFinder {
  let facts: StatusFacts
  let live: LiveFacts?

  /// A device with the offset of its clock.
  struct Found {
    var network: NetworkCheck.Peer
    var clockOffset: Int64?
  }

  /// The active devices of this name, member's or device's, or all.
  func peers(named name: String?) throws -> [Found] {
    let membership = facts.membership
    let devices = membership.devices.values
      .filter { $0.id != facts.identity.device && $0.state == .active && membership.admits($0.id) }
      .sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    let wanted = devices.filter { device in
      guard let name else { return true }
      return [device.name, membership.members[device.member]?.name, device.id.description].contains(name)
    }
    if let name, wanted.isEmpty {
      throw NodeError(
        .notFound, "There is no member or device \"\(name)\" besides this one.", remedy: "List them: household members")
    }
    return try wanted.map(found)
  }

  private func found(_ device: MembershipState.Device) throws -> Found {
    let told = live?.peers[device.id.description]
    var contact = told?.contact
    if contact == nil, let text = facts.peers[device.id]?.contact {
      contact = try JSONDecoder().decode(PeerContact.self, from: Data(text.utf8))
    }
    let through = told?.through.flatMap { id in
      facts.membership.devices.values.first { $0.id.description == id }?.name
    }
    let member = facts.membership.members[device.member]?.name ?? "?"
    return Found(
      network: NetworkCheck.Peer(
        device: device.id, name: "\(device.name) of \(member)", addresses: (contact?.addresses ?? []).map(\.address),
        isConnected: told?.connected ?? false, through: through,
        lastError: told?.contact.lastError), clockOffset: contact?.clockOffsetMs)
  }
}
