/// A set of small numbers, one bit for each: those of the changesets in a ``ChangesetArchive``.
package struct NumberSet: Hashable, Sequence {
  /// The last one is not zero, so that equal sets are equal.
  private var words: [UInt64] = []

  package init() {}

  /// All numbers below `count`.
  package init(below count: Int) {
    for number in 0..<count { insert(number) }
  }

  package var isEmpty: Bool { words.isEmpty }

  package var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

  package func contains(_ number: Int) -> Bool {
    let word = number >> 6
    return word < words.count && words[word] & (1 << UInt64(number & 63)) != 0
  }

  package mutating func insert(_ number: Int) {
    let word = number >> 6
    while words.count <= word { words.append(0) }
    words[word] |= 1 << UInt64(number & 63)
  }

  package mutating func formUnion(_ other: Self) {
    if other.words.count > words.count {
      words.append(contentsOf: repeatElement(0, count: other.words.count - words.count))
    }
    for index in other.words.indices { words[index] |= other.words[index] }
  }

  /// Those that are not in the other set.
  package func subtracting(_ other: Self) -> Self {
    var rest = self
    for index in words.indices where index < other.words.count { rest.words[index] &= ~other.words[index] }
    rest.trim()
    return rest
  }

  /// Those that are in both.
  package func intersection(_ other: Self) -> Self {
    var both = Self()
    both.words = zip(words, other.words).map { $0 & $1 }
    both.trim()
    return both
  }

  private mutating func trim() {
    while words.last == 0 { words.removeLast() }
  }

  /// The numbers in ascending order.
  package func makeIterator() -> Iterator { Iterator(words: words) }

  package struct Iterator: IteratorProtocol {
    fileprivate let words: [UInt64]
    private var index = 0
    private var rest: UInt64

    fileprivate init(words: [UInt64]) {
      self.words = words
      rest = words.first ?? 0
    }

    package mutating func next() -> Int? {
      while rest == 0 {
        index += 1
        guard index < words.count else { return nil }
        rest = words[index]
      }
      defer { rest &= rest - 1 }
      return index << 6 | rest.trailingZeroBitCount
    }
  }
}
