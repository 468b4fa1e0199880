/// A host and a port as people write them: `192.168.1.7:7411`, `[fe80::1%eth0]:7411`, `kitchen.local:7411`.
package struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
  /// A name or a numeric address, without brackets.
  package let host: String
  /// The TCP port; 0 lets the system choose where one listens.
  package let port: UInt16

  package init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `HOST:PORT`, `[IPv6]:PORT` or `name:PORT`.
  package init(parsing text: String) throws(SocketAddressError) {
    let host: Substring
    let rest: Substring
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { throw .unclosedBracket(text) }
      host = text[text.index(after: text.startIndex)..<end]
      rest = text[text.index(after: end)...]
      guard host.contains(":"), host.utf8.allSatisfy(isIPv6Character) else { throw .badHost(text) }
    } else {
      let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
      guard colons <= 1 else { throw .bracketsMissing(text) }
      let end = text.firstIndex(of: ":") ?? text.endIndex
      host = text[..<end]
      rest = text[end...]
      guard !host.isEmpty else { throw .missingHost(text) }
      guard host.utf8.count <= 253, host.utf8.allSatisfy(isNameCharacter) else { throw .badHost(text) }
    }
    guard rest.first == ":", rest.count > 1 else { throw .missingPort(text) }
    let digits = rest.dropFirst()
    guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let port = UInt16(digits)
    else { throw .badPort(text) }
    self.init(host: String(host), port: port)
  }

  /// The form that `init(parsing:)` reads.
  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Why a text is no address.
package enum SocketAddressError: Error, Hashable, Sendable, CustomStringConvertible {
  case missingHost(String)
  case missingPort(String)
  case badPort(String)
  case badHost(String)
  case bracketsMissing(String)
  case unclosedBracket(String)

  /// One sentence that quotes the text and says how to write it.
  package var description: String {
    switch self {
    case .missingHost(let text): "The address \"\(text)\" has no host; write HOST:PORT."
    case .missingPort(let text): "The address \"\(text)\" has no port; write HOST:PORT."
    case .badPort(let text): "The port in \"\(text)\" is no number from 0 to 65535."
    case .badHost(let text): "The host in \"\(text)\" is neither a name nor a numeric address."
    case .bracketsMissing(let text): "The address \"\(text)\" has several colons; write an IPv6 address as [HOST]:PORT."
    case .unclosedBracket(let text): "The address \"\(text)\" has a bracket that is not closed; write [HOST]:PORT."
    }
  }
}

private func isNameCharacter(_ byte: UInt8) -> Bool {
  // Bytes over 127 are letters of other scripts in UTF-8: the name service judges those.
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"),
    UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), 128...255:
    true
  default: false
  }
}

private func isIPv6Character(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: ":") || byte == UInt8(ascii: "%") || isNameCharacter(byte) && byte < 128
}
