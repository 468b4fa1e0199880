import HouseholdRecords

/// The flags of a frame.
package struct FrameFlags: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The message goes on in the next frame, which has the same type.
  package static let continues = Self(rawValue: 1)
  /// Who does not know the type may skip the message.
  package static let ignorable = Self(rawValue: 2)
  /// All flags that there are.
  package static let all: Self = [.continues, .ignorable]
}

/// One message as it came from a link, its frames joined.
package struct InboundMessage: Hashable, Sendable {
  /// Below 0x40 control, from there on data.
  package var type: UInt8
  /// Without `continues`.
  package var flags: FrameFlags
  package var payload: [UInt8]
}

/// How a peer broke the rules of frames.
package enum FrameViolation: Error, Hashable, Sendable, CustomStringConvertible {
  case frameTooLarge(type: UInt8, bytes: Int)
  case messageTooLarge(type: UInt8, limit: Int)
  case unknownFlags(UInt8)
  case wrongContinuation(expected: UInt8, found: UInt8)
  case emptyContinuation(type: UInt8)

  /// One sentence for the goodbye and the log.
  package var description: String {
    switch self {
    case .frameTooLarge(let type, let bytes): "A frame of type \(type) announced \(bytes) bytes, over the limit."
    case .messageTooLarge(let type, let limit): "A message of type \(type) is longer than \(limit) bytes."
    case .unknownFlags(let flags): "A frame has the unknown flags \(flags)."
    case .wrongContinuation(let expected, let found): "A message of type \(expected) was continued by type \(found)."
    case .emptyContinuation(let type): "A message of type \(type) was continued after an empty frame."
    }
  }
}

/// The form of frames: length of the payload (4 bytes, big endian), type, flags, payload.
package enum Frame {
  /// The bytes before the payload.
  package static let headerBytes = 6
  /// The first type of data messages; those below are control.
  package static let firstDataType: UInt8 = 0x40

  /// The largest payload of one frame of this type, in bytes.
  package static func largestPayload(type: UInt8) -> Int {
    type < firstDataType ? Limits.controlFrameBytes : Limits.dataFrameBytes
  }

  /// Appends a message, cut into as many frames as it needs.
  static func append(type: UInt8, flags: FrameFlags, payload: [UInt8], to bytes: inout [UInt8]) {
    precondition(payload.count <= Limits.messageBytes, "a message must be cut by the protocol above before this")
    let most = largestPayload(type: type)
    var start = 0
    repeat {
      let end = min(start + most, payload.count)
      let count = UInt32(end - start)
      var frameFlags = flags.subtracting(.continues)
      if end < payload.count { frameFlags.insert(.continues) }
      for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
      bytes.append(type)
      bytes.append(frameFlags.rawValue)
      bytes.append(contentsOf: payload[start..<end])
      start = end
    } while start < payload.count
  }

  /// The bytes that a message takes on the wire, before TLS.
  static func encodedBytes(type: UInt8, payloadBytes: Int) -> Int {
    let most = largestPayload(type: type)
    return payloadBytes + headerBytes * max(1, (payloadBytes + most - 1) / most)
  }
}

/// Joins bytes, however they were cut on the way, to messages.
///
/// Every bound is checked when a header is complete; memory grows only as bytes really arrive.
package struct FrameAssembler: Sendable {
  private var header: [UInt8] = []
  private var remaining = 0
  private var isInPayload = false
  private var flags: FrameFlags = []
  private var message: InboundMessage?
  /// The largest message that is taken, in bytes.
  private let limit: Int

  /// - Parameter limit: the largest message, in bytes; strangers may say less than members.
  package init(limit: Int = Limits.messageBytes) { self.limit = limit }

  /// Whether a frame or a message has begun and not ended: a stream that ends here was cut.
  package var isInside: Bool { !header.isEmpty || isInPayload || message != nil }

  /// Takes the next bytes, and gives the messages that are complete now.
  package mutating func receive(_ bytes: ArraySlice<UInt8>) throws(FrameViolation) -> [InboundMessage] {
    var messages: [InboundMessage] = []
    var index = bytes.startIndex
    while index < bytes.endIndex {
      if !isInPayload {
        let end = min(index + Frame.headerBytes - header.count, bytes.endIndex)
        header.append(contentsOf: bytes[index..<end])
        index = end
        guard header.count == Frame.headerBytes else { break }
        try begin()
      }
      let end = min(index + remaining, bytes.endIndex)
      message?.payload.append(contentsOf: bytes[index..<end])
      remaining -= end - index
      index = end
      if remaining == 0, let complete = finish() { messages.append(complete) }
    }
    return messages
  }

  private mutating func begin() throws(FrameViolation) {
    let count = header.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let type = header[4]
    flags = FrameFlags(rawValue: header[5])
    guard count <= Frame.largestPayload(type: type) else { throw .frameTooLarge(type: type, bytes: count) }
    guard FrameFlags.all.isSuperset(of: flags) else { throw .unknownFlags(header[5]) }
    guard !(flags.contains(.continues) && count == 0) else { throw .emptyContinuation(type: type) }
    guard (message?.payload.count ?? 0) + count <= limit else { throw .messageTooLarge(type: type, limit: limit) }
    if let message {
      guard message.type == type else { throw .wrongContinuation(expected: message.type, found: type) }
    } else {
      message = InboundMessage(type: type, flags: flags.subtracting(.continues), payload: [])
    }
    remaining = count
    isInPayload = true
    header.removeAll(keepingCapacity: true)
  }

  private mutating func finish() -> InboundMessage? {
    isInPayload = false
    guard !flags.contains(.continues) else { return nil }
    defer { message = nil }
    return message
  }
}
