internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdSync
internal import HouseholdTransport

/// What status asks of the driver: the peers as they are now.
extension SyncDriver {
  /// What status shows of the peers as of now.
  func livePeers() throws -> [String: LiveFacts.Peer] {
    rememberSyncs()
    let received = try replica.vectors().received
    let sessions = Dictionary(engine.peers.map { ($0.device, $0) }) { old, new in new.isInUse ? new : old }
    let clones = liveClones()
    let relayed = engine.relayed
    var peers: [String: LiveFacts.Peer] = [:]
    for device in Set(contacts.keys).union(sessions.keys).union(relayed.keys).sorted() {
      let session = sessions[device]
      let link = session.flatMap { links[$0.link] }
      var contact = contacts[device] ?? PeerContact()
      if let link {
        contact.bytesSent += link.traffic.bytesSent
        contact.bytesReceived += link.traffic.bytesReceived
        contact.clockOffsetMs = session?.clockOffsetMilliseconds
      }
      peers[device.description] = LiveFacts.Peer(
        connected: session?.isInUse ?? false, through: relayed[device]?.description,
        address: link?.address.description,
        missingHere: session?.received.excess(over: received) ?? 0, synced: session?.isSynced ?? false,
        caughtUp: session?.isCaughtUp ?? false,
        contact: contact, diverged: diverged.contains(device), cloned: clones.contains(device))
    }
    return peers
  }

  /// Devices of which two nodes are connected.
  private func liveClones() -> Set<DeviceID> {
    let starts = Dictionary(grouping: engine.peers.filter(\.isInUse), by: \.device).mapValues {
      Set($0.map(\.bootNonce))
    }
    return Set(starts.filter { $0.value.count > 1 }.keys)
  }

  /// How far the clocks of the devices that are connected now are from ours, without one of them.
  func clockOffsets(except device: DeviceID) -> [Int64] {
    engine.peers.filter { $0.device != device && $0.isInUse }.compactMap(\.clockOffsetMilliseconds)
  }

  /// Whether the device is connected to us, or to one that we are connected to.
  func isThere(_ device: DeviceID) -> Bool { isConnected(device) || engine.relayed[device] != nil }
}
