package import HouseholdRecords

/// What is known of a peer that is connected, for status.
package struct PeerFacts: Hashable, Sendable {
  package var link: LinkNumber
  package var device: DeviceID
  /// Which start of its node it is.
  package var bootNonce: BootNonce
  /// Since when, by the clock that only runs forward.
  package var since: Tick
  /// Whether data flows.
  package var isInUse: Bool
  /// Whether both sides have everything of the other, as of the last message.
  package var isSynced: Bool
  /// Whether the peer has told all that it had when it connected: before that, what it has is not known.
  package var isCaughtUp: Bool
  /// What the peer has stored, as far as it said: "has ours" and "we have theirs" follow from it.
  package var received: VersionVector
  /// The peer's clock minus ours.
  package var clockOffsetMilliseconds: Int64
  package var schemaVersion: UInt64
  package var programVersion: String
  package var sentCount: Int
  package var receivedCount: Int
}

extension SyncEngine {
  /// The peers that said hello, in ascending order of their links.
  package var peers: [PeerFacts] {
    links.compactMap { link in
      guard let session = sessions[link], let hello = session.hello else { return nil }
      return PeerFacts(
        link: link, device: session.device, bootNonce: hello.bootNonce, since: session.openedAt,
        isInUse: session.phase == .inUse,
        isSynced: session.wasSynced, isCaughtUp: session.incoming.state == .live, received: session.known,
        clockOffsetMilliseconds: session.clockOffsetMilliseconds, schemaVersion: hello.schemaVersion,
        programVersion: hello.programVersion, sentCount: session.sentCount, receivedCount: session.receivedCount)
    }
  }
}
