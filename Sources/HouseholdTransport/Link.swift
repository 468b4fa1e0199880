import HouseholdRecords

/// An authenticated connection to a peer, for messages.
///
/// The face is for any thread; the work is done on the loop's thread (`Link+Wire.swift`). Unchecked: `wire` is used
/// on the loop's thread only, everything else is constant or behind a lock.
package final class Link: @unchecked Sendable, Identifiable, CustomStringConvertible {
  package let id: LinkID
  /// The peer's numeric address.
  package let address: SocketAddress
  /// Whether this end dialled.
  package let isDialled: Bool
  let links: LinkSet
  let owner: any LinkOwner
  let outbox = Lock(Outbox())
  var wire: LinkWire

  init(
    id: LinkID, links: LinkSet, owner: any LinkOwner, wire: LinkWire, address: SocketAddress, isDialled: Bool
  ) {
    self.id = id
    self.links = links
    self.owner = owner
    self.wire = wire
    self.address = address
    self.isDialled = isDialled
  }

  /// Who the peer is; nil before the handshake is done.
  package var identity: LinkIdentity? { outbox.withLock { $0.identity } }

  /// The bytes sent and received until now.
  package var traffic: LinkTraffic { outbox.withLock { $0.traffic } }

  /// The bytes that were sent and not yet taken up by the system.
  package var queuedBytes: Int { outbox.withLock { $0.queuedBytes } }

  /// Queues a message; on a link that ends or has ended it is dropped, and `linkClosed` says why.
  ///
  /// Over `Limits.queuedBytes` the link closes. A payload larger than a frame is cut and joined again by the peer.
  package func send(type: UInt8, flags: FrameFlags = [], payload: [UInt8]) {
    let mustSubmit = outbox.withLock { outbox in
      outbox.append(type: type, flags: flags, payload: payload)
      defer { outbox.isFlushSubmitted = true }
      return !outbox.isFlushSubmitted
    }
    if mustSubmit { submitFlush() }
  }

  /// Sends what is queued, says goodbye in TLS, and closes; nothing is delivered any more.
  package func close(_ reason: String) { end(.flushing(.closedHere(reason))) }

  /// Tells the link that the owner is done with so many delivered bytes of payload.
  package func consumed(_ bytes: Int) {
    links.loop.submit { self.consumedOnLoop(bytes) }
  }

  /// The link by its number and peer.
  package var description: String { "\(id) \(isDialled ? "to" : "from") \(address)" }

  func end(_ ending: Outbox.Ending) {
    let mustSubmit = outbox.withLock { outbox in
      outbox.end(ending)
      defer { outbox.isFlushSubmitted = true }
      return !outbox.isFlushSubmitted
    }
    if mustSubmit { submitFlush() }
  }

  private func submitFlush() {
    links.loop.submit {
      self.outbox.withLock { $0.isFlushSubmitted = false }
      self.flush()
    }
  }
}
