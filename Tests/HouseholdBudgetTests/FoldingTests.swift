import Foundation
import HouseholdBudget
import HouseholdRecords
import Testing

@Suite struct FoldingTests {
  @Test func `pairs of names are the same or not, as the fixture says`() throws {
    struct Pair: Decodable {
      let a: String
      let b: String
      let why: String
      let nfc_casefold_trim_equal: Bool
    }
    let pairs = try JSONDecoder().decode([Pair].self, from: fixture("category-name-pairs.json"))

    for pair in pairs { #expect(Folding.areSame(pair.a, pair.b) == pair.nfc_casefold_trim_equal, "\(pair.why)") }
    #expect(pairs.count == 24)
  }

  /// The hashes are those of Python 3.11's `str.casefold` (Unicode 14.0), and of the same with 55 later letters.
  @Test func `full case folding is Unicode's over all code points`() {
    var (all, upTo14) = (FNV(), FNV())
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let folded = Folding.folded(scalar)
      all.add(folded)
      upTo14.add(laterLetters.contains(value) ? [scalar] : folded)
    }

    #expect(upTo14.hash == 0x5FD6_A129_2F7B_8D6C)
    #expect(all.hash == 0xA603_8C5E_923E_9B4C)
  }

  @Test func `the key of a key is the key`() {
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let key = Folding.key("a\(scalar) b")
      if !Folding.key(key).utf8.elementsEqual(key.utf8) { Issue.record("U+\(String(value, radix: 16))") }
    }
  }

  @Test func `composing is normalization form C`() {
    let pairs = [
      ("Cafe\u{301}", "Caf\u{E9}"), ("\u{212B}", "\u{C5}"), ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"),
      ("a\u{323}\u{307}", "\u{1EA1}\u{307}"), ("a\u{307}\u{323}", "\u{1EA1}\u{307}"), ("\u{958}", "\u{915}\u{93C}"),
      ("\u{FB01}", "\u{FB01}"), ("", ""),
    ]
    for (text, composed) in pairs { #expect(Array(Folding.composed(text).utf8) == Array(composed.utf8)) }
  }

  @Test func `blanks of every kind are one blank, and none at the ends`() {
    #expect(Folding.key("\u{3000} A\u{A0}\t\nb\u{2028}") == "a b")
    #expect(Folding.key(" \u{85}") == "")
  }

  /// Letters that came after Unicode 14.0.
  private let laterLetters: Set<UInt32> = Set([0x1C89, 0xA7CB, 0xA7CC, 0xA7CE, 0xA7D2, 0xA7D4, 0xA7DA, 0xA7DC])
    .union(0x10D50...0x10D65).union(0x16EA0...0x16EB8)
}

/// FNV-1a over the UTF-8 bytes of what it is given.
private struct FNV {
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ scalars: [Unicode.Scalar]) {
    for scalar in scalars { for byte in UTF8.encode(scalar)! { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 } }
  }
}
