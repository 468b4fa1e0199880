import HouseholdRecords

/// The code of an invitation as people read it out: 60 random bits and a check character, `K3QZ-7M2P-9XWD-T`.
///
/// Crockford's base 32 (crockford.com/base32): no I, L, O, U among the digits; the check character is the number
/// modulo 37, with five characters more. So a slip of the tongue is found at the guest, before it counts as a try.
package struct InvitationCode: Hashable, Sendable, CustomStringConvertible {
  /// The 60 bits.
  private let number: UInt64

  /// The number of characters before the check character.
  package static let length = 12
  private static let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U".utf8)

  /// A new code from 60 bits of `source`, which must be fit for keys.
  package init(from source: inout some RandomNumberGenerator) { number = source.next() >> 4 }

  /// What is wrong with a code that someone typed.
  package enum Mistake: Error, Hashable, Sendable, CustomStringConvertible {
    /// So many characters are there, blanks and hyphens not counted.
    case wrongLength(Int)
    /// A character that no code has at that place.
    case wrongCharacter(Character)
    /// The last character does not fit the others.
    case wrongCheckCharacter

    package var description: String {
      switch self {
      case .wrongLength(let count):
        "A code has \(InvitationCode.length + 1) characters, this one has \(count). Look at the inviting device again."
      case .wrongCharacter(let character):
        "A code has no \"\(character)\" at that place. Look at the inviting device again."
      case .wrongCheckCharacter:
        "A character of the code is mistyped. Compare it with the inviting device."
      }
    }
  }

  /// Reads a code in any case, with blanks and hyphens anywhere; O counts as 0, I and L as 1.
  package init(_ text: some StringProtocol) throws(Mistake) {
    guard text.utf8.count <= Limits.linkBytes else { throw .wrongLength(text.utf8.count) }
    let typed = text.filter { !$0.isWhitespace && $0 != "-" }
    guard typed.count == Self.length + 1 else { throw .wrongLength(typed.count) }
    var number: UInt64 = 0
    var check: Int?
    for (index, character) in typed.enumerated() {
      let isCheck = index == Self.length
      guard let value = Self.value(of: character), value < 32 || isCheck else { throw .wrongCharacter(character) }
      if isCheck { check = value } else { number = number << 5 | UInt64(value) }
    }
    guard check == Int(number % 37) else { throw .wrongCheckCharacter }
    self.number = number
  }

  private static func value(of character: Character) -> Int? {
    guard var byte = character.asciiValue else { return nil }
    if byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") { byte -= 32 }
    switch byte {
    case UInt8(ascii: "O"): return 0
    case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
    default: return digits.firstIndex(of: byte)
    }
  }

  /// The 13 characters without separators, as they stand in a link.
  package var characters: String {
    var text: [UInt8] = []
    for place in stride(from: Self.length - 1, through: 0, by: -1) {
      text.append(Self.digits[Int(number >> UInt64(5 * place) & 31)])
    }
    text.append(Self.digits[Int(number % 37)])
    return String(decoding: text, as: UTF8.self)
  }

  /// What both sides derive the key of a pairing from: the 12 characters before the check character, in ASCII.
  package var secret: [UInt8] { Array(characters.utf8.prefix(Self.length)) }

  /// In groups of four, for people.
  package var description: String {
    var text = ""
    for (index, character) in characters.enumerated() {
      if index > 0 && index.isMultiple(of: 4) { text.append("-") }
      text.append(character)
    }
    return text
  }
}
