import Foundation
import HouseholdBudget
import HouseholdRecords
import Testing

@Suite struct ReportTests {
  private func household() -> SampleHousehold {
    var household = SampleHousehold()
    let living = FieldValue.text(BudgetSchema.BuiltIn.living)
    household.put("category", "food", ["name": .text("Food"), "group": living])
    household.put("category", "home", ["name": .text("Home"), "group": living])
    household.put("category", "pay", ["name": .text("Pay"), "group": .text(BudgetSchema.BuiltIn.income)])
    return household
  }

  private func payment(_ amount: Int64, _ more: [String: FieldValue] = [:]) -> [String: FieldValue] {
    ["date": .text("2026-03-05"), "amount_minor": .integer(amount), "currency": .text("EUR")].merging(more) { $1 }
  }

  private func rows(
    _ household: SampleHousehold, _ grouping: Report.Grouping = .category, days: ClosedRange<CalendarDay> = allDays
  ) throws -> [String: Int64] {
    let report = try Report.make(household.budgetRecords, days: days, by: grouping) { "made \($0)" }
    return Dictionary(uniqueKeysWithValues: report.sections.flatMap(\.rows).map { ($0.key, $0.amountMinor) })
  }

  @Test func `splits stand in for their parent, and what they leave stays with it`() throws {
    var household = household()
    household.put("transaction", "t", payment(-100, ["category": .text("food")]))
    household.put("split", "1", ["parent": .text("t"), "amount_minor": .integer(-60), "category": .text("food")])
    household.put("split", "2", ["parent": .text("t"), "amount_minor": .integer(-30), "category": .text("home")])
    household.put("transaction", "u", payment(-7))
    household.put("transaction", "v", payment(-1, ["category": .text("never came")]))
    household.put("split", "3", ["parent": .text("gone"), "amount_minor": .integer(-5), "category": .text("home")])

    #expect(try rows(household) == ["Food": -70, "Home": -30, "Uncategorised": -7, "never came": -1])
  }

  @Test func `two categories of one name stand with their groups`() throws {
    var household = household()
    household.put("category", "food 2", ["name": .text("food "), "group": .text(BudgetSchema.BuiltIn.income)])
    household.put("transaction", "t", payment(-1, ["category": .text("food")]))
    household.put("transaction", "u", payment(2, ["category": .text("food 2")]))

    #expect(try rows(household) == ["Living:Food": -1, "Income:food ": 2])
  }

  @Test func `both days of a span count, months are as written, and a missing member is the creator`() throws {
    var household = household()
    for (id, day) in [("a", "2026-02-28"), ("b", "2026-03-01"), ("c", "2026-03-31"), ("d", "2026-04-01")] {
      household.put("transaction", id, payment(-1, ["date": .text(day), "member": id == "b" ? .null : .text("ana")]))
    }
    let march = try #require(CalendarDay("2026-03-01"))...(try #require(CalendarDay("2026-03-31")))

    #expect(try rows(household, .month, days: march) == ["2026-03": -2])
    #expect(try rows(household, .member, days: march) == ["ana": -1, "made b": -1])
    #expect(try rows(household, .month) == ["2026-02": -1, "2026-03": -2, "2026-04": -1])
  }

  @Test func `currencies are kept apart`() throws {
    var household = household()
    household.put("transaction", "t", payment(-1))
    household.put("transaction", "u", payment(-2, ["currency": .text("USD")]))
    household.put("transaction", "v", payment(-4, ["currency": .null]))

    let report = try Report.make(household.budgetRecords, days: allDays, by: .payee) { _ in "" }

    #expect(report.sections.map(\.currency) == [nil, "EUR", "USD"])
    #expect(report.sections.map(\.totalMinor) == [-4, -1, -2])
  }

  @Test func `a total over 64 bits is refused, and one that only passes there is exact`() throws {
    var household = household()
    household.put("transaction", "t", payment(.max))
    household.put("transaction", "u", payment(5))
    #expect(throws: Report.Overflow.self) { try rows(household) }

    household.put("transaction", "v", payment(-6))
    #expect(try rows(household) == ["Uncategorised": .max - 1])
    household.put("split", "s", ["parent": .text("v"), "amount_minor": .integer(.max), "category": .text("food")])
    #expect(try rows(household) == ["Food": .max, "Uncategorised": -1])
  }

  @Test func `what was planned stands beside what was spent`() throws {
    var household = household()
    household.put("transaction", "t", payment(-120, ["category": .text("food")]))
    household.put("transaction", "u", payment(20, ["category": .text("food")]))
    household.put("transaction", "v", payment(500, ["category": .text("pay")]))
    household.put("transaction", "w", payment(-9, ["category": .text("home")]))
    let plans = [("2026-03", "food", 150), ("2026-04", "food", 1000), ("2026-03", "pay", 600)].compactMap {
      BudgetReport.Plan([
        "month": .text($0.0), "category": .text($0.1), "amount_minor": .integer(Int64($0.2)), "currency": .text("EUR"),
      ])
    }
    let march = try #require(CalendarDay("2026-03-01"))...(try #require(CalendarDay("2026-03-31")))

    let report = try BudgetReport.make(household.budgetRecords, plans: plans, days: march)

    #expect(report.rows.map(\.key) == ["Food", "Pay"])
    #expect(report.rows.map(\.budgetMinor) == [150, 600])
    #expect(report.rows.map(\.actualMinor) == [100, 500])
    #expect(report.rows.map(\.leftMinor) == [50, 100])
  }

  @Test func `shares are even to the cent, and the debts make them so`() throws {
    var household = household()
    household.put("transaction", "t", payment(-100, ["member": .text("ana"), "category": .text("food")]))
    household.put("transaction", "u", payment(-1, ["member": .text("ben"), "category": .text("home")]))
    household.put("transaction", "v", payment(9000, ["member": .text("ben"), "category": .text("pay")]))
    household.put("transaction", "w", payment(500, ["member": .text("ben")]))

    let shares = try Shares.make(household.budgetRecords, days: allDays, members: ["ana", "ben", "cleo"]) { $0 }

    let section = try #require(shares.sections.first)
    #expect(section.rows.map(\.member) == ["ana", "ben", "cleo"])
    #expect(section.rows.map(\.paidMinor) == [100, 1, 0])
    #expect(section.rows.map(\.shareMinor) == [34, 34, 33])
    #expect(section.debts.map(\.from) == ["cleo", "ben"] || section.debts.map(\.from) == ["ben", "cleo"])
    #expect(section.debts.allSatisfy { $0.to == "ana" } && section.debts.map(\.amountMinor).reduce(0, +) == 66)
  }

  @Test func `a picture holds every key, and nothing of a payee is taken for markup`() throws {
    var household = household()
    household.put("transaction", "t", payment(-1_234_567, ["payee": .text("<b>&\"\u{0}\u{1}")]))
    for index in 0..<40 { household.put("transaction", "\(index)", payment(-1, ["payee": .text("p\(index)")])) }
    let report = try Report.make(household.budgetRecords, days: allDays, by: .payee) { _ in "" }

    let svg = BarChart.svg(report, title: "A & B")

    #expect(svg.contains("&lt;b&gt;&amp;&quot;</text>") && svg.contains("A &amp; B"))
    #expect(svg.contains("\u{2212}12\u{2009}345.67") && svg.contains("12 more"))
    #expect(svg.components(separatedBy: "<rect class=\"out\"").count == 31)
  }
}
