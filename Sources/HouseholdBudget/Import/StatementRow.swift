import HouseholdRecords

/// A payment as a bank's file tells it, before anything here was looked up.
struct StatementRow: Sendable {
  /// A part of a payment with its own category.
  struct Part: Sendable {
    var category: String?
    var note: String?
    var amount: Int64
  }

  /// The physical line, from 1, on which it begins.
  var line: Int
  /// `YYYY-MM-DD`.
  var day: String
  /// In minor units of the currency.
  var amount: Int64
  var currency: String?
  /// Nil where the file has no such field at all.
  var payee: String?
  var note: String?
  /// The category as the file names it.
  var category: String?
  /// The bank's own name of the payment; nil or empty where it gives none.
  var bankID: String?
  /// The account as the file names it: it tells payments apart when no account was asked for.
  var fileAccount: String?
  var parts: [Part] = []
}

extension PlanBuilder {
  /// The currency of a row: its own, else its account's, else the one a person named, else the file's.
  func currency(own: String?, file: String?) -> String? {
    if let code = Currency.code(own) { return code }
    return options.account.flatMap { currency(ofAccountNamed: $0) } ?? options.currency ?? Currency.code(file)
  }

  /// Takes a row of a statement: new, known, changed by the bank, or to be skipped.
  mutating func take(_ row: StatementRow) throws {
    let fields: [String: FieldValue]
    do throws(FieldMisfit) {
      fields = try self.fields(of: row)
    } catch {
      return skip(line: row.line, error.reason)
    }
    let account = try options.account.map { try self.account($0, currency: row.currency) }
    let owner = account ?? row.fileAccount.map { "file:\($0)" }
    let importID: String
    if let bankID = row.bankID, !bankID.isEmpty {
      switch try identify(row, bankID: bankID, owner: owner) {
      case .new(let id): importID = id
      case .settled: return
      }
    } else {
      let importIDs = importIDs(
        account: owner, date: row.day, amount: row.amount, text: [row.payee ?? "", row.note ?? ""])
      guard try isUnknown(importIDs.map(Self.key)) else { return }
      importID = importIDs[0]
    }
    try add(row, fields: fields, importID: importID, account: account)
  }

  /// The id of the transaction that an import id makes.
  static func recordID(_ importID: String) -> String { "import-\(importID)" }

  /// The transaction that an import id makes.
  static func key(_ importID: String) -> RecordKey { RecordKey(type: "transaction", id: recordID(importID)) }

  private func fields(of row: StatementRow) throws(FieldMisfit) -> [String: FieldValue] {
    var fields: [String: FieldValue] = ["date": .text(row.day), "amount_minor": .integer(row.amount)]
    if let currency = row.currency { fields["currency"] = .text(currency) }
    if let text = row.payee, let payeeField { fields["payee"] = try FieldReading.value(text, for: payeeField) }
    if let text = row.note, let noteField { fields["note"] = try FieldReading.value(text, for: noteField) }
    return fields
  }

  private mutating func add(
    _ row: StatementRow, fields: [String: FieldValue], importID: String, account: String?
  ) throws {
    var fields = fields
    fields["import_id"] = .text(importID)
    if let account { fields["account"] = .text(account) }
    let chosen = try category(of: row)
    if let chosen { fields["category"] = .text(chosen) }
    let id = Self.recordID(importID)
    if chosen == nil, row.parts.isEmpty, let account, let day = CalendarDay(row.day) {
      let leg = TransferLeg(id: id, day: day, amount: row.amount, currency: row.currency, account: account)
      try transfers.take(leg, here: context.transferLegs)
    }
    try add(ImportedRecord(type: "transaction", id: id, fields: fields, isWeak: true))
    for (index, part) in row.parts.enumerated() {
      var values: [String: FieldValue] = ["parent": .text(id), "amount_minor": .integer(part.amount)]
      if let note = part.note { values["note"] = .text(note) }
      if let word = part.category { values["category"] = .text(try category(word)) }
      try addPart(ImportedRecord(type: "split", id: "\(id)-\(index + 1)", fields: values, isWeak: true))
    }
  }

  /// What the file says, else what a person's alias says of the payee or the note.
  private mutating func category(of row: StatementRow) throws -> String? {
    if let word = row.category, !word.isEmpty { return try category(word) }
    guard row.parts.isEmpty else { return nil }
    return aliases.category(payee: row.payee, note: row.note)
  }
}
