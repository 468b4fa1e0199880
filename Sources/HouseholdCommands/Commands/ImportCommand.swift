import HouseholdBudget
import HouseholdKit
import HouseholdRecords

/// `import`: bank files and our own CSV and JSON in.
struct ImportCommand: Command {
  let description = CommandDescription(
    "import", group: .files, summary: "Import transactions from files.",
    discussion: """
      Reads banks' CSV, OFX and QFX, QIF, MT940 and CAMT.053, and our own CSV (the schema's names in the header) and \
      JSON. Format, encoding, decimal mark and date order are found out and shown; the options overrule them.

      Importing a file again adds nothing, overlapping statements meet, and what was deleted here stays deleted. A bad \
      line is named and the rest goes on; with --strict nothing is written then. A payment whose amount the bank \
      changed under the same id is listed, and its row brought up to date unless it was changed here.
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
    ])

  private struct Shown: Encodable {
    var file: String
    var format: String
    var encoding: String
    var found: Int
    var added: Int
    var known: Int
    /// Left out where nothing was, as the contract has it.
    var updated: Int?
    var skipped: [Skipped]
    var notes: [String]?
  }

  private struct Skipped: Encodable {
    var line: Int
    var reason: String
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let word = invocation.value("format") ?? "auto"
    guard let format = ImportFormat(rawValue: word) else {
      throw CommandError.usage("there is no format \(quoted(word)).", remedy: "See household import --help.")
    }
    try requireCaughtUp(invocation)
    let options = ImportOptions(
      account: invocation.value("account"), format: format, currency: invocation.value("currency")?.uppercased(),
      isDayFirst: invocation.value("date-order").map { $0 == "dmy" },
      hasDecimalComma: invocation.value("decimal").map { $0 == "comma" }, encoding: invocation.value("encoding"))
    let isDry = invocation.flag("dry-run")
    let results = try withHousehold(invocation, readOnly: false) { household in
      try invocation.operands("FILE").map { file in
        let plan = try take(file, into: household, options: options, invocation: invocation, output: output)
        return (shown: shown(plan, file: file), plan: plan)
      }
    }
    let documents = results.map(\.shown)
    let show = { for result in results { try self.show(result.shown, result.plan, isDry: isDry, output: output) } }
    if documents.count == 1 {
      try output.result(documents[0], text: show)
    } else {
      try output.result(documents, text: show)
    }
    return .done
  }

  /// After a restore the file here does not know what was deleted since: importing it again would bring it back.
  private func requireCaughtUp(_ invocation: Invocation) throws {
    let directory = try invocation.directory()
    guard try HouseholdBackup.awaitsCatchUp(directory), try HouseholdStatus.hasOthers(directory) else { return }
    throw CommandError(
      code: "awaitsCatchUp", message: "This device was put back to an older state and has not synced since.",
      remedy: "Start the node, wait for a sync with another device, and import then.", exitCode: .tryAgain)
  }

  private func shown(_ plan: ImportPlan, file: String) -> Shown {
    Shown(
      file: file, format: plan.format.rawValue, encoding: plan.encoding, found: plan.found, added: plan.added,
      known: plan.known, updated: plan.updates.isEmpty ? nil : plan.updates.count,
      skipped: plan.skipped.map { Skipped(line: $0.line, reason: $0.reason) },
      notes: plan.notes.isEmpty ? nil : plan.notes)
  }

  private func show(_ result: Shown, _ plan: ImportPlan, isDry: Bool, output: Output) throws {
    if isDry {
      let table = ImportTable.table(plan)
      if !table.isEmpty { try output.table(table) }
    }
    let updated =
      result.updated == nil ? "" : ", \(result.updated ?? 0) \(isDry ? "would be brought" : "brought") up to date"
    try output.line(
      "\(escapingControls(result.file)): \(result.found) found, \(result.added) \(isDry ? "would be added" : "added"), "
        + "\(result.known) known, \(result.skipped.count) skipped\(updated) (\(result.format), \(result.encoding))")
    for skipped in result.skipped { try output.line("  line \(skipped.line): \(escapingControls(skipped.reason))") }
    for note in result.notes ?? [] { try output.line("  \(escapingControls(note))") }
  }

  private func take(
    _ file: String, into household: Household, options: ImportOptions, invocation: Invocation, output: Output
  ) throws -> ImportPlan {
    let bytes = try InputFile(file).read(limit: Limits.importBytes)
    let isDry = invocation.flag("dry-run")
    let plan: ImportPlan = try household.generating { generation in
      var bar = ProgressBar("importing", total: max(bytes.count / ImportCommand.bytesPerRow, 1), output: output)
      defer { bar.finish() }
      var written = 0
      let context = try ImportContext(of: household, generation: generation)
      let plan: ImportPlan
      do {
        plan = try ImportPlan.make(
          bytes: bytes, fileName: file, options: options, context: context,
          writing: isDry
            ? nil
            : { record in
              guard let type = household.schema.type(record.type) else { return }
              try generation.insert(type, record.id, ordered(record))
              written += 1
              if written.isMultiple(of: 256) { bar.update(written) }
            })
      } catch let failure as ImportFailure {
        throw CommandError(code: failure.code.rawValue, message: failure.sentence, remedy: failure.remedy)
      }
      if invocation.flag("strict") { try requireNoFault(plan, file: file) }
      if !isDry { try bringUpToDate(plan.updates, in: household) }
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

  /// What a row of a statement takes, roughly: how far the import has come is guessed by it.
  private static let bytesPerRow = 72

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
