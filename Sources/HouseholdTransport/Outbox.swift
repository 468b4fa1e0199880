import HouseholdRecords

/// What was sent on a link and waits for the loop; small messages are joined to one piece.
struct Outbox: Sendable {
  /// How a link is to end.
  enum Ending: Sendable {
    /// After everything that is queued.
    case flushing(LinkCloseReason)
    /// At once.
    case now(LinkCloseReason)
  }

  private var pieces: [[UInt8]] = []
  private var first = 0
  private(set) var queuedBytes = 0
  /// Set once; nothing is queued afterwards.
  private(set) var ending: Ending?
  /// Whether the loop was asked to flush and has not begun to.
  var isFlushSubmitted = false
  var traffic = LinkTraffic()
  var identity: LinkIdentity?

  /// The size up to which messages are joined to one piece, in bytes.
  static let corkBytes = 64 << 10

  /// Queues a message; ends the link when it would pass the bound.
  mutating func append(type: UInt8, flags: FrameFlags, payload: [UInt8]) {
    guard ending == nil else { return }
    let count = Frame.encodedBytes(type: type, payloadBytes: payload.count)
    guard queuedBytes + count <= Limits.queuedBytes else { return end(.now(.queueFull)) }
    queuedBytes += count
    if pieces.count == first || pieces[pieces.count - 1].count + count > Self.corkBytes {
      var piece: [UInt8] = []
      piece.reserveCapacity(count)
      pieces.append(piece)
    }
    Frame.append(type: type, flags: flags, payload: payload, to: &pieces[pieces.count - 1])
  }

  mutating func end(_ ending: Ending) {
    switch (self.ending, ending) {
    case (nil, _), (.flushing, .now): self.ending = ending
    case (.flushing, .flushing), (.now, _): break  // The first reason is the one that is reported.
    }
    if case .now = ending {
      pieces = []
      first = 0
      queuedBytes = 0
    }
  }

  /// Takes the next piece to encrypt.
  mutating func takePiece() -> [UInt8]? {
    guard first < pieces.count else { return nil }
    let piece = pieces[first]
    pieces[first] = []
    first += 1
    queuedBytes -= piece.count
    if first == pieces.count {
      pieces.removeAll(keepingCapacity: true)
      first = 0
    }
    return piece
  }
}
