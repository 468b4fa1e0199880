package import HouseholdRecords

/// Names one link for as long as the process runs.
package struct LinkID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let number: UInt64

  package static func < (a: Self, b: Self) -> Bool { a.number < b.number }

  package var description: String { "link \(number)" }
}

/// Who is at the other end of a link, proved by TLS.
package struct LinkIdentity: Hashable, Sendable {
  /// What the link is for.
  package let application: LinkApplication
  /// The verified device, on a `household/1` link; nil for a stranger who pairs.
  package let peer: VerifiedDevice?
  /// The peer's SubjectPublicKeyInfo, DER.
  package let publicKey: [UInt8]
  /// The peer's certificate, X.509, DER.
  package let certificate: [UInt8]
  /// 32 bytes that only the two ends have, on a pairing link; empty else.
  package let exporter: [UInt8]
  /// The peer's numeric address.
  package let address: SocketAddress
  /// Whether this end dialled.
  package let isDialled: Bool
}

/// Why a link ended, or why none came about.
package enum LinkCloseReason: Error, Hashable, Sendable {
  /// We closed it, with this reason of the protocol's.
  case closedHere(String)
  /// The peer closed it in order.
  case closedByPeer
  /// The connection ended in the middle: what came last may not be all.
  case cutOff
  /// TLS found a fault, or the peer refused us.
  case tls(TLSFault)
  /// The peer broke a rule of frames.
  case violation(FrameViolation)
  /// The peer takes less than we send, and the queue is full.
  case queueFull
  /// The handshake was not done in time.
  case handshakeTimedOut
  /// No connection came about in time.
  case connectTimedOut
  /// There are as many links as there may be.
  case tooManyLinks
  /// Another address of the same dial was quicker.
  case superseded
  /// Not the device that was dialled answered, but this one.
  case anotherDevice(DeviceID)
  /// The system reported an error.
  case socket(SocketFault)
}

extension LinkCloseReason: CustomStringConvertible {
  /// One sentence.
  package var description: String {
    switch self {
    case .closedHere(let text): text
    case .closedByPeer: "The peer closed the connection."
    case .cutOff: "The connection broke off."
    case .tls(let fault): fault.description
    case .violation(let violation): violation.description
    case .queueFull: "The peer takes up less than is sent to it."
    case .handshakeTimedOut: "The peer did not finish the TLS handshake in time."
    case .connectTimedOut: "The address did not answer in time."
    case .tooManyLinks: "There are too many connections at once."
    case .superseded: "Another address answered first."
    case .anotherDevice: "Another device answers here."
    case .socket(let fault): fault.description
    }
  }
}

/// Bytes on the network, TLS included, since a link began.
package struct LinkTraffic: Hashable, Sendable {
  package var bytesSent: UInt64 = 0
  package var bytesReceived: UInt64 = 0
}

/// Owns links: hears what happens on them, always on the loop's thread and in order.
package protocol LinkOwner: AnyObject, Sendable {
  /// The handshake is done. At the end that dialled the peer may still refuse: then `linkClosed` says so.
  func linkOpened(_ link: Link, identity: LinkIdentity)
  /// A message came; the owner must call `consumed` with its payload's size once it is done with it.
  func linkReceived(_ link: Link, message: InboundMessage)
  /// The link, which was open, is closed; nothing more is heard of it.
  func linkClosed(_ link: Link, reason: LinkCloseReason)
  /// What an open link says last when it ends for this reason, as far as the system takes it; nil for nothing.
  func lastWords(on link: Link, reason: LinkCloseReason) -> LastWords?
}

extension LinkOwner {
  package func lastWords(on link: Link, reason: LinkCloseReason) -> LastWords? { nil }
}

/// A message that ends a link.
package struct LastWords: Sendable {
  package var type: UInt8
  package var payload: [UInt8]

  package init(type: UInt8, payload: [UInt8]) {
    self.type = type
    self.payload = payload
  }
}
