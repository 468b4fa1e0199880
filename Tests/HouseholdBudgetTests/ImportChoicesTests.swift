import HouseholdBudget
import HouseholdRecords
import Testing

/// How a file is read: what a person says, what the file proves, what is remembered, in this order.
@Suite struct ImportChoicesTests {
  private func bring(_ text: String, _ options: ImportOptions = ImportOptions()) throws -> ImportPlan {
    var household = SampleHousehold()
    return try household.bring(text.utf8, options)
  }

  private func rows(_ plan: ImportPlan) -> [String] {
    plan.records.filter { $0.type == "transaction" }.map { record in
      let text = ["payee", "note"].map { record.fields[$0]?.text ?? "-" }.joined(separator: "/")
      return "\(record.fields["date"]?.text ?? "") \(record.fields["amount_minor"]?.integer ?? 0) \(text)"
    }
  }

  private let unsure = "Date;Payee;Amount\n03/04/2026;A;1.000\n"

  @Test func `choices come back from their text, and what is no such text is nothing`() {
    let choices = ImportChoices(
      delimiter: "\t", encoding: "windows-1250", isDayFirst: false, hasDecimalComma: true,
      columns: ["date": "Datum \"neu\"", "note": ""])

    #expect(ImportChoices(parsing: choices.text) == choices)
    #expect(ImportChoices(parsing: ImportChoices().text)?.isEmpty ?? false)
    #expect(ImportChoices(parsing: "[]") == nil && ImportChoices(parsing: "{") == nil)
    #expect(
      ImportChoices(parsing: "{\"delimiter\": \"x\", \"columns\": {\"sum\": \"a\"}, \"new\": 1}")?.isEmpty ?? false)
  }

  @Test func `what is remembered decides where the file proves nothing, and the file's own proof goes before it`()
    throws
  {
    let known = ImportOptions(remembered: ImportChoices(isDayFirst: true, hasDecimalComma: true))

    #expect(try rows(bring(unsure, known)) == ["2026-04-03 100000 A/-"])
    #expect(try rows(bring("Date;Payee;Amount\n03/13/2026;A;1.50\n", known)) == ["2026-03-13 150 A/-"])
    var told = known
    told.choices = ImportChoices(isDayFirst: false, hasDecimalComma: false)
    #expect(try rows(bring(unsure, told)) == ["2026-03-04 100 A/-"])
  }

  @Test func `a file teaches what it proves, and what a person said`() throws {
    let proof = try bring("Date;Payee;Amount\n13/04/2026;A;1,50\n")
    #expect(proof.lesson == ImportChoices(isDayFirst: true, hasDecimalComma: true))
    #expect(
      proof.reading
        == ImportChoices(
          delimiter: ";", isDayFirst: true, hasDecimalComma: true,
          columns: ["date": "Date", "payee": "Payee", "amount": "Amount"]))

    let said = ImportChoices(columns: ["note": ""])
    #expect(try bring(unsure, ImportOptions(choices: said, remembered: proof.lesson)).lesson == said.over(proof.lesson))
    #expect(try bring(unsure).lesson.isEmpty)
  }

  @Test func `columns are named by their headers or numbers, and an empty name leaves one out`() throws {
    let text = "Tag,Wer,Wofür,Betrag A,Betrag B\n2026-03-01,Ann,Rent,-1.00,-9.00\n"

    let named = ImportChoices(columns: ["date": "TAG", "amount": "betrag b", "payee": "Wofür"])
    #expect(try rows(bring(text, ImportOptions(choices: named))) == ["2026-03-01 -900 Rent/-"])
    let numbered = ImportChoices(columns: ["date": "1", "amount": "4", "payee": "2", "note": "3"])
    #expect(try rows(bring(text, ImportOptions(choices: numbered))) == ["2026-03-01 -100 Ann/Rent"])
    let headless = ImportOptions(choices: ImportChoices(columns: ["date": "2", "amount": "3", "payee": "1"]))
    #expect(
      try rows(bring("Shop,01.03.2026,9.99,0.01\nBar,02.03.2026,5.00,0.02\n", headless)) == [
        "2026-03-01 999 Shop/-", "2026-03-02 500 Bar/-",
      ])
    let without = ImportOptions(choices: ImportChoices(columns: ["note": ""]))
    #expect(try rows(bring("Date,Payee,Note,Amount\n2026-03-01,A,secret,1.00\n", without)) == ["2026-03-01 100 A/-"])
  }

  @Test func `a column that is not there is refused when it was said, and left aside when it is remembered`() throws {
    let wrong = ImportChoices(columns: ["payee": "Empfaenger"])
    let text = "Date,Payee,Amount\n2026-03-01,A,1.00\n"

    let failure = #expect(throws: ImportFailure.self) { try bring(text, ImportOptions(choices: wrong)) }
    #expect(failure?.sentence.contains("“Empfaenger”") ?? false)
    let plan = try bring(text, ImportOptions(remembered: wrong))
    #expect(rows(plan) == ["2026-03-01 100 A/-"] && plan.notes.count == 1)
  }

  @Test func `a delimiter that was said is taken, also where another one would fit better`() throws {
    let text = "Date|Payee, who|Amount\n2026-03-01|A, B|1.00\n"
    let choices = ImportChoices(delimiter: "|", columns: ["payee": "2"])

    #expect(try rows(bring(text, ImportOptions(choices: choices))) == ["2026-03-01 100 A, B/-"])
    #expect(throws: ImportFailure.self) { try bring(text, ImportOptions(choices: ImportChoices(delimiter: ";"))) }
  }

  @Test func `a remembered encoding is for files that are no UTF-8`() throws {
    let options = ImportOptions(remembered: ImportChoices(encoding: "windows-1250"))
    var household = SampleHousehold()
    let bytes = Array("Date;Payee;Amount\n2026-03-01;".utf8) + [0xE8] + Array("aj;1,00\n".utf8)

    #expect(try household.bring(bytes, options).records.first?.fields["payee"] == .text("čaj"))
    #expect(try bring("Date;Payee;Amount\n2026-03-01;é;1,00\n", options).encoding == "utf-8")
  }

  @Test func `days of QIF follow what is remembered too`() throws {
    let plan = try bring(
      "!Type:Bank\nD03/04/2026\nT1.00\n^\n", ImportOptions(remembered: ImportChoices(isDayFirst: true)))

    #expect(rows(plan) == ["2026-04-03 100 -/-"])
  }

  // MARK: Payments on two lines

  @Test func `payments on two lines are one row each, with the whole text`() throws {
    let text = """
      Datum;Empfänger;Verwendungszweck;Betrag
      01.03.2026;Stadtwerke;Abschlag;-45,00
      ;;März 2026;
      02.03.2026;Bäcker;;-3,20
      Kartenzahlung 4711
      03.03.2026;Miete;Wohnung;-900,00
      ;Haus & Grund;;

      """
    let plan = try bring(text)

    #expect(
      rows(plan) == [
        "2026-03-01 -4500 Stadtwerke/Abschlag März 2026", "2026-03-02 -320 Bäcker/Kartenzahlung 4711",
        "2026-03-03 -90000 Miete Haus & Grund/Wohnung",
      ])
    #expect(plan.skipped == [] && plan.notes.contains { $0.contains("two lines") })
  }

  @Test func `the amount may stand on the second line`() throws {
    let text = "Date,Payee,Note,Amount\n2026-03-01,Ann,,\n,,Rent,-1.00\n2026-03-02,Ben,,\n,,Gift,2.00\n"

    #expect(try rows(bring(text)) == ["2026-03-01 -100 Ann/Rent", "2026-03-02 200 Ben/Gift"])
  }

  @Test func `in other files a line without a day is told as a mistake`() throws {
    let text =
      "Date,Payee,Amount\n2026-03-01,A,-1.00\n2026-03-02,B,-1.00\n2026-03-03,C,-1.00\n,total,-3.00\n2026-3,D,-1.00\n"

    #expect(try bring(text).skipped.map(\.line) == [5, 6])
    for payments in 1...3 {
      let last = (1...payments).map { "2026-03-0\($0),A,-1.00\n" }.joined() + "End of the list\n"
      #expect(try bring("Date,Payee,Amount\n\(last)").skipped.map(\.line) == [payments + 2])
    }
    #expect(try bring("Date,Payee,Amount\n2026-03-01,A,-1.00\n2026-02-30,B,-1.00\n").skipped.map(\.line) == [3])
  }
}
