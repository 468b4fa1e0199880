package import HouseholdRecords

/// Who paid how much of what the household spent, and who owes whom for all to have paid the same.
///
/// Spending is what goes out less what came back: categories of the group Income do not count, nor does what comes in
/// without a category, nor transfers between accounts of the household. Cents that cannot be divided are paid by the first members by name.
package struct Shares: Hashable, Sendable {
  /// One member in one currency.
  package struct Row: Hashable, Sendable {
    package var member: String
    package var paidMinor: Int64
    package var shareMinor: Int64
  }

  /// A payment that would make things even.
  package struct Debt: Hashable, Sendable {
    package var from: String
    package var to: String
    package var amountMinor: Int64
  }

  /// All of one currency.
  package struct Section: Hashable, Sendable {
    package var currency: String?
    package var rows: [Row]
    package var debts: [Debt]
  }

  package var sections: [Section]

  /// - Parameter members: who shares, also those who paid nothing.
  package static func make(
    _ records: BudgetRecords, days: ClosedRange<CalendarDay>, members: [String], creator: (String) throws -> String
  ) throws -> Shares {
    var paid: [TextBytes?: [TextBytes: Int128]] = [:]
    let transfers = records.transfers
    for transaction in records.transactions {
      guard let day = transaction.day, days.contains(day), !transfers.holds(transaction.id) else { continue }
      let spent = records.parts(of: transaction).reduce(Int128(0)) { sum, part in
        records.isIncome(part.category) || part.category == nil && part.amount > 0 ? sum : sum - part.amount
      }
      guard spent != 0 else { continue }
      let member = TextBytes(try transaction.member ?? creator(transaction.id))
      paid[transaction.currency.map(TextBytes.init), default: [:]][member, default: 0] += spent
    }
    let currencies = paid.keys.sorted { ($0?.text ?? "").utf8.lexicographicallyPrecedes(($1?.text ?? "").utf8) }
    return Shares(
      sections: try currencies.map { currency in
        var amounts = paid[currency] ?? [:]
        for member in members { amounts[TextBytes(member), default: 0] += 0 }
        return try section(currency?.text, amounts.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value) })
      })
  }

  private static func section(
    _ currency: String?, _ paid: [(member: String, amount: Int128)]
  ) throws(Report.Overflow) -> Section {
    let total = paid.reduce(Int128(0)) { $0 + $1.amount }
    let (share, rest) = total.quotientAndRemainder(dividingBy: Int128(paid.count))
    var rows: [Row] = []
    var balances: [(member: String, amount: Int128)] = []
    for (index, entry) in paid.enumerated() {
      let own = share + (Int128(index) < rest.magnitude ? rest.signum() : 0)
      guard let amount = Int64(exactly: entry.amount), let due = Int64(exactly: own) else { throw Report.Overflow() }
      rows.append(Row(member: entry.member, paidMinor: amount, shareMinor: due))
      balances.append((entry.member, entry.amount - own))
    }
    return Section(currency: currency, rows: rows, debts: try debts(balances))
  }

  /// Lets whoever paid least pay whoever paid most until all are even.
  private static func debts(_ balances: [(member: String, amount: Int128)]) throws(Report.Overflow) -> [Debt] {
    var balances = balances
    var debts: [Debt] = []
    while let from = balances.indices.min(by: { balances[$0].amount < balances[$1].amount }),
      let to = balances.indices.max(by: { balances[$0].amount < balances[$1].amount }), balances[from].amount < 0
    {
      let amount = min(-balances[from].amount, balances[to].amount)
      guard amount > 0, let owed = Int64(exactly: amount) else { throw Report.Overflow() }
      debts.append(Debt(from: balances[from].member, to: balances[to].member, amountMinor: owed))
      balances[from].amount += amount
      balances[to].amount -= amount
    }
    return debts
  }
}
