package import HouseholdRecords

/// What was planned for the months of a span beside what was spent, by category and currency.
///
/// Spent is positive for what goes out; for categories of the group Income both are what comes in.
package struct BudgetReport: Hashable, Sendable {
  /// One category in one currency.
  package struct Row: Hashable, Sendable {
    package var key: String
    package var currency: String?
    package var budgetMinor: Int64
    package var actualMinor: Int64
    package var leftMinor: Int64
  }

  /// A plan for a category in a month.
  package struct Plan: Hashable, Sendable {
    /// `YYYY-MM`.
    package var month: String
    package var category: String
    package var amountMinor: Int64
    package var currency: String?

    /// Reads a record of the type budget; nil if it has no month, category or amount.
    package init?(_ fields: [String: FieldValue]) {
      guard let month = fields["month"]?.text, let category = fields["category"]?.text,
        let amount = fields["amount_minor"]?.integer
      else { return nil }
      (self.month, self.category, amountMinor) = (month, category, amount)
      currency = fields["currency"]?.text
    }
  }

  package var rows: [Row]

  /// Adds up; categories without a plan are left out.
  package static func make(
    _ records: BudgetRecords, plans: [Plan], days: ClosedRange<CalendarDay>
  ) throws(Report.Overflow) -> BudgetReport {
    let months = days.lowerBound.description.prefix(7)...days.upperBound.description.prefix(7)
    struct Key: Hashable {
      let category: TextBytes
      let currency: TextBytes?
    }
    var sums: [Key: (plan: Int128, actual: Int128)] = [:]
    for plan in plans where months.contains(plan.month.prefix(7)) {
      let key = Key(category: TextBytes(plan.category), currency: plan.currency.map(TextBytes.init))
      sums[key, default: (0, 0)].plan += Int128(plan.amountMinor)
    }
    let transfers = records.transfers
    for transaction in records.transactions {
      guard let day = transaction.day, days.contains(day), !transfers.holds(transaction.id) else { continue }
      for part in records.parts(of: transaction) {
        guard let category = part.category else { continue }
        let key = Key(category: TextBytes(category), currency: transaction.currency.map(TextBytes.init))
        guard sums[key] != nil else { continue }
        sums[key]?.actual += records.isIncome(category) ? part.amount : -part.amount
      }
    }
    var rows: [Row] = []
    for (key, sum) in sums {
      guard let plan = Int64(exactly: sum.plan), let actual = Int64(exactly: sum.actual),
        let left = Int64(exactly: sum.plan - sum.actual)
      else { throw Report.Overflow() }
      rows.append(
        Row(
          key: records.categoryKey(key.category.text), currency: key.currency?.text, budgetMinor: plan,
          actualMinor: actual, leftMinor: left))
    }
    return BudgetReport(
      rows: rows.sorted { a, b in
        (TextBytes(a.currency ?? ""), TextBytes(a.key)) < (TextBytes(b.currency ?? ""), TextBytes(b.key))
      })
  }
}
