import HouseholdBudget
import HouseholdRecords
import Testing

@Suite struct BankIdentityTests {
  private let card = ImportOptions(account: "card")

  private func ofx(_ rows: [(id: String, day: String, amount: String, name: String)]) -> [UInt8] {
    let body = rows.map {
      "<STMTTRN><DTPOSTED>\($0.day)<TRNAMT>\($0.amount)<FITID>\($0.id)<NAME>\($0.name)</STMTTRN>\n"
    }
    return Array("<OFX><CURDEF>USD\n\(body.joined())</OFX>\n".utf8)
  }

  @Test func `a bank id for a purchase and its fee makes two rows, and again none`() throws {
    var household = SampleHousehold()

    let plan = try household.bring(fixture("dup-fitid-different-amounts.ofx"), card)

    #expect((plan.found, plan.added, household.sum) == (3, 3, -21549))
    #expect(try household.bring(fixture("dup-fitid-different-amounts.ofx"), card).known == 3)
    #expect(try household.bring(fixture("same-fitid-other-account.ofx"), ImportOptions(account: "card 2")).added == 1)
  }

  @Test func `a pending payment that becomes final stays one row, and is listed`() throws {
    var household = SampleHousehold()
    _ = try household.bring(fixture("dup-fitid-different-amounts.ofx"), card)

    let plan = try household.bring(fixture("same-fitid-pending-to-posted.ofx"), card)

    #expect((plan.added, plan.updates.count, household.sum) == (0, 1, -22784))
    #expect(plan.skipped.map(\.isFault) == [false] && plan.skipped[0].reason.contains("-200.00"))
    #expect(household.rows("transaction").contains { $0.fields["date"] == .text("2026-01-17") })
    #expect(try household.bring(fixture("same-fitid-pending-to-posted.ofx"), card).known == 1)
    let older = try household.bring(fixture("dup-fitid-different-amounts.ofx"), card)
    #expect((older.updates, older.skipped.count, household.sum) == ([], 1, -22784))
  }

