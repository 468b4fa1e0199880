import HouseholdRecords

/// A file's text as UTF-8, and the name of the encoding that it had.
struct DecodedText: Sendable {
  let bytes: [UInt8]
  let encoding: String
  /// Whether the text seems to have lost letters before it came here.
  var isDoubtful = false
}

/// Why bytes are no text; the end of a sentence.
struct TextDecodingFailure: Error, Hashable, Sendable {
  let reason: String
}

/// Finds out how a text is encoded: UTF-8 and UTF-16 with and without a mark, else an older encoding.
///
/// The order of the attempts decides: bytes that are valid UTF-8 are UTF-8, whatever they say they are. Of the older
/// ones a person's word counts, then the file's own, then what was said of an earlier one, then a guess.
enum TextDecoding {
  ///
  /// - Parameters:
  ///   - wish: the encoding that a person named for this file.
  ///   - former: the encoding that was named for an earlier file of the same account.
  static func decode(
    _ bytes: [UInt8], as wish: String? = nil, former: String? = nil
  ) throws(TextDecodingFailure) -> DecodedText {
    if let wish { return try older(bytes, named: wish) }
    if bytes.starts(with: [0xFF, 0xFE]) { return try utf16(bytes.dropFirst(2), isBigEndian: false) }
    if bytes.starts(with: [0xFE, 0xFF]) { return try utf16(bytes.dropFirst(2), isBigEndian: true) }
    let marked = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    let body = marked ? Array(bytes.dropFirst(3)) : bytes
    if !marked, let isBigEndian = looksLikeUTF16(bytes) { return try utf16(bytes[...], isBigEndian: isBigEndian) }
    guard !body.contains(0) else { throw TextDecodingFailure(reason: "it holds bytes that no text has") }
    if String(validating: body, as: UTF8.self) != nil { return DecodedText(bytes: body, encoding: "utf-8") }
    guard !marked else { throw TextDecodingFailure(reason: "it is marked as UTF-8 and holds bytes that are none") }
    return try older(body, named: declared(body) ?? former)
  }

  /// What the head of an XML or OFX file says about its encoding.
  private static func declared(_ bytes: [UInt8]) -> String? {
    let head = bytes.prefix(1024).map { $0 < 0x80 ? Character(Unicode.Scalar($0)) : "?" }
    let text = String(head)
    for (mark, ends) in [("encoding=\"", "\""), ("encoding='", "'"), ("CHARSET:", "\r\n ")] {
      guard let start = text.firstRange(of: mark)?.upperBound else { continue }
      return TextConversion.name(String(text[start...].prefix { !ends.contains($0) && !$0.isNewline }))
    }
    return nil
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

  private static func older(_ bytes: [UInt8], named encoding: String?) throws(TextDecodingFailure) -> DecodedText {
    guard !bytes.contains(where: isControl) else {
      throw TextDecodingFailure(reason: "it holds bytes that no text has")
    }
    let guess = encoding == nil ? EncodingGuess(bytes) : nil
    let name = encoding ?? guess?.name ?? "windows-1252"
    guard let utf8 = TextConversion.utf8(bytes, from: name) else {
      throw TextDecodingFailure(reason: "it is neither UTF-8 nor UTF-16 nor \(name)")
    }
    return DecodedText(bytes: utf8, encoding: name, isDoubtful: guess?.isDoubtful ?? false)
  }

  /// Control characters: what holds one and is no UTF-8 is no text. The blank ones and the end-of-file mark of old systems are let through.
  private static func isControl(_ byte: UInt8) -> Bool {
    byte < 0x20 && !(0x09...0x0D).contains(byte) && byte != 0x1A || byte == 0x7F
  }
}
