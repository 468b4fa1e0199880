import Foundation
import HouseholdCommands
import Testing

@Suite struct BudgetCommandTests {
  private func desk(_ files: [String: String] = [:]) async throws -> Desk {
    let desk = try await Desk.withHousehold()
    for (name, text) in files { try Data(text.utf8).write(to: desk.folder.appending(path: name)) }
    return desk
  }

  private let statement = "Date,Payee,Amount,Currency\n2026-03-01,Shop,-1.50,EUR\n2026-02-30,Nowhere,-2.00,EUR\n"

  @Test func `a dry run shows a table and writes nothing, and strict writes nothing of a file with a bad line`()
    async throws
  {
    let desk = try await desk(["a.csv": statement])

    let dry = await desk.run("import", desk.path("a.csv"), "--dry-run")
    #expect(dry.code == 0 && dry.output.contains("2026-03-01") && dry.output.contains("-1.50"))
    #expect(dry.output.contains("1 would be added") && dry.output.contains("line 3"))
    let strict = await desk.run("import", desk.path("a.csv"), "--strict", "--account", "Giro")
    #expect(strict.code == 1 && strict.errors.contains("line 3"))
    #expect(try await desk.records("transaction").isEmpty)
    #expect(try await desk.records("account").isEmpty)

    #expect(await desk.run("import", desk.path("a.csv")).code == 0)
    #expect(try await desk.records("transaction").count == 1)
  }

  @Test func `what was imported and deleted stays deleted before anything is sealed`() async throws {
    let desk = try await desk(["a.csv": statement])
    #expect(await desk.run("import", desk.path("a.csv")).code == 0)
    let id = try #require(try await desk.records("transaction").keys.first)
    #expect(await desk.run("delete", "transaction", id).code == 0)

    let again = try await desk.run("import", desk.path("a.csv"), "--json").document()

    #expect(again["known"] as? Int == 1 && again["added"] as? Int == 0)
    #expect(try await desk.records("transaction").isEmpty)
  }

  @Test func `a payment made final changes its row once, and a person's edit stays`() async throws {
    func ofx(_ amount: String) -> String {
      "<OFX><STMTTRN><DTPOSTED>20260301<TRNAMT>\(amount)<FITID>A<NAME>Hotel</STMTTRN></OFX>"
    }
    let desk = try await desk(["a.ofx": ofx("-1.00"), "b.ofx": ofx("-2.00"), "c.ofx": ofx("-3.00")])
    func bring(_ file: String) async throws -> Int? {
      try await desk.run("import", desk.path(file), "--json").document()["updated"] as? Int
    }
    func amounts() async throws -> [Int] {
      try await desk.records("transaction").values.compactMap { $0["amount_minor"] as? Int }
    }

    #expect(try await bring("a.ofx") == nil)
    #expect(try await bring("b.ofx") == 1)
    #expect(try await amounts() == [-200])
    #expect(try await bring("c.ofx") == nil)
    #expect(try await amounts() == [-200])
  }

  @Test func `recurring run posts once, and leaves alone what was edited or deleted`() async throws {
    let desk = try await desk()
    let put = await desk.run(
      "put", "recurring", "rent", "every=month", "day=31", "start=2026-01-31", "amount_minor=-95000", "payee=Landlord")
    #expect(put.code == 0)
    #expect(await desk.run("recurring", "run", "--until", "2026-02-28", "--dry-run").output.contains("2026-02-28"))
    #expect(try await desk.records("transaction").isEmpty)

    #expect(await desk.run("recurring", "run", "--until", "2026-03-31").code == 0)
    let first = try await desk.records("transaction")
    #expect(Set(first.values.compactMap { $0["date"] as? String }) == ["2026-01-31", "2026-02-28", "2026-03-31"])
    let january = try #require(first.first { $0.value["date"] as? String == "2026-01-31" }?.key)
    #expect(await desk.run("delete", "transaction", january).code == 0)

    #expect(await desk.run("recurring", "run", "--until", "2026-03-31").output == "Nothing is due.\n")
    #expect(try await desk.records("transaction").count == 2)
    #expect(await desk.run("recurring", "walk").code == 64)
  }

  @Test func `report tells totals, plans, shares, CSV and a picture`() async throws {
    let desk = try await desk(["a.csv": statement])
    #expect(await desk.run("import", desk.path("a.csv")).code == 0)
    #expect(await desk.run("put", "category", "food", "name=Food").code == 0)
    let id = try #require(try await desk.records("transaction").keys.first)
    #expect(await desk.run("put", "transaction", id, "category=food").code == 0)
    #expect(
      await desk.run("put", "budget", "b", "month=2026-03", "category=food", "amount_minor=500", "currency=EUR").code
        == 0)

    let total = try await desk.run("report", "--month", "2026-03", "--json").document()
    #expect(total["total_minor"] as? Int == -150 && total["currency"] as? String == "EUR")
    #expect(total["from"] as? String == "2026-03-01" && total["to"] as? String == "2026-03-31")
    let member = try await desk.run("report", "--month", "2026-03", "--by", "member", "--json").document()
    #expect((member["rows"] as? [[String: Any]])?.first?["key"] as? String == "ana")
    let plan = try await desk.run("report", "--month", "2026-03", "--budget", "--json").document()
    #expect((plan["rows"] as? [[String: Any]])?.first?["left_minor"] as? Int == 350)
    #expect(await desk.run("report", "--month", "2026-03", "--shares").output.contains("ana"))
    let csv = await desk.run("report", "--month", "2026-03", "--csv", "--chart", desk.path("x.svg"))
    #expect(csv.output == "key,count,amount,currency\nFood,1,-1.50,EUR\n")
    #expect(try String(contentsOfFile: desk.path("x.svg"), encoding: .utf8).contains("Food"))
    let both = await desk.run("report", "--month", "2026-03", "--csv", "--json")
    #expect(both.code == 64 && both.output.isEmpty, "\(both.output)")
    let exported = await desk.run("export", "--format", "csv", "--json")
    #expect(exported.code == 64 && exported.output.isEmpty, "\(exported.output)")
    #expect(await desk.run("export", "--json").code == 0)
    #expect(await desk.run("report", "--month", "2026-03", "--from", "2026-03-01").code == 64)
    #expect(await desk.run("report", "--from", "2026-03-02", "--to", "2026-03-01").code == 64)
  }

  @Test func `aliases that are suggested and made choose the category of the next import`() async throws {
    let rows = (1...3).map { "2026-03-0\($0),Bakery,-\($0).00,EUR\n" }
    let desk = try await desk([
      "a.csv": "Date,Payee,Amount,Currency\n\(rows.joined())",
      "b.csv": "Date,Payee,Amount\n2026-04-01,The BAKERY,-9.00\n",
    ])
    #expect(await desk.run("import", desk.path("a.csv")).code == 0)
    #expect(await desk.run("put", "category", "food", "name=Food").code == 0)
    for id in try await desk.records("transaction").keys {
      #expect(await desk.run("put", "transaction", id, "category=food").code == 0)
    }

    #expect(await desk.run("alias", "suggest", "--add").output.contains("made 1 aliases"))
    #expect(await desk.run("import", desk.path("b.csv")).code == 0)

    let april = try await desk.records("transaction").values.first { $0["date"] as? String == "2026-04-01" }
    #expect(april?["category"] as? String == "food")
    #expect(await desk.run("alias", "suggest").output == "Nothing to suggest.\n")
  }
}
