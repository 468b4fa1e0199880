import HouseholdRecords

/// What transactions add up to.
package enum Totals {
  /// One line of a total: a key, how many amounts went into it and their sum.
  package struct Row: Hashable, Sendable {
    /// The id of a category; nil for what has none.
    package var category: String?
    package var currency: String?
    package var count: Int
    package var amountMinor: Int64
  }

  /// A sum is beyond 64 bits.
  package struct Overflow: Error, Hashable, Sendable, CustomStringConvertible {
    package var description: String { "The total does not fit 64 bits of minor units." }
  }

  /// The sums by currency and category; splits stand in for their parent and are never counted twice.
  ///
  /// What the splits of a transaction leave of its amount stays with the transaction's own category, so that the rows
  /// always add up to the transactions.
  package static func byCategory(
    transactions: [ExportedRecord], splits: [ExportedRecord] = []
  ) throws(Overflow) -> [Row] {
    var parts: [RecordKey: [ExportedRecord]] = [:]
    for split in splits {
      guard let parent = split.fields["parent"]?.text else { continue }
      parts[RecordKey(type: "transaction", id: parent), default: []].append(split)
    }
    var sums: [Key: Row] = [:]
    for transaction in transactions {
      guard let amount = transaction.fields["amount_minor"]?.integer else { continue }
      let currency = transaction.fields["currency"]?.text
      var rest = amount
      let own = parts[RecordKey(type: "transaction", id: transaction.id)] ?? []
      for split in own {
        let part = split.fields["amount_minor"]?.integer ?? 0
        let (left, isOver) = rest.subtractingReportingOverflow(part)
        guard !isOver else { throw Overflow() }
        rest = left
        try add(part, category: split.fields["category"]?.text, currency: currency, to: &sums)
      }
      if own.isEmpty || rest != 0 {
        try add(rest, category: transaction.fields["category"]?.text, currency: currency, to: &sums)
      }
    }
    return sums.sorted { $0.key < $1.key }.map(\.value)
  }

  private static func add(
    _ amount: Int64, category: String?, currency: String?, to sums: inout [Key: Row]
  ) throws(Overflow) {
    let key = Key(currency: currency, category: category)
    var row = sums[key] ?? Row(category: category, currency: currency, count: 0, amountMinor: 0)
    let (sum, isOver) = row.amountMinor.addingReportingOverflow(amount)
    guard !isOver else { throw Overflow() }
    row.amountMinor = sum
    row.count += 1
    sums[key] = row
  }

  /// Compared byte for byte, null first.
  private struct Key: Hashable, Comparable {
    let currency: [UInt8]?
    let category: [UInt8]?

    init(currency: String?, category: String?) {
      self.currency = currency.map { Array($0.utf8) }
      self.category = category.map { Array($0.utf8) }
    }

    static func < (a: Key, b: Key) -> Bool {
      a.currency == b.currency ? precedes(a.category, b.category) : precedes(a.currency, b.currency)
    }

    private static func precedes(_ a: [UInt8]?, _ b: [UInt8]?) -> Bool {
      guard let b else { return false }
      guard let a else { return true }
      return a.lexicographicallyPrecedes(b)
    }
  }
}
