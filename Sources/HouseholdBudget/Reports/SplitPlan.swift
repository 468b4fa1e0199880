import HouseholdRecords

/// The parts of a payment as a person types them: `Food=12.50 Home=rest`.
///
/// Amounts are in major units. One without a sign goes the payment's way, so that `12.50` of a purchase goes out. All
/// parts together are the payment, to the cent; `rest` is what the others leave.
package struct SplitPlan: Hashable, Sendable {
  /// One part.
  package struct Part: Hashable, Sendable {
    /// The category as it was typed.
    package var category: String
    package var amountMinor: Int64
  }

  /// Why the words are no parts of the payment.
  package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The end of a sentence.
    package let description: String
    /// Whether the words themselves are wrong, and not only what they add up to.
    package let isUsage: Bool
  }

  /// In the order of the words.
  package let parts: [Part]

  /// - Parameters:
  ///   - words: `CATEGORY=AMOUNT` each; the last `=` parts the two.
  ///   - amount: the whole payment, in minor units.
  package init(_ words: [String], amount: Int64, currency: String?) throws(Failure) {
    var parts: [(category: String, amount: Int64?)] = []
    for word in words {
      guard let mark = word.unicodeScalars.lastIndex(of: "="), mark > word.startIndex else {
        throw Failure(description: "\(quoted(word)) is no CATEGORY=AMOUNT", isUsage: true)
      }
      let text = String(word[word.unicodeScalars.index(after: mark)...])
      let part = text == "rest" ? nil : try Self.amount(text, of: amount, currency: currency)
      parts.append((String(word[..<mark]), part))
    }
    let rest = parts.reduce(Int128(amount)) { $0 - Int128($1.amount ?? 0) }
    let open = parts.count { $0.amount == nil }
    guard open <= 1 else { throw Failure(description: "only one part can be the rest", isUsage: true) }
    guard open == 1 || rest == 0 else {
      throw Failure(
        description: "the parts and the payment of \(Currency.text(amount, currency)) differ by "
          + "\(Currency.text(rest.magnitude, currency))", isUsage: false)
    }
    guard let left = Int64(exactly: rest) else {
      throw Failure(description: "an amount does not fit 64 bits", isUsage: false)
    }
    guard open == 0 || left != 0 else { throw Failure(description: "the others leave no rest", isUsage: false) }
    self.parts = parts.map { Part(category: $0.category, amountMinor: $0.amount ?? left) }
  }

  private static func amount(_ text: String, of whole: Int64, currency: String?) throws(Failure) -> Int64 {
    let hasSign = text.unicodeScalars.first.map { ["+", "-", "\u{2212}"].contains($0) } ?? false
    do throws(FieldMisfit) {
      let amount = try FileDialect.plainAmount(text, places: Currency.decimalPlaces(currency))
      return hasSign || whole >= 0 ? amount : -amount
    } catch {
      throw Failure(description: error.reason, isUsage: true)
    }
  }
}
