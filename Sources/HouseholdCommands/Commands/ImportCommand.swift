import HouseholdBudget
import HouseholdKit
import HouseholdRecords

/// `import`: bank files and our own CSV and JSON in.
struct ImportCommand: Command {
  let description = CommandDescription(
    "import", group: .files, summary: "Import transactions from files.",
    discussion: """
      Reads banks' CSV, OFX and QFX, QIF, MT940 and CAMT.053, and our own CSV (the schema's names in the header) and \
      JSON. Format, encoding, delimiter, columns, decimal mark and date order are found out and shown; the options \
      overrule them. With --account, what was said, and what a file proves, is remembered on this device for the \
      account's next file; --forget begins anew.

      Importing a file again adds nothing, overlapping statements meet, and what was deleted here stays deleted. A bad \
      line is named and the rest goes on; with --strict nothing is written then. A payment whose amount the bank \
      changed under the same id is listed, and its row brought up to date unless it was changed here. Rows that are the \
      other end of a payment on another account are told as transfers; a category makes them none.
      """,
    operands: [Operand("FILE", .oneOrMore, kind: .file, help: "A file.")],
    options: [
      .value("account", "A", help: "The account (name or id) of rows that name none; an unknown name makes one."),
      .choice("format", ["auto", "csv", "ofx", "qif", "camt", "mt940", "json"], help: "What it is; default: auto."),
      .flag("dry-run", help: "Only show what would happen, as a table."),
      .flag("strict", help: "Write nothing of a file that has a bad line."),
      .value("currency", "CODE", help: "The currency of rows that name none and whose account has none."),
      .choice("date-order", ["dmy", "mdy"], help: "What 03/04/2026 means, where the file cannot tell."),
      .choice("decimal", ["point", "comma"], help: "The decimal mark, where the file cannot tell."),
      .value("encoding", "NAME", help: "The encoding, such as windows-1250, where the guess is wrong."),
      .choice("delimiter", ImportChoices.delimiters.map(\.word), help: "What stands between the fields of CSV."),
      .value(
        "column", "ROLE=HEADER", repeatable: true,
        help: "Which column of CSV is date, payee, note, amount, debit, credit or currency: its header, or its number."),
      .flag("forget", help: "Leave aside what is remembered of the account's files."),
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let word = invocation.value("format") ?? "auto"
    guard let format = ImportFormat(rawValue: word) else {
      throw CommandError.usage("there is no format \(quoted(word)).", remedy: "See household import --help.")
    }
    try requireCaughtUp(invocation, to: "import")
    let options = ImportOptions(
      account: invocation.value("account"), format: format, currency: invocation.value("currency")?.uppercased(),
      choices: try choices(invocation))
    let isDry = invocation.flag("dry-run")
    let results = try withHousehold(invocation, readOnly: false) { household in
      try invocation.operands("FILE").map { file in
        let plan = try take(file, into: household, options: options, invocation: invocation, output: output)
        return ImportResult(file: file, plan: plan, isDry: isDry, accountNames: try accountNames(plan, household))
      }
    }
    let documents = results.map(\.document)
    let show = { for result in results { try result.show(output) } }
    if documents.count == 1 {
      try output.result(documents[0], text: show)
    } else {
      try output.result(documents, text: show)
    }
    return .done
  }

  private func choices(_ invocation: Invocation) throws(CommandError) -> ImportChoices {
    var columns: [String: String] = [:]
    for word in invocation.values("column") {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2 else {
        throw .usage("\(quoted(word)) is no ROLE=HEADER.", remedy: "Such as --column date=Valuta or --column amount=4.")
      }
      guard ImportChoices.roles.contains(parts[0]) else {
        throw .unknown("role of a column", parts[0], among: ImportChoices.roles)
      }
      columns[parts[0]] = parts[1]
    }
    let delimiter = invocation.value("delimiter")
    return ImportChoices(
      delimiter: ImportChoices.delimiters.first { $0.word == delimiter }?.character,
      encoding: invocation.value("encoding"), isDayFirst: invocation.value("date-order").map { $0 == "dmy" },
      hasDecimalComma: invocation.value("decimal").map { $0 == "comma" }, columns: columns)
  }

  /// The names of the accounts at the other ends of transfers.
  private func accountNames(_ plan: ImportPlan, _ household: Household) throws -> [RecordKey: String] {
    guard let type = household.schema.type("account") else { return [:] }
    var names: [RecordKey: String] = [:]
    for id in Set(plan.transfers.values.map { RecordKey(type: type.name, id: $0.account) }) {
      names[id] = try household.record(type, id.id)?.fields["name"]?.text
    }
    return names
  }

  private func take(
    _ file: String, into household: Household, options: ImportOptions, invocation: Invocation, output: Output
  ) throws -> ImportPlan {
    let bytes = try InputFile(file).read(limit: Limits.importBytes)
    let isDry = invocation.flag("dry-run")
    let plan: ImportPlan = try household.generating { generation in
      let context = try ImportContext(of: household, generation: generation)
      var options = options
      if !invocation.flag("forget"), let account = options.account.flatMap(context.accountID) {
        options.remembered = try ImportMemory.choices(ofAccount: account, household)
      }
      let plan = try read(bytes, file, options, context, household, isDry ? nil : generation, output)
      if invocation.flag("strict") { try requireNoFault(plan, file: file) }
      if !isDry {
        try bringUpToDate(plan.updates, in: household)
        try ImportMemory.keep(plan, instead: options.remembered, household)
      }
      return plan
    }
    let restored = plan.records.filter { !$0.isWeak }
    if !isDry, !restored.isEmpty {
      try household.transaction {
        for record in restored {
          if let type = household.schema.type(record.type) { try household.put(type, record.id, ordered(record)) }
        }
      }
    }
    return plan
  }

  /// Reads the file, and writes each generated record at once, so that a large file's rows do not fill the memory.
  ///
  /// - Parameter generation: nil if nothing is to be written.
  private func read(
    _ bytes: [UInt8], _ file: String, _ options: ImportOptions, _ context: ImportContext, _ household: Household,
    _ generation: Household.Generation?, _ output: Output
  ) throws -> ImportPlan {
    var bar = ProgressBar("importing", total: Self.barSteps, output: output)
    defer { bar.finish() }
    let types = Dictionary(uniqueKeysWithValues: household.schema.types.map { ($0.name, $0) })
    do {
      return try ImportPlan.make(
        bytes: bytes, fileName: file, options: options, context: context,
        progress: { bar.update($0 * Self.barSteps / max($1, 1)) },
        writing: generation.map { generation in
          { record in
            guard let type = types[record.type] else { return }
            try generation.insert(type, record.id, ordered(record))
          }
        })
    } catch let failure as ImportFailure {
      throw CommandError(code: failure.code.rawValue, message: failure.sentence, remedy: failure.remedy)
    }
  }

  /// How fine the bar is.
  private static let barSteps = 1000

  /// What it throws undoes what was written of the file.
  private func requireNoFault(_ plan: ImportPlan, file: String) throws {
    guard let fault = plan.skipped.first(where: \.isFault) else { return }
    let count = plan.skipped.count { $0.isFault }
    throw CommandError(
      code: "badLine",
      message: "The file \(quoted(file)) has \(count) bad \(count == 1 ? "line" : "lines"), nothing was written; "
        + "line \(fault.line): \(fault.reason).",
      remedy: "Mend the file, or import it without --strict.")
  }

  private func bringUpToDate(_ records: [ImportedRecord], in household: Household) throws {
    for record in records {
      guard let type = household.schema.type(record.type) else { continue }
      try household.put(type, record.id, ordered(record))
    }
  }

  private func ordered(_ record: ImportedRecord) -> [(name: String, value: FieldValue)] {
    record.fields.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
  }
}
