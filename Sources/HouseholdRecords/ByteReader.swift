/// Why bytes of a peer or a file are not what they claim to be.
package enum DecodingViolation: Error, Hashable, Sendable {
  /// The bytes end too early.
  case truncated
  /// A number is longer than needed or does not fit.
  case badNumber
  /// A text is not UTF-8.
  case badText
  /// A byte that tells a kind has a value that is unknown here.
  case unknownKind(UInt8)
  /// A count or length is over its limit.
  case overLimit
  /// Bytes are left over at the end.
  case trailingBytes
  /// Entries that must be in ascending order, each once, are not.
  case notSorted
  /// A rule of the format is broken; the text names it.
  case malformed(String)
}

/// Reads the canonical encoding; whatever the bytes are, it throws or returns, and takes no memory beyond them.
package struct ByteReader {
  private let bytes: [UInt8]
  /// The index of the next byte.
  package private(set) var position: Int
  private let end: Int

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    position = 0
    end = bytes.count
  }

  package init(_ bytes: ArraySlice<UInt8>) { self.init(Array(bytes)) }

  /// The number of bytes not read yet.
  package var remaining: Int { end - position }

  /// Throws unless everything was read.
  package func finish() throws(DecodingViolation) {
    if position != end { throw .trailingBytes }
  }

  package mutating func byte() throws(DecodingViolation) -> UInt8 {
    guard position < end else { throw .truncated }
    defer { position += 1 }
    return bytes[position]
  }

  package mutating func varint() throws(DecodingViolation) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      let next = try byte()
      if shift == 63 && next > 1 { throw .badNumber }
      value |= UInt64(next & 0x7F) << shift
      if next < 0x80 {
        if next == 0 && shift > 0 { throw .badNumber }
        return value
      }
    }
    throw .badNumber
  }

  /// A count of things of which at most `limit` are allowed and each takes at least one byte.
  package mutating func count(limit: Int) throws(DecodingViolation) -> Int {
    let value = try varint()
    guard value <= UInt64(limit) else { throw .overLimit }
    guard value <= UInt64(remaining) else { throw .truncated }
    return Int(value)
  }

  package mutating func signed() throws(DecodingViolation) -> Int64 {
    let value = try varint()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  package mutating func fixed() throws(DecodingViolation) -> UInt64 {
    guard remaining >= 8 else { throw .truncated }
    var value: UInt64 = 0
    for index in position..<position + 8 { value = value << 8 | UInt64(bytes[index]) }
    position += 8
    return value
  }

  package mutating func raw(_ count: Int) throws(DecodingViolation) -> ArraySlice<UInt8> {
    guard count >= 0, count <= remaining else { throw .truncated }
    defer { position += count }
    return bytes[position..<position + count]
  }

  package mutating func data(limit: Int) throws(DecodingViolation) -> [UInt8] {
    Array(try raw(try count(limit: limit)))
  }

  package mutating func text(limit: Int) throws(DecodingViolation) -> String {
    let count = try count(limit: limit)
    guard count <= remaining else { throw .truncated }
    defer { position += count }
    // A span is validated in one go, several times as fast as a collection.
    do {
      return String(copying: try UTF8Span(validating: bytes.span.extracting(position..<position + count)))
    } catch {
      throw .badText
    }
  }

  /// Where the bytes of a text lie, checked like one and not copied.
  package mutating func textRange(limit: Int) throws(DecodingViolation) -> Range<Int> {
    let range = try dataRange(limit: limit)
    do {
      _ = try UTF8Span(validating: bytes.span.extracting(range))
    } catch {
      throw .badText
    }
    return range
  }

  /// Where a byte string lies.
  package mutating func dataRange(limit: Int) throws(DecodingViolation) -> Range<Int> {
    let count = try count(limit: limit)
    defer { position += count }
    return position..<position + count
  }

  /// The text of a range that ``textRange(limit:)`` gave.
  package func text(at range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  package mutating func identifier256<Kind>() throws(DecodingViolation) -> Identifier256<Kind> {
    guard let value = Identifier256<Kind>(bytes: try raw(32)) else { throw .truncated }
    return value
  }

  package mutating func identifier128<Kind>() throws(DecodingViolation) -> Identifier128<Kind> {
    guard let value = Identifier128<Kind>(bytes: try raw(16)) else { throw .truncated }
    return value
  }

  package mutating func value() throws(DecodingViolation) -> FieldValue {
    switch try valueKind() {
    case .null: return .null
    case .integer: return .integer(try signed())
    case .real: return .real(Double(bitPattern: try fixed()))
    case .text: return .text(try text(limit: Limits.textBytes))
    case .bytes: return .bytes(try data(limit: Limits.recordBytes))
    }
  }

  /// The first byte of a value.
  package mutating func valueKind() throws(DecodingViolation) -> FieldValue.Kind {
    let byte = try byte()
    guard let kind = FieldValue.Kind(rawValue: byte) else { throw .unknownKind(byte) }
    return kind
  }
}
