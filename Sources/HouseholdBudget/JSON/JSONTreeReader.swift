import HouseholdRecords

/// Walks over the bytes of a JSON text.
struct JSONTreeReader {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var depth = 0

  /// As deep as lists and objects may be nested: the reader calls itself for each level.
  static let depthLimit = 64

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func readDocument() throws(JSONTreeFailure) -> JSONTree {
    skipBlanks()
    let tree = try readTree()
    skipBlanks()
    guard position == bytes.count else { throw unexpected() }
    return tree
  }

  private mutating func readTree() throws(JSONTreeFailure) -> JSONTree {
    let start = line
    return JSONTree(line: start, value: try readValue())
  }

  private mutating func readValue() throws(JSONTreeFailure) -> JSONTree.Value {
    guard let byte = next else { throw unexpected() }
    switch byte {
    case UInt8(ascii: "{"):
      try enter()
      defer { depth -= 1 }
      return try readObject()
    case UInt8(ascii: "["):
      try enter()
      defer { depth -= 1 }
      return try readArray()
    case UInt8(ascii: "\""): return .string(try readString())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try readNumber())
    default:
      if takeWord("null") { return .null }
      if takeWord("true") { return .boolean(true) }
      if takeWord("false") { return .boolean(false) }
      throw unexpected()
    }
  }

  private mutating func enter() throws(JSONTreeFailure) {
    guard depth < Self.depthLimit else { throw failure("it is nested deeper than \(Self.depthLimit) levels") }
    depth += 1
    position += 1
    skipBlanks()
  }

  private mutating func readArray() throws(JSONTreeFailure) -> JSONTree.Value {
    var values: [JSONTree] = []
    if take("]") { return .array(values) }
    while true {
      skipBlanks()
      values.append(try readTree())
      skipBlanks()
      if take("]") { return .array(values) }
      guard take(",") else { throw unexpected() }
    }
  }

  private mutating func readObject() throws(JSONTreeFailure) -> JSONTree.Value {
    var members: [JSONTree.Member] = []
    var names: Set<[UInt8]> = []
    if take("}") { return .object(members) }
    while true {
      skipBlanks()
      guard next == UInt8(ascii: "\"") else { throw unexpected() }
      let name = try readString()
      guard names.insert(Array(name.utf8)).inserted else { throw failure("\(quoted(name)) stands twice in one object") }
      skipBlanks()
      guard take(":") else { throw unexpected() }
      skipBlanks()
      members.append(JSONTree.Member(name: name, value: try readTree()))
      skipBlanks()
      if take("}") { return .object(members) }
      guard take(",") else { throw unexpected() }
    }
  }

  private mutating func readNumber() throws(JSONTreeFailure) -> String {
    let start = position
    _ = take("-")
    if !take("0") { try skipDigits() }
    if take(".") { try skipDigits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try skipDigits()
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func skipDigits() throws(JSONTreeFailure) {
    let start = position
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    guard position > start else { throw unexpected() }
  }

  private mutating func readString() throws(JSONTreeFailure) -> String {
    position += 1
    var text: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        guard let valid = String(validating: text, as: UTF8.self) else { throw failure("a text is no UTF-8") }
        return valid
      case UInt8(ascii: "\\"):
        position += 1
        text.append(contentsOf: String(try readEscape()).utf8)
      case 0..<0x20: throw unexpected()
      default:
        text.append(byte)
        position += 1
      }
    }
    throw failure("a text has no closing quote")
  }

  private mutating func readEscape() throws(JSONTreeFailure) -> Unicode.Scalar {
    guard let byte = next else { throw unexpected() }
    if byte == UInt8(ascii: "u") { return try readUnicodeEscape() }
    guard let scalar = Self.escapes[byte] else { throw unexpected() }
    position += 1
    return scalar
  }

  /// Reads `uXXXX`, and the second half of a pair after a first half.
  private mutating func readUnicodeEscape() throws(JSONTreeFailure) -> Unicode.Scalar {
    let first = try readHexQuad()
    if let scalar = Unicode.Scalar(first) { return scalar }
    let unpaired = failure("it holds half of a surrogate pair, which is no character")
    guard UTF16.isLeadSurrogate(first), take("\\"), next == UInt8(ascii: "u") else { throw unpaired }
    let second = try readHexQuad()
    guard UTF16.isTrailSurrogate(second),
      let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
    else { throw unpaired }
    return scalar
  }

  private mutating func readHexQuad() throws(JSONTreeFailure) -> UInt16 {
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

  private mutating func takeWord(_ word: StaticString) -> Bool {
    let text = Array("\(word)".utf8)
    guard bytes[position...].starts(with: text) else { return false }
    position += text.count
    return true
  }

  private mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
      if byte == 0x0A || byte == 0x0D && !(position + 1 < bytes.count && bytes[position + 1] == 0x0A) { line += 1 }
      position += 1
    }
  }

  private func failure(_ reason: String) -> JSONTreeFailure { JSONTreeFailure(line: line, reason: reason) }

  private func unexpected() -> JSONTreeFailure {
    guard position < bytes.count else { return failure("the text ends too early") }
    return failure("no JSON at \(quoted(String(decoding: bytes[position...].prefix(16), as: UTF8.self)))")
  }

  private static let escapes: [UInt8: Unicode.Scalar] = [
    UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\", UInt8(ascii: "/"): "/", UInt8(ascii: "b"): "\u{8}",
    UInt8(ascii: "f"): "\u{C}", UInt8(ascii: "n"): "\n", UInt8(ascii: "r"): "\r", UInt8(ascii: "t"): "\t",
  ]
}
