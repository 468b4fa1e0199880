import HouseholdBudget
import HouseholdKit
import HouseholdRecords

/// `import`: bank files and our own CSV and JSON in.
struct ImportCommand: Command {
  let description = CommandDescription(
    "import", group: .files, summary: "Import transactions from files.",
    discussion: """
      Reads CSV (our own with the schema's names in the header, and common bank files) and our own JSON. Importing a \
      file again adds nothing; a bad line is named and the rest goes on. OFX, QIF, CAMT and MT940 are not built yet.
      """,
    operands: [Operand("FILE", .oneOrMore, kind: .file, help: "A file.")],
    options: [
      .value("account", "A", help: "The account (name or id) of rows that name none."),
      .choice("format", ["auto", "csv", "ofx", "qif", "camt", "mt940", "json"], help: "What it is; default: auto."),
      .flag("dry-run", help: "Only show what would happen."),
    ])

  private struct Shown: Encodable {
    var file: String
    var format: String
    var encoding: String
    var found: Int
    var added: Int
    var known: Int
    var skipped: [Skipped]
  }

  private struct Skipped: Encodable {
    var line: Int
    var reason: String
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let word = invocation.value("format") ?? "auto"
    guard let format = ImportFormat(rawValue: word) else {
      throw CommandError(
        code: "notBuiltYet", message: "Importing \(word) is not built yet.", remedy: "Export CSV from the bank.")
    }
    try requireCaughtUp(invocation)
    let options = ImportOptions(account: invocation.value("account"), format: format)
    let results = try withHousehold(invocation, readOnly: false) { household in
      try invocation.operands("FILE").map { file in
        try take(file, into: household, options: options, isDry: invocation.flag("dry-run"))
      }
    }
    if results.count == 1 {
      try output.result(results[0]) { try show(results, isDry: invocation.flag("dry-run"), output: output) }
    } else {
      try output.result(results) { try show(results, isDry: invocation.flag("dry-run"), output: output) }
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

  private func show(_ results: [Shown], isDry: Bool, output: Output) throws {
    for result in results {
      try output.line(
        "\(result.file): \(result.found) found, \(result.added) \(isDry ? "would be added" : "added"), "
          + "\(result.known) known, \(result.skipped.count) skipped (\(result.format), \(result.encoding))")
      for skipped in result.skipped { try output.line("  line \(skipped.line): \(escapingControls(skipped.reason))") }
    }
  }

  private func take(
    _ file: String, into household: Household, options: ImportOptions, isDry: Bool
  ) throws -> Shown {
    let bytes = try InputFile(file).read(limit: Limits.importBytes)
    let plan: ImportPlan = try household.generating {
      let plan: ImportPlan
      do {
        plan = try ImportPlan.make(
          bytes: bytes, fileName: file, options: options, context: try context(of: household))
      } catch let failure as ImportFailure {
        throw CommandError(code: failure.code.rawValue, message: failure.sentence, remedy: failure.remedy)
      }
      if !isDry { try write(plan.records.filter(\.isWeak), to: household) }
      return plan
    }
    if !isDry {
      let written = plan.records.filter { !$0.isWeak }
      if !written.isEmpty { try household.transaction { try write(written, to: household) } }
    }
    return Shown(
      file: file, format: plan.format.rawValue, encoding: plan.encoding, found: plan.found, added: plan.added,
      known: plan.known, skipped: plan.skipped.map { Skipped(line: $0.line, reason: $0.reason) })
  }

  private func write(_ records: [ImportedRecord], to household: Household) throws {
    for record in records {
      guard let type = household.schema.type(record.type) else { continue }
      let fields = record.fields.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
      try household.put(type, record.id, fields)
    }
  }

  private func context(of household: Household) throws -> ImportContext {
    let schema = household.schema
    var context = ImportContext(
      schema: schema,
      presence: { key in
        guard let type = schema.type(key.type) else { return .absent }
        if try household.record(type, key.id) != nil { return .live }
        return try household.isKnown(type, key.id) ? .deleted : .absent
      }, sha256: Household.sha256)
    if let type = schema.type("account") {
      try household.forEach(type) { record in
        let fields = record.fields
        context.accounts.append(
          .init(id: record.id, name: fields["name"]?.text, currency: fields["currency"]?.text))
      }
    }
    for (name, path) in [("category_group", \ImportContext.groups), ("category", \ImportContext.categories)] {
      guard let type = schema.type(name) else { continue }
      try household.forEach(type) { record in
        let fields = record.fields
        context[keyPath: path].append(
          .init(id: record.id, name: fields["name"]?.text, group: fields["group"]?.text))
      }
    }
    return context
  }
}
