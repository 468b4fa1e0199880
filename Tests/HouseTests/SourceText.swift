/// A Swift file without what is no code: comments and texts are blanked, so that braces and words can be counted.
///
/// A simple reader, not a parser: it knows comments, one-line and many-line texts, raw texts, interpolation and
/// identifiers in backticks, which is all that braces can hide in here.
struct SourceText {
  /// One for each line of the file.
  let lines: [String]

  init(_ text: String) {
    var reader = Reader(Array(text.utf8))
    lines = String(decoding: reader.code(), as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
  }

  /// A function with a body: where it begins, and how many lines it takes from its first word to its last brace.
  struct Function {
    let name: String
    let line: Int
    let lineCount: Int
  }

  /// All functions, initialisers and subscripts that have a body.
  var functions: [Function] {
    lines.indices.compactMap { index in
      guard let name = Self.declaredName(lines[index]), let end = end(ofBodyFrom: index) else { return nil }
      return Function(name: name, line: index + 1, lineCount: end - index + 1)
    }
  }

  private static func declaredName(_ line: String) -> String? {
    let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "@" || $0 == "`") }
    for (index, word) in words.enumerated() {
      switch word {
      case "func": return index + 1 < words.count ? String(words[index + 1]) : "func"
      case "init", "subscript", "deinit": return line.contains("." + word) ? nil : String(word)
      case "private", "fileprivate", "package", "public", "internal", "static", "final", "mutating", "override",
        "convenience", "required", "nonisolated", "isolated", "consuming", "borrowing", "async", "set":
        continue
      default:
        if word.hasPrefix("@") { continue }
        return nil
      }
    }
    return nil
  }

  /// The line of the brace that closes the body, or nil for a declaration without one, as in a protocol.
  private func end(ofBodyFrom start: Int) -> Int? {
    var braces = 0
    var others = 0
    var isInBody = false
    for index in start..<lines.count {
      for byte in lines[index].utf8 {
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: "["): others += 1
        case UInt8(ascii: ")"), UInt8(ascii: "]"): others -= 1
        case UInt8(ascii: "{"):
          // Braces inside the parameters belong to default values, not to the body.
          if others == 0 { isInBody = true }
          braces += 1
        case UInt8(ascii: "}"):
          braces -= 1
          if braces < 0 { return nil }
          if isInBody && braces == 0 { return index }
        default: break
        }
      }
      let isNextDeclaration = index + 1 < lines.count && Self.declaredName(lines[index + 1]) != nil
      if !isInBody && others == 0 && (isNextDeclaration || lines[index].allSatisfy(\.isWhitespace)) { return nil }
    }
    return nil
  }
}

/// Copies code and blanks the rest; line ends stay.
private struct Reader {
  private let bytes: [UInt8]
  private var index = 0
  private var output: [UInt8] = []

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func code() -> [UInt8] {
    while index < bytes.count { readCode() }
    return output
  }

  private func starts(with text: StaticString, at offset: Int = 0) -> Bool {
    let wanted = Array("\(text)".utf8)
    return index + offset + wanted.count <= bytes.count
      && bytes[(index + offset)..<(index + offset + wanted.count)].elementsEqual(wanted)
  }

  private mutating func keep() {
    output.append(bytes[index])
    index += 1
  }

  private mutating func blank(_ count: Int = 1) {
    for _ in 0..<count where index < bytes.count {
      output.append(bytes[index] == UInt8(ascii: "\n") ? bytes[index] : UInt8(ascii: " "))
      index += 1
    }
  }

  private mutating func readCode() {
    if starts(with: "//") {
      while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { blank() }
    } else if starts(with: "/*") {
      while index < bytes.count, !starts(with: "*/") { blank() }
      blank(2)
    } else if starts(with: "`") {
      blank()
      while index < bytes.count, bytes[index] != UInt8(ascii: "`") {
        output.append(UInt8(ascii: "x"))
        index += 1
      }
      blank()
    } else if let hashes = hashesBeforeText() {
      readText(hashes: hashes)
    } else {
      keep()
    }
  }

  /// How many `#` stand before an opening quote here; nil if no text begins here.
  private func hashesBeforeText() -> Int? {
    var count = 0
    while index + count < bytes.count, bytes[index + count] == UInt8(ascii: "#") { count += 1 }
    return starts(with: "\"", at: count) ? count : nil
  }

  private mutating func readText(hashes: Int) {
    let isLong = starts(with: "\"\"\"", at: hashes)
    let marks = isLong ? 3 : 1
    blank(hashes + marks)
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "\\"), hasHashes(hashes, at: 1) {
        let isInterpolation = starts(with: "(", at: 1 + hashes)
        blank(1 + hashes)
        if isInterpolation { readInterpolation() } else { blank() }
      } else if isLong ? starts(with: "\"\"\"") : starts(with: "\""), hasHashes(hashes, at: marks) {
        blank(marks + hashes)
        return
      } else if !isLong, bytes[index] == UInt8(ascii: "\n") {
        return
      } else {
        blank()
      }
    }
  }

  private func hasHashes(_ count: Int, at offset: Int) -> Bool {
    (0..<count).allSatisfy { starts(with: "#", at: offset + $0) }
  }

  /// Code inside a text: read as code up to its closing bracket; its own brackets and braces stay in balance.
  private mutating func readInterpolation() {
    var depth = 0
    while index < bytes.count {
      let byte = bytes[index]
      readCode()
      if byte == UInt8(ascii: "(") { depth += 1 }
      if byte == UInt8(ascii: ")") { depth -= 1 }
      if depth == 0 { return }
    }
  }
}
