package import HouseholdRecords

/// What transactions of a span of days add up to, by one of their sides; currencies are never added to each other.
///
/// Splits stand in for their parent where categories are asked for, and are never counted twice; what they leave of its
/// amount stays with the parent's own category. So the rows always add up to the transactions. By category, transfers
/// between accounts of the household stand by themselves.
package struct Report: Hashable, Sendable {
  /// What the rows stand for.
  package enum Grouping: String, Hashable, Sendable, CaseIterable { case category, member, payee, month }

  /// One line: a key, how many amounts went into it, and their sum.
  package struct Row: Hashable, Sendable {
    package var key: String
    package var count: Int
    package var amountMinor: Int64
  }

  /// The rows of one currency.
  package struct Section: Hashable, Sendable {
    package var currency: String?
    package var rows: [Row]
    package var totalMinor: Int64
  }

  /// A sum is beyond 64 bits: refused, as a figure that is cut would be wrong.
  package struct Overflow: Error, Hashable, Sendable, CustomStringConvertible {
    package var description: String { "A total does not fit 64 bits of minor units." }
  }

  /// One for each currency that occurs, by its code; one without rows when there is nothing.
  package var sections: [Section]

  /// Adds up.
  ///
  /// - Parameters:
  ///   - days: both ends count; transactions without a day are in no span.
  ///   - creator: who made a transaction that names no member.
  package static func make(
    _ records: BudgetRecords, days: ClosedRange<CalendarDay>, by grouping: Grouping,
    creator: (String) throws -> String
  ) throws -> Report {
    var sums = Sums()
    let transfers = grouping == .category ? records.transfers : Transfers([])
    for transaction in records.transactions {
      guard let day = transaction.day, days.contains(day) else { continue }
      switch grouping {
      case .category where transfers.holds(transaction.id):
        sums.add(Int128(transaction.amount), key: Transfers.key, currency: transaction.currency)
      case .category:
        for part in records.parts(of: transaction) {
          sums.add(part.amount, key: records.categoryKey(part.category), currency: transaction.currency)
        }
      case .member:
        let member = try transaction.member ?? creator(transaction.id)
        sums.add(Int128(transaction.amount), key: member, currency: transaction.currency)
      case .payee: sums.add(Int128(transaction.amount), key: transaction.payee ?? "", currency: transaction.currency)
      case .month:
        sums.add(Int128(transaction.amount), key: String(day.description.prefix(7)), currency: transaction.currency)
      }
    }
    return Report(sections: try sums.sections(byKey: grouping == .month))
  }

  /// The parts of a transaction as they count: with 128 bits, as an amount less its parts may need more than 64.
  private struct Sums {
    private var byCurrency: [TextBytes?: [TextBytes: (count: Int, amount: Int128)]] = [:]

    mutating func add(_ amount: Int128, key: String, currency: String?) {
      let sum = byCurrency[currency.map(TextBytes.init), default: [:]][TextBytes(key)] ?? (0, 0)
      byCurrency[currency.map(TextBytes.init), default: [:]][TextBytes(key)] = (sum.count + 1, sum.amount + amount)
    }

    /// By the key, or what took the most first.
    func sections(byKey: Bool) throws(Overflow) -> [Section] {
      let currencies = byCurrency.keys.sorted { a, b in
        guard let b else { return false }
        return a.map { $0 < b } ?? true
      }
      var sections: [Section] = []
      for currency in currencies {
        let sums = (byCurrency[currency] ?? [:]).sorted { a, b in
          byKey || a.value.amount == b.value.amount ? a.key < b.key : a.value.amount < b.value.amount
        }
        var (rows, total): ([Row], Int128) = ([], 0)
        for (key, sum) in sums {
          guard let amount = Int64(exactly: sum.amount) else { throw Overflow() }
          rows.append(Row(key: key.text, count: sum.count, amountMinor: amount))
          total += sum.amount
        }
        guard let total = Int64(exactly: total) else { throw Overflow() }
        sections.append(Section(currency: currency?.text, rows: rows, totalMinor: total))
      }
      return sections.isEmpty ? [Section(currency: nil, rows: [], totalMinor: 0)] : sections
    }
  }
}

/// A text compared byte for byte.
struct TextBytes: Hashable, Comparable, Sendable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (a: Self, b: Self) -> Bool { a.text.hasSameBytes(as: b.text) }

  static func < (a: Self, b: Self) -> Bool { a.text.isBefore(b.text) }

  func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}
