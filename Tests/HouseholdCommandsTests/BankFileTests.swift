import Foundation
import HouseholdCommands
import Testing

/// What `import`, `export --since` and `report --transfers` do on a real household.
@Suite struct BankFileTests {
  private func desk(_ files: [String: String]) async throws -> Desk {
    let desk = try await Desk.withHousehold()
    for (name, text) in files { try Data(text.utf8).write(to: desk.folder.appending(path: name)) }
    return desk
  }

  private func days(_ desk: Desk) async throws -> Set<String> {
    Set(try await desk.records("transaction").values.compactMap { $0["date"] as? String })
  }

  private func read(_ answer: Desk.Answer) throws -> [String: Any] {
    try #require(try answer.document()["read"] as? [String: Any])
  }

  @Test func `how an account's files are read is remembered for that account, shown, overruled and forgotten`()
    async throws
  {
    let sure = "Date;Payee;Amount\n13/04/2026;A;-1,50\n"
    let unsure = "Date;Payee;Amount\n03/04/2026;B;-1.000\n"
    let desk = try await desk(["sure.csv": sure, "unsure.csv": unsure])

    #expect(
      try await desk.run("import", desk.path("sure.csv"), "--account", "Giro", "--dry-run", "--json").document()[
        "added"] as? Int == 1)
    #expect(
      try await desk.run("import", desk.path("unsure.csv"), "--account", "Giro", "--dry-run", "--json").document()[
        "added"] as? Int == 0)
    #expect(await desk.run("import", desk.path("sure.csv"), "--account", "Giro").code == 0)

    let dry = await desk.run("import", desk.path("unsure.csv"), "--account", "giro", "--dry-run")
    #expect(dry.output.contains("--delimiter semicolon --date-order dmy --decimal comma --column date=Date"))
    #expect(dry.output.contains("2026-04-03") && dry.output.contains("-1000.00"))
    let told = await desk.run(
      "import", desk.path("unsure.csv"), "--account", "giro", "--date-order", "mdy", "--dry-run", "--json")
    #expect(try read(told)["dateOrder"] as? String == "mdy" && read(told)["decimal"] as? String == "comma")
    let fresh = await desk.run("import", desk.path("unsure.csv"), "--account", "Giro", "--forget", "--dry-run")
    #expect(fresh.output.contains("0 would be added"))
    #expect(
      await desk.run("import", desk.path("unsure.csv"), "--account", "Other", "--dry-run").output.contains(
        "0 would be added"))

    #expect(await desk.run("import", desk.path("unsure.csv"), "--account", "Giro").code == 0)
    #expect(try await days(desk) == ["2026-04-13", "2026-04-03"])
  }

  @Test func `columns that were named are remembered, and a wrong word says so`() async throws {
    let first = "Tag,Von,Zu,Summe\n2026-03-01,Ann,Shop,-1.00\n"
    let desk = try await desk(["a.csv": first, "b.csv": first.replacing("03-01", with: "03-02")])

    let words = ["--column", "date=Tag", "--column", "amount=Summe", "--column", "payee=Zu"]
    #expect(await desk.run(["import", desk.path("a.csv"), "--account", "Giro"] + words).code == 0)
    #expect(await desk.run("import", desk.path("b.csv"), "--account", "Giro").code == 0)
    #expect(await desk.run("import", desk.path("b.csv")).code == 1)

    let payees = try await desk.records("transaction").values.compactMap { $0["payee"] as? String }
    #expect(payees == ["Shop", "Shop"])
    let wrong = await desk.run("import", desk.path("a.csv"), "--column", "pyee=Zu")
    #expect(wrong.code == 64 && wrong.errors.contains("payee"))
    #expect(await desk.run("import", desk.path("a.csv"), "--column", "payee").code == 64)
    #expect(await desk.run("import", desk.path("a.csv"), "--delimiter", "colon").code == 64)
  }

  @Test func `transfers between two accounts are told by import, dry run and report`() async throws {
    let desk = try await desk([
      "giro.csv": "Date,Payee,Amount,Currency\n2026-03-06,Savings plan,-700.00,EUR\n2026-03-07,Shop,-5.00,EUR\n",
      "savings.csv": "Date,Payee,Amount,Currency\n2026-03-09,From giro,700.00,EUR\n",
    ])
    #expect(await desk.run("import", desk.path("giro.csv"), "--account", "Giro").code == 0)

    let dry = await desk.run("import", desk.path("savings.csv"), "--account", "Savings", "--dry-run")
    #expect(dry.output.contains("transfer from Giro"))
    let told = try await desk.run("import", desk.path("savings.csv"), "--account", "Savings", "--json").document()
    #expect(told["transfers"] as? Int == 1)

    let list = try await desk.run("report", "--month", "2026-03", "--transfers", "--json").document()
    let row = try #require((list["transfers"] as? [[String: Any]])?.first)
    #expect(row["from"] as? String == "Giro" && row["to"] as? String == "Savings")
    #expect(row["amount_minor"] as? Int == 70_000 && (row["ids"] as? [String])?.count == 2)
    #expect(await desk.run("report", "--month", "2026-03", "--transfers").output.contains("700.00"))
    let report = await desk.run("report", "--month", "2026-03")
    #expect(report.output.contains("(transfers)"))
    #expect(await desk.run("report", "--transfers", "--shares").code == 64)
    let csv = await desk.run("report", "--month", "2026-03", "--transfers", "--csv")
    #expect(
      csv.output.hasPrefix("date,from,to,amount,currency,id_out,id_in\n2026-03-06,Giro,Savings,700.00,EUR,import-"))
    let shares = await desk.run("report", "--month", "2026-03", "--shares", "--csv")
    #expect(shares.output == "member,paid,share,is_owed,currency\nana,5.00,5.00,0.00,EUR\n")
    let plans = await desk.run("report", "--month", "2026-03", "--budget", "--csv")
    #expect(plans.output == "category,budget,actual,left,currency\n")
    #expect(await desk.run("report", "--transfers", "--chart", desk.path("x.svg")).code == 64)

    let id = try #require((row["ids"] as? [String])?.first)
    #expect(await desk.run("put", "category", "plan", "name=Plan").code == 0)
    #expect(await desk.run("put", "transaction", id, "category=plan").code == 0)
    #expect(await desk.run("report", "--month", "2026-03", "--transfers").output.contains("No transfers"))
  }

  @Test func `export since a token gives what changed, what went, and the next token`() async throws {
    let desk = try await desk([:])
    for id in ["n1", "n2"] { #expect(await desk.run("put", "note", id, "title=\(id)").code == 0) }
    func changes(_ token: String) async throws -> (notes: [String], deleted: [String], next: String, isAll: Bool) {
      let document = try await desk.run("export", "--since", token).document()
      let notes = (document["types"] as? [String: [[String: Any]]])?["note"] ?? []
      return (
        notes.compactMap { $0["id"] as? String }, (document["deleted"] as? [String: [String]])?["note"] ?? [],
        try #require(document["token"] as? String), try #require(document["complete"] as? Bool)
      )
    }

    let first = try await changes("start")
    #expect(first.notes == ["n1", "n2"] && first.isAll)
    #expect(await desk.run("put", "note", "n3", "title=new").code == 0)
    #expect(await desk.run("delete", "note", "n1").code == 0)
    let second = try await changes(first.next)
    #expect(second.notes.contains("n3") && second.deleted == ["n1"] && !second.isAll)

    #expect(await desk.run("export", "--since", "yesterday").code == 64)
    #expect(await desk.run("export", "--since", "start", "--format", "csv").code == 64)
    let answer = await desk.run("export", "--since", "start")
    try Data(answer.output.utf8).write(to: desk.folder.appending(path: "all.json"))
    #expect(await desk.run("import", desk.path("all.json")).code == 0)
  }

  @Test func `split gives a payment its parts in one command, which are the whole amount`() async throws {
    let desk = try await desk([:])
    #expect(
      await desk.run("put", "transaction", "t1", "date=2026-03-01", "amount_minor=-4550", "currency=EUR").code == 0)
    for name in ["Food", "Home=Garden"] { #expect(await desk.run("put", "category", name, "name=\(name)").code == 0) }
    func parts() async throws -> [Int] {
      try await desk.records("split").values.compactMap { $0["amount_minor"] as? Int }.sorted()
    }

    #expect(await desk.run("split", "t1", "food=12.50", "Home=Garden=rest").code == 0)
    #expect(try await parts() == [-3300, -1250])
    #expect(await desk.run("split", "t1", "Food=50,00", "Home=Garden=+4.50").code == 0)
    #expect(try await parts() == [-5000, 450])

    let short = await desk.run("split", "t1", "Food=40", "Home=Garden=5")
    #expect(short.code == 1 && short.errors.contains("0.50"))
    for words in [["Food"], ["Food=x"], ["Food=rest", "Home=Garden=rest"], ["Fod=rest"], []] {
      #expect(await desk.run(["split", "t1"] + words).code == 64, "\(words)")
    }
    #expect(await desk.run("split", "t2", "Food=rest").code == 1)
    #expect(try await parts() == [-5000, 450])
    #expect(await desk.run("split", "t1", "--clear").code == 0)
    #expect(try await parts().isEmpty)
  }

  @Test func `what a statement holds is on no stream but the result's`() async throws {
    let desk = try await desk(["a.csv": "Date,Payee,Amount\n2026-03-01,Zanzibar,-9876.54\n2026-02-30,Geheim,-1.00\n"])

    let answer = await desk.run("import", desk.path("a.csv"), "--verbose", "--account", "Giro")

    #expect(answer.code == 0 && answer.output.contains("2026-02-30"))
    for secret in ["Zanzibar", "9876", "Geheim", "2026-03"] { #expect(!answer.errors.contains(secret)) }
  }
}
