/// Guesses which older encoding a text has from the letters that its high bytes would be.
///
/// Latin alphabets are told apart by language: of all pairs of an encoding and a language, the one whose letters cover
/// most of the high bytes wins, the more western one on a tie. Texts whose high bytes stand among themselves are of
/// another script. A person's `--encoding` goes before any guess.
struct EncodingGuess {
  /// The name of the encoding, as `TextConversion` knows it.
  let name: String
  /// Whether most high bytes are no letters of any language that is known here: the text was damaged on its way.
  let isDoubtful: Bool

  init(_ bytes: [UInt8]) {
    let neighbours = Neighbours(bytes)
    if neighbours.areAmongThemselves, let other = Self.otherScript(bytes, neighbours) {
      (name, isDoubtful) = (other, false)
      return
    }
    var best = (name: "windows-1252", covered: -1)
    for candidate in Self.latin {
      guard let letters = Self.letters(of: candidate.encoding, used: neighbours.counts) else { continue }
      let covered = neighbours.counts.indices.reduce(into: 0) { sum, high in
        if let letter = letters[high], candidate.alphabet.contains(letter) || Self.marks.contains(letter) {
          sum += neighbours.counts[high]
        }
      }
      if covered > best.covered { best = (candidate.encoding, covered) }
    }
    let total = neighbours.counts.reduce(0, +)
    isDoubtful = total > 0 && best.covered * 3 < total * 2
    let isPlainLatin = !bytes.contains { (0x80...0x9F).contains($0) }
    name = best.name == "windows-1252" && isPlainLatin ? "iso-8859-1" : best.name
  }

  /// How often each high byte stands in a word, and beside what.
  private struct Neighbours {
    /// By the byte less 0x80.
    var counts = [Int](repeating: 0, count: 128)
    var besideASCII = 0
    var all = 0

    init(_ bytes: [UInt8]) {
      for index in bytes.indices where bytes[index] >= 0x80 {
        let before = index > 0 ? bytes[index - 1] : 0x20
        let after = index + 1 < bytes.count ? bytes[index + 1] : 0x20
        all += 1
        if Self.isLetter(before) || Self.isLetter(after) { besideASCII += 1 }
        if Self.isLetter(before) || Self.isLetter(after) || before >= 0x80 || after >= 0x80 {
          counts[Int(bytes[index]) - 0x80] += 1
        }
      }
    }

    /// Whether high bytes are whole words, as in Greek, Cyrillic, Hebrew and Chinese.
    var areAmongThemselves: Bool { all > 1 && besideASCII * 5 < all }

    private static func isLetter(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
  }

  /// The letters in lower case that the high bytes are; nil if a byte that is used is none in this encoding.
  private static func letters(of encoding: String, used: [Int]) -> [Unicode.Scalar?]? {
    var letters: [Unicode.Scalar?] = []
    for high in 0..<128 {
      guard let utf8 = TextConversion.utf8([UInt8(high) + 0x80], from: encoding),
        let scalar = String(decoding: utf8, as: UTF8.self).unicodeScalars.first
      else {
        if used[high] > 0 { return nil }
        letters.append(nil)
        continue
      }
      letters.append(scalar.properties.lowercaseMapping.unicodeScalars.first)
    }
    return letters
  }

  /// Chinese if the bytes come in pairs of its common characters, else the alphabet that covers most; nil if none does.
  private static func otherScript(_ bytes: [UInt8], _ neighbours: Neighbours) -> String? {
    if isChinese(bytes) { return "gb18030" }
    var best: (name: String, faults: Int)?
    for candidate in alphabets {
      guard let letters = letters(of: candidate.encoding, used: neighbours.counts) else { continue }
      let covered = neighbours.counts.indices.reduce(into: 0) { sum, high in
        if let letter = letters[high], candidate.letters.contains(letter.value) { sum += neighbours.counts[high] }
      }
      guard covered * 10 > neighbours.all * 8 else { continue }
      let faults = capitalsInWords(bytes, encoding: candidate.encoding)
      if best.map({ faults < $0.faults }) ?? true { best = (candidate.encoding, faults) }
    }
    return best?.name
  }

  /// How often a capital follows a small letter: the sign of an encoding that is not the text's.
  private static func capitalsInWords(_ bytes: [UInt8], encoding: String) -> Int {
    let scalars = (0..<128).map { high in
      TextConversion.utf8([UInt8(high) + 0x80], from: encoding)
        .flatMap { String(decoding: $0, as: UTF8.self).unicodeScalars.first }
    }
    return bytes.indices.dropFirst().count { index in
      guard bytes[index] >= 0x80, bytes[index - 1] >= 0x80 else { return false }
      return scalars[Int(bytes[index]) - 0x80]?.properties.isUppercase ?? false
        && scalars[Int(bytes[index - 1]) - 0x80]?.properties.isLowercase ?? false
    }
  }

  /// Whether the high bytes are pairs, most of them of the 3,755 common characters of GB 2312 (first bytes B0 to D7).
  private static func isChinese(_ bytes: [UInt8]) -> Bool {
    var (pairs, common, index) = (0, 0, 0)
    while index < bytes.count {
      guard bytes[index] >= 0x80 else {
        index += 1
        continue
      }
      guard index + 1 < bytes.count, (0x81...0xFE).contains(bytes[index]), bytes[index + 1] >= 0x30 else {
        return false
      }
      pairs += 1
      if (0xB0...0xD7).contains(bytes[index]), bytes[index + 1] >= 0xA1 { common += 1 }
      index += 2
    }
    return pairs > 0 && common * 10 >= pairs * 6
  }

  private struct Candidate {
    let encoding: String
    let alphabet: Set<Unicode.Scalar>

    init(_ encoding: String, _ letters: String) {
      self.encoding = encoding
      alphabet = Set(letters.unicodeScalars)
    }
  }

  /// Marks that stand beside words in every language.
  private static let marks = Set("„“”‚‘’«»…–—€".unicodeScalars)

  /// Languages by the letters that they have beyond a to z, the more western first.
  private static let latin: [Candidate] = [
    Candidate("windows-1252", "äöüßéèà"), Candidate("windows-1252", "àâçèéêëîïôùûœæ"),
    Candidate("windows-1252", "áéíñóúüªº"), Candidate("windows-1252", "àèéìòù"),
    Candidate("windows-1252", "áâãàçéêíóôõúªº"), Candidate("windows-1252", "æøåéäö"),
    Candidate("windows-1252", "áðéíóúýþæö"),
    Candidate("windows-1250", "áčďéěíňóřšťúůýž"), Candidate("windows-1250", "áäčďéíľĺňóôŕšťúýž"),
    Candidate("windows-1250", "ąćęłńóśźż"), Candidate("windows-1250", "áéíóöőúüű"),
    Candidate("windows-1250", "čćđšž"), Candidate("windows-1250", "ăâîşţ"),
    Candidate("iso-8859-2", "áčďéěíňóřšťúůýž"), Candidate("iso-8859-2", "ąćęłńóśźż"),
    Candidate("windows-1254", "çğıöşüâîi"), Candidate("windows-1257", "ąčęėįšųūž"),
    Candidate("windows-1257", "āčēģīķļņšūž"), Candidate("windows-1257", "äõöüšž"),
  ]

  /// Scripts that have an encoding of one byte and no letters of Latin.
  private static let alphabets: [(encoding: String, letters: ClosedRange<UInt32>)] = [
    ("windows-1251", 0x400...0x4FF), ("windows-1253", 0x370...0x3FF), ("windows-1255", 0x590...0x5FF),
  ]
}
