/// A digest as six words that two people can compare aloud.
///
/// Each word is 16 bits as consonant, vowel, consonant, vowel, consonant: "proquints" (D. S. Wilkerson, 2009). Six of
/// them are 96 bits: enough to find a difference, and short enough to read out.
enum DigestWords {
  private static let consonants = Array("bdfghjklmnprstvz")
  private static let vowels = Array("aiou")

  /// The first 96 bits of the digest in words.
  static func words(_ digest: [UInt8]) -> String {
    stride(from: 0, to: min(12, digest.count - 1), by: 2).map { index in
      word(UInt16(digest[index]) << 8 | UInt16(digest[index + 1]))
    }.joined(separator: " ")
  }

  private static func word(_ bits: UInt16) -> String {
    String([
      consonants[Int(bits >> 12 & 15)], vowels[Int(bits >> 10 & 3)], consonants[Int(bits >> 6 & 15)],
      vowels[Int(bits >> 4 & 3)], consonants[Int(bits & 15)],
    ])
  }
}
