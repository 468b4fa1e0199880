/// The columns that a text takes on a terminal: wide characters take two, combining ones none.
package func displayWidth(_ text: String) -> Int { text.reduce(0) { $0 + width(of: $1) } }

/// The text with every control character shown as an escape, so that it stays one line and commands no terminal.
///
/// Shown so: C0 and C1 controls, the line and paragraph separators, and the marks that turn the reading direction.
package func escapingControls(_ text: String) -> String {
  guard text.unicodeScalars.contains(where: mustShow) else { return text }
  var shown = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    if mustShow(scalar) {
      shown.append(contentsOf: escape(scalar).unicodeScalars)
    } else {
      shown.append(scalar)
    }
  }
  return String(shown)
}

private func mustShow(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
  default: false
  }
}

private func escape(_ scalar: Unicode.Scalar) -> String {
  switch scalar {
  case "\n": "\\n"
  case "\r": "\\r"
  case "\t": "\\t"
  default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
  }
}

private func width(of character: Character) -> Int {
  guard let first = character.unicodeScalars.first else { return 0 }
  if character.unicodeScalars.contains("\u{FE0F}") || first.properties.isEmojiPresentation { return 2 }
  return width(of: first)
}

private func width(of scalar: Unicode.Scalar) -> Int {
  switch scalar.properties.generalCategory {
  case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator: return 0
  default: return wideRanges.contains { $0.contains(scalar.value) } ? 2 : 1
  }
}

/// East Asian wide and full-width blocks (Unicode Standard Annex 11), joined where only unassigned code points lie
/// between; emoji are told by their own property.
private let wideRanges: [ClosedRange<UInt32>] = [
  0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF,
  0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60,
  0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x20000...0x3FFFD,
]
