import HouseholdRecords

/// Transactions as a journal of plain-text accounting, which hledger or beancount read.
///
/// One entry for each transaction, by day and id: the own account first, below `Assets:`, then what the money was for,
/// below `Expenses:` or `Income:`; the ends of transfers between own accounts stand against `Equity:Transfers`. Amounts
/// are in major units with the currency's code behind the number, the same bytes in every locale. A transaction without
/// a day cannot be an entry and stands as a comment.
package enum Ledger {
  /// The programs that read it.
  package enum Dialect: String, Hashable, Sendable { case hledger, beancount }

  /// A line of an entry.
  struct Posting {
    let account: String
    let amount: Int128
  }

  /// The text of the file.
  package static func text(_ records: BudgetRecords, dialect: Dialect) -> String {
    let sorted = records.transactions.sorted { a, b in
      (a.day?.dayNumber ?? .min, TextBytes(a.id)) < (b.day?.dayNumber ?? .min, TextBytes(b.id))
    }
    let book = Book(records: records, transfers: records.transfers)
    switch dialect {
    case .hledger: return HledgerText.text(sorted, book)
    case .beancount: return BeancountText.text(sorted, book)
    }
  }

  /// What the entries rest on.
  struct Book {
    let records: BudgetRecords
    let transfers: Transfers

    /// The lines of an entry: their amounts are together zero.
    ///
    /// The two ends of a transfer are two entries, each against one account that they leave at zero.
    func postings(of transaction: BudgetRecords.Transaction) -> [Posting] {
      let own = transaction.account.map(records.accountName) ?? "No account"
      let first = Posting(account: "Assets:\(Ledger.part(own))", amount: Int128(transaction.amount))
      guard !transfers.holds(transaction.id) else {
        return [first, Posting(account: "Equity:Transfers", amount: -first.amount)]
      }
      return [first]
        + records.parts(of: transaction).map { Posting(account: account($0.category), amount: -$0.amount) }
    }

    private func account(_ category: String?) -> String {
      let (group, name) = records.path(ofCategory: category)
      if records.isIncome(category) { return "Income:\(Ledger.part(name))" }
      return "Expenses:" + (group.map { "\(Ledger.part($0)):" } ?? "") + Ledger.part(name)
    }
  }

  /// A name as one part of an account's name: on one line, and without what separates parts.
  private static func part(_ name: String) -> String {
    let line = onOneLine(name)?.replacing(":", with: "-") ?? ""
    return line.isEmpty ? "Unnamed" : line
  }
}

/// What hledger reads.
enum HledgerText {
  static func text(_ transactions: [BudgetRecords.Transaction], _ book: Ledger.Book) -> String {
    var text = "; exported by household\ndecimal-mark .\n"
    for transaction in transactions {
      let title = onOneLine(transaction.payee).map(description) ?? ""
      guard let day = transaction.day else {
        text += "\n; no date: \(Currency.text(transaction.amount, transaction.currency)) \(title)\n"
        continue
      }
      let mark = transaction.cleared == false ? "!" : "*"
      text += "\n\(day) \(mark) (\(code(transaction.id)))\(title.isEmpty ? "" : " \(title)")\n"
      for line in physicalLines(of: transaction.note ?? "") {
        if let note = onOneLine(String(line)) { text += "    ; \(note.replacing(":", with: " "))\n" }
      }
      for posting in book.postings(of: transaction) {
        let amount = Currency.text(posting.amount, transaction.currency)
        text += "    \(account(posting.account))  \(amount)\(commodity(transaction.currency))\n"
      }
    }
    return text
  }

  /// A semicolon would begin a comment, a bar the note.
  private static func description(_ line: String) -> String {
    line.replacing(";", with: ",").replacing("|", with: "/")
  }

  private static func code(_ id: String) -> String {
    String(onOneLine(id)?.map { "()".contains($0) ? "_" : $0 } ?? [])
  }

  /// A semicolon would begin a comment.
  private static func account(_ name: String) -> String { name.replacing(";", with: ",") }

  /// Letters stand as they are, anything else in quotes.
  private static func commodity(_ currency: String?) -> String {
    guard let currency = onOneLine(currency) else { return "" }
    if currency.utf8.allSatisfy({ (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }) { return " \(currency)" }
    return " \"\(currency.filter { $0 != "\"" && $0 != ";" })\""
  }
}

/// What beancount reads.
enum BeancountText {
  static func text(_ transactions: [BudgetRecords.Transaction], _ book: Ledger.Book) -> String {
    var names = AccountNames()
    var entries = ""
    for transaction in transactions {
      let payee = onOneLine(transaction.payee) ?? ""
      let code = commodity(transaction.currency)
      guard let day = transaction.day else {
        entries += "\n; no date: \(Currency.text(transaction.amount, transaction.currency)) \(payee)\n"
        continue
      }
      let mark = transaction.cleared == false ? "!" : "*"
      entries += "\n\(day) \(mark) \(quote(payee)) \(quote(onOneLine(transaction.note) ?? ""))\n"
      entries += "  id: \(quote(transaction.id))\n"
      for posting in book.postings(of: transaction) {
        entries += "  \(names.name(posting.account))  \(Currency.text(posting.amount, transaction.currency)) \(code)\n"
      }
    }
    let first = transactions.lazy.compactMap(\.day).first?.description ?? "1970-01-01"
    let opens = names.all.map { "\(first) open \($0)\n" }.joined()
    return "; exported by household\n\n\(opens)\(entries)"
  }

  private static func quote(_ text: String) -> String {
    let line = onOneLine(text) ?? ""
    return "\"\(line.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
  }

  /// Two to 24 capitals and digits that begin with a capital; XXX, the code of no currency, for anything else.
  private static func commodity(_ currency: String?) -> String {
    let code = currency?.uppercased() ?? ""
    let isPlain = code.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) }
    let isRight = isPlain && (2...24).contains(code.utf8.count) && code.utf8.first.map { $0 >= 0x41 } ?? false
    return isRight ? code : "XXX"
  }

  /// Names that beancount takes, one for each of ours: letters, digits and hyphens, each part with a capital first.
  private struct AccountNames {
    private var byName: [TextBytes: String] = [:]
    private var taken: Set<TextBytes> = []

    var all: [String] { byName.values.sorted { $0.isBefore($1) } }

    mutating func name(_ name: String) -> String {
      if let known = byName[TextBytes(name)] { return known }
      let parts = name.split(separator: ":").map { Self.part(String($0)) }
      let plain = parts.joined(separator: ":")
      var (candidate, number) = (plain, 1)
      while !taken.insert(TextBytes(candidate)).inserted {
        number += 1
        candidate = "\(plain)-\(number)"
      }
      byName[TextBytes(name)] = candidate
      return candidate
    }

    private static func part(_ part: String) -> String {
      let words = part.unicodeScalars.split { !isWordLetter($0) }
      let joined = words.map { String(String.UnicodeScalarView($0)) }.joined(separator: "-")
      guard let first = joined.unicodeScalars.first else { return "X" }
      if first.isASCII && !("A"..."Z").contains(first) && !("0"..."9").contains(first) {
        return first.properties.uppercaseMapping + String(String.UnicodeScalarView(joined.unicodeScalars.dropFirst()))
      }
      return joined
    }

    /// ASCII letters and digits, and every letter beyond ASCII.
    private static func isWordLetter(_ scalar: Unicode.Scalar) -> Bool {
      scalar.isASCII
        ? ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
        : scalar.properties.isAlphabetic
    }
  }
}
