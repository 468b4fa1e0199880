internal import HouseholdRecords
internal import HouseholdReplica

/// Devices that are there through another one (contract 1.5).
extension StatusJudge {
  /// The name of the device that has a link to the peer, while this one has none.
  func relay(of peer: LiveFacts.Peer?) -> String? {
    guard let peer, !peer.connected, let through = peer.through else { return nil }
    return facts.membership.devices.values.first { $0.id.description == through }?.name ?? through
  }
}
