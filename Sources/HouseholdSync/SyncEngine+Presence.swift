package import HouseholdRecords

/// Who is there over a relay (P17): nodes tell each other to which devices they have links and what those confirmed.
///
/// It is for status alone: no link, stream or request depends on it.
extension SyncEngine {
  /// Tells each peer of the other devices what it was not told yet.
  ///
  /// What a device confirmed is left out for a peer that has a link to that device: it hears it first hand.
  func tellPresence(_ moment: Moment) throws {
    guard presenceIsDue else { return }
    let membership = try moment.store.membership()
    let others = membership.devices.keys.filter { $0 != moment.store.device && membership.admits($0) }.sorted()
    var linked: [DeviceID: VersionVector] = [:]
    for session in sessions.values where session.phase == .inUse {
      linked[session.device, default: VersionVector()].merge(session.known)
    }
    var confirmed: [DeviceID: VersionVector] = [:]
    for device in others { confirmed[device] = try linked[device] ?? moment.store.peer(device).acknowledged }
    for link in links {
      guard let session = sessions[link], session.phase == .inUse else { continue }
      let own = try moment.store.replicas(of: session.device)
      var list: [Presence] = []
      for device in others where device != session.device {
        let hearsItself = session.present[device]?.isLinked == true
        let vector = hearsItself ? VersionVector() : (confirmed[device] ?? VersionVector()).restricted(to: own)
        if linked[device] == nil && vector.isEmpty { continue }
        list.append(
          Presence(device: device, isLinked: linked[device] != nil, confirmed: vector.parts.first ?? vector))
      }
      list = Array(list.prefix(Limits.presences))
      guard list != session.toldPresence else { continue }
      sessions[link]?.toldPresence = list
      send(.present(list), on: link)
    }
    presenceIsDue = false
  }

  /// Takes what a peer says of others; a device that does not belong, or that is one of the two ends, is passed over.
  func receive(_ list: [Presence], from session: SyncSession, _ moment: Moment) throws {
    let membership = try moment.store.membership()
    let own = try moment.store.replicas(of: moment.store.device)
    var present: [DeviceID: Presence] = [:]
    for var item in list
    where item.device != moment.store.device && item.device != session.device && membership.admits(item.device) {
      item.confirmed = item.confirmed.restricted(to: own)
      present[item.device] = item
      // Hearsay of before was written then.
      if session.present[item.device]?.confirmed.covers(item.confirmed) == true { continue }
      if try moment.store.peer(item.device).acknowledged.covers(item.confirmed) { continue }
      try moment.store.acknowledge(item.confirmed, by: item.device, at: item.isLinked ? moment.wall : nil)
    }
    sessions[session.link]?.present = present
    presenceIsDue = true
  }

  /// The devices that are there without a link of ours, each with the peer that has one: the smallest of those.
  package var relayed: [DeviceID: DeviceID] {
    var relayed: [DeviceID: DeviceID] = [:]
    let direct = Set(sessions.values.filter { $0.phase == .inUse }.map(\.device))
    for session in sessions.values where session.phase == .inUse {
      for item in session.present.values where item.isLinked && !direct.contains(item.device) {
        relayed[item.device] = min(relayed[item.device] ?? session.device, session.device)
      }
    }
    return relayed
  }
}

extension VersionVector {
  /// The entries of these replicas.
  fileprivate func restricted(to replicas: Set<ReplicaID>) -> VersionVector {
    VersionVector(entries.filter { replicas.contains($0.key) })
  }
}
