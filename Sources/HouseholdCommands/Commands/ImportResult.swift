import HouseholdBudget
import HouseholdKit
import HouseholdRecords

/// What came of importing one file, and how it is told.
struct ImportResult {
  let file: String
  let plan: ImportPlan
  let isDry: Bool
  /// The names of the accounts at the other ends of transfers.
  let accountNames: [RecordKey: String]

  struct Document: Encodable {
    var file: String
    var format: String
    var encoding: String
    var found: Int
    var added: Int
    var known: Int
    /// Left out where nothing was, as the contract has it; so are the next ones.
    var updated: Int?
    var transfers: Int?
    var skipped: [Skipped]
    var notes: [String]?
    var read: Reading?
  }

  struct Skipped: Encodable {
    var line: Int
    var reason: String
  }

  /// How the file was read, in the words of the options.
  struct Reading: Encodable {
    var delimiter: String?
    var dateOrder: String?
    var decimal: String?
    var columns: [String: String]?
  }

  var document: Document {
    let reading = plan.reading
    return Document(
      file: file, format: plan.format.rawValue, encoding: plan.encoding, found: plan.found, added: plan.added,
      known: plan.known, updated: plan.updates.isEmpty ? nil : plan.updates.count,
      transfers: plan.transfers.isEmpty ? nil : plan.transfers.count,
      skipped: plan.skipped.map { Skipped(line: $0.line, reason: $0.reason) },
      notes: plan.notes.isEmpty ? nil : plan.notes,
      read: reading.isEmpty
        ? nil
        : Reading(
          delimiter: reading.delimiterWord, dateOrder: reading.isDayFirst.map { $0 ? "dmy" : "mdy" },
          decimal: reading.hasDecimalComma.map { $0 ? "comma" : "point" },
          columns: reading.columns.isEmpty ? nil : reading.columns))
  }

  /// Prints it for people; of a dry run with a line for each payment that would be added or changed.
  func show(_ output: Output) throws {
    if isDry, !table.isEmpty { try output.table(table) }
    let updated =
      plan.updates.isEmpty ? "" : ", \(plan.updates.count) \(isDry ? "would be brought" : "brought") up to date"
    try output.line(
      "\(escapingControls(file)): \(plan.found) found, \(plan.added) \(isDry ? "would be added" : "added"), "
        + "\(plan.known) known, \(plan.skipped.count) skipped\(updated) (\(plan.format.rawValue), \(plan.encoding))")
    if let reading = readingLine { try output.line("  read with \(escapingControls(reading))") }
    if !plan.transfers.isEmpty {
      let ends =
        plan.transfers.count == 1 ? "1 is an end of a transfer" : "\(plan.transfers.count) are ends of transfers"
      try output.line("  \(ends) between your accounts (see household report --transfers)")
    }
    for skipped in plan.skipped { try output.line("  line \(skipped.line): \(escapingControls(skipped.reason))") }
    for note in plan.notes { try output.line("  \(escapingControls(note))") }
  }

  /// The options that would make the file be read as it was.
  private var readingLine: String? {
    let reading = plan.reading
    var words: [String] = []
    if let delimiter = reading.delimiterWord { words.append("--delimiter \(delimiter)") }
    if let isDayFirst = reading.isDayFirst { words.append("--date-order \(isDayFirst ? "dmy" : "mdy")") }
    if let hasComma = reading.hasDecimalComma { words.append("--decimal \(hasComma ? "comma" : "point")") }
    for role in ImportChoices.roles {
      guard let column = reading.columns[role] else { continue }
      words.append("--column \(role)=\(column.contains(" ") ? "\"\(column)\"" : column)")
    }
    return words.isEmpty ? nil : words.joined(separator: " ")
  }

  private var table: TableOutput {
    var table = TableOutput([.text("WHAT"), .text("DATE"), .number("AMOUNT"), .text(""), .text("PAYEE"), .text("NOTE")])
    for (word, records) in [("add", plan.records), ("change", plan.updates)] {
      for record in records where record.type == "transaction" {
        let currency = record.fields["currency"]?.text
        let amount = record.fields["amount_minor"]?.integer.map { Currency.text($0, currency) }
        table.add([
          other(end: record.id) ?? word, record.fields["date"]?.text ?? "", amount ?? "", currency ?? "",
          record.fields["payee"]?.text ?? "", String((record.fields["note"]?.text ?? "").prefix(40)),
        ])
      }
    }
    return table
  }

  /// What a row is if it is one end of a transfer.
  private func other(end id: String) -> String? {
    guard let leg = plan.transfers[id] else { return nil }
    let name = accountNames[RecordKey(type: "account", id: leg.account)] ?? leg.account
    return leg.amount < 0 ? "transfer from \(name)" : "transfer to \(name)"
  }
}
