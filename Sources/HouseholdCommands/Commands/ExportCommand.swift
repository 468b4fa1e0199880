import HouseholdBudget
import HouseholdKit
import HouseholdRecords

/// `export`: plain files out.
struct ExportCommand: Command {
  let description = CommandDescription(
    "export", group: .files, summary: "Write records as CSV or JSON to standard output.",
    discussion: """
      json holds all records and reads back to the same ones; csv holds the transactions. hledger, beancount, sqlite \
      and --since are not built yet.
      """,
    options: [
      .choice("format", ["csv", "json", "hledger", "beancount", "sqlite"], help: "What to write; default: json."),
      .value("since", "TOKEN", help: "Only what changed since (not built yet)."),
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let format = invocation.value("format") ?? "json"
    guard ["csv", "json"].contains(format), invocation.value("since") == nil else {
      throw CommandError(
        code: "notBuiltYet",
        message: invocation.value("since") == nil
          ? "Exporting \(format) is not built yet." : "--since is not built yet.",
        remedy: "Use --format json or csv.")
    }
    try withHousehold(invocation, readOnly: true) { household in
      var records: [String: [ExportedRecord]] = [:]
      for type in household.schema.types {
        try household.forEach(type) { record in
          records[type.name, default: []].append(ExportedRecord(id: record.id, fields: record.fields))
        }
      }
      let text =
        format == "csv"
        ? CSVExport.text(records, schema: household.schema) : JSONExport.text(records, schema: household.schema)
      try output.write(Array(text.utf8))
    }
    return .done
  }
}
