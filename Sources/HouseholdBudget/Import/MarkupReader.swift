import HouseholdRecords

/// A piece of XML, or of the SGML that older bank files are.
enum MarkupToken: Hashable, Sendable {
  /// A tag that opens, without the prefix of its namespace; `isEmpty` if it closes itself.
  case open(String, attributes: [String: String], isEmpty: Bool)
  case close(String)
  /// What stands between tags, entities resolved.
  case text(String)
}

/// Why a text is no markup; the end of a sentence.
struct MarkupFailure: Error, Hashable, Sendable {
  let line: Int
  let reason: String
}

/// Cuts markup into tags and texts, one at a time.
///
/// Only the five entities of XML and numbers are resolved, and nothing is ever loaded: a document type is skipped over,
/// so what it defines means nothing. A `<` that begins no tag and a `&` that begins no entity stand for themselves, as
/// SGML files of banks have them.
struct MarkupReader {
  private let bytes: [UInt8]
  private var position: Int
  /// The physical line, from 1, of the token read last.
  private(set) var line = 1
  private var nextLine = 1

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    position = 0
  }

  /// The next piece; nil at the end.
  mutating func next() throws(MarkupFailure) -> MarkupToken? {
    while position < bytes.count {
      line = nextLine
      guard bytes[position] == lessThan, isTagStart(position + 1) else { return .text(try text()) }
      if starts(with: "<!--") {
        try skip(past: "-->")
      } else if starts(with: "<![CDATA[") {
        return .text(try characterData())
      } else if starts(with: "<?") {
        try skip(past: "?>")
      } else if starts(with: "<!") {
        try skipDeclaration()
      } else {
        return try tag()
      }
    }
    return nil
  }

  // MARK: Texts

  private mutating func text() throws(MarkupFailure) -> String {
    let start = position
    repeat { advance() } while position < bytes.count && !(bytes[position] == lessThan && isTagStart(position + 1))
    return resolved(bytes[start..<position])
  }

  private mutating func characterData() throws(MarkupFailure) -> String {
    position += "<![CDATA[".utf8.count
    let start = position
    try skip(past: "]]>")
    return String(decoding: bytes[start..<position - 3], as: UTF8.self)
  }

  private func resolved(_ slice: ArraySlice<UInt8>) -> String {
    guard slice.contains(ampersand) else { return String(decoding: slice, as: UTF8.self) }
    var result: [UInt8] = []
    var rest = slice
    while let first = rest.first {
      if first == ampersand, let end = rest.prefix(12).firstIndex(of: UInt8(ascii: ";")),
        let letter = entity(String(decoding: rest[rest.startIndex + 1..<end], as: UTF8.self))
      {
        result += String(letter).utf8
        rest = rest[(end + 1)...]
      } else {
        result.append(first)
        rest = rest.dropFirst()
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private func entity(_ name: String) -> Unicode.Scalar? {
    switch name {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    case "nbsp": return " "
    default: break
    }
    let number =
      name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
    guard let number, number != 0 else { return nil }
    return Unicode.Scalar(number)
  }

  // MARK: Tags

  private mutating func tag() throws(MarkupFailure) -> MarkupToken {
    advance()
    let isClosing = bytes[position] == UInt8(ascii: "/")
    if isClosing { advance() }
    let name = word { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "/") || isBlankByte($0) }
    let plain = name.split(separator: ":").last.map(String.init) ?? name
    if isClosing {
      try skip(past: ">")
      return .close(plain)
    }
    var attributes: [String: String] = [:]
    while true {
      skipBlanks()
      guard position < bytes.count else { throw MarkupFailure(line: line, reason: "a tag is not closed") }
      if starts(with: "/>") {
        position += 2
        return .open(plain, attributes: attributes, isEmpty: true)
      }
      if bytes[position] == UInt8(ascii: ">") {
        advance()
        return .open(plain, attributes: attributes, isEmpty: false)
      }
      try readAttribute(&attributes)
    }
  }

  private mutating func readAttribute(_ attributes: inout [String: String]) throws(MarkupFailure) {
    let start = position
    let name = word { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "/") || isBlankByte($0) }
    skipBlanks()
    if position < bytes.count, bytes[position] == UInt8(ascii: "=") {
      advance()
      skipBlanks()
      guard position < bytes.count else { throw MarkupFailure(line: line, reason: "a tag is not closed") }
      let quote = bytes[position]
      if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
        advance()
        let from = position
        while position < bytes.count, bytes[position] != quote { advance() }
        attributes[name] = resolved(bytes[from..<position])
        advance()
      } else {
        attributes[name] = word { $0 == UInt8(ascii: ">") || isBlankByte($0) }
      }
    }
    // Something must go forward, whatever stands there.
    if position == start { advance() }
    guard attributes.count <= Limits.importColumns else { throw MarkupFailure(line: line, reason: "a tag is too long") }
  }

  // MARK: Bytes

  private func isTagStart(_ index: Int) -> Bool {
    guard index < bytes.count else { return false }
    let byte = bytes[index] | 0x20
    return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || "/!?_".utf8.contains(bytes[index])
  }

  private func starts(with text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    return position + count <= bytes.count && bytes[position..<position + count].elementsEqual("\(text)".utf8)
  }

  private mutating func advance() {
    guard position < bytes.count else { return }
    let byte = bytes[position]
    position += 1
    if byte == lineFeed || byte == carriageReturn && !(position < bytes.count && bytes[position] == lineFeed) {
      nextLine += 1
    }
  }

  private mutating func word(until isEnd: (UInt8) -> Bool) -> String {
    let start = position
    while position < bytes.count, !isEnd(bytes[position]) { advance() }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func skipBlanks() { while position < bytes.count, isBlankByte(bytes[position]) { advance() } }

  private mutating func skip(past end: StaticString) throws(MarkupFailure) {
    while position < bytes.count {
      if starts(with: end) {
        for _ in 0..<end.utf8CodeUnitCount { advance() }
        return
      }
      advance()
    }
    throw MarkupFailure(line: line, reason: "the text ends before \(quoted("\(end)"))")
  }

  /// Skips a document type with what stands in its brackets.
  private mutating func skipDeclaration() throws(MarkupFailure) {
    var depth = 0
    while position < bytes.count {
      let byte = bytes[position]
      advance()
      if byte == UInt8(ascii: "[") { depth += 1 }
      if byte == UInt8(ascii: "]") { depth -= 1 }
      if byte == UInt8(ascii: ">"), depth <= 0 { return }
    }
    throw MarkupFailure(line: line, reason: "a declaration is not closed")
  }
}

private let lessThan = UInt8(ascii: "<")
private let ampersand = UInt8(ascii: "&")
private let lineFeed = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")

private func isBlankByte(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