  @Test func `what a person changed stays, and is listed`() throws {
    var household = SampleHousehold()
    _ = try household.bring(ofx([("A", "20260115", "-200.00", "Hotel")]), name: "a.ofx", card)
    household.put("transaction", try #require(household.rows("transaction").first).id, ["amount_minor": .integer(-150)])

    let plan = try household.bring(ofx([("A", "20260117", "-212.35", "Hotel")]), name: "a.ofx", card)

    #expect((plan.updates, plan.skipped.count, household.sum) == ([], 1, -150))
  }

  @Test func `ids that begin anew each month are other payments, also of the same amount`() throws {
    var household = SampleHousehold()
    for month in ["01", "02", "03"] {
      let rows = [("1", "2026\(month)05", "-9.99", "Stream"), ("2", "2026\(month)06", "-\(month).00", "Shop \(month)")]
      #expect(try household.bring(ofx(rows), name: "m.ofx", card).added == 2)
      #expect(try household.bring(ofx(rows), name: "m.ofx", card).known == 2)
    }
    #expect(household.rows("transaction").count == 6)
  }

  @Test func `a payment that stands twice in a file is one`() throws {
    var household = SampleHousehold()
    let row = ("A", "20260115", "-200.00", "Hotel")

    let plan = try household.bring(ofx([row, row]), name: "a.ofx", card)

    #expect((plan.added, plan.skipped.map(\.line)) == (1, [3]))
  }

  @Test func `a row that was deleted here stays deleted`() throws {
    var household = SampleHousehold()
    let bytes = ofx([("A", "20260115", "-200.00", "Hotel")])
    _ = try household.bring(bytes, name: "a.ofx", card)
    let key = RecordKey(type: "transaction", id: try #require(household.rows("transaction").first).id)
    household.records[key] = nil
    household.deleted.insert(key)

    #expect(try household.bring(bytes, name: "a.ofx", card).known == 1)
    #expect(try household.bring(ofx([("A", "20260117", "-212.35", "Hotel")]), name: "a.ofx", card).known == 1)
  }

  @Test(arguments: ["Giro", "b", "a"])
  func `of an account that shows in the place of another one, what that one imported is known`(account: String) throws {
    var household = SampleHousehold()
    let giro = ImportOptions(account: account)
    household.put("account", "b", ["name": .text("Giro"), "currency": .text("USD")])
    let bank = ofx([("A", "20260115", "-200.00", "Hotel"), ("B", "20260116", "-9.99", "Stream")])
    let plain = Array("Date,Payee,Amount\n2026-01-17,Shop,-1.50\n2026-01-17,Shop,-1.50\n".utf8)
    let own = Array("date,payee,amount_minor,account\n2026-01-18,Kiosk,-250,\(account == "Giro" ? "Giro" : "b")\n".utf8)
    for bytes in [bank, plain] { #expect(try household.bring(bytes, ImportOptions(account: "b")).added == 2) }
    #expect(try household.bring(own).added == 1)
    let sum = household.sum
    let gone = try #require(household.rows("transaction").first { $0.fields["payee"] == .text("Stream") })
    household.records[RecordKey(type: "transaction", id: gone.id)] = nil
    household.deleted.insert(RecordKey(type: "transaction", id: gone.id))

    household.put("account", "a", ["name": .text("Giro"), "currency": .text("USD")])
    household.merge("b", into: "a")

    #expect(try household.bring(bank, giro).known == 2)
    #expect(try household.bring(plain, giro).known == 2)
    #expect(try household.bring(own).known == 1)
    #expect(household.sum == sum + 999 && household.rows("account").count == 1)
    #expect(try household.bring(ofx([("A", "20260117", "-212.35", "Hotel")]), giro).updates.count == 1)
    #expect(try household.bring(ofx([("C", "20260117", "-3.00", "Bus")]), giro).added == 1)
  }

  @Test func `an account that was renamed after it was merged goes on getting the rows of its first name`() throws {
    var household = SampleHousehold()
    let rows = Array("Date,Payee,Amount,Currency\n2026-01-17,Shop,-1.50,EUR\n".utf8)
    _ = try household.bring(rows, ImportOptions(account: "Giro"))
    let made = try #require(household.rows("account").first).id
    household.put("account", "a", ["name": .text("Main"), "currency": .text("EUR")])
    household.merge(made, into: "a")

    let plan = try household.bring(rows, ImportOptions(account: "Giro"))

    #expect(plan.known == 1 && plan.account == "a" && household.rows("account").map(\.id) == ["a"])
  }

  @Test func `aliases choose the category of new rows, the longest pattern first`() throws {
    var household = SampleHousehold()
    household.put("alias", "1", ["pattern": .text("hotel"), "category": .text("travel")])
    household.put("alias", "2", ["pattern": .text("HOTEL*bar"), "category": .text("drinks")])
    let rows = [
      ("A", "20260115", "-1.00", "Hotel Lisboa"), ("B", "20260115", "-2.00", "the hotel, its Bar"),
      ("C", "20260115", "-3.00", "Motel"),
    ]

    let plan = try household.bring(ofx(rows), name: "a.ofx")

    #expect(plan.records.map { $0.fields["category"] } == [.text("travel"), .text("drinks"), nil])
  }

  @Test func `a payee that nearly always has one category is suggested`() throws {
    var household = SampleHousehold()
    for (index, payee) in ["Shop", "shop ", "Shop", "Mixed", "Mixed", "Once"].enumerated() {
      let category = payee == "Mixed" ? "c\(index)" : "food"
      household.put(
        "transaction", "t\(index)", ["payee": .text(payee), "amount_minor": .integer(1), "category": .text(category)])
    }

    let suggestions = AliasSuggestions.make(household.budgetRecords, aliases: AliasPatterns([]))

    #expect(suggestions.map(\.pattern) == ["Shop"] && suggestions.map(\.category) == ["food"])
    let known = AliasPatterns([.init(id: "1", pattern: "sho", category: "x")])
    #expect(AliasSuggestions.make(household.budgetRecords, aliases: known) == [])
  }
}
