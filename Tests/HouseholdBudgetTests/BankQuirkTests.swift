import HouseholdBudget
import HouseholdRecords
import Testing

/// The ways of banks' CSV files, each in a small file of its own.
@Suite struct BankQuirkTests {
  private func rows(_ text: String, _ options: ImportOptions = ImportOptions()) throws -> [String] {
    var household = SampleHousehold()
    return try household.bring(text.utf8, name: "x.csv", options).records.filter { $0.type == "transaction" }.map {
      "\($0.fields["date"]?.text ?? "") \($0.fields["amount_minor"]?.integer ?? 0) \($0.fields["payee"]?.text ?? "")"
    }
  }

  @Test func `a file without a header is read by what its columns hold`() throws {
    let text = """
      K|32000|244081|EUR
      | POS 6,49 AT 09.03.|20190311|SHOP ONE|-89.30|
      | POS 7,96 AT 09.03.|20190311|SHOP TWO|1.20|

      """
    #expect(try rows(text) == ["2019-03-11 -8930  POS 6,49 AT 09.03.", "2019-03-11 120  POS 7,96 AT 09.03."])
    let quoted = "18.09.2017;\"A 23,55\";16.09.2017;-33,87;EUR;;\n19.09.2017;\"B\";16.09.2017;-1,00;EUR;;\n"
    #expect(try rows(quoted) == ["2017-09-18 -3387 A 23,55", "2017-09-19 -100 B"])
  }

  @Test func `without a header and a sign nobody knows what goes out`() throws {
    let text = "18.09.2017;A;;33,87\n19.09.2017;B;;1,00\n"

    #expect(throws: ImportFailure.self) { try rows(text) }
  }

  @Test func `letters and words of another column say what goes out, and balances are no payments`() throws {
    let text = """
      "Date","Beneficiary","Details","Amount","D/K"
      "2014-10-01","","Opening balance","10374.04","K"
      "2014-10-01","Shop","x","15.31","D"
      "2014-10-02","Work","y","9.40","K"

      """
    #expect(try rows(text) == ["2014-10-01 -1531 Shop", "2014-10-02 940 Work"])
    #expect(
      try rows("Date,Payee,Amount,Type\n2026-01-01,x,1.00,Debit\n2026-01-02,y,2.00,Credit\n")
        == ["2026-01-01 -100 x", "2026-01-02 200 y"])
    #expect(
      try rows("Date,Payee,Amount,Type\n2026-01-01,x,-1.00,Debit\n2026-01-02,y,2.00,Debit\n")
        == ["2026-01-01 -100 x", "2026-01-02 200 y"])
  }

  @Test func `debit and credit columns, negative inflows, blanks behind quotes, dots behind days, short years`() throws
  {
    #expect(
      try rows("Date,Details,Debit,Credit,Balance\n01/09/2017,A,,428.03,100\n14/09/2017,B,512.0,,\n")
        == ["2017-09-01 42803 A", "2017-09-14 -51200 B"])
    #expect(try rows("Date;Payee;Inflow\n18.09.2017;A;-33,87\n") == ["2017-09-18 -3387 A"])
    #expect(try rows("\"date\",\"payee\",\"amount\" \n\"2024-04-15\",\"A\",\"1.56\" ") == ["2024-04-15 156 A"])
    #expect(
      try rows("Datum;Payee;Betrag\n2019.04.19.;A;1,50\n20.02.18;B;-5,00\n") == [
        "2019-04-19 150 A", "2018-02-20 -500 B",
      ])
    #expect(try rows("Date (UTC),Description,Amount\n04-17-2024,A,-46.00\n") == ["2024-04-17 -4600 A"])
    #expect(
      try rows("\"Date\",\"Amount\",\"Name\"\n\"2018-12-06\",\"-8,78\",\"A\"\n\"2018-12-06\",\"8,78\",\"A\"\n")
        == ["2018-12-06 -878 A", "2018-12-06 878 A"])
  }

  @Test func `days that no row proves are read in the order in which they lie close together, and that is said`() throws
  {
    var household = SampleHousehold()
    let text = "Date,Payee,Amount\n04/09/2024,A,-1.00\n04/03/2024,B,-1.00\n04/02/2024,C,-1.00\n04/01/2024,D,-1.00\n"

    let plan = try household.bring(text.utf8)

    #expect(
      plan.records.compactMap { $0.fields["date"]?.text } == ["2024-04-09", "2024-04-03", "2024-04-02", "2024-04-01"])
    #expect(plan.notes.count == 1 && plan.notes[0].contains("--date-order dmy"))
    #expect(try rows(text, ImportOptions(choices: ImportChoices(isDayFirst: true))).first == "2024-09-04 -100 A")
  }

  @Test func `a person's decimal mark decides what the file does not`() throws {
    let text = "Date;Payee;Amount\n2026-01-01;A;1.000\n"

    #expect(try rows(text, ImportOptions(choices: ImportChoices(hasDecimalComma: true))) == ["2026-01-01 100000 A"])
    #expect(try rows(text, ImportOptions(choices: ImportChoices(hasDecimalComma: false))) == ["2026-01-01 100 A"])
    #expect(try rows(text) == [])
  }
}
