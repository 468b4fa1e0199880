@_spi(_Unicode) import Swift

/// The key under which two names are the same name, on every device and in every locale (design 1.5).
///
/// NFC, Unicode full case folding, runs of White_Space as one blank, trimmed. No NFKC: full width letters, accents and
/// invisible characters make a difference. `ＡＢＣ` is not `ABC`, `Straße` is `STRASSE`.
package enum Folding {
  /// The key of a name; two names are the same when their keys are equal byte for byte.
  package static func key(_ name: String) -> String {
    var text = String.UnicodeScalarView()
    for scalar in composed(name).unicodeScalars { append(folded(scalar), to: &text) }
    return composed(String(collapsed(composed(String(text)).unicodeScalars)))
  }

  /// Whether two names have the same key.
  package static func areSame(_ a: String, _ b: String) -> Bool {
    key(a).utf8.elementsEqual(key(b).utf8)
  }

  /// The text in Unicode's Normalization Form C: composed and decomposed accents become the same bytes.
  ///
  /// Source: `_nfc` of the standard library, the function behind `String`'s own equality. It has no public name yet;
  /// Foundation's has one, but this must go where no Foundation is. `FoldingTests` watches over it.
  package static func composed(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var scalars = String.UnicodeScalarView()
    for scalar in text._nfc { scalars.append(scalar) }
    return String(scalars)
  }

  /// Full case folding of one code point (statuses C and F), without normalization.
  package static func folded(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
    let value = scalar.value
    if value < 0x80 {
      return (0x41...0x5A).contains(value) ? [Unicode.Scalar(UInt8(value + 0x20))] : [scalar]
    }
    if let expansion = CaseFoldingTable.expansions[value] { return expansion.compactMap(Unicode.Scalar.init) }
    guard let run = run(at: value), (value - run.first) % run.step == 0,
      let result = Unicode.Scalar(UInt32(Int64(value) + Int64(run.add)))
    else { return [scalar] }
    return [result]
  }

  /// The run whose first and last code point enclose this one.
  private static func run(at value: UInt32) -> (first: UInt32, last: UInt32, step: UInt32, add: Int32)? {
    let runs = CaseFoldingTable.runs
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].last < value { low = middle + 1 } else { high = middle }
    }
    return low < runs.count && runs[low].first <= value ? runs[low] : nil
  }

  private static func append(_ scalars: [Unicode.Scalar], to text: inout String.UnicodeScalarView) {
    for scalar in scalars { text.append(scalar) }
  }

  private static func collapsed(_ text: String.UnicodeScalarView) -> String.UnicodeScalarView {
    var result = String.UnicodeScalarView()
    var isBlankDue = false
    for scalar in text {
      if isWhiteSpace(scalar) {
        isBlankDue = !result.isEmpty
      } else {
        if isBlankDue { result.append(" ") }
        isBlankDue = false
        result.append(scalar)
      }
    }
    return result
  }

  /// Unicode's property White_Space, as a list for the same reason as the folding table.
  private static func isWhiteSpace(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09...0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000: true
    default: false
    }
  }
}
