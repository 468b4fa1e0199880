import HouseholdBudget
import HouseholdRecords
import Testing

@Suite struct TransferTests {
  /// Three accounts, and payments named by their ids.
  private func household(
    _ payments: [(id: String, day: String, amount: Int64, account: String?)]
  ) -> SampleHousehold {
    var household = SampleHousehold()
    for account in ["giro", "savings", "cash"] {
      household.put("account", account, ["name": .text(account), "currency": .text("EUR")])
    }
    for payment in payments {
      household.put(
        "transaction", payment.id,
        [
          "date": .text(payment.day), "amount_minor": .integer(payment.amount), "currency": .text("EUR"),
          "account": payment.account.map(FieldValue.text) ?? .null,
        ])
    }
    return household
  }

  private func pairs(_ household: SampleHousehold) -> [String] {
    household.budgetRecords.transfers.pairs.map { "\($0.out.id) \($0.back.id)" }
  }

  @Test func `opposite amounts on two accounts within four days are a transfer, the nearest first`() {
    let household = household([
      ("out", "2026-03-06", -10_000, "giro"), ("far", "2026-03-10", 10_000, "savings"),
      ("near", "2026-03-05", 10_000, "cash"), ("late", "2026-03-11", -500, "giro"),
      ("later", "2026-03-16", 500, "cash"),
    ])

    #expect(pairs(household) == ["out near"])
  }

  @Test func `each payment is an end of one transfer at most, whatever the order of the records`() {
    let household = household([
      ("b", "2026-03-06", -700, "giro"), ("a", "2026-03-06", -700, "giro"), ("c", "2026-03-06", 700, "cash"),
    ])

    #expect(pairs(household) == ["a c"])
    let legs = household.budgetRecords.transferLegs
    #expect(Transfers(legs) == Transfers(legs.reversed()))
  }

  @Test func `one account, another currency, no account, a category and parts make no transfer`() {
    func changed(_ id: String, _ fields: [String: FieldValue]) -> [String] {
      var household = household([("out", "2026-03-06", -700, "giro"), ("in", "2026-03-06", 700, "cash")])
      household.put("transaction", id, fields)
      return pairs(household)
    }

    #expect(changed("in", [:]) == ["out in"])
    #expect(changed("in", ["category": .text(BudgetSchema.BuiltIn.uncategorised)]) == ["out in"])
    #expect(changed("in", ["account": .text("giro")]) == [])
    #expect(changed("in", ["account": .text("of another household")]) == [])
    #expect(changed("in", ["currency": .text("USD")]) == [])
    #expect(changed("out", ["category": .text("food")]) == [])
    #expect(changed("out", ["amount_minor": .integer(.min)]) == [])
    var split = household([("out", "2026-03-06", -700, "giro"), ("in", "2026-03-06", 700, "cash")])
    split.put("split", "s", ["parent": .text("out"), "amount_minor": .integer(-700)])
    #expect(pairs(split) == [])
  }

  @Test func `transfers stand by themselves in a report, and are nobody's spending`() throws {
    let household = household([
      ("out", "2026-03-31", -10_000, "giro"), ("in", "2026-04-01", 10_000, "savings"),
      ("shop", "2026-03-31", -250, "giro"),
    ])
    let march = try #require(CalendarDay("2026-03-01"))...#require(CalendarDay("2026-03-31"))

    let report = try Report.make(household.budgetRecords, days: march, by: .category) { _ in "" }
    let shares = try Shares.make(household.budgetRecords, days: march, members: ["ana", "ben"]) { _ in "ana" }

    #expect(report.sections[0].rows.map(\.key) == ["(transfers)", "Uncategorised"])
    #expect(report.sections[0].totalMinor == -10_250)
    #expect(shares.sections[0].debts.map { "\($0.from) \($0.to) \($0.amountMinor)" } == ["ben ana 125"])
  }

  @Test func `in a journal both ends stand against one account, which they leave at zero`() {
    let household = household([("out", "2026-03-06", -700, "giro"), ("in", "2026-03-07", 700, "cash")])

    let text = Ledger.text(household.budgetRecords, dialect: .hledger)

    #expect(text.contains("Assets:giro  -7.00 EUR\n    Equity:Transfers  7.00 EUR"))
    #expect(text.contains("Assets:cash  7.00 EUR\n    Equity:Transfers  -7.00 EUR"))
    #expect(!text.contains("Expenses"))
  }

  @Test func `an import tells which rows are the other end of a payment that is here`() throws {
    var household = SampleHousehold()
    let giro = "Date,Payee,Amount,Currency\n2026-03-06,To savings,-700.00,EUR\n2026-03-07,Shop,-5.00,EUR\n"
    let savings =
      "Date,Payee,Amount,Currency\n2026-03-09,From giro,700.00,EUR\n2026-03-09,Again,700.00,EUR\n2026-03-09,x,5.00,EUR\n"

    #expect(try household.bring(giro.utf8, ImportOptions(account: "Giro")).transfers.isEmpty)
    let plan = try household.bring(savings.utf8, ImportOptions(account: "Savings"))

    #expect(plan.transfers.values.map(\.amount).sorted() == [-70_000, -500])
    #expect(try household.bring(savings.utf8, ImportOptions(account: "Savings")).transfers.isEmpty)
    // What has found its other end is not offered again.
    #expect(
      try household.bring("Date,Payee,Amount,Currency\n2026-03-09,y,700.00,EUR\n".utf8, ImportOptions(account: "Cash"))
        .transfers.isEmpty)
  }
}
