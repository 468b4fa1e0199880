/// Where reading a peer's log may go on: a position in one numbering of it. Opaque to whoever holds it.
///
/// It never decides what is missing, the vectors do: a token that is unknown, garbled or of another incarnation means
/// "from the log's start" and nothing worse (D2).
package struct ChangeToken: Hashable, Sendable {
  /// The bytes as the peer gave them, at most ``byteLimit``.
  package var bytes: [UInt8]

  /// The longest token that is kept for a peer.
  package static let byteLimit = 64

  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// The token for a position of our own log.
  package init(incarnation: Incarnation, position: LogPosition) {
    var writer = ByteWriter()
    writer.identifier(incarnation)
    writer.varint(position.rawValue)
    bytes = writer.bytes
  }

  /// The position in the log of this incarnation; nil means the log's start.
  package func position(in incarnation: Incarnation) -> LogPosition? {
    var reader = ByteReader(bytes)
    guard let named: Incarnation = try? reader.identifier128(), named == incarnation,
      let position = try? reader.varint(), position <= UInt64(Int64.max), reader.remaining == 0
    else { return nil }
    return LogPosition(rawValue: position)
  }
}

/// A place in a replica's own log: everything up to here was received or sealed before.
package struct LogPosition: Hashable, Comparable, Sendable {
  /// Counts up with every changeset that is stored; 0 is before the first.
  package var rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Before the first changeset.
  package static let start = Self(rawValue: 0)

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
