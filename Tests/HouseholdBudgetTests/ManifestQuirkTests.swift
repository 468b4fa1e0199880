import HouseholdBudget
import HouseholdRecords
import Testing

/// The quirks of real banks' files that no other test of this target has, each in a small file of its own.
@Suite struct ManifestQuirkTests {
  private func bring(_ text: String, _ name: String = "x.csv") throws -> ImportPlan {
    var household = SampleHousehold()
    return try household.bring(text.utf8, name: name)
  }

  private func rows(_ plan: ImportPlan) -> [String] {
    plan.records.filter { $0.type == "transaction" }.map { record in
      let currency = record.fields["currency"]?.text ?? "-"
      let amount = record.fields["amount_minor"]?.integer ?? 0
      return "\(record.fields["date"]?.text ?? "") \(amount) \(currency) \(record.fields["payee"]?.text ?? "-")"
    }
  }

  @Test func `a payee may hold days, times and amounts, and a line may end with empty fields`() throws {
    let text = """
      Date;Payee;Inflow;Currency;;
      18.09.2017;POS 23,55 AT 16.09. 14:05;-23,55;EUR;;
      19.09.2017;Lohn;1.200,00;EUR;;

      """
    #expect(
      try rows(bring(text)) == ["2017-09-18 -2355 EUR POS 23,55 AT 16.09. 14:05", "2017-09-19 120000 EUR Lohn"])
  }

  @Test func `tabs without a header are read by what the columns hold, also with letters that were lost`() throws {
    var household = SampleHousehold()
    let bytes =
      Array("18.09.2017\tM".utf8) + [0xBC] + Array("ller B".utf8) + [0xA4] + Array("r\t-33,87\tEUR\n".utf8)
      + Array("19.09.2017\tB\t1,00\tEUR\n".utf8)

    let plan = try household.bring(bytes, name: "x.tsv")

    #expect(plan.added == 2 && plan.records.compactMap { $0.fields["amount_minor"]?.integer } == [-3387, 100])
    #expect(plan.notes.contains { $0.contains("lost letters") })
  }

  @Test func `money in and money out in columns of their own, both without a sign, the other one empty in quotes`()
    throws
  {
    let text =
      "Datum;Text;Soll;Haben\n18.09.2017;A;\"33,87\";\"\"\n19.09.2017;B;\"\";\"5,00\"\n20.09.2017;C;\"\";\"\"\n"

    let plan = try bring(text.replacing("Text", with: "Empfänger"))

    #expect(rows(plan) == ["2017-09-18 -3387 - A", "2017-09-19 500 - B"])
    #expect(plan.skipped.map(\.reason) == ["it has no amount"])
  }

  @Test func `a sign and a word for the direction do not count twice, and whole forints have no places`() throws {
    let text = """
      "Tranzakció dátuma";"Összeg";"Devizanem";"Partner név";"Irány"
      "2019.04.19.";"-1500";"HUF";"Bolt";"OUT"
      "2019.04.20.";"20000";"HUF";"Munka";"IN"

      """
    #expect(try rows(bring(text)) == ["2019-04-19 -150000 HUF Bolt", "2019-04-20 2000000 HUF Munka"])
  }

  @Test func `a mark before a quoted header, many columns, nearly all empty, rows that differ by the day only`() throws
  {
    let header = (["Könyvelés dátuma", "Összeg", "Devizanem", "Partner neve"] + (5...29).map { "c\($0)" })
    let line = { (day: String) in
      ([day, "-990", "HUF", "Kávé"] + Array(repeating: "", count: 25)).map { "\"\($0)\"" }.joined(separator: ";")
    }
    let head = header.map { "\"\($0)\"" }.joined(separator: ";")

    let plan = try bring("\u{FEFF}\(head)\n\(line("2024.05.01"))\n\(line("2024.05.02"))\n")

    #expect(rows(plan) == ["2024-05-01 -99000 HUF Kávé", "2024-05-02 -99000 HUF Kávé"])
  }

  @Test func `slashes in days beside decimal commas`() throws {
    #expect(
      try rows(bring("Datum zaúčtování;Částka;Název protiúčtu\n25/01/2019;-1 234,50;Obchod\n02/02/2019;10,00;Plat\n"))
        == ["2019-01-25 -123450 - Obchod", "2019-02-02 1000 - Plat"])
  }

  @Test func `of an original and a booked amount the booked one counts, with its currency`() throws {
    let text = """
      "Belegdatum";"Originalbetrag";"Originalwährung";"Buchungsbetrag";"Buchungswährung";"Transaktionsbeschreibung"
      "20.02.18";"-5,00";"USD";"-4,10";"EUR";"Coffee"

      """
    #expect(try rows(bring(text)) == ["2018-02-20 -410 EUR Coffee"])
  }

  @Test func `the same amount and text on other days, a rate, and a card number that is missing`() throws {
    let text = """
      Datum;Kaart;Handelaar;Bedrag;Munt;Koers
      01/12/2020;1234;Parking;-2,50;EUR;1,0
      02/12/2020;1234;Parking;-2,50;EUR;1,0
      15/12/2020;;Betaling;5,00;EUR;

      """
    #expect(
      try rows(bring(text)) == [
        "2020-12-01 -250 EUR Parking", "2020-12-02 -250 EUR Parking", "2020-12-15 500 EUR Betaling",
      ])
  }

  @Test func `what goes out cannot be told from unsigned amounts without a header: refused with the way out`() throws {
    let failure = #expect(throws: ImportFailure.self) {
      try bring("01/02/2018,\"  Shop, AnyTown20.59 \",Visa,,20.59\n02/02/2018,\"  Bar\",Visa,,1.00\n")
    }
    #expect(failure?.remedy.contains("--column") ?? false)
  }

  @Test func `a name that lies about the format says nothing`() throws {
    #expect(try bring("Date,Payee,Amount\n2026-01-01,A,1.00\n", "x.xls").format == .csv)
    #expect(try bring("<OFX><STMTTRN><DTPOSTED>20260101<TRNAMT>1.00</STMTTRN></OFX>", "x.csv").format == .ofx)
  }

  @Test func `a card's payments come in and its purchases go out, months first`() throws {
    let text = """
      Card,Transaction Date,Post Date,Description,Category,Type,Amount,Memo
      1111,04/02/2024,04/04/2024,Shop,Gifts,Sale,-10.00,
      1111,04/15/2024,04/15/2024,Payment,,Payment,100.00,

      """
    #expect(try rows(bring(text)) == ["2024-04-02 -1000 - Shop", "2024-04-15 10000 - Payment"])
  }

  @Test func `the local day counts, not the one of a timestamp beside it`() throws {
    let text = """
      id,date,post_date,timestamp,timezone,desc,amount,currency
      1,2025-06-28,2025-07-01,2025-06-29T00:32:53.036910+00:00,America/Los_Angeles,Hub,12.34,USD

      """
    #expect(try rows(bring(text)) == ["2025-06-28 1234 USD Hub"])
    #expect(
      try rows(bring("Date (UTC),Description,Amount,Timestamp\n04-17-2024,A,-46.00,04-18-2024 01:00:00\n"))
        == ["2024-04-17 -4600 - A"])
  }

  @Test func `a running balance is no amount`() throws {
    #expect(
      try rows(
        bring(
          "\"date\",\"description\",\"amount\",\"balance\",\"currency\"\n\"2024-04-15\",\"A\",\"1.56\",\"101.56\",\"CAD\"\n"
        ))
        == ["2024-04-15 156 CAD A"])
  }

  @Test func `OFX with empty tags for the currency and the balance, numbers of cheques, ids that hold the amount`()
    throws
  {
    let text = """
      OFXHEADER:100

      <OFX><CURDEF><LEDGERBAL><BALAMT><DTASOF>20260101</LEDGERBAL>
      <STMTTRN><TRNTYPE>CHECK<DTPOSTED>20260102122000.000[-5:EST]<TRNAMT>-30.000<FITID>2026-01-02-30.000<CHECKNUM>1001</STMTTRN>
      <STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260103<TRNAMT>-3.77000<FITID>2026-01-03-3.77<NAME>B</STMTTRN>
      <STMTTRN><DTPOSTED><TRNAMT>-1.00<FITID>X<NAME>C</STMTTRN>
      <STMTTRN><DTPOSTED>20260104<TRNAMT>-1.00<FITID>X<NAME>C</STMTTRN>
      </OFX>
      """
    let plan = try bring(text, "x.ofx")

    #expect(rows(plan) == ["2026-01-02 -3000 - -", "2026-01-03 -377 - B", "2026-01-04 -100 - C"])
    #expect(plan.skipped.map(\.line) == [6])
  }

  @Test func `QFX that says USASCII and 8859-1 and holds accents is Latin`() throws {
    var household = SampleHousehold()
    let head = "OFXHEADER:100\nENCODING:USASCII\nCHARSET:8859-1\n\n<OFX><STMTTRN><DTPOSTED>20260102<TRNAMT>-1.00<NAME>D"
    let bytes = Array(head.utf8) + [0xE9] + Array("panneur</STMTTRN></OFX>".utf8)

    let plan = try household.bring(bytes, name: "x.qfx")

    #expect(plan.encoding == "iso-8859-1" && rows(plan) == ["2026-01-02 -100 - Dépanneur"])
  }

  @Test func `MT940 with a prologue in UTF-8, amounts in every form, and a reference over two lines`() throws {
    let text = """
      {1:F01INGBNL2AXXXX0000000000}é
      :20:P1
      :25:NL00
      :60F:C260101EUR0,
      :61:2601020102D500,NTRF
      :86:A
      :61:2601030103C00000000000004,5NTRFREF
      ERENCE
      :86:B
      :61:260104DR1234567,89NMSC
      :86:C
      :61:260105C1,2,3NTRF
      :62F:C260105EUR0,

      """
    let plan = try bring(text, "x.sta")

    #expect(plan.records.compactMap { $0.fields["amount_minor"]?.integer } == [-50000, 450, -123_456_789])
    #expect(plan.skipped.map(\.line) == [12])
  }

  @Test func `QIF groups of categories, and payees or memos that are missing`() throws {
    var household = SampleHousehold()
    let text = """
      !Type:Bank
      D1/13/26
      T-5.00
      PShop
      MNote
      LIncome:Bonus
      ^
      D1/14/26
      T-6.00
      MOnly
      ^
      D1/15/26
      T-7.00
      POnly
      ^
      D1/16/26
      T-8.00
      ^
      """
    let plan = try household.bring(text.utf8, name: "x.qif")

    #expect(
      plan.records.filter { $0.type == "transaction" }.map { $0.fields["payee"] } == [
        .text("Shop"), nil, .text("Only"), nil,
      ])
    let category = try #require(household.rows("category").first { $0.fields["name"] == .text("Bonus") })
    #expect(category.fields["group"] == .text(BudgetSchema.BuiltIn.income))
  }

  @Test func `a journal of ledger is no bank file: one sentence`() throws {
    let text = "= /^Expenses/\n  (Tax)  0.1\n\n2004/05/03=2004/05/01 * Checking\n  Assets:Bank  $1,000.00\n  Equity\n"

    #expect(throws: ImportFailure.self) { try bring(text, "x.dat") }
  }
}
