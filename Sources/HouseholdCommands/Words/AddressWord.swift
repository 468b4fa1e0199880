/// An address as it is typed: `HOST:PORT`, an IPv6 host in brackets.
///
/// Only the spelling is checked here; whether the host can be resolved shows when it is used.
package struct AddressWord: Hashable, Sendable {
  /// The host without brackets.
  package let host: String
  /// The port.
  package let port: UInt16

  /// The address that a word says; nil for anything else.
  package init?(_ word: String) {
    guard let colon = word.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
    let digits = word.utf8[word.utf8.index(after: colon)...]
    guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let port = UInt16(String(decoding: digits, as: UTF8.self))
    else { return nil }
    var host = word.utf8[..<colon]
    if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
      host = host.dropFirst().dropLast()
      guard host.contains(UInt8(ascii: ":")) else { return nil }
    } else if host.contains(UInt8(ascii: ":")) {
      return nil
    }
    guard (1...253).contains(host.count), host.allSatisfy(Self.mayStandInHost) else { return nil }
    self.host = String(decoding: host, as: UTF8.self)
    self.port = port
  }

  /// The address as it is typed.
  package var text: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Whether only this machine reaches it, as the word alone tells.
  package var isLoopback: Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    let isIPv4 = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil } && parts[0] == "127"
    return isIPv4 || host == "::1" || host == "localhost"
  }

  private static func mayStandInHost(_ byte: UInt8) -> Bool {
    byte > UInt8(ascii: " ") && byte < 0x7F && !"[]/\\\"'@?#".utf8.contains(byte)
  }
}
