/// Why a text is no JSON value that could be taken unchanged.
package struct JSONFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// One sentence.
  package let sentence: String

  /// The sentence.
  package var description: String { sentence }
}

/// Walks over the bytes of a JSON text; the text is a `String`, so they are UTF-8.
struct JSONReader {
  private let bytes: [UInt8]
  private var position = 0
  private var depth = 0

  /// As deep as arrays and objects may be nested: the reader calls itself for each level.
  static let depthLimit = 64

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func readDocument() throws(JSONFailure) -> JSONValue {
    skipBlanks()
    let value = try readValue()
    skipBlanks()
    guard position == bytes.count else { throw unexpected() }
    return value
  }

  private mutating func readValue() throws(JSONFailure) -> JSONValue {
    guard let byte = next else { throw unexpected() }
    switch byte {
    case UInt8(ascii: "{"): return try nested { reader throws(JSONFailure) in try reader.readObject() }
    case UInt8(ascii: "["): return try nested { reader throws(JSONFailure) in try reader.readArray() }
    case UInt8(ascii: "\""): return .string(try readString())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try readNumber()
    default:
      for (word, value) in [("null", JSONValue.null), ("true", .boolean(true)), ("false", .boolean(false))]
      where bytes[position...].starts(with: word.utf8) {
        position += word.utf8.count
        return value
      }
      throw unexpected()
    }
  }

  private mutating func nested(
    _ read: (inout Self) throws(JSONFailure) -> JSONValue
  ) throws(JSONFailure) -> JSONValue {
    guard depth < Self.depthLimit else {
      throw JSONFailure(sentence: "it is nested deeper than \(Self.depthLimit) levels.")
    }
    depth += 1
    defer { depth -= 1 }
    position += 1
    skipBlanks()
    return try read(&self)
  }

  private mutating func readArray() throws(JSONFailure) -> JSONValue {
    var values: [JSONValue] = []
    if take("]") { return .array(values) }
    while true {
      skipBlanks()
      values.append(try readValue())
      skipBlanks()
      if take("]") { return .array(values) }
      guard take(",") else { throw unexpected() }
    }
  }

  private mutating func readObject() throws(JSONFailure) -> JSONValue {
    var members: [JSONValue.Member] = []
    var names: Set<[UInt8]> = []
    if take("}") { return .object(members) }
    while true {
      skipBlanks()
      guard next == UInt8(ascii: "\"") else { throw unexpected() }
      let name = try readString()
      guard names.insert(Array(name.utf8)).inserted else {
        throw JSONFailure(sentence: "the name \(quoted(name)) stands twice in one object.")
      }
      skipBlanks()
      guard take(":") else { throw unexpected() }
      skipBlanks()
      members.append(JSONValue.Member(name, try readValue()))
      skipBlanks()
      if take("}") { return .object(members) }
      guard take(",") else { throw unexpected() }
    }
  }

  private mutating func readNumber() throws(JSONFailure) -> JSONValue {
    let start = position
    _ = take("-")
    if !take("0") { try skipDigits() }
    var isWhole = true
    if take(".") {
      isWhole = false
      try skipDigits()
    }
    if take("e") || take("E") {
      isWhole = false
      if !take("+") { _ = take("-") }
      try skipDigits()
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isWhole {
      guard let value = Int64(text) else {
        throw JSONFailure(sentence: "\(text.prefix(40)) does not fit a whole number of 64 bits.")
      }
      return .integer(value)
    }
    guard let value = Double(text), value.isFinite else {
      throw JSONFailure(sentence: "\(text.prefix(40)) does not fit a number of 64 bits.")
    }
    return .real(value)
  }

  private mutating func skipDigits() throws(JSONFailure) {
    let start = position
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    guard position > start else { throw unexpected() }
  }

  private mutating func readString() throws(JSONFailure) -> String {
    position += 1
    var text: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        position += 1
        text.append(contentsOf: String(try readEscape()).utf8)
      case 0..<0x20: throw unexpected()
      default:
        text.append(byte)
        position += 1
      }
    }
    throw JSONFailure(sentence: "a string has no closing quote.")
  }

  private mutating func readEscape() throws(JSONFailure) -> Unicode.Scalar {
    guard let byte = next else { throw unexpected() }
    if byte == UInt8(ascii: "u") { return try readUnicodeEscape() }
    guard let scalar = Self.escapes[byte] else { throw unexpected() }
    position += 1
    return scalar
  }

  /// Reads `uXXXX`, and the second half of a pair after a first half.
  private mutating func readUnicodeEscape() throws(JSONFailure) -> Unicode.Scalar {
    let first = try readHexQuad()
    if let scalar = Unicode.Scalar(first) { return scalar }
    let unpaired = JSONFailure(sentence: "it holds half of a surrogate pair, which is no character.")
    guard UTF16.isLeadSurrogate(first), take("\\"), next == UInt8(ascii: "u") else { throw unpaired }
    let second = try readHexQuad()
    guard UTF16.isTrailSurrogate(second) else { throw unpaired }
    let value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
    guard let scalar = Unicode.Scalar(value) else { throw unpaired }
    return scalar
  }

  private mutating func readHexQuad() throws(JSONFailure) -> UInt16 {
    position += 1
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = next, byte < 0x80, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw unexpected()
      }
      value = value << 4 | UInt16(digit)
      position += 1
    }
    return value
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
  }

  private func unexpected() -> JSONFailure {
    guard position < bytes.count else { return JSONFailure(sentence: "the JSON text ends too early.") }
    let rest = String(decoding: bytes[position...].prefix(16), as: UTF8.self)
    return JSONFailure(sentence: "no JSON at \(quoted(String(rest.prefix(12)))).")
  }

  private static let escapes: [UInt8: Unicode.Scalar] = [
    UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\", UInt8(ascii: "/"): "/", UInt8(ascii: "b"): "\u{8}",
    UInt8(ascii: "f"): "\u{C}", UInt8(ascii: "n"): "\n", UInt8(ascii: "r"): "\r", UInt8(ascii: "t"): "\t",
  ]
}
