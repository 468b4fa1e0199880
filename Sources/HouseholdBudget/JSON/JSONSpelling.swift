import HouseholdRecords

/// How values are spelled in the JSON that is written here: one spelling for each value, the same everywhere.
enum JSONSpelling {
  /// A text with its quotes; only what JSON demands is escaped.
  static func text(_ text: String) -> String {
    var result: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): result += "\\\"".utf8
      case UInt8(ascii: "\\"): result += "\\\\".utf8
      case UInt8(ascii: "\n"): result += "\\n".utf8
      case UInt8(ascii: "\r"): result += "\\r".utf8
      case UInt8(ascii: "\t"): result += "\\t".utf8
      case 0..<0x20: result += "\\u00\(hexadecimal([byte]))".utf8
      default: result.append(byte)
      }
    }
    result.append(UInt8(ascii: "\""))
    return String(decoding: result, as: UTF8.self)
  }

  /// A list of texts on one line.
  static func list(_ texts: [String]) -> String {
    "[" + texts.map(text).joined(separator: ", ") + "]"
  }

  /// A field's value; booleans as `true` and `false`, bytes as hexadecimal text, infinities as text.
  static func value(_ value: FieldValue, of kind: FieldType?) -> String {
    switch value {
    case .null: "null"
    case .integer(let integer) where kind == .boolean && (0...1).contains(integer): integer == 1 ? "true" : "false"
    case .integer(let integer): String(integer)
    case .real(let real) where real.isFinite: "\(real)"
    case .real(let real): text(real < 0 ? "-Infinity" : real > 0 ? "Infinity" : "NaN")
    case .text(let string): text(string)
    case .bytes(let bytes): text(hexadecimal(bytes))
    }
  }
}

/// A word in quotes for a sentence: on one line, cut when long.
func quoted(_ word: String) -> String {
  let cut = word.unicodeScalars.prefix(60).map { $0.value < 0x20 || $0.value == 0x7F ? " " : String($0) }.joined()
  return "“\(cut)\(word.unicodeScalars.count > 60 ? "…" : "")”"
}

/// The known word that a mistyped one most probably meant, as the end of a sentence; empty when none is near.
func nearest(to word: String, among known: [String]) -> String {
  nearestWord(to: word, among: known).map { " (did you mean \(quoted($0))?)" } ?? ""
}
