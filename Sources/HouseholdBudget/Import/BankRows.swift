import HouseholdRecords

/// Reads a bank's CSV file: what a date and an amount look like is decided once for the whole file, never per row.
struct BankRows {
  private let layout: BankLayout
  private let dialect: FileDialect
  private let direction: DirectionColumn?

  static func read(_ bytes: [UInt8], name: String, into builder: inout PlanBuilder) throws {
    let layout = try layout(of: bytes, name: name, into: &builder)
    let file = CSVFile(bytes, separator: layout.separator)
    let written = file.rows.filter { $0.line > layout.headerLine && $0.fields.contains { !isBlank($0) } }
    let rows = TwoLineRecords.joined(written, layout: layout)
    let faults = file.faults.filter { $0.line > layout.headerLine }
    try TransactionsCSV.check(file, name: name, rowsBefore: 0)
    guard !rows.isEmpty || !faults.isEmpty else {
      throw ImportFailure(
        .empty, "The file \(name) has a header and no rows.", remedy: "Export a period that has transactions.")
    }
    let reader = BankRows(layout: layout, rows: rows, options: builder.options)
    builder.read(as: layout.choices, reader.dialect)
    if rows.count < written.count {
      builder.note("Payments stand on two lines each: \(written.count) lines were read as \(rows.count) payments.")
    }
    for fault in faults { builder.skip(line: fault.line, fault.reason) }
    try builder.read(each: rows) { try reader.read($0, into: &$1) }
  }

  /// The layout by a person's choices, with what is remembered where the file has it; else as the file itself shows.
  private static func layout(
    of bytes: [UInt8], name: String, into builder: inout PlanBuilder
  ) throws(ImportFailure) -> BankLayout {
    let (chosen, remembered) = (builder.options.choices, builder.options.remembered)
    if let layout = BankLayout.find(bytes, choices: chosen.over(remembered)) { return layout }
    if let layout = BankLayout.find(bytes, choices: chosen) {
      builder.note("What is remembered of this account's files does not fit this one and was left aside.")
      return layout
    }
    let named = chosen.columns.values.filter { !$0.isEmpty }.sorted()
    guard named.isEmpty else {
      throw ImportFailure(
        .unknownFormat,
        "The file \(name) has no header with \(named.map(quoted).joined(separator: " and ")) beside a date and an amount.",
        remedy: "Name columns by the words of the header or by their numbers from 1, such as --column amount=4.")
    }
    throw ImportFailure(
      .unknownFormat,
      "The file \(name) is no CSV with a header that names a date and an amount, or with columns that show them.",
      remedy: "Export it as CSV with a header, or say which column is what: --column date=1 --column amount=4.")
  }

  private init(layout: BankLayout, rows: [CSVRow], options: ImportOptions) {
    self.layout = layout
    let amounts = rows.lazy.flatMap { row in
      [BankLayout.Role.amount, .debit, .credit].compactMap { layout.cell($0, of: row) }
    }
    dialect = FileDialect(amounts: amounts, days: rows.lazy.compactMap { layout.cell(.date, of: $0) }, options: options)
    direction = DirectionColumn.find(rows, layout: layout)
  }

  private func read(_ row: CSVRow, into builder: inout PlanBuilder) throws {
    let currency = builder.currency(own: cell(.currency, of: row), file: nil)
    let (day, amount): (String, Int64)
    do throws(FieldMisfit) {
      if Balances.isOne(cell(.payee, of: row)) || Balances.isOne(cell(.note, of: row)) {
        throw FieldMisfit(reason: "it is a balance, not a payment")
      }
      day = try dialect.day(cell(.date, of: row) ?? "")
      amount = try self.amount(row, places: Currency.decimalPlaces(currency))
    } catch {
      return builder.skip(line: row.line, error.reason)
    }
    try builder.take(
      StatementRow(
        line: row.line, day: day, amount: amount, currency: currency, payee: cell(.payee, of: row).map(tidied),
        note: cell(.note, of: row).map(tidied)))
  }

