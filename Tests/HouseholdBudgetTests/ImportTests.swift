import Foundation
import HouseholdBudget
import HouseholdRecords
import Testing

@Suite struct ImportTests {
  @Test func `sha256 of the tests is SHA-256`() {
    #expect(hexadecimal(sha256(Array("abc".utf8)).prefix(8)) == "ba7816bf8f01cfea")
  }

  @Test func `two years of a household come in to the cent, and again add nothing`() throws {
    var household = SampleHousehold()
    let bytes = try fixture("household-24m.csv")

    let plan = try household.bring(bytes, name: "household-24m.csv")

    #expect((plan.format, plan.encoding) == (.csv, "utf-8"))
    #expect((plan.found, plan.added, plan.known, plan.skipped) == (2348, 2348, 0, []))
    #expect(household.sum == 4_234_572)
    let report = try Report.make(household.budgetRecords, days: allDays, by: .category) { _ in "" }
    let sums = Dictionary(uniqueKeysWithValues: report.sections[0].rows.map { ($0.key, $0.amountMinor) })
    struct Expected: Decodable { let by_category: [String: Int64] }
    #expect(
      try sums == JSONDecoder().decode(Expected.self, from: fixture("household-24m.expected.json")).by_category)
    #expect(household.records[RecordKey(type: "transaction", id: "tx-00001")]?["note"] == .text(""))
    let again = try household.bring(bytes)
    #expect((again.added, again.known, again.records) == (0, 2348, []))
  }

  @Test(arguments: ["utf8", "utf8-bom", "latin1", "utf16le", "utf8-nfd"])
  func `a German statement is the same rows in every encoding`(encoding: String) throws {
    struct Row: Decodable, Equatable {
      let date, payee, note, currency: String
      let amount_minor: Int64
    }
    var household = SampleHousehold()

    let plan = try household.bring(fixture("de-bank-\(encoding).csv"), ImportOptions(account: "Giro"))

    let rows = plan.records.filter { $0.type == "transaction" }.map { $0.fields }
    let found = rows.map { fields in
      Row(
        date: fields["date"]?.text ?? "", payee: fields["payee"]?.text ?? "", note: fields["note"]?.text ?? "?",
        currency: fields["currency"]?.text ?? "", amount_minor: fields["amount_minor"]?.integer ?? 0)
    }
    #expect(try found == JSONDecoder().decode([Row].self, from: fixture("de-bank.expected.json")))
    #expect((plan.found, plan.added, plan.skipped) == (8, 8, []))
    #expect(try household.bring(fixture("de-bank-utf8.csv"), ImportOptions(account: " giro")).known == 8)
  }

  @Test func `whoever waits for a large file hears how far it is, also when nothing is new`() throws {
    var household = SampleHousehold()
    let bytes = Array(try fixture("household-24m.csv"))
    _ = try household.bring(bytes)
    var heard: [Int] = []

    _ = try ImportPlan.make(
      bytes: bytes, fileName: "x.csv", options: ImportOptions(), context: household.context,
      progress: { done, all in if all == 2348 { heard.append(done) } })

    #expect(heard == Array(stride(from: 0, to: 2348, by: 256)))
  }

  @Test func `statements that overlap meet, and equal purchases stay two`() throws {
    var household = SampleHousehold()
    let joint = ImportOptions(account: "joint")

    let august = try household.bring(fixture("overlap-aug.csv"), joint)
    let september = try household.bring(fixture("overlap-sep.csv"), joint)

    #expect((august.added, september.added, september.known) == (4, 2, 3))
    #expect((household.rows("transaction").count, household.sum) == (6, -1030))
    #expect(try household.bring(fixture("overlap-aug.csv"), joint).added == 0)
  }

  @Test func `two devices that import one statement make the same records`() throws {
    var (one, other) = (SampleHousehold(), SampleHousehold())

    _ = try one.bring(fixture("overlap-aug.csv"), ImportOptions(account: "Holiday fund"))
    _ = try other.bring(fixture("overlap-aug.csv"), ImportOptions(account: "holiday  Fund "))

    #expect(Set(one.records.keys) == Set(other.records.keys))
  }

  @Test func `what was deleted here stays deleted and counts as known`() throws {
    var household = SampleHousehold()
    let plan = try household.bring(fixture("overlap-aug.csv"))
    let key = RecordKey(type: "transaction", id: try #require(plan.records.last).id)
    household.records[key] = nil
    household.deleted.insert(key)

    #expect(try household.bring(fixture("overlap-aug.csv")).known == 4)
  }

  @Test func `a bad row is named with its line and the others are taken`() throws {
    var household = SampleHousehold()
    let text = """
      Date,Payee,Amount,Currency
      2026-03-01,Good,-1.00,EUR
      2026-02-30,No such day,-2.00,EUR
      2026-03-02,"Good too",-3.00,EUR
      2026-03-03,No number,abc,EUR
      2026-03-04,"Stray"quote,-4.00,EUR
      2026-03-05,Best,-5.00,EUR
      2026-03-06,"Open,-6.00,EUR
      2026-03-07,Last,-7.00,EUR

      """
    let plan = try household.bring(text.utf8)

    #expect(plan.skipped.map(\.line) == [3, 5, 6, 8])
    #expect(plan.skipped[0].reason.contains("“2026-02-30”") && plan.skipped[1].reason.contains("“abc”"))
    #expect((plan.found, plan.added, household.sum) == (8, 4, -1600))
  }

  @Test func `amounts of the fixture come out exactly or are refused`() throws {
    struct Case: Decodable {
      let currency, text: String
      let minor: Int64?
      enum CodingKeys: CodingKey { case currency, text, minor }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        currency = try container.decode(String.self, forKey: .currency)
        text = try container.decode(String.self, forKey: .text)
        minor = try? container.decode(Int64.self, forKey: .minor)
      }
    }
    for each in try JSONDecoder().decode([Case].self, from: fixture("amounts.expected.json")) {
      var household = SampleHousehold()
      let row = CSVWriter().line(["2026-03-01", "Payee", each.text, each.currency])

      let plan = try household.bring("Date,Payee,Amount,Currency\n\(row)".utf8)

      let amount = plan.records.first?.fields["amount_minor"]?.integer
      #expect(amount == each.minor, "\(each.text) \(each.currency): \(plan.skipped)")
      #expect(plan.skipped.count == (each.minor == nil ? 1 : 0))
    }
  }

  @Test func `one certain date fixes the order of the file, and without one rows are skipped`() throws {
    var household = SampleHousehold()
    let plan = try household.bring("Date,Payee,Amount\n03/04/2026,a,1.00\n13/04/2026,b,2.00\n".utf8)
    #expect(plan.records.map { $0.fields["date"] } == [.text("2026-04-03"), .text("2026-04-13")])

    let unsure = Array("Date,Payee,Amount\n03/04/2026,c,1.00\n".utf8)
    #expect(try household.bring(unsure).skipped.map(\.line) == [2])
    let told = try household.bring(unsure, ImportOptions(choices: ImportChoices(isDayFirst: false)))
    #expect(told.records.map { $0.fields["date"] } == [.text("2026-03-04")])
  }

  @Test func `files that are nothing get one sentence with their name`() throws {
    let files: [(String, [UInt8])] = [
      ("empty.csv", []), ("blank.csv", Array("\n\n \n".utf8)),
      ("noise.csv", (0..<5000).map { UInt8(($0 * 73 + 11) % 256) }),
      ("page.html", Array("<html><body><h1>Session expired</h1></body></html>".utf8)),
      ("letter.txt", Array("Dear Sir or Madam,\nplease find enclosed nothing at all.\n".utf8)),
      ("head-only.csv", Array("Date,Payee,Amount\n".utf8)),
      ("literal-head.csv", Array("id,date,amount_minor\n".utf8)),
      ("cut.json", Array("{\"records\": {\"note\": [".utf8)), ("other.json", Array("[1,2,3]".utf8)),
      ("cut-utf16.csv", [0xFF, 0xFE, 0x44, 0, 0x61, 0, 0x74]), ("zip.zip", Array("PK\u{3}\u{4}".utf8) + [20, 0, 0, 0]),
      ("half.ofx", Array("OFXHEADER:100\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTTRN><TRNAMT>1".utf8)),
      ("weird.xml", Array("<?xml version=\"1.0\"?><Document xmlns=\"urn:weird\"><X/></Document>".utf8)),
      ("cut.qif", Array("!Type:Bank\nD1/2/2026\nT-1.00\n".utf8)),
      ("column.csv", Array("id,date,amount_minor,pyee\n1,2026-01-01,5,x\n".utf8)),
    ]
    for (name, bytes) in files {
      var household = SampleHousehold()
      let failure = #expect(throws: ImportFailure.self, "\(name)") { try household.bring(bytes, name: name) }
      #expect(failure?.sentence.contains(name) ?? false, "\(name)")
    }
  }
}
