import HouseholdRecords

/// Reads a bank's CSV file: what a date and an amount look like is decided once for the whole file, never per row.
struct BankRows {
  private let layout: BankLayout
  private let mark: MoneyText.Mark?
  private let order: DayText.Order?

  static func read(_ bytes: [UInt8], name: String, into builder: inout PlanBuilder) throws {
    guard let layout = BankLayout.find(bytes) else {
      throw ImportFailure(
        .unknownFormat, "The file \(name) is no CSV with a header that names a date and an amount.",
        remedy: "Export it as CSV with a header, or rename the columns to Date, Payee, Amount and Currency.")
    }
    let file = CSVFile(bytes, separator: layout.separator)
    let rows = file.rows.filter { $0.line > layout.headerLine && $0.fields.contains { !isBlank($0) } }
    let faults = file.faults.filter { $0.line > layout.headerLine }
    try TransactionsCSV.check(file, name: name, rowsBefore: 0)
    guard !rows.isEmpty || !faults.isEmpty else {
      throw ImportFailure(
        .empty, "The file \(name) has a header and no rows.", remedy: "Export a period that has transactions.")
    }
    guard !hasDirections(rows, layout: layout) else {
      throw ImportFailure(
        .unknownFormat, "In the file \(name), letters such as D and C say what goes out; that is not understood yet.",
        remedy: "Export amounts with their sign, or add a minus to what goes out and delete the column of letters.")
    }
    let reader = BankRows(layout: layout, rows: rows, options: builder.options)
    for fault in faults { builder.skip(line: fault.line, fault.reason) }
    for row in rows { try reader.read(row, into: &builder) }
  }

  private init(layout: BankLayout, rows: [CSVRow], options: ImportOptions) {
    self.layout = layout
    var (points, commas, daysFirst, monthsFirst) = (0, 0, 0, 0)
    for row in rows {
      for role in [BankLayout.Role.amount, .debit, .credit] {
        switch Self.cell(role, of: row, in: layout).flatMap(MoneyText.init)?.evidence {
        case .point: points += 1
        case .comma: commas += 1
        case nil: break
        }
      }
      switch Self.cell(.date, of: row, in: layout).flatMap(DayText.init)?.evidence {
      case .dayFirst: daysFirst += 1
      case .monthFirst: monthsFirst += 1
      case nil: break
      }
    }
    mark = points == commas ? nil : points > commas ? .point : .comma
    let found: DayText.Order? = daysFirst == monthsFirst ? nil : daysFirst > monthsFirst ? .dayFirst : .monthFirst
    order = options.isDayFirst.map { $0 ? .dayFirst : .monthFirst } ?? found
  }

  private func read(_ row: CSVRow, into builder: inout PlanBuilder) throws {
    let ownCurrency = cell(.currency, of: row).map { $0.filter { !$0.isWhitespace }.uppercased() }
    let accountWord = builder.options.account
    let known = accountWord.flatMap { builder.currency(ofAccountNamed: $0) }
    let currency = ownCurrency.flatMap { $0.isEmpty ? nil : $0 } ?? known ?? builder.options.currency
    var fields: [String: FieldValue] = [:]
    let (day, amount): (String, Int64)
    do throws(FieldMisfit) {
      day = try self.day(row)
      amount = try self.amount(row, places: Currency.decimalPlaces(currency))
      for (role, name) in [(BankLayout.Role.payee, "payee"), (.note, "note")] {
        guard let text = cell(role, of: row), let field = builder.context.schema.type("transaction")?.field(name) else {
          continue
        }
        fields[name] = try FieldReading.value(Self.tidied(text), for: field)
      }
    } catch {
      return builder.skip(line: row.line, error.reason)
    }
    let account = try accountWord.map { try builder.account($0, currency: currency) }
    let text = [fields["payee"]?.text ?? "", fields["note"]?.text ?? ""]
    let importID = builder.importID(account: account, date: day, amount: amount, text: text)
    fields["date"] = .text(day)
    fields["amount_minor"] = .integer(amount)
    fields["currency"] = currency.map(FieldValue.text) ?? .null
    fields["import_id"] = .text(importID)
    if let account { fields["account"] = .text(account) }
    let id = "import-\(importID)"
    guard try builder.isNew(RecordKey(type: "transaction", id: id), line: row.line) else { return }
    builder.add(ImportedRecord(type: "transaction", id: id, fields: fields, isWeak: true))
  }

