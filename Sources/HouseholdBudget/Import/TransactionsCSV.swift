import HouseholdRecords

/// Reads transactions from CSV: a header with the schema's own names is taken literally, any other is a bank's.
enum TransactionsCSV {
  static let separators: [Character] = [",", ";", "\t", "|"]

  static func read(_ bytes: [UInt8], name: String, into builder: inout PlanBuilder) throws {
    guard let type = builder.context.schema.type("transaction") else {
      throw ImportFailure(
        .unknownFormat, "The file \(name) holds transactions, and this household's schema has none.",
        remedy: "Import it into a household with the budget schema.")
    }
    for separator in separators {
      guard let header = header(of: bytes, separator: separator), header.contains("amount_minor"),
        header.contains("date")
      else { continue }
      let file = CSVFile(bytes, separator: separator)
      let rows = try LiteralRows(header: header, type: type, name: name)
      try check(file, name: name, rowsBefore: 1)
      for fault in file.faults { builder.skip(line: fault.line, fault.reason) }
      try builder.read(each: Array(file.rows.dropFirst())) { try rows.read($0, into: &$1) }
      return
    }
    try BankRows.read(bytes, name: name, into: &builder)
  }

  /// Refuses a file without rows, and one that is no CSV at all.
  static func check(_ file: CSVFile, name: String, rowsBefore: Int) throws(ImportFailure) {
    guard !file.isGivenUp else {
      throw ImportFailure(
        .malformed, "The file \(name) is no CSV: more than \(Limits.unreadableLines) of its lines cannot be read.",
        remedy: "Export it from the bank again.")
    }
    guard file.rows.count > rowsBefore || !file.faults.isEmpty else {
      throw ImportFailure(
        .empty, "The file \(name) has a header and no rows.", remedy: "Export a period that has transactions.")
    }
  }

  /// The fields of the first record.
  private static func header(of bytes: [UInt8], separator: Character) -> [String]? {
    CSVFile(Array(bytes.prefix(64 << 10)), separator: separator).rows.first?.fields
  }
}

/// Rows under a header of the schema's own names: ids and minor units as they stand, accounts and categories by name.
///
/// A cell without quotes that is empty is null; `""` is empty text in a field of type text and null in any other.
private struct LiteralRows {
  private let header: [String]
  private let fields: [FieldDefinition?]

  init(header: [String], type: RecordType, name: String) throws(ImportFailure) {
    self.header = header
    fields = header.map(type.field)
    for (column, field) in zip(header, fields) where field == nil && column != "id" {
      throw ImportFailure(
        .malformed,
        "In the file \(name), the column \(quoted(column)) is no field of a transaction"
          + "\(nearest(to: column, among: type.fields.map(\.name))).",
        remedy: "Rename the column or take it out.")
    }
    guard Set(header).count == header.count else {
      throw ImportFailure(
        .malformed, "In the file \(name), a column stands twice in the header.", remedy: "Take one of them out.")
    }
  }

  func read(_ row: CSVRow, into builder: inout PlanBuilder) throws {
    var values: [String: FieldValue]
    do throws(FieldMisfit) {
      values = try self.values(row)
    } catch {
      return builder.skip(line: row.line, error.reason)
    }
    let currency = values["currency"]?.text
    let account = try account(values["account"]?.text ?? builder.options.account, currency: currency, &builder)
    values["account"] = account.map(FieldValue.text) ?? values["account"]
    if currency == nil, let fallback = account.flatMap({ builder.currency(ofAccount: $0) }) ?? builder.options.currency
    {
      values["currency"] = .text(fallback)
    }
    let keys = ids(row, values: &values, account: account, &builder).map { RecordKey(type: "transaction", id: $0) }
    guard let key = keys.first, try builder.isNew(key, or: Array(keys.dropFirst()), line: row.line) else { return }
    if let category = values["category"]?.text { values["category"] = .text(try builder.category(category)) }
    try builder.add(ImportedRecord(type: key.type, id: key.id, fields: values, isWeak: true))
  }

  private func values(_ row: CSVRow) throws(FieldMisfit) -> [String: FieldValue] {
    guard row.fields.count == header.count else {
      throw FieldMisfit(reason: "it has \(row.fields.count) fields, and the header has \(header.count)")
    }
    var values: [String: FieldValue] = [:]
    for (index, cell) in row.fields.enumerated() {
      guard let field = fields[index] else {
        if !cell.isEmpty { try RowID.check(cell) }
        continue
      }
      let isEmptyText = field.kind == .text && row.isQuoted[index]
      values[field.name] = cell.isEmpty && !isEmptyText ? .null : try FieldReading.value(cell, for: field)
    }
    return values
  }

  private func account(_ word: String?, currency: String?, _ builder: inout PlanBuilder) throws -> String? {
    guard let word else { return nil }
    return try builder.account(word, currency: currency ?? builder.options.currency)
  }

  /// The row's own id, or those that follow from its content; none when it has neither (the row is skipped then).
  private func ids(
    _ row: CSVRow, values: inout [String: FieldValue], account: String?, _ builder: inout PlanBuilder
  ) -> [String] {
    if let column = header.firstIndex(of: "id"), !row.fields[column].isEmpty { return [row.fields[column]] }
    guard let date = values["date"]?.text, let amount = values["amount_minor"]?.integer else {
      builder.skip(line: row.line, "it has no id, so it needs a date and an amount")
      return []
    }
    let text = [values["payee"]?.text ?? "", values["note"]?.text ?? ""]
    let importIDs = builder.importIDs(account: account, date: date, amount: amount, text: text)
    if values["import_id"]?.isNull ?? true { values["import_id"] = .text(importIDs[0]) }
    return importIDs.map(PlanBuilder.recordID)
  }
}
