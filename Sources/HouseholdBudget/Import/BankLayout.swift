import HouseholdRecords

/// Which column of a bank's CSV file is what, found by the words in its header.
struct BankLayout: Sendable {
  /// What a column may be.
  enum Role: String, Hashable, Sendable, CaseIterable {
    case date, payee, note, amount, debit, credit, currency
  }

  let separator: Character
  /// The physical line of the header; 0 for none.
  let headerLine: Int
  /// The words of the header; none where there is no header.
  let header: [String]
  let columnCount: Int
  let columns: [Role: Int]

  /// A header may stand below this many other records, such as the account and the period.
  private static let preambleRecords = 40

  /// The layout whose header has the most columns that are known here; else what the columns themselves show.
  ///
  /// - Parameter choices: its delimiter and its columns are taken as they are; a header is one that holds them.
  static func find(_ bytes: [UInt8], choices: ImportChoices) -> BankLayout? {
    let head = Array(bytes.prefix(64 << 10))
    let separators = choices.delimiter.map { [$0] } ?? TransactionsCSV.separators
    var best: BankLayout?
    for separator in separators {
      for row in CSVFile(head, separator: separator).rows.prefix(preambleRecords) {
        guard let layout = BankLayout(header: row, separator: separator, chosen: choices.columns) else { continue }
        if layout.columns.count > best?.columns.count ?? 0 { best = layout }
      }
    }
    if let best { return best }
    for separator in separators {
      let isWhole = head.count == bytes.count
      let rows = CSVFile(head, separator: separator).rows
      if let layout = BankLayout(
        contents: isWhole ? rows : rows.dropLast(), separator: separator, chosen: choices.columns)
      {
        return layout
      }
    }
    return nil
  }

  /// How the file is laid out, in the words of a person's choices.
  var choices: ImportChoices {
    var words: [String: String] = [:]
    for (role, column) in columns {
      words[role.rawValue] = header.isEmpty ? String(column + 1) : onOneLine(header[column]) ?? String(column + 1)
    }
    return ImportChoices(delimiter: separator, columns: words)
  }

  /// The cell of a row; nil if the file has no such column or the row is shorter.
  func cell(_ role: Role, of row: CSVRow) -> String? {
    guard let column = columns[role], column < row.fields.count else { return nil }
    return row.fields[column]
  }

  /// A file without a header: the columns that are a date and an amount in (nearly) every row, if there is one of each,
  /// or those that a person named by their numbers.
  private init?(contents rows: [CSVRow], separator: Character, chosen: [String: String]) {
    guard let width = rows.map(\.fields.count).max(), let own = Self.numbered(chosen, width: width) else { return nil }
    var columns = own
    if own[.date] == nil || own[.amount] == nil && own[.debit] == nil && own[.credit] == nil {
      guard let found = Self.shown(rows, width: width) else { return nil }
      columns = found.filter { !own.values.contains($0.value) && chosen[$0.key.rawValue] == nil }
      columns.merge(own) { $1 }
      guard columns[.date] != nil, columns[.amount] != nil else { return nil }
    }
    self.separator = separator
    headerLine = 0
    header = []
    columnCount = width
    self.columns = columns
  }

  /// The columns that a person named by number; nil if one of them has a name instead, or is not there.
  private static func numbered(_ chosen: [String: String], width: Int) -> [Role: Int]? {
    var columns: [Role: Int] = [:]
    for (word, column) in chosen where !column.isEmpty {
      guard let role = Role(rawValue: word), let number = Int(column), (1...width).contains(number) else { return nil }
      columns[role] = number - 1
    }
    return columns
  }

  /// What the contents of the columns show; nil if they do not show a date and an amount with its sign.
  private static func shown(_ rows: [CSVRow], width: Int) -> [Role: Int]? {
    guard width >= 3 else { return nil }
    // A record of the account may stand before the payments.
    let needed = rows.count < 3 ? rows.count : rows.count - max(1, rows.count / 10)
    func count(_ column: Int, _ holds: (String) -> Bool) -> Int {
      rows.count { column < $0.fields.count && holds($0.fields[column]) }
    }
    let dates = (0..<width).filter { column in count(column) { DayText($0) != nil } >= needed }
    let isAmount = { (text: String) in
      DayText(text) == nil && MoneyText(text).map { $0.evidence != nil } ?? false
    }
    let amounts = (0..<width).filter { column in count(column, isAmount) >= needed }
    guard let date = dates.first, amounts.count == 1 else { return nil }
    let isSigned = rows.contains { amounts[0] < $0.fields.count && $0.fields[amounts[0]].contains("-") }
    guard isSigned else { return nil }
    var columns: [Role: Int] = [.date: date, .amount: amounts[0]]
    let isCode = { (text: String) in text.utf8.count == 3 && text.utf8.allSatisfy { (0x41...0x5A).contains($0) } }
    columns[.currency] = (0..<width).first { column in count(column, isCode) >= needed }
    let texts = (0..<width).filter { !dates.contains($0) && !columns.values.contains($0) }
    let lengths = texts.map { column in
      (column, rows.reduce(0) { $0 + (column < $1.fields.count ? $1.fields[column].utf8.count : 0) })
    }
    let longest = lengths.filter { $0.1 > 0 }.sorted { $0.1 > $1.1 }.map(\.0)
    columns[.payee] = longest.first
    columns[.note] = longest.dropFirst().first
    return columns
  }

