import HouseholdRecords

/// Which column of a bank's CSV file is what, found by the words in its header.
struct BankLayout: Sendable {
  /// What a column may be.
  enum Role: String, Hashable, Sendable, CaseIterable {
    case date, payee, note, amount, debit, credit, currency
  }

  let separator: Character
  /// The physical line of the header.
  let headerLine: Int
  let columnCount: Int
  let columns: [Role: Int]

  /// A header may stand below this many other records, such as the account and the period.
  private static let preambleRecords = 40

  /// The layout whose header has the most columns that are known here; nil if none has a date and an amount.
  static func find(_ bytes: [UInt8]) -> BankLayout? {
    let head = Array(bytes.prefix(64 << 10))
    var best: BankLayout?
    for separator in TransactionsCSV.separators {
      for row in CSVFile(head, separator: separator).rows.prefix(preambleRecords) {
        guard let layout = BankLayout(header: row, separator: separator) else { continue }
        if layout.columns.count > best?.columns.count ?? 0 { best = layout }
      }
    }
    return best
  }

  private init?(header: CSVRow, separator: Character) {
    var columns: [Role: Int] = [:]
    let keys = header.fields.map(Folding.key)
    for role in Role.allCases {
      for word in Self.words[role] ?? [] where columns[role] == nil {
        if let column = keys.firstIndex(of: word), !columns.values.contains(column) { columns[role] = column }
      }
    }
    guard columns[.date] != nil, columns[.amount] != nil || columns[.debit] != nil || columns[.credit] != nil else {
      return nil
    }
    if columns[.payee] == nil, let note = columns[.note] {
      columns[.payee] = note
      columns[.note] = nil
    }
    self.separator = separator
    headerLine = header.line
    columnCount = header.fields.count
    self.columns = columns
  }

  /// Folded words of headers, the best first.
  private static let words: [Role: [String]] = [
    .date: [
      "date", "transaction date", "buchungstag", "buchungsdatum", "datum", "booking date", "completed date",
      "posted date", "posting date", "date (utc)", "valutadatum", "wertstellung",
    ],
    .payee: [
      "payee", "empfänger", "auftraggeber/empfänger", "beguenstigter/zahlungspflichtiger",
      "begünstigter/auftraggeber", "name", "merchant", "counterparty", "counterparty name", "description",
      "naam / omschrijving",
    ],
    .note: [
      "note", "notes", "memo", "verwendungszweck", "purpose", "reference", "details", "mededelingen", "buchungstext",
    ],
    .amount: ["amount", "betrag", "umsatz", "bedrag", "bedrag (eur)", "transaction amount"],
    .debit: ["debit", "debit amount", "soll", "paid out", "money out", "withdrawal", "outflow"],
    .credit: ["credit", "credit amount", "haben", "paid in", "money in", "deposit", "inflow"],
    .currency: ["currency", "währung", "waehrung", "currency code", "ccy"],
  ]
}
