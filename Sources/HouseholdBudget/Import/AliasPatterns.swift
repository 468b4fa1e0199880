import HouseholdRecords

/// What people said about payees: texts that hold a pattern belong to a category.
///
/// Compared folded. A pattern may stand anywhere in the payee or the note; `*` in it stands for anything. Of several
/// that match, the one with the most letters counts, then the one with the smallest id: the same on every device.
package struct AliasPatterns: Sendable {
  /// A pattern, as its record says.
  package struct Alias: Hashable, Sendable {
    package var id: String
    package var pattern: String
    package var category: String

    package init(id: String, pattern: String, category: String) {
      self.id = id
      self.pattern = pattern
      self.category = category
    }
  }

  private struct Pattern {
    let pieces: [[UInt8]]
    let category: String
  }

  private let patterns: [Pattern]

  package init(_ aliases: [Alias]) {
    let folded = aliases.map { alias in
      (alias: alias, pieces: foldedKey(alias.pattern).utf8.split(separator: UInt8(ascii: "*")).map(Array.init))
    }
    let sorted = folded.filter { !$0.pieces.isEmpty }.sorted { a, b in
      let (mine, others) = (a.pieces.joined().count, b.pieces.joined().count)
      return mine == others ? a.alias.id.utf8.lexicographicallyPrecedes(b.alias.id.utf8) : mine > others
    }
    patterns = sorted.map { Pattern(pieces: $0.pieces, category: $0.alias.category) }
  }

  /// The category for a payment; nil where no pattern matches.
  package func category(payee: String?, note: String?) -> String? {
    guard !patterns.isEmpty else { return nil }
    let texts = [payee, note].compactMap { $0.map { Array(foldedKey($0).utf8) } }
    return patterns.first { pattern in texts.contains { Self.holds($0, pattern.pieces) } }?.category
  }

  /// Whether the pieces stand in the text one after the other.
  private static func holds(_ text: [UInt8], _ pieces: [[UInt8]]) -> Bool {
    var start = 0
    for piece in pieces {
      guard let found = position(of: piece, in: text, from: start) else { return false }
      start = found + piece.count
    }
    return true
  }

  private static func position(of piece: [UInt8], in text: [UInt8], from start: Int) -> Int? {
    guard text.count - start >= piece.count else { return nil }
    return (start...text.count - piece.count).first { index in
      text[index] == piece[0] && text[index..<index + piece.count].elementsEqual(piece)
    }
  }
}
