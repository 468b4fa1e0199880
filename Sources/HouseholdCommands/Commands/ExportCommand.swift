import FoundationEssentials
import Glibc
import HouseholdBudget
import HouseholdKit
import HouseholdRecords

/// `export`: plain files out.
struct ExportCommand: Command {
  let description = CommandDescription(
    "export", group: .files, summary: "Write records as plain files to standard output.",
    discussion: """
      json holds all records and reads back to the same ones; csv holds the transactions. hledger and beancount are \
      journals of plain-text accounting, one entry for each transaction. sqlite is a database with the tables of the \
      records and nothing else.

      --since TOKEN writes as JSON only the records that were made or changed, by anyone, since the export that gave the \
      token, and under deleted the ids of those that went; --since start begins, with everything. Each answer holds the \
      next token. A token is good for this data directory; where it cannot tell all (after a restore, a removal, a \
      schema upgrade) the answer holds everything and says "complete": true.
      """,
    options: [
      .choice("format", ["csv", "json", "hledger", "beancount", "sqlite"], help: "What to write; default: json."),
      .value("since", "TOKEN", help: "Only what changed since the export that gave this token; start for all."),
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let format = invocation.value("format") ?? "json"
    guard format == "json" || !output.wantsJSON else {
      throw CommandError.usage("--format \(format) and --json are two formats.", remedy: "Ask for one of them.")
    }
    if let word = invocation.value("since") {
      guard format == "json" else {
        throw CommandError.usage("--since is for JSON, not for \(format).", remedy: "Leave --format out.")
      }
      try withHousehold(invocation, readOnly: true) { try writeChanges(since: word, of: $0, output: output) }
      return .done
    }
    if format == "sqlite" {
      try withHousehold(invocation, readOnly: false) { try writeDatabase($0, output: output) }
      return .done
    }
    try withHousehold(invocation, readOnly: true) { household in
      let text: String
      if let dialect = Ledger.Dialect(rawValue: format) {
        text = Ledger.text(try BudgetRecords(of: household), dialect: dialect)
      } else {
        let records = try all(of: household)
        text =
          format == "csv"
          ? CSVExport.text(records, schema: household.schema) : JSONExport.text(records, schema: household.schema)
      }
      try output.write(Array(text.utf8))
    }
    return .done
  }

  private func all(of household: Household) throws -> [String: [ExportedRecord]] {
    var records: [String: [ExportedRecord]] = [:]
    for type in household.schema.types {
      try household.forEach(type) { record in
        records[type.name, default: []].append(ExportedRecord(id: record.id, fields: record.fields))
      }
    }
    return records
  }

  /// Writes what changed since a token, or everything where the token cannot tell.
  private func writeChanges(since word: String, of household: Household, output: Output) throws {
    let token = ChangeToken(word)
    guard token != nil || word == "start" else {
      throw CommandError.usage(
        "\(quoted(word)) is no token of an export.", remedy: "Begin with --since start, which prints the first one.")
    }
    let changes = try household.changes(since: token)
    var records: [String: [ExportedRecord]] = [:]
    if changes.isComplete {
      for change in changes.changed {
        guard let type = household.schema.type(change.type), let record = try household.record(type, change.id) else {
          continue
        }
        records[type.name, default: []].append(ExportedRecord(id: record.id, fields: record.fields))
      }
    } else {
      records = try all(of: household)
    }
    let text = JSONExport.text(
      records, schema: household.schema,
      since: JSONExport.Since(
        token: changes.token.description, isComplete: !changes.isComplete,
        deleted: Dictionary(grouping: changes.deleted, by: \.type).mapValues { $0.map(\.id) }))
    try output.write(Array(text.utf8))
  }

  /// Makes the database in a folder of its own, as SQLite writes no streams, and removes it whatever happens.
  private func writeDatabase(_ household: Household, output: Output) throws {
    guard !output.isTerminal else {
      throw CommandError.usage(
        "a database is no text for a terminal.", remedy: "Write it into a file: household export --format sqlite > FILE"
      )
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: "household-export-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { removeFolder(folder) }
    let file = folder.appending(path: "records.sqlite")
    try household.copyRecords(to: file.path)
    try Self.copy(file.path, to: output)
  }

  /// Writes a file out piece by piece: it may be larger than the memory.
  private static func copy(_ path: String, to output: Output) throws {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.unreadable(errno) }
    defer { close(descriptor) }
    if let fault = try DescriptorReader.forEachPiece(of: descriptor, bytes: 1 << 20, { try output.write(Array($0)) }) {
      throw Self.unreadable(fault)
    }
  }

  private static func unreadable(_ number: Int32) -> CommandError {
    CommandError(
      code: "store", message: "The copy that was made cannot be read (errno \(number)).",
      remedy: "Check the disk of \(FileManager.default.temporaryDirectory.path).")
  }

  private func removeFolder(_ folder: URL) {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      Output().note("the copy in \(folder.path) could not be removed; delete it: it holds your records.")
    }
  }
}

extension BudgetRecords {
  /// What reports and journals need of a household.
  init(of household: Household) throws {
    self.init()
    for name in BudgetRecords.types {
      guard let type = household.schema.type(name) else { continue }
      try household.forEach(type) { record in add(name, id: record.id, fields: record.fields) }
    }
  }
}
