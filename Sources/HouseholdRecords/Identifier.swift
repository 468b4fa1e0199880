/// Thirty-two bytes that name one thing for ever, such as the SHA-256 of a key or of a changeset.
///
/// `Kind` keeps a device's id from being taken for a changeset's hash; it holds no data.
package struct Identifier256<Kind>: Hashable, Comparable, Sendable, CustomStringConvertible {
  private let w0: UInt64
  private let w1: UInt64
  private let w2: UInt64
  private let w3: UInt64

  /// The number of bytes in the binary form.
  package static var byteCount: Int { 32 }

  /// All bytes zero: the hash "before the first".
  package static var zero: Self { Self(w0: 0, w1: 0, w2: 0, w3: 0) }

  private init(w0: UInt64, w1: UInt64, w2: UInt64, w3: UInt64) {
    self.w0 = w0
    self.w1 = w1
    self.w2 = w2
    self.w3 = w3
  }

  /// The identifier with these 32 bytes; nil for any other count.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self = withWords(of: bytes) { word in Self(w0: word(0), w1: word(1), w2: word(2), w3: word(3)) }
  }

  /// The identifier written as 64 hexadecimal digits; nil for anything else.
  package init?(hex: some StringProtocol) {
    guard let bytes = HouseholdRecords.bytes(hex: hex) else { return nil }
    self.init(bytes: bytes)
  }

  /// The 32 bytes, most significant first.
  package var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      putBigEndian(w0, at: 0, of: buffer)
      putBigEndian(w1, at: 8, of: buffer)
      putBigEndian(w2, at: 16, of: buffer)
      putBigEndian(w3, at: 24, of: buffer)
      count = Self.byteCount
    }
  }

  /// The first eight bytes as a number: enough to tell two branches of one replica apart.
  package var prefix: UInt64 { w0 }

  /// 64 lower-case hexadecimal digits.
  package var description: String { hexadecimal(bytes) }

  package static func < (a: Self, b: Self) -> Bool {
    (a.w0, a.w1, a.w2, a.w3) < (b.w0, b.w1, b.w2, b.w3)
  }
}

/// Sixteen bytes that name one thing for ever: a replica, a member, an invitation, a start of a node.
package struct Identifier128<Kind>: Hashable, Comparable, Sendable, CustomStringConvertible {
  private let w0: UInt64
  private let w1: UInt64

  /// The number of bytes in the binary form.
  package static var byteCount: Int { 16 }

  private init(w0: UInt64, w1: UInt64) {
    self.w0 = w0
    self.w1 = w1
  }

  /// The identifier with these 16 bytes; nil for any other count.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self = withWords(of: bytes) { word in Self(w0: word(0), w1: word(1)) }
  }

  /// The identifier written as 32 hexadecimal digits; nil for anything else.
  package init?(hex: some StringProtocol) {
    guard let bytes = HouseholdRecords.bytes(hex: hex) else { return nil }
    self.init(bytes: bytes)
  }

  /// A new identifier from 128 bits of `source`.
  package static func random(from source: inout some RandomNumberGenerator) -> Self {
    Self(w0: source.next(), w1: source.next())
  }

  /// The 16 bytes, most significant first.
  package var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      putBigEndian(w0, at: 0, of: buffer)
      putBigEndian(w1, at: 8, of: buffer)
      count = Self.byteCount
    }
  }

  /// 32 lower-case hexadecimal digits.
  package var description: String { hexadecimal(bytes) }

  package static func < (a: Self, b: Self) -> Bool { (a.w0, a.w1) < (b.w0, b.w1) }
}

/// What the identifiers name.
package enum HouseholdKind {}
package enum DeviceKind {}
package enum ChangesetKind {}
package enum EntryKind {}
package enum ReplicaKind {}
package enum MemberKind {}
package enum InvitationKind {}
package enum BootKind {}
package enum IncarnationKind {}
package enum NonceKind {}

/// SHA-256 of the share's public key (SubjectPublicKeyInfo, DER).
package typealias HouseholdID = Identifier256<HouseholdKind>
/// SHA-256 of a device's public key (SubjectPublicKeyInfo, DER): it outlives every renewal of the certificate.
package typealias DeviceID = Identifier256<DeviceKind>
/// SHA-256 of a changeset's bytes as its author wrote them, signature included.
package typealias ChangesetHash = Identifier256<ChangesetKind>
/// SHA-256 of a membership entry's bytes as its author wrote them, signature included.
package typealias EntryHash = Identifier256<EntryKind>
/// The first 128 bits of SHA-256(device id ‖ nonce): one incarnation of one device's replica (D4).
package typealias ReplicaID = Identifier128<ReplicaKind>
/// A person, whatever devices and names they have over the years.
package typealias MemberID = Identifier128<MemberKind>
/// One offer to join.
package typealias InvitationID = Identifier128<InvitationKind>
/// One start of one node: two of them at a time for one device mean a clone or a half-open link (D12).
package typealias BootNonce = Identifier128<BootKind>
/// One numbering of a replica's log positions: a change token of another incarnation starts from the log's start.
package typealias Incarnation = Identifier128<IncarnationKind>
/// What binds a replica id to its device; stands in changeset 1.
package typealias ReplicaNonce = Identifier128<NonceKind>

/// Hands over what reads the n-th eight bytes as a number.
///
/// Byte by byte through an iterator it took a twenty-fifth of a simulation's time: nothing specialises what other
/// modules call.
private func withWords<Result>(
  of bytes: some Collection<UInt8>, _ body: (_ word: (Int) -> UInt64) -> Result
) -> Result {
  func read(_ buffer: UnsafeBufferPointer<UInt8>) -> Result { body { bigEndianWord($0, of: buffer) } }
  return bytes.withContiguousStorageIfAvailable(read) ?? Array(bytes).withUnsafeBufferPointer(read)
}

private func bigEndianWord(_ index: Int, of bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
  (8 * index..<8 * index + 8).reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
}

private func putBigEndian(_ word: UInt64, at start: Int, of buffer: UnsafeMutableBufferPointer<UInt8>) {
  for index in 0..<8 {
    buffer.initializeElement(at: start + index, to: UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * index)))
  }
}

/// The bytes as lower-case hexadecimal digits.
package func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  let bytes = Array(bytes)
  return String(unsafeUninitializedCapacity: 2 * bytes.count) { buffer in
    for (index, byte) in bytes.enumerated() {
      buffer[2 * index] = hexadecimalDigit(byte >> 4)
      buffer[2 * index + 1] = hexadecimalDigit(byte & 15)
    }
    return 2 * bytes.count
  }
}

private func hexadecimalDigit(_ value: UInt8) -> UInt8 {
  value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
}

/// The bytes that an even number of hexadecimal digits stands for; nil for anything else.
package func bytes(hex text: some StringProtocol) -> [UInt8]? {
  let digits = Array(text.utf8)
  guard digits.count.isMultiple(of: 2) else { return nil }
  var bytes: [UInt8] = []
  bytes.reserveCapacity(digits.count / 2)
  for index in stride(from: 0, to: digits.count, by: 2) {
    guard let high = hexDigit(digits[index]), let low = hexDigit(digits[index + 1]) else { return nil }
    bytes.append(high << 4 | low)
  }
  return bytes
}

private func hexDigit(_ character: UInt8) -> UInt8? {
  switch character {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
  default: nil
  }
}
