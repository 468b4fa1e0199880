import HouseholdRecords

/// A file's text as UTF-8, and the name of the encoding that it had.
struct DecodedText: Sendable {
  let bytes: [UInt8]
  let encoding: String
}

/// Why bytes are no text; the end of a sentence.
struct TextDecodingFailure: Error, Hashable, Sendable {
  let reason: String
}

/// Finds out how a text is encoded: UTF-8 and UTF-16 with and without a mark, ISO 8859-1, Windows-1252.
///
/// The order of the attempts decides: bytes that are valid UTF-8 are UTF-8, whatever else they could be.
enum TextDecoding {
  static func decode(_ bytes: [UInt8]) throws(TextDecodingFailure) -> DecodedText {
    if bytes.starts(with: [0xFF, 0xFE]) { return try utf16(bytes.dropFirst(2), isBigEndian: false) }
    if bytes.starts(with: [0xFE, 0xFF]) { return try utf16(bytes.dropFirst(2), isBigEndian: true) }
    let marked = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    let body = marked ? Array(bytes.dropFirst(3)) : bytes
    if !marked, let isBigEndian = looksLikeUTF16(bytes) { return try utf16(bytes[...], isBigEndian: isBigEndian) }
    guard !body.contains(0) else { throw TextDecodingFailure(reason: "it holds bytes that no text has") }
    if String(validating: body, as: UTF8.self) != nil { return DecodedText(bytes: body, encoding: "utf-8") }
    guard !marked else { throw TextDecodingFailure(reason: "it is marked as UTF-8 and holds bytes that are none") }
    return try singleByte(body)
  }

  /// Whether every second byte of a text without a mark is zero, as in UTF-16 of Latin letters; nil if not.
  private static func looksLikeUTF16(_ bytes: [UInt8]) -> Bool? {
    let head = bytes.prefix(4096)
    guard head.count >= 8, bytes.count.isMultiple(of: 2) else { return nil }
    let zeros = head.indices.reduce(into: (even: 0, odd: 0)) { counts, index in
      if head[index] == 0 { if index.isMultiple(of: 2) { counts.even += 1 } else { counts.odd += 1 } }
    }
    if zeros.even == 0, zeros.odd * 4 > head.count { return false }
    if zeros.odd == 0, zeros.even * 4 > head.count { return true }
    return nil
  }

  private static func utf16(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) throws(TextDecodingFailure) -> DecodedText {
    let name = isBigEndian ? "utf-16be" : "utf-16le"
    guard bytes.count.isMultiple(of: 2) else { throw TextDecodingFailure(reason: "it ends in the middle of a letter") }
    let (high, low) = isBigEndian ? (0, 1) : (1, 0)
    let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { (index: Int) -> UInt16 in
      UInt16(bytes[index + high]) << 8 | UInt16(bytes[index + low])
    }
    guard let text = String(validating: units, as: UTF16.self), !text.utf8.contains(0) else {
      throw TextDecodingFailure(reason: "it is no text in \(name)")
    }
    return DecodedText(bytes: Array(text.utf8), encoding: name)
  }

  private static func singleByte(_ bytes: [UInt8]) throws(TextDecodingFailure) -> DecodedText {
    guard !bytes.contains(where: isControl) else {
      throw TextDecodingFailure(reason: "it holds bytes that no text has")
    }
    var text = String.UnicodeScalarView()
    var isPlainLatin = true
    for byte in bytes {
      guard (0x80...0x9F).contains(byte) else {
        text.append(Unicode.Scalar(byte))
        continue
      }
      isPlainLatin = false
      guard let scalar = windows1252[Int(byte) - 0x80] else {
        throw TextDecodingFailure(reason: "it is neither UTF-8 nor UTF-16 nor Windows-1252")
      }
      text.append(scalar)
    }
    return DecodedText(
      bytes: Array(String(text).utf8), encoding: isPlainLatin ? "iso-8859-1" : "windows-1252")
  }

  /// Control characters: what holds one and is no UTF-8 is no text. The blank ones and the end-of-file mark of old systems are let through.
  private static func isControl(_ byte: UInt8) -> Bool {
    byte < 0x20 && !(0x09...0x0D).contains(byte) && byte != 0x1A || byte == 0x7F
  }

  /// 0x80 to 0x9F; five are no letters.
  private static let windows1252: [Unicode.Scalar?] = [
    "\u{20AC}", nil, "\u{201A}", "\u{192}", "\u{201E}", "\u{2026}", "\u{2020}", "\u{2021}", "\u{2C6}", "\u{2030}",
    "\u{160}", "\u{2039}", "\u{152}", nil, "\u{17D}", nil, nil, "\u{2018}", "\u{2019}", "\u{201C}", "\u{201D}",
    "\u{2022}", "\u{2013}", "\u{2014}", "\u{2DC}", "\u{2122}", "\u{161}", "\u{203A}", "\u{153}", nil, "\u{17E}",
    "\u{178}",
  ]
}