  private init?(header: CSVRow, separator: Character, chosen: [String: String]) {
    var columns: [Role: Int] = [:]
    let keys = header.fields.map(foldedKey)
    for (word, column) in chosen where !column.isEmpty {
      guard let role = Role(rawValue: word) else { continue }
      let number = Int(column).flatMap { keys.indices.contains($0 - 1) ? $0 - 1 : nil }
      guard let index = keys.firstIndex(of: foldedKey(column)) ?? number else { return nil }
      columns[role] = index
    }
    for role in Role.allCases where chosen[role.rawValue] == nil {
      for word in Self.words[role] ?? [] where columns[role] == nil {
        if let column = keys.firstIndex(of: word), !columns.values.contains(column) { columns[role] = column }
      }
    }
    guard let date = columns[.date], columns[.amount] != nil || columns[.debit] != nil || columns[.credit] != nil,
      DayText(header.fields[date]) == nil
    else { return nil }
    if columns[.payee] == nil, chosen[Role.payee.rawValue] == nil, chosen[Role.note.rawValue] == nil,
      let note = columns[.note]
    {
      columns[.payee] = note
      columns[.note] = nil
    }
    self.separator = separator
    headerLine = header.line
    self.header = header.fields
    columnCount = header.fields.count
    self.columns = columns
  }

  /// Folded words of headers, the best first.
  private static let words: [Role: [String]] = [
    .date: [
      "date", "transaction date", "buchungstag", "buchungsdatum", "datum", "booking date", "completed date",
      "posted date", "posting date", "date (utc)", "valutadatum", "wertstellung", "belegdatum", "könyvelés dátuma",
      "tranzakció dátuma", "dátum", "datum zaúčtování", "datum provedení", "datum verrichting", "data księgowania",
      "data operacji", "fecha", "fecha operación", "data", "data operazione", "date opération", "date de l'opération",
      "dato", "bogført", "bokföringsdag", "交易日期", "日期", "дата", "дата операции",
    ],
    .payee: [
      "payee", "empfänger", "auftraggeber/empfänger", "beguenstigter/zahlungspflichtiger",
      "begünstigter/auftraggeber", "name", "merchant", "counterparty", "counterparty name", "beneficiary",
      "description", "naam / omschrijving", "transaktionsbeschreibung", "partner név", "partner neve",
      "název protiúčtu", "handelaar", "kontrahent", "nadawca/odbiorca", "concepto", "descripción", "descrizione",
      "libellé", "tekst", "交易对方", "商户", "контрагент",
    ],
    .note: [
      "note", "notes", "memo", "verwendungszweck", "purpose", "reference", "details", "mededelingen", "buchungstext",
      "desc", "bank description", "közlemény", "zpráva pro příjemce", "toelichting", "tytuł", "备注", "описание",
    ],
    .amount: [
      "amount", "betrag", "umsatz", "bedrag", "bedrag (eur)", "transaction amount", "buchungsbetrag", "összeg",
      "tranzakció összege", "částka", "částka czk", "kwota", "kwota operacji", "importe", "importo", "montant",
      "beløb", "belopp", "金额", "сумма",
    ],
    .debit: [
      "debit", "debit amount", "soll", "paid out", "money out", "withdrawal", "outflow", "debet", "débit", "支出",
    ],
    .credit: ["credit", "credit amount", "haben", "paid in", "money in", "deposit", "inflow", "crédit", "收入"],
    .currency: [
      "currency", "währung", "waehrung", "currency code", "ccy", "buchungswährung", "devizanem",
      "tranzakció devizaneme", "munt", "waluta", "divisa", "valuta", "devise", "币种", "валюта",
    ],
  ]
}
