import Foundation
import HouseholdBudget
import HouseholdRecords
import Testing

@Suite struct StatementFormatTests {
  private struct Row: Equatable {
    var day: String
    var amount: Int64
    var payee: String?
    var note: String?
    var currency: String?
  }

  private func rows(_ plan: ImportPlan) -> [Row] {
    plan.records.filter { $0.type == "transaction" }.map { record in
      Row(
        day: record.fields["date"]?.text ?? "", amount: record.fields["amount_minor"]?.integer ?? 0,
        payee: record.fields["payee"]?.text, note: record.fields["note"]?.text,
        currency: record.fields["currency"]?.text)
    }
  }

  private func bring(_ text: String, _ name: String, _ options: ImportOptions = ImportOptions()) throws -> ImportPlan {
    var household = SampleHousehold()
    return try household.bring(text.utf8, name: name, options)
  }

  // MARK: OFX

  @Test func `a day of OFX is the one that is written, whatever the zone`() throws {
    var household = SampleHousehold()
    let plan = try household.bring(fixture("dtposted-timezones.ofx"), name: "t.ofx")

    let expected = try JSONDecoder().decode([String: String].self, from: fixture("dtposted-timezones.expected.json"))
    let found = rows(plan).map { (String($0.payee?.split(separator: " ").last ?? ""), $0.day) }
    #expect(Dictionary(uniqueKeysWithValues: found) == expected && plan.format == .ofx)
  }

