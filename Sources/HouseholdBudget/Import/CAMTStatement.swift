import HouseholdRecords

/// Reads CAMT.053 and its siblings 052 and 054 (ISO 20022): each `Ntry` is a payment.
///
/// An entry that the bank booked for several payments at once stays one, with the entry's own amount: it is what moved
/// on the account.
enum CAMTStatement {
  static func read(_ bytes: [UInt8], name: String, into builder: inout PlanBuilder) throws {
    let malformed = { (line: Int, reason: String) in
      ImportFailure(
        .malformed, "The file \(name) is no whole CAMT file: line \(line): \(reason).",
        remedy: "Download it from the bank again.")
    }
    var scan = Scan()
    var reader = MarkupReader(bytes)
    do throws(MarkupFailure) {
      while let token = try reader.next() { try scan.take(token, line: reader.line) }
    } catch {
      throw malformed(error.line, error.reason)
    }
    guard scan.isStatement else {
      throw ImportFailure(
        .unknownFormat, "The file \(name) is XML, but no CAMT statement.",
        remedy: "Download it as CAMT.053, or as CSV.")
    }
    guard scan.path.isEmpty else { throw malformed(reader.line, "it ends too early") }
    for entry in scan.entries { try read(entry, into: &builder) }
  }

  /// The values of an entry by their path below it; of several with one path, all.
  private struct Entry {
    var line: Int
    var values: [String: [String]] = [:]
    var currency: String?
    var account: String?

    func first(_ paths: String...) -> String? { paths.lazy.compactMap { values[$0]?.first }.first }
  }

  private struct Scan {
    var entries: [Entry] = []
    var path: [String] = []
    var isStatement = false
    private var current: Entry?
    private var account: String?
    private var value = ""

    /// Deeper than any CAMT file goes.
    private static let depthLimit = 64

    mutating func take(_ token: MarkupToken, line: Int) throws(MarkupFailure) {
      switch token {
      case .text(let text): value += text
      case .open(let name, let attributes, let isEmpty):
        guard path.count < Self.depthLimit else { throw MarkupFailure(line: line, reason: "it is nested too deep") }
        value = ""
        if !isEmpty { path.append(name) }
        if name.hasPrefix("BkToCstmr") { isStatement = true }
        if name == "Stmt" || name == "Rpt" || name == "Ntfctn" { account = nil }
        if name == "Ntry", !isEmpty { current = Entry(line: line, account: account) }
        if name == "Amt", path.dropLast().last == "Ntry" { current?.currency = attributes["Ccy"] }
      case .close(let name):
        guard path.last == name else {
          throw MarkupFailure(line: line, reason: "\(quoted(name)) closes what is not open")
        }
        close(name)
        path.removeLast()
        value = ""
      }
    }

    private mutating func close(_ name: String) {
      if name == "Ntry" {
        if let current { entries.append(current) }
        current = nil
      } else if let start = path.lastIndex(of: "Ntry") {
        guard let text = onOneLine(value) else { return }
        current?.values[path[(start + 1)...].joined(separator: "/"), default: []].append(text)
      } else if path.suffix(3).elementsEqual(["Acct", "Id", "IBAN"])
        || path.suffix(4).elementsEqual(["Acct", "Id", "Othr", "Id"])
      {
        account = onOneLine(value)
      }
    }
  }

  private static func read(_ entry: Entry, into builder: inout PlanBuilder) throws {
    let currency = builder.currency(own: entry.currency, file: nil)
    let direction = entry.first("CdtDbtInd")
    let (day, amount): (String, Int64)
    do throws(FieldMisfit) {
      guard let written = entry.first("BookgDt/Dt", "BookgDt/DtTm", "ValDt/Dt", "ValDt/DtTm") else {
        throw FieldMisfit(reason: "it has no date (BookgDt)")
      }
      guard let text = entry.first("Amt") else { throw FieldMisfit(reason: "it has no amount (Amt)") }
      guard direction == "CRDT" || direction == "DBIT" else {
        throw FieldMisfit(reason: "it says neither CRDT nor DBIT (CdtDbtInd)")
      }
      day = try FileDialect.plainDay(written)
      let plain = try FileDialect.plainAmount(text, places: Currency.decimalPlaces(currency))
      amount = direction == "DBIT" ? -plain : plain
    } catch {
      return builder.skip(line: entry.line, error.reason)
    }
    let (payee, note) = texts(entry, isIncoming: direction == "CRDT")
    try builder.take(
      StatementRow(
        line: entry.line, day: day, amount: amount, currency: currency, payee: payee ?? note,
        note: payee == nil ? nil : note, bankID: entry.first("AcctSvcrRef"), fileAccount: entry.account))
  }

  /// Who is at the other side, and what for.
  private static func texts(_ entry: Entry, isIncoming: Bool) -> (payee: String?, note: String?) {
    let details = "NtryDtls/TxDtls"
    let one = isIncoming ? "Dbtr" : "Cdtr"
    let names = ["\(details)/RltdPties/\(one)/Nm", "\(details)/RltdPties/\(one)/Pty/Nm"].flatMap {
      entry.values[$0] ?? []
    }
    let ultimate = entry.first("\(details)/RltdPties/Ultmt\(one)/Nm", "\(details)/RltdPties/Ultmt\(one)/Pty/Nm")
    let purposes = entry.values["\(details)/RmtInf/Ustrd"] ?? []
    let information = entry.first("AddtlNtryInf", "\(details)/AddtlTxInf")
    guard names.count < 2 else {
      return (
        information ?? "\(names[0]) and \(names.count - 1) more",
        purposes.isEmpty ? nil : purposes.joined(separator: "; ")
      )
    }
    let note = purposes.isEmpty ? information : purposes.joined(separator: " ")
    return (names.first ?? ultimate, note)
  }
}
