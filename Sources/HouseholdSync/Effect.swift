package import HouseholdRecords

/// What the engine wants done, in this order; the node obeys and decides nothing.
package enum Effect: Hashable, Sendable {
  /// Send a message on a link.
  case send(LinkNumber, type: UInt8, flags: UInt8, payload: [UInt8])
  /// Close a link once what was sent before is written; nothing follows on it.
  case close(LinkNumber, Goodbye)
  /// Something that status should know.
  case report(SessionReport)
}

/// A fact about the conversation with a peer, for status and for whoever watches.
package enum SessionReport: Hashable, Sendable {
  /// A peer said hello and is who it says.
  case connected(LinkNumber, PeerIntroduction)
  /// A session with the peer got into use.
  case inUse(DeviceID)
  /// Both sides have all that the other has, and have confirmed it.
  case synced(DeviceID)
  /// The peer confirmed changesets of ours or ones that we passed on.
  case acknowledged(DeviceID)
  /// Changesets that were new here came from the peer and are durable.
  case received(count: Int, from: DeviceID)
  /// Changesets went out to the peer.
  case sent(count: Int, to: DeviceID)
  /// A complete snapshot of the peer was put in place.
  case snapshotAdopted(from: DeviceID)
  /// Membership entries that were new here came from the peer.
  case membershipReceived(from: DeviceID)
  /// The peer has every membership entry that is here, as its hello or its list of entries says.
  case membershipKnown(by: DeviceID)
  /// What the peer has stored and keeps from its records, of all authors.
  case withheld([Withheld], by: DeviceID)
  /// Equal vectors and heads, and yet different digests (R5).
  case diverged(DeviceID)
  /// Equal vectors and heads, and equal digests.
  case agreed(DeviceID)
  /// The peer names another hash for the newest changeset of a replica than we have (D4).
  case forkSuspected(ReplicaID, DeviceID)
  /// Two running nodes have the identity of one device.
  case cloneSuspected(DeviceID)
  /// Our own store failed; nothing was acknowledged.
  case storeFailed(String)
  /// A peer broke a rule.
  case violation(DeviceID, Violation)
  /// The share's key came from another owner's device, because we had asked.
  case shareKeyReceived([UInt8], from: DeviceID)
  /// The share's key went to another owner's device.
  case shareKeyGiven(to: DeviceID)
  /// A device that belongs wants its certificate renewed; the node makes one and hands it in.
  case certificateWanted(LinkNumber, by: DeviceID)
  /// A certificate came from an owner's device, because we had asked: X.509, DER.
  case certificateReceived([UInt8], from: DeviceID)
  /// The membership log says that this device belongs no longer.
  case removedHere
  /// A session ended; `byPeer` tells who said goodbye.
  case closed(LinkNumber, DeviceID, Goodbye, byPeer: Bool)
}

/// What a peer says of itself in its hello.
package struct PeerIntroduction: Hashable, Sendable {
  package var device: DeviceID
  /// The member in the peer's certificate.
  package var member: MemberID
  package var replica: ReplicaID
  package var bootNonce: BootNonce
  package var programVersion: String
  package var schemaVersion: UInt64
  /// The peer's clock minus ours, in milliseconds.
  package var clockOffsetMilliseconds: Int64
  /// Where the peer says that it can be dialled.
  package var addresses: [String]
  package var weDialled: Bool

  init(_ hello: Hello, opening: LinkOpening, wall: Instant) {
    device = hello.device
    member = opening.member
    replica = hello.replica
    bootNonce = hello.bootNonce
    programVersion = hello.programVersion
    schemaVersion = hello.schemaVersion
    clockOffsetMilliseconds = hello.wall.milliseconds(since: wall)
    addresses = hello.addresses
    weDialled = opening.weDialled
  }
}
