import HouseholdBudget
import HouseholdKit
import HouseholdNode
import HouseholdRecords

/// `report --budget`: what was planned beside what was spent.
struct PlanReport {
  let days: ClosedRange<CalendarDay>
  /// Whether the rows are printed as CSV.
  let asCSV: Bool

  private struct Row: Encodable {
    var key: String
    var currency: Nullable<String>
    var budget_minor: Int64
    var actual_minor: Int64
    var left_minor: Int64
  }

  private struct Shown: Encodable {
    var from: String
    var to: String
    var rows: [Row]
  }

  func show(_ household: Household, _ records: BudgetRecords, output: Output) throws {
    var plans: [BudgetReport.Plan] = []
    if let type = household.schema.type("budget") {
      try household.forEach(type) { record in
        if let plan = BudgetReport.Plan(record.fields) { plans.append(plan) }
      }
    }
    let report = try BudgetReport.make(records, plans: plans, days: days)
    if asCSV {
      let rows = report.rows.map { row in
        [row.key] + [row.budgetMinor, row.actualMinor, row.leftMinor].map { Currency.text($0, row.currency) }
          + [row.currency ?? ""]
      }
      return try output.write(csvBytes([["category", "budget", "actual", "left", "currency"]] + rows))
    }
    let shown = Shown(
      from: days.lowerBound.description, to: days.upperBound.description,
      rows: report.rows.map { row in
        Row(
          key: row.key, currency: Nullable(wrappedValue: row.currency), budget_minor: row.budgetMinor,
          actual_minor: row.actualMinor,
          left_minor: row.leftMinor)
      })
    try output.result(shown) {
      var table = TableOutput([.text("CATEGORY"), .number("BUDGET"), .number("ACTUAL"), .number("LEFT"), .text("")])
      for row in report.rows {
        table.add(
          [row.key] + [row.budgetMinor, row.actualMinor, row.leftMinor].map { Currency.text($0, row.currency) }
            + [row.currency ?? ""])
      }
      try output.line("\(days.lowerBound) to \(days.upperBound)")
      if table.isEmpty { try output.line("No budget is planned for these months.") } else { try output.table(table) }
    }
  }
}

/// `report --shares`: who paid what, and who owes whom.
struct ShareReport {
  let days: ClosedRange<CalendarDay>
  /// Whether the rows are printed as CSV.
  let asCSV: Bool

  private struct Row: Encodable {
    var member: String
    var paid_minor: Int64
    var share_minor: Int64
  }

  private struct Debt: Encodable {
    var from: String
    var to: String
    var amount_minor: Int64
  }

  private struct Section: Encodable {
    var currency: Nullable<String>
    var rows: [Row]
    var debts: [Debt]
  }

  private struct Shown: Encodable {
    var from: String
    var to: String
    var shares: [Section]
  }

  func show(_ household: Household, _ records: BudgetRecords, _ creators: Creators, output: Output) throws {
    let shares = try Shares.make(records, days: days, members: creators.members) { creators.name($0) }
    if asCSV {
      let rows = shares.sections.flatMap { section in
        section.rows.map { row in
          [row.member]
            + [Int128(row.paidMinor), Int128(row.shareMinor), Int128(row.paidMinor) - Int128(row.shareMinor)]
            .map { Currency.text($0, section.currency) } + [section.currency ?? ""]
        }
      }
      return try output.write(csvBytes([["member", "paid", "share", "is_owed", "currency"]] + rows))
    }
    let shown = Shown(
      from: days.lowerBound.description, to: days.upperBound.description,
      shares: shares.sections.map { section in
        Section(
          currency: Nullable(wrappedValue: section.currency),
          rows: section.rows.map { Row(member: $0.member, paid_minor: $0.paidMinor, share_minor: $0.shareMinor) },
          debts: section.debts.map { Debt(from: $0.from, to: $0.to, amount_minor: $0.amountMinor) })
      })
    try output.result(shown) {
      try output.line("\(days.lowerBound) to \(days.upperBound)")
      if shares.sections.isEmpty { try output.line("Nothing was spent.") }
      for section in shares.sections {
        var table = TableOutput([.text("MEMBER"), .number("PAID"), .number("SHARE"), .text(section.currency ?? "")])
        for row in section.rows {
          let amounts = [row.paidMinor, row.shareMinor].map { Currency.text($0, section.currency) }
          table.add([row.member] + amounts + [""])
        }
        try output.line()
        try output.table(table)
        for debt in section.debts {
          let amount = "\(Currency.text(debt.amountMinor, section.currency)) \(section.currency ?? "")"
          try output.line(escapingControls("\(debt.from) owes \(debt.to) \(amount)"))
        }
      }
    }
  }
}

/// `report --transfers`: what moved between the household's own accounts.
struct TransferReport {
  let days: ClosedRange<CalendarDay>
  /// Whether the rows are printed as CSV.
  let asCSV: Bool

  private struct Row: Encodable {
    var date: String
    var from: String
    var to: String
    var amount_minor: Int64
    var currency: Nullable<String>
    /// The transaction that left, and the one that came.
    var ids: [String]
  }

  private struct Shown: Encodable {
    var from: String
    var to: String
    var transfers: [Row]
  }

  /// Shows those of which at least one end lies in the span.
  func show(_ records: BudgetRecords, output: Output) throws {
    let pairs = records.transfers.pairs.filter { days.contains($0.out.day) || days.contains($0.back.day) }
    let rows = pairs.map { pair in
      Row(
        date: pair.out.day.description, from: records.accountName(pair.out.account),
        to: records.accountName(pair.back.account), amount_minor: pair.back.amount,
        currency: Nullable(wrappedValue: pair.out.currency), ids: [pair.out.id, pair.back.id])
    }
    if asCSV {
      let lines = rows.map { row in
        [row.date, row.from, row.to, Currency.text(row.amount_minor, row.currency.wrappedValue)]
          + [row.currency.wrappedValue ?? ""] + row.ids
      }
      return try output.write(csvBytes([["date", "from", "to", "amount", "currency", "id_out", "id_in"]] + lines))
    }
    let shown = Shown(from: days.lowerBound.description, to: days.upperBound.description, transfers: rows)
    try output.result(shown) {
      try output.line("\(days.lowerBound) to \(days.upperBound)")
      guard !rows.isEmpty else { return try output.line("No transfers between your accounts.") }
      var table = TableOutput([.text("DATE"), .text("FROM"), .text("TO"), .number("AMOUNT"), .text("")])
      for (row, pair) in zip(rows, pairs) {
        let currency = pair.out.currency
        table.add([row.date, row.from, row.to, Currency.text(row.amount_minor, currency), currency ?? ""])
      }
      try output.table(table)
    }
  }
}

/// Lines of CSV.
func csvBytes(_ lines: [[String]]) -> [UInt8] {
  let writer = CSVWriter()
  return Array(lines.map { writer.line($0) }.joined().utf8)
}
