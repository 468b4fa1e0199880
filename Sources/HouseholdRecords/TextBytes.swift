/// Texts as the bytes that SQLite compares: Swift's own `==` and hash take a composed and a decomposed "é" for the same.
///
/// Whole buffers instead of byte after byte: ids are compared and hashed for every record.
extension String {
  /// Whether both texts are the same bytes of UTF-8.
  package func hasSameBytes(as other: String) -> Bool {
    var (a, b) = (self, other)
    return a.withUTF8 { x in b.withUTF8 { y in x.count == y.count && x.elementsEqual(y) } }
  }

  /// Whether this text comes before the other one in the order of the bytes.
  package func isBefore(_ other: String) -> Bool {
    var (a, b) = (self, other)
    return a.withUTF8 { x in b.withUTF8 { y in x.lexicographicallyPrecedes(y) } }
  }

  /// Feeds the bytes of UTF-8 into the hasher, and their number, so that what follows cannot be taken for a part.
  package func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { utf8 in
      hasher.combine(utf8.count)
      hasher.combine(bytes: UnsafeRawBufferPointer(utf8))
    }
  }
}