  @Test func `OFX as XML and as SGML is read alike: entities, CDATA, empty tags, places and thousands`() throws {
    let plan = try bring(
      """
      <?xml version="1.0" encoding="UTF-8"?><?OFX OFXHEADER="200"?><!DOCTYPE OFX [<!ENTITY x "y">]>
      <OFX><CURDEF>USD</CURDEF><BANKACCTFROM><ACCTID>1</ACCTID></BANKACCTFROM>
      <STMTTRN><DTPOSTED>20260102</DTPOSTED><TRNAMT>-30.000</TRNAMT><FITID></FITID><NAME><![CDATA[A & <B>]]></NAME></STMTTRN>
      <STMTTRN><DTPOSTED>20260103<TRNAMT>-3,77000<CHECKNUM>
      <NAME>AT&T &amp; Co &#233;&x;<MEMO>  two
      lines </STMTTRN>
      <STMTTRN><DTPOSTED>20260104<TRNAMT>12.34<NAME><MEMO>Only memo<CURRENCY><CURSYM>AUD</CURSYM></CURRENCY></STMTTRN>
      <STMTTRN><DTPOSTED><TRNAMT>1.00<NAME>No day</STMTTRN>
      <STMTTRN><DTPOSTED>20260231<TRNAMT>1.00</STMTTRN>
      <STMTTRN><DTPOSTED>20260105<TRNAMT>1.005</STMTTRN>
      </OFX>
      """, "x.ofx")

    #expect(
      rows(plan) == [
        Row(day: "2026-01-02", amount: -3000, payee: "A & <B>", currency: "USD"),
        Row(day: "2026-01-03", amount: -377, payee: "AT&T & Co é&x;", note: "two lines", currency: "USD"),
        Row(day: "2026-01-04", amount: 1234, payee: "Only memo", currency: "AUD"),
      ])
    #expect(plan.skipped.map(\.line) == [8, 9, 10])
  }

  @Test func `the currency before the bank changed the amount is not the payment's`() throws {
    let original = "<ORIGCURRENCY><CURRATE>1.6<CURSYM>AUD</ORIGCURRENCY>"
    let plan = try bring(
      """
      <OFX><CURDEF>USD
      <STMTTRN><DTPOSTED>20260104<TRNAMT>-12.34<NAME>Hostel\(original)</STMTTRN>
      <STMTTRN><DTPOSTED>20260105<TRNAMT>-5.00<NAME>Ferry\(original)<CURRENCY><CURRATE>1<CURSYM>CHF</CURRENCY></STMTTRN>
      </OFX>
      """, "x.ofx")

    #expect(rows(plan).map(\.currency) == ["USD", "CHF"])
  }

  @Test func `payments of two accounts in one file do not meet, and an empty list is no mistake`() throws {
    let payment = "<STMTTRN><DTPOSTED>20260102<TRNAMT>-1.00<FITID>1<NAME>X</STMTTRN>"
    let plan = try bring(
      "<OFX><BANKACCTFROM><ACCTID>1</BANKACCTFROM>\(payment)<BANKACCTFROM><ACCTID>2</BANKACCTFROM>\(payment)</OFX>",
      "x.qfx")
    #expect(plan.added == 2)

    #expect(try bring("<OFX><BANKTRANLIST></BANKTRANLIST></OFX>", "x.ofx").found == 0)
  }

  // MARK: QIF

  @Test func `QIF days, thousands, parts and transfers`() throws {
    var household = SampleHousehold()
    let plan = try household.bring(fixture("qif-apostrophe-and-splits.qif"), name: "x.qif")

    #expect(rows(plan).map(\.day) == ["2004-01-05", "1999-12-31", "2024-02-29", "2024-03-01"])
    #expect(rows(plan).map(\.amount) == [-123456, -100, -10000, 25000])
    let names = household.rows("category").reduce(into: [:]) { $0[$1.id] = $1.fields["name"]?.text }
    let parts = household.rows("split").map { part in
      "\(names[part.fields["category"]?.text ?? ""] ?? "") \(part.fields["amount_minor"]?.integer ?? 0)"
    }
    #expect(parts == ["Groceries -6000", "Household -3999", "Household -1"])
    #expect(plan.notes.contains { $0.contains("transfer") } && plan.format == .qif)
    #expect(try household.bring(fixture("qif-apostrophe-and-splits.qif"), name: "x.qif").known == 4)
  }

  @Test func `one certain day fixes the order of a QIF file`() throws {
    var household = SampleHousehold()
    let plan = try household.bring(fixture("qif-ddmm-ambiguous.qif"), name: "x.qif")

    #expect(rows(plan).map(\.day) == ["2026-04-03", "2026-04-13", "2026-04-05"])
  }

  @Test func `parts that do not add up are named, lists of other things are passed over, missing is not empty`() throws
  {
    let plan = try bring(
      """
      !Account
      NChecking
      ^
      !Type:Cat
      NFood
      ^
      !Type:CCard
      D12/31/2025
      T-10.00
      SFood
      $-9.00
      ^
      D12/31/2025
      T-2.00
      P
      ^
      D12/31/2025
      U-3.00
      MOnly memo
      LFood/Class
      ^
      """, "x.qif")

    #expect(plan.skipped.map(\.line) == [8])
    #expect(rows(plan).map(\.payee) == ["", nil] && rows(plan).map(\.note) == [nil, "Only memo"])
  }

  // MARK: MT940

  @Test func `MT940 signs, days, amounts and texts of several banks`() throws {
    let plan = try bring(
      """
      ABNANL2A
      940
      :20:X
      :25:517852257
      :60F:C251230EUR3236,28
      :61:2512310101D500,N426NONREF//BANKREF
      :86:/TRTP/SEPA/NAME/W. Jansen/REMI/Rent
       December/EREF/1/
      :61:260102RD000000000044,95N0600733959555      SHOP
      :86:BETALINGSKENM.  1
      :86:SECOND LINE
      :61:260103CR3,03NTRFNONREF
      own text
      :86:166?00GUTSCHRIFT?20Miete?21 Mai?32Erika?33 Muster
      :61:260104X1,00NTRF
      :61:260230D1,00NTRF
      :62F:C260105EUR1,00
      :86:about the statement
      -
      """, "x.sta")

    #expect(
      rows(plan) == [
        Row(day: "2026-01-01", amount: -50000, payee: "W. Jansen", note: "Rent December", currency: "EUR"),
        Row(
          day: "2026-01-02", amount: 4495, payee: "BETALINGSKENM. 1", note: "BETALINGSKENM. 1 SECOND LINE",
          currency: "EUR"),
        Row(
          day: "2026-01-03", amount: 303, payee: "own text", note: plan.records[2].fields["note"]?.text, currency: "EUR"
        ),
      ])
    #expect(plan.skipped.map(\.line) == [15, 16] && plan.format == .mt940)
    #expect(try bring(":NS:\n", "e.sta").found == 0)
  }

  // MARK: CAMT

  private let camt = """
    <?xml version="1.0" encoding="UTF-8"?>
    <Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>
    <Acct><Id><IBAN>DE00</IBAN></Id></Acct>
    <Bal><Amt Ccy="EUR">9.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>
    <Ntry><Amt Ccy="EUR">12.50</Amt><CdtDbtInd>DBIT</CdtDbtInd><BookgDt><Dt>2026-03-01</Dt></BookgDt>
    <AcctSvcrRef>R1</AcctSvcrRef><NtryDtls><TxDtls><Amt Ccy="USD">13.00</Amt>
    <RltdPties><Dbtr><Pty><Nm>Me</Nm></Pty></Dbtr><Cdtr><Pty><Nm>Shop &amp; Co</Nm></Pty></Cdtr></RltdPties>
    <RmtInf><Ustrd>Invoice</Ustrd><Ustrd>17</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>
    <Ntry><Amt Ccy="EUR">3</Amt><CdtDbtInd>CRDT</CdtDbtInd><BookgDt><DtTm>2026-03-02T23:59:59-05:00</DtTm></BookgDt>
    <AddtlNtryInf>Interest</AddtlNtryInf></Ntry>
    <Ntry><Amt Ccy="EUR">1.005</Amt><CdtDbtInd>CRDT</CdtDbtInd><BookgDt><Dt>2026-03-02</Dt></BookgDt></Ntry>
    </Stmt></BkToCstmrStmt></Document>
    """

  @Test func `CAMT entries, with the own amount of the account and who is at the other side`() throws {
    let plan = try bring(camt, "x.xml")

    #expect(
      rows(plan) == [
        Row(day: "2026-03-01", amount: -1250, payee: "Shop & Co", note: "Invoice 17", currency: "EUR"),
        Row(day: "2026-03-02", amount: 300, payee: "Interest", currency: "EUR"),
      ])
    #expect(plan.format == .camt && plan.skipped.map(\.line) == [11])
  }

  @Test func `a CAMT file that ends too early or crosses its tags is refused whole`() throws {
    for text in [String(camt.dropLast(30)), camt.replacing("</NtryDtls></Ntry>", with: "</Ntry></NtryDtls>")] {
      let failure = #expect(throws: ImportFailure.self) { try bring(text, "x.xml") }
      #expect(failure?.code == .malformed)
    }
  }

  @Test func `every cut of every format is taken or refused in words, and never crashes`() throws {
    let texts = try ["qif-apostrophe-and-splits.qif", "dup-fitid-different-amounts.ofx"].map {
      String(decoding: try fixture($0), as: UTF8.self)
    }
    for (text, format) in zip(texts + [camt], [ImportFormat.qif, .ofx, .camt]) {
      for length in stride(from: 0, to: text.utf8.count, by: 7) {
        do {
          var household = SampleHousehold()
          _ = try household.bring(text.utf8.prefix(length), name: "x", ImportOptions(format: format))
        } catch let failure as ImportFailure {
          #expect(failure.sentence.contains("x"))
        }
      }
    }
  }
}
