package import HouseholdRecords

/// One link as the node numbers it; numbers go up and are never used again, so the smaller one is the older link.
package struct LinkNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
  package var rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package var description: String { "\(rawValue)" }

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A link whose TLS handshake is over: who is at the other end stands in its certificate, not in what it says.
package struct LinkOpening: Hashable, Sendable {
  package var link: LinkNumber
  /// The device that the certificate's key stands for.
  package var device: DeviceID
  /// The member that the certificate names; the membership log has the last word.
  package var member: MemberID
  /// Whether this node dialled, as opposed to having been dialled.
  package var weDialled: Bool

  package init(link: LinkNumber, device: DeviceID, member: MemberID, weDialled: Bool) {
    self.link = link
    self.device = device
    self.member = member
    self.weDialled = weDialled
  }
}

/// What happens to the engine: everything it knows of the world comes in as one of these.
package enum Event: Hashable, Sendable {
  /// A link is up and authenticated.
  case linkOpened(LinkOpening)
  /// A whole message came in, joined from its frames.
  case messageReceived(LinkNumber, type: UInt8, flags: UInt8, payload: [UInt8])
  /// A link is gone, for whatever reason.
  case linkClosed(LinkNumber)
  /// The store sealed edits that were made here, or its log was compacted.
  case localChanges
  /// An entry was added to the membership log here.
  case membershipChanged
  /// The store has computed the digest of its records as they are now.
  case digestComputed
  /// A certificate was made for the device at the other end of a link, which had asked for one: X.509, DER.
  case certificateIssued(LinkNumber, [UInt8])
  /// Time went on; comes about once a second, more often does no harm.
  case tick
  /// The node is about to stop.
  case shutDown
}
