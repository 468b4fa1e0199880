package import HouseholdRecords

/// An invitation as a link: the code, where to find the inviting node, and whose household it is.
///
/// `household://join/CODE?a=HOST:PORT&a=...&h=HOUSEHOLD`; keys that are unknown here are ignored.
package struct InvitationLink: Hashable, Sendable, CustomStringConvertible {
  package var code: InvitationCode
  /// `HOST:PORT`, in the order in which they should be tried.
  package var addresses: [String]
  /// Whom the guest expects; a bare code does not say.
  package var household: HouseholdID?

  package init(code: InvitationCode, addresses: [String] = [], household: HouseholdID? = nil) {
    self.code = code
    self.addresses = addresses
    self.household = household
  }

  /// What is wrong with a link.
  package enum Mistake: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no link to join a household.
    case notALink
    /// The code in it is not one.
    case code(InvitationCode.Mistake)
    /// The percent signs, an address or the household in it are broken.
    case broken
    /// It is longer, or has more addresses, than a link may.
    case tooLong

    package var description: String {
      switch self {
      case .notALink: "This is no link to join a household: such a link begins with household://join/."
      case .code(let mistake): mistake.description
      case .broken: "The link is damaged. Copy it again as a whole, or type the code."
      case .tooLong: "The link is too long to be one of an invitation. Copy it again, or type the code."
      }
    }
  }

  private static let start = Array("household://join/".utf8)

  /// Whether the text means to be a link rather than a code.
  package static func isLink(_ text: some StringProtocol) -> Bool {
    text.utf8.prefix(start.count).map(lowercased).elementsEqual(start)
  }

  /// Reads a link.
  package init(_ text: some StringProtocol) throws(Mistake) {
    guard text.utf8.count <= Limits.linkBytes else { throw .tooLong }
    guard Self.isLink(text) else { throw .notALink }
    let rest = text.utf8.dropFirst(Self.start.count).prefix { $0 != UInt8(ascii: "#") }
    let parts = rest.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    var path = Array(parts[0])
    if path.last == UInt8(ascii: "/") { path.removeLast() }
    do {
      code = try InvitationCode(try Self.decoded(path))
    } catch let mistake as InvitationCode.Mistake {
      throw .code(mistake)
    } catch {
      throw .broken
    }
    addresses = []
    guard parts.count == 2 else { return }
    for pair in parts[1].split(separator: UInt8(ascii: "&")) {
      let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2 else { continue }
      try take(String(decoding: sides[0], as: UTF8.self), Array(sides[1]))
    }
  }

  private mutating func take(_ key: String, _ value: [UInt8]) throws(Mistake) {
    switch key {
    case "a":
      let address = try Self.decoded(value)
      guard !address.isEmpty, address.utf8.count <= Limits.addressBytes else { throw .broken }
      guard addresses.count < Limits.addressesPerDevice else { throw .tooLong }
      addresses.append(address)
    case "h":
      guard household == nil, let id = HouseholdID(hex: try Self.decoded(value)) else { throw .broken }
      household = id
    default: break
    }
  }

  /// The link as text.
  package var description: String {
    var text = "household://join/" + Self.encoded(code.characters)
    var separator = "?"
    for address in addresses {
      text += separator + "a=" + Self.encoded(address)
      separator = "&"
    }
    if let household { text += separator + "h=\(household)" }
    return text
  }

  /// Percent-encodes all but the unreserved characters of RFC 3986 and the colon.
  private static func encoded(_ text: String) -> String {
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:".utf8)
    return text.utf8.reduce(into: "") { result, byte in
      if plain.contains(byte) {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        result += "%" + hexadecimal([byte]).uppercased()
      }
    }
  }

  private static func decoded(_ text: [UInt8]) throws(Mistake) -> String {
    var bytes: [UInt8] = []
    var index = 0
    while index < text.count {
      if text[index] == UInt8(ascii: "%") {
        guard index + 2 < text.count,
          let byte = HouseholdRecords.bytes(hex: String(decoding: text[index + 1...index + 2], as: UTF8.self))
        else { throw .broken }
        bytes += byte
        index += 3
      } else {
        bytes.append(text[index])
        index += 1
      }
    }
    guard let result = String(validating: bytes, as: UTF8.self) else { throw .broken }
    return result
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte + 32 : byte
  }
}
