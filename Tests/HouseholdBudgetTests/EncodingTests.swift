import Foundation
import HouseholdBudget
import HouseholdRecords
import Testing

@Suite struct EncodingTests {
  private func bring(_ bytes: [UInt8], _ options: ImportOptions = ImportOptions()) throws -> ImportPlan {
    var household = SampleHousehold()
    return try household.bring(bytes, name: "x.csv", options)
  }

  private func csv(_ payees: [String], _ encoding: String.Encoding) throws -> [UInt8] {
    let rows = payees.map { "2026-03-01;\($0);-1,50\n" }
    return Array(try #require("Date;Payee;Amount\n\(rows.joined())".data(using: encoding)))
  }

  private func payees(_ plan: ImportPlan) -> [String] { plan.records.compactMap { $0.fields["payee"]?.text } }

  @Test(arguments: [
    (["Příspěvek", "Účet", "Žádost", "čaj"], String.Encoding.windowsCP1250, "windows-1250"),
    (["Opłata", "Kąpiel", "Książki", "źródło"], .windowsCP1250, "windows-1250"),
    (["Fizetés", "Őrség", "Gyűjtő"], .windowsCP1250, "windows-1250"),
    (["Müller", "Bäckerei Groß", "Café"], .isoLatin1, "iso-8859-1"),
    (["Müller", "Bäckerei – 5 €", "„Gruß“"], .windowsCP1252, "windows-1252"),
    (["Crédit à la façade", "Œuvre", "été"], .windowsCP1252, "windows-1252"),
    (["Peluquería Ñandú", "Año"], .isoLatin1, "iso-8859-1"),
    (["Оплата", "Продукты", "Аптека"], .windowsCP1251, "windows-1251"),
    (["Καφές", "Ψωμί"], .windowsCP1253, "windows-1253"),
  ])
  func `older encodings are told apart by the letters of languages`(
    payees: [String], encoding: String.Encoding, name: String
  ) throws {
    let plan = try bring(csv(payees, encoding))

    #expect(plan.encoding == name)
    #expect(self.payees(plan) == payees)
    #expect(plan.notes.isEmpty)
  }

  @Test func `Chinese of GB 18030 is Chinese`() throws {
    let head = Array("Date,Payee,Amount\n2024-05-01,".utf8)
    let restaurant: [UInt8] = [0xB1, 0xB1, 0xBE, 0xA9, 0xB2, 0xCD, 0xCC, 0xFC]

    let plan = try bring(head + restaurant + Array(",-35.00\n".utf8))

    #expect((plan.encoding, payees(plan)) == ("gb18030", ["北京餐厅"]))
  }

  @Test func `a person's word goes before the file's, and the file's before a guess`() throws {
    let bytes = try csv(["Příspěvek"], .windowsCP1250)
    let told = try bring(bytes, ImportOptions(choices: ImportChoices(encoding: "CP1252")))
    #expect((told.encoding, payees(told)) == ("windows-1252", ["Pøíspìvek"]))
    #expect(throws: ImportFailure.self) { try bring(bytes, ImportOptions(choices: ImportChoices(encoding: "utf-7"))) }
    #expect(throws: ImportFailure.self) {
      try bring(bytes, ImportOptions(choices: ImportChoices(encoding: "UTF-8//IGNORE")))
    }

    let ofx = "CHARSET:1252\n\n<OFX><STMTTRN><DTPOSTED>20260102<TRNAMT>-1.00<NAME>čaj</STMTTRN></OFX>"
    let data = try #require(ofx.data(using: .windowsCP1250))
    #expect(try payees(bring(Array(data))) == ["èaj"])
  }

  @Test func `a text that lost letters on its way is read, and the note says so`() throws {
    let bytes =
      Array("Date;Payee;Amount\n2026-03-01;M".utf8) + [0xBC] + Array("ller B".utf8) + [0xA4] + Array("r;-1,50\n".utf8)

    let plan = try bring(bytes)

    #expect(plan.added == 1 && plan.notes.count == 1 && plan.notes[0].contains("lost letters"))
  }
}
