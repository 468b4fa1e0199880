import Foundation
import HouseholdBudget
import HouseholdRecords
import Testing

@Suite struct LedgerTests {
  private func household() -> SampleHousehold {
    var household = SampleHousehold()
    household.put("account", "a", ["name": .text("Joint: both; mine")])
    household.put("category", "tax", ["name": .text("Tax"), "group": .text(BudgetSchema.BuiltIn.income)])
    household.put("category", "food", ["name": .text("food (out)"), "group": .text(BudgetSchema.BuiltIn.living)])
    let texts = ["=1+1", "(code) x", "a;b | c", "line1\nline2", "\"q\" \\", "寿司 👨‍👩‍👧", "", "* !", "2026-01-01 open x"]
    for (index, text) in texts.enumerated() {
      household.put(
        "transaction", "t\(index)",
        [
          "date": .text("2026-03-0\(index + 1)"), "amount_minor": .integer(Int64(index * 1005 - 3000)),
          "currency": .text(index == 3 ? "BHD" : "EUR"), "payee": .text(text), "note": .text(text),
          "account": index == 5 ? .null : .text("a"), "category": .text(["tax", "food", "gone:x"][index % 3]),
          "cleared": .integer(index == 2 ? 0 : 1),
        ])
    }
    household.put("split", "s", ["parent": .text("t0"), "amount_minor": .integer(-1000), "category": .text("food")])
    household.put("transaction", "no day", ["amount_minor": .integer(.min), "payee": .text("x\ny")])
    return household
  }

  @Test func `an entry has the own account first, major units with the code behind, and adds up`() {
    let text = Ledger.text(household().budgetRecords, dialect: .hledger)

    #expect(
      text.contains(
        """
        2026-03-01 * (t0) =1+1
            ; =1+1
            Assets:Joint- both, mine  -30.00 EUR
            Expenses:Living:food (out)  10.00 EUR
            Income:Tax  20.00 EUR

        """))
    #expect(text.contains("0.015 BHD") && text.contains("2026-03-03 ! (t2) a,b / c"))
  }

  @Test(arguments: [("hledger", ["check"]), ("bean-check", [])])
  func `the real programs take the journal, where they are installed`(program: String, words: [String]) throws {
    let isHledger = program == "hledger"
    let text = Ledger.text(household().budgetRecords, dialect: isHledger ? .hledger : .beancount)
    let file = FileManager.default.temporaryDirectory.appending(path: "household-\(UUID().uuidString).journal")
    try Data(text.utf8).write(to: file)
    defer { do { try FileManager.default.removeItem(at: file) } catch { print("left \(file.path): \(error)") } }
    guard FileManager.default.fileExists(atPath: "/usr/bin/\(program)") else {
      print("left out: \(program) is not installed")
      return
    }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/\(program)")
    process.arguments = isHledger ? ["-f", file.path] + words : [file.path]
    process.environment = ["LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"]
    let pipe = Pipe()
    process.standardError = pipe
    process.standardOutput = pipe

    try process.run()
    let told = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()

    #expect(process.terminationStatus == 0, "\(told)\n\(text)")
    #expect(text.components(separatedBy: "\n").count { $0.contains(" * ") || $0.contains(" ! ") } >= 9)
  }

  @Test func `the same records are the same bytes, in whatever order they come`() {
    let household = household()
    var reversed = BudgetRecords()
    for type in BudgetRecords.types.reversed() {
      for record in household.rows(type).reversed() { reversed.add(type, id: record.id, fields: record.fields) }
    }

    for dialect in [Ledger.Dialect.hledger, .beancount] {
      #expect(Ledger.text(reversed, dialect: dialect) == Ledger.text(household.budgetRecords, dialect: dialect))
    }
  }
}
