import HouseholdRecords

/// Which aliases the categories that people chose would make: a payee that nearly always has one category.
package enum AliasSuggestions {
  /// A pattern that is not there yet.
  package struct Suggestion: Hashable, Sendable {
    /// The payee as it stands on most transactions.
    package var pattern: String
    package var category: String
    /// How many transactions of the payee have the category.
    package var count: Int
    /// How many of the payee have any.
    package var of: Int
  }

  /// The most frequent first.
  ///
  /// At least two transactions, and nine of ten of those with a category: an alias that is wrong is worse than none.
  package static func make(_ records: BudgetRecords, aliases: AliasPatterns) -> [Suggestion] {
    struct Payee {
      var spellings: [TextBytes: Int] = [:]
      var categories: [TextBytes: Int] = [:]
    }
    var payees: [TextBytes: Payee] = [:]
    for transaction in records.transactions {
      guard let payee = transaction.payee, let category = transaction.category,
        category != BudgetSchema.BuiltIn.uncategorised
      else { continue }
      let key = TextBytes(Folding.key(payee))
      guard !key.text.isEmpty else { continue }
      payees[key, default: Payee()].spellings[TextBytes(payee), default: 0] += 1
      payees[key, default: Payee()].categories[TextBytes(category), default: 0] += 1
    }
    var suggestions: [Suggestion] = []
    for payee in payees.values {
      let of = payee.categories.values.reduce(0, +)
      guard let (category, count) = most(payee.categories), let (pattern, _) = most(payee.spellings), count >= 2,
        count * 10 >= of * 9, aliases.category(payee: pattern, note: nil) == nil
      else { continue }
      suggestions.append(Suggestion(pattern: pattern, category: category, count: count, of: of))
    }
    return suggestions.sorted { $0.count == $1.count ? $0.pattern.isBefore($1.pattern) : $0.count > $1.count }
  }

  private static func most(_ counts: [TextBytes: Int]) -> (String, Int)? {
    counts.max { $0.value == $1.value ? $0.key > $1.key : $0.value < $1.value }.map { ($0.key.text, $0.value) }
  }
}