  /// The amount with its sign; of two columns the debit goes out, whether or not it is written with a minus.
  private func amount(_ row: CSVRow, places: Int) throws(FieldMisfit) -> Int64 {
    if let text = cell(.amount, of: row),
      !isBlank(text) || layout.columns[.debit] == nil && layout.columns[.credit] == nil
    {
      let amount = try dialect.amount(text, places: places)
      guard let direction else { return amount }
      return try direction.isOut(row) ? -amount : amount
    }
    let debit = cell(.debit, of: row).flatMap { isBlank($0) ? nil : $0 }
    let credit = cell(.credit, of: row).flatMap { isBlank($0) ? nil : $0 }
    let out = try debit.map { text throws(FieldMisfit) in try dialect.amount(text, places: places) } ?? 0
    let income = try credit.map { text throws(FieldMisfit) in try dialect.amount(text, places: places) } ?? 0
    guard debit != nil || credit != nil else { throw FieldMisfit(reason: "it has no amount") }
    guard out == 0 || income == 0 else { throw FieldMisfit(reason: "it has both a debit and a credit") }
    return out == 0 ? income : out > 0 ? -out : out
  }

  private func cell(_ role: BankLayout.Role, of row: CSVRow) -> String? { layout.cell(role, of: row) }
}

/// Rows of a statement that tell what was on the account, not what moved.
private enum Balances {
  static func isOne(_ text: String?) -> Bool {
    // Longer texts are payments; most rows leave here without being folded.
    guard let text, text.utf8.count <= 40, let first = text.utf8.first, "abcenost".utf8.contains(first | 0x20) else {
      return false
    }
    return words.contains(foldedKey(text))
  }

  private static let words: Set<String> = [
    "opening balance", "closing balance", "balance brought forward", "balance carried forward", "turnover",
    "anfangssaldo", "endsaldo", "alter saldo", "neuer saldo", "beginsaldo", "eindsaldo", "saldo inicial",
    "saldo final", "solde initial", "solde final", "saldo iniziale", "saldo finale",
  ]
}

/// A column whose words say which amounts go out, in a file whose amounts have no sign.
struct DirectionColumn: Sendable {
  private let column: Int

  /// Finds it; nil where amounts have signs, or no column has such words in every row.
  static func find(_ rows: [CSVRow], layout: BankLayout) -> DirectionColumn? {
    guard let amounts = layout.columns[.amount] else { return nil }
    let isSigned = rows.contains {
      $0.fields.count > amounts
        && $0.fields[amounts].utf8.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "(") }
        || $0.fields.count > amounts && $0.fields[amounts].unicodeScalars.contains("\u{2212}")
    }
    guard !isSigned else { return nil }
    let column = (0..<layout.columnCount).first { column in
      guard !layout.columns.values.contains(column) else { return false }
      var hasWord = false
      for row in rows where column < row.fields.count && !isBlank(row.fields[column]) {
        guard isOut(row.fields[column]) != nil else { return false }
        hasWord = true
      }
      return hasWord
    }
    return column.map(DirectionColumn.init)
  }

  func isOut(_ row: CSVRow) throws(FieldMisfit) -> Bool {
    guard column < row.fields.count, let isOut = Self.isOut(row.fields[column]) else {
      throw FieldMisfit(reason: "nothing says whether it goes out or comes in")
    }
    return isOut
  }

  private static func isOut(_ text: String) -> Bool? { words[foldedKey(text)] }

  /// Folded words of banks; `k` is credit in Baltic languages, `s` and `h` are debit and credit in German.
  private static let words: [String: Bool] = [
    "d": true, "db": true, "dr": true, "dbit": true, "debit": true, "debet": true, "s": true, "soll": true,
    "af": true, "out": true, "outflow": true, "-": true, "withdrawal": true, "debito": true,
    "c": false, "cr": false, "crdt": false, "credit": false, "h": false, "haben": false, "k": false, "bij": false,
    "in": false, "inflow": false, "+": false, "deposit": false, "credito": false,
  ]
}

func isBlank(_ text: String) -> Bool { text.unicodeScalars.allSatisfy { $0.properties.isWhitespace } }
