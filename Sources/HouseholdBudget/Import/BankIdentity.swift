import HouseholdRecords

/// Finds the payment that a bank's own id names: known, changed since, or another one under an id used twice.
///
/// The import id follows from the account and the bank id alone, so that a payment whose amount, day or text the bank
/// changes when it becomes final stays one row. Banks also use one id twice, as for a purchase and its fee, or begin
/// anew each month: a row that cannot be the known payment gets an id of its own, from its day and text too.
extension PlanBuilder {
  /// What became of a row with a bank id.
  enum Identified {
    /// It is new, under this import id.
    case new(String)
    /// It was counted as known, or listed.
    case settled
  }

  /// The rows of this file under one bank id.
  struct BankRows {
    /// The line of each row, by its whole content.
    var lines: [String: Int] = [:]
    /// How many rows have a day and a text in common.
    var ordinals: [String: Int] = [:]
    /// Whether one of them is the payment that the bank id alone names.
    var hasFirst = false
  }

  /// How far apart the days of one payment may be: what is pending for longer has gone for good.
  private static let settlingDays: Int64 = 20

  mutating func identify(_ row: StatementRow, bankID: String, owner: String?) throws -> Identified {
    let text = foldedKey(row.payee ?? row.note ?? "")
    let parts = owners(owner).map { ["household/import/bank/1", $0, bankID] }
    let firsts = parts.map { ContentID.id($0, sha256: context.sha256) }
    let first = firsts[0]
    var rows = bankRows[first] ?? BankRows()
    defer { bankRows[first] = rows }
    if let line = rows.lines.updateValue(row.line, forKey: ContentID.spelled([row.day, String(row.amount), text])) {
      skip(line: row.line, "the payment \(quoted(bankID)) stands on line \(line) already")
      return .settled
    }
    let ordinal = rows.ordinals[ContentID.spelled([row.day, text]), default: 0] + 1
    rows.ordinals[ContentID.spelled([row.day, text])] = ordinal
    if !rows.hasFirst, let found = try match(row, text: text, bankID: bankID, importIDs: firsts) {
      rows.hasFirst = true
      return found
    }
    let own = parts.map { ContentID.id($0 + [row.day, text, String(ordinal)], sha256: context.sha256) }
    if let found = try match(row, text: text, bankID: bankID, importIDs: own) { return found }
    countKnown()
    return .settled
  }

  /// What the row is to the transactions with these import ids, of which a new one gets the first; nil if those that
  /// are here are other payments.
  private mutating func match(
    _ row: StatementRow, text: String, bankID: String, importIDs: [String]
  ) throws -> Identified? {
    var isTaken = false
    for key in importIDs.map(Self.key) {
      let presence = try context.presence(key)
      if presence == .absent { continue }
      isTaken = true
      if let found = try match(row, text: text, bankID: bankID, key, presence) { return found }
    }
    return isTaken ? nil : .new(importIDs[0])
  }

  /// What the row is to a transaction that is or was here; nil if that one is another payment.
  private mutating func match(
    _ row: StatementRow, text: String, bankID: String, _ key: RecordKey, _ presence: ImportContext.Presence
  ) throws -> Identified? {
    if presence == .deleted {
      countKnown()
      return .settled
    }
    let here = try context.record(key) ?? [:]
    let isEdited = try context.wasEdited(key, ["date", "amount_minor", "payee"])
    let days = CalendarDay(here["date"]?.text ?? "").flatMap { there in
      CalendarDay(row.day).map { abs($0.dayNumber - there.dayNumber) }
    }
    let isNear = days.map { $0 <= Self.settlingDays } ?? true
    if here["amount_minor"]?.integer == row.amount {
      guard isNear || isEdited else { return nil }
      countKnown()
      return .settled
    }
    guard isNear, isEdited || foldedKey(here["payee"]?.text ?? here["note"]?.text ?? "") == text else { return nil }
    list(row, bankID: bankID, key: key, here: here, isEdited: isEdited)
    return .settled
  }

  /// Lists a payment whose amount the bank changed, and brings its row up to date unless it was changed here.
  private mutating func list(
    _ row: StatementRow, bankID: String, key: RecordKey, here: [String: FieldValue], isEdited: Bool
  ) {
    let old = Currency.text(here["amount_minor"]?.integer ?? 0, here["currency"]?.text)
    let new = Currency.text(row.amount, row.currency)
    let known = "the bank id \(quoted(bankID)) is here with another amount"
    guard !isEdited else {
      return skip(
        line: row.line, "\(known): \(old), and not \(new) as in the file; its row was changed before and stays",
        isFault: false)
    }
    skip(
      line: row.line, "\(known): its row of \(old) becomes \(new) on \(row.day)", isFault: false)
    var fields: [String: FieldValue] = ["date": .text(row.day), "amount_minor": .integer(row.amount)]
    if let currency = row.currency { fields["currency"] = .text(currency) }
    update(ImportedRecord(type: key.type, id: key.id, fields: fields, isWeak: true))
  }
}