  private func day(_ row: CSVRow) throws(FieldMisfit) -> String {
    let text = cell(.date, of: row) ?? ""
    guard let written = DayText(text) else { throw FieldMisfit(reason: "\(quoted(text)) is no date") }
    do throws(FieldMisfit) {
      return try written.day(order).description
    } catch {
      throw FieldMisfit(reason: "the date \(quoted(text)): \(error.reason)")
    }
  }

  /// The amount with its sign; of two columns the debit goes out, whether or not it is written with a minus.
  private func amount(_ row: CSVRow, places: Int) throws(FieldMisfit) -> Int64 {
    if let text = cell(.amount, of: row) { return try minorUnits(text, places: places) }
    let debit = cell(.debit, of: row).flatMap { isBlank($0) ? nil : $0 }
    let credit = cell(.credit, of: row).flatMap { isBlank($0) ? nil : $0 }
    let out = try debit.map { text throws(FieldMisfit) in try minorUnits(text, places: places) } ?? 0
    let income = try credit.map { text throws(FieldMisfit) in try minorUnits(text, places: places) } ?? 0
    guard debit != nil || credit != nil else { throw FieldMisfit(reason: "it has no amount") }
    guard out == 0 || income == 0 else { throw FieldMisfit(reason: "it has both a debit and a credit") }
    return out == 0 ? income : out > 0 ? -out : out
  }

  private func minorUnits(_ text: String, places: Int) throws(FieldMisfit) -> Int64 {
    guard let money = MoneyText(text) else { throw FieldMisfit(reason: "\(quoted(text)) is no amount") }
    do throws(FieldMisfit) {
      return try money.minorUnits(mark: mark, places: places)
    } catch {
      throw FieldMisfit(reason: "the amount \(quoted(text)): \(error.reason)")
    }
  }

  private func cell(_ role: BankLayout.Role, of row: CSVRow) -> String? { Self.cell(role, of: row, in: layout) }

  private static func cell(_ role: BankLayout.Role, of row: CSVRow, in layout: BankLayout) -> String? {
    guard let column = layout.columns[role], column < row.fields.count else { return nil }
    return row.fields[column]
  }

  /// The same text from every encoding and system: composed, line ends as LF.
  private static func tidied(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    var isAfterReturn = false
    for scalar in Folding.composed(text).unicodeScalars {
      if scalar == "\r" || scalar == "\n" && !isAfterReturn { scalars.append("\n") }
      if scalar != "\r", scalar != "\n" { scalars.append(scalar) }
      isAfterReturn = scalar == "\r"
    }
    return String(scalars)
  }
}

/// Whether amounts have no sign and a column of letters says which of them go out: taken as they are, they would lie.
private func hasDirections(_ rows: [CSVRow], layout: BankLayout) -> Bool {
  guard let amounts = layout.columns[.amount] else { return false }
  let isSigned = rows.contains {
    $0.fields.count > amounts && $0.fields[amounts].contains { "-+\u{2212}(".contains($0) }
  }
  let letters: Set<String> = ["C", "CR", "CREDIT", "D", "DB", "DR", "DEBIT", "H", "K", "S"]
  return !isSigned
    && (0..<layout.columnCount).contains { column in
      guard !layout.columns.values.contains(column) else { return false }
      let cells = rows.compactMap { column < $0.fields.count ? $0.fields[column] : nil }.filter { !isBlank($0) }
      return !cells.isEmpty && cells.allSatisfy { letters.contains($0.filter { !$0.isWhitespace }.uppercased()) }
    }
}

private func isBlank(_ text: String) -> Bool { text.unicodeScalars.allSatisfy { $0.properties.isWhitespace } }
