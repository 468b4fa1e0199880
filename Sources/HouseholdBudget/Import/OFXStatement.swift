import HouseholdRecords

/// Reads OFX and QFX, the older SGML and the newer XML alike: payments are what stands between `STMTTRN` tags.
///
/// SGML does not close the tags of single values, so nothing depends on closing tags but the payments' own. A day is
/// the one that is written, its first eight digits, whatever time and zone follow.
enum OFXStatement {
  static func read(_ bytes: [UInt8], name: String, into builder: inout PlanBuilder) throws {
    let malformed = { (line: Int, reason: String) in
      ImportFailure(
        .malformed, "The file \(name) is no whole OFX file: line \(line): \(reason).",
        remedy: "Download it from the bank again.")
    }
    var scan = Scan()
    var reader = MarkupReader(bytes)
    do throws(MarkupFailure) {
      while let token = try reader.next() { scan.take(token, line: reader.line) }
    } catch {
      throw malformed(error.line, error.reason)
    }
    guard scan.isOFX else {
      throw ImportFailure(
        .unknownFormat, "The file \(name) is no OFX file.", remedy: "Download it as OFX or QFX, or leave --format out.")
    }
    guard scan.isClosed, scan.current == nil else { throw malformed(reader.line, "it ends too early") }
    try builder.read(each: scan.payments) { try read($0, into: &$1) }
  }

  /// The values of one payment by their tags, the first of each.
  private struct Payment {
    var line: Int
    var values: [String: String] = [:]
    var currency: String?
    var account: String?
  }

  /// What was read so far.
  private struct Scan {
    var payments: [Payment] = []
    var current: Payment?
    var isOFX = false
    var isClosed = false
    private var currency: String?
    private var account: (bank: String?, number: String?) = (nil, nil)
    /// The tag whose value comes next.
    private var tag: String?
    private var value = ""
    /// Whether what comes tells of the amount before the bank changed it: the payment itself is in the file's currency.
    private var isOriginal = false

    mutating func take(_ token: MarkupToken, line: Int) {
      switch token {
      case .text(let text): value += text
      case .open(let name, _, _):
        endValue()
        tag = name.uppercased()
        if tag == "OFX" { isOFX = true }
        if tag == "ORIGCURRENCY" { isOriginal = true }
        if tag == "STMTTRN" {
          current = Payment(line: line, currency: currency, account: accountName)
          isOriginal = false
        }
        if tag == "BANKACCTFROM" || tag == "CCACCTFROM" || tag == "INVACCTFROM" { account = (nil, nil) }
      case .close(let name):
        endValue()
        if name.uppercased() == "OFX" { isClosed = true }
        if name.uppercased() == "ORIGCURRENCY" { isOriginal = false }
        if name.uppercased() == "STMTTRN", let payment = current {
          payments.append(payment)
          current = nil
        }
      }
    }

    private var accountName: String? {
      account.number.map { "\(account.bank ?? "")/\($0)" }
    }

    private mutating func endValue() {
      defer { (tag, value) = (nil, "") }
      guard let tag, let text = onOneLine(value) else { return }
      if current != nil {
        if tag == "CURSYM" && isOriginal { return }
        if current?.values[tag] == nil { current?.values[tag] = text }
      } else {
        switch tag {
        case "CURDEF": currency = text
        case "BANKID": account.bank = text
        case "ACCTID": account.number = text
        default: break
        }
      }
    }
  }

  private static func read(_ payment: Payment, into builder: inout PlanBuilder) throws {
    let currency = builder.currency(own: payment.values["CURSYM"], file: payment.currency)
    let (day, amount): (String, Int64)
    do throws(FieldMisfit) {
      guard let posted = payment.values["DTPOSTED"] else { throw FieldMisfit(reason: "it has no date (DTPOSTED)") }
      guard let text = payment.values["TRNAMT"] else { throw FieldMisfit(reason: "it has no amount (TRNAMT)") }
      day = try FileDialect.plainDay(posted)
      amount = try FileDialect.plainAmount(text, places: Currency.decimalPlaces(currency))
    } catch {
      return builder.skip(line: payment.line, error.reason)
    }
    let (payee, memo) = (payment.values["NAME"], payment.values["MEMO"])
    try builder.take(
      StatementRow(
        line: payment.line, day: day, amount: amount, currency: currency, payee: payee ?? memo,
        note: payee == nil ? nil : memo, bankID: payment.values["FITID"], fileAccount: payment.account))
  }
}
