import FoundationEssentials
import HouseholdBudget
import HouseholdKit
import HouseholdNode
import HouseholdRecords

/// `report`: totals, plans beside what was spent, and who owes whom.
struct ReportCommand: Command {
  let description = CommandDescription(
    "report", group: .files, summary: "Totals by member, category, payee or month.",
    discussion: """
      Without a span: the month that is now. Both days of --from and --to count. Splits stand in for their transaction \
      by category and are never counted twice. Currencies are kept apart. A transaction that names no member counts for \
      whoever entered it.

      Transfers between accounts of the household are found: two payments without a category on two accounts, with \
      opposite amounts and at most four days apart. By category they stand under (transfers), they are nobody's \
      spending, and --transfers lists them; giving one of the two a category makes it an ordinary payment.
      """,
    options: [
      .value("month", "YYYY-MM", kind: .month, help: "One month."),
      .value("from", "DAY", kind: .day, help: "The first day that counts."),
      .value("to", "DAY", kind: .day, help: "The last day that counts."),
      .choice("by", ["category", "member", "payee", "month"], help: "What the rows are; default: category."),
      .flag("budget", help: "What was planned beside what was spent, by category."),
      .flag("shares", help: "What each member paid, and who owes whom for equal shares."),
      .flag("transfers", help: "The transfers between accounts of the household."),
      .flag("csv", help: "Print CSV."),
      .value("chart", "FILE.svg", kind: .file, help: "Write a picture of the totals too."),
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let days = try span(invocation)
    let others = ["budget", "shares", "transfers"].filter { invocation.flag($0) }
    guard others.count <= 1 else {
      throw CommandError.usage(
        "--\(others[0]) and --\(others[1]) are two reports.", remedy: "Ask for one at a time.")
    }
    guard others.isEmpty || invocation.value("chart") == nil else {
      throw CommandError.usage("--chart is for totals.", remedy: "Use it without --\(others[0]).")
    }
    let asCSV = invocation.flag("csv")
    guard !(asCSV && output.wantsJSON) else {
      throw CommandError.usage("--csv and --json are two formats.", remedy: "Ask for one of them.")
    }
    do {
      try withHousehold(invocation, readOnly: true) { household in
        let records = try BudgetRecords(of: household)
        switch others.first {
        case "budget": try PlanReport(days: days, asCSV: asCSV).show(household, records, output: output)
        case "shares":
          try ShareReport(days: days, asCSV: asCSV).show(
            household, records, Creators(household, invocation), output: output)
        case "transfers": try TransferReport(days: days, asCSV: asCSV).show(records, output: output)
        default: try totals(invocation, household, records, days, output: output)
        }
      }
    } catch let overflow as Report.Overflow {
      throw CommandError(
        code: "totalTooLarge", message: overflow.description, remedy: "Report a shorter span, or mend the amount.")
    }
    return .done
  }

  private func span(_ invocation: Invocation) throws -> ClosedRange<CalendarDay> {
    let (from, to) = (invocation.day("from"), invocation.day("to"))
    var month = invocation.value("month")
    guard month == nil || from == nil && to == nil else {
      throw CommandError.usage("--month and --from or --to are two spans.", remedy: "Give one of them.")
    }
    if month == nil, from == nil, to == nil { month = SystemClock.today.map { String($0.description.prefix(7)) } }
    if let month, let first = CalendarDay(month + "-01") {
      let (year, number, _) = first.civil
      let last = CalendarDay(year: year, month: number, day: CalendarDay.dayCount(year: year, month: number))
      return first...(last ?? first)
    }
    guard let earliest = from ?? CalendarDay("0001-01-01"), let latest = to ?? CalendarDay("9999-12-31") else {
      preconditionFailure("The ends of the calendar are days.")
    }
    guard earliest <= latest else {
      throw CommandError.usage("\(earliest) is after \(latest).", remedy: "Give --from the earlier day.")
    }
    return earliest...latest
  }

  // MARK: Totals

  private struct ShownRow: Encodable {
    var key: String
    var count: Int
    var amount_minor: Int64
  }

  private struct Shown: Encodable {
    var from: String
    var to: String
    var currency: Nullable<String>
    var rows: [ShownRow]
    var total_minor: Int64
  }

  private struct Several: Encodable {
    var reports: [Shown]
  }

  private func totals(
    _ invocation: Invocation, _ household: Household, _ records: BudgetRecords, _ days: ClosedRange<CalendarDay>,
    output: Output
  ) throws {
    let grouping = invocation.value("by").flatMap(Report.Grouping.init) ?? .category
    let creators = grouping == .member ? try Creators(household, invocation) : nil
    let report = try Report.make(records, days: days, by: grouping) { creators?.name($0) ?? "" }
    if let path = invocation.value("chart") {
      let svg = BarChart.svg(report, title: "By \(grouping.rawValue), \(days.lowerBound) to \(days.upperBound)")
      do {
        try Data(svg.utf8).write(to: URL(fileURLWithPath: path))
      } catch {
        throw CommandError(
          code: "notWritten", message: "the picture could not be written to \(quoted(path)).",
          remedy: "Name a file in a folder that is there and can be written.")
      }
      output.note("wrote \(path)")
    }
    if invocation.flag("csv") { return try output.write(csv(report)) }
    let shown = report.sections.map { section in
      Shown(
        from: days.lowerBound.description, to: days.upperBound.description,
        currency: Nullable(wrappedValue: section.currency),
        rows: section.rows.map { ShownRow(key: $0.key, count: $0.count, amount_minor: $0.amountMinor) },
        total_minor: section.totalMinor)
    }
    let show = { try self.show(report, grouping, days, output: output) }
    if shown.count == 1 {
      try output.result(shown[0], text: show)
    } else {
      try output.result(Several(reports: shown), text: show)
    }
  }

  private func show(
    _ report: Report, _ grouping: Report.Grouping, _ days: ClosedRange<CalendarDay>, output: Output
  ) throws {
    try output.line("\(days.lowerBound) to \(days.upperBound)")
    for section in report.sections {
      try output.line()
      var table = TableOutput([
        .text(grouping.rawValue.uppercased()), .number("COUNT"), .number(section.currency ?? "AMOUNT"),
      ])
      for row in section.rows {
        let key = row.key.isEmpty ? "(none)" : row.key
        table.add([key, String(row.count), Currency.text(row.amountMinor, section.currency)])
      }
      let count = section.rows.reduce(0) { $0 + $1.count }
      table.add(["total", String(count), Currency.text(section.totalMinor, section.currency)])
      try output.table(table)
    }
  }

  private func csv(_ report: Report) -> [UInt8] {
    let rows = report.sections.flatMap { section in
      section.rows.map { row in
        [row.key, String(row.count), Currency.text(row.amountMinor, section.currency), section.currency ?? ""]
      }
    }
    return csvBytes([["key", "count", "amount", "currency"]] + rows)
  }
}

/// Who made which transaction; what is not sealed yet was made by this device's member.
struct Creators {
  private let names: [RecordKey: String]
  private let own: String
  /// The names of the members who belong now.
  let members: [String]

  init(_ household: Household, _ invocation: Invocation) throws {
    let (state, device, _) = try HouseholdStatus.membership(try invocation.directory())
    names = try household.schema.type("transaction").map { try household.creators($0) } ?? [:]
    own = state.devices[device].flatMap { state.members[$0.member]?.name } ?? ""
    members = state.members.values.filter { $0.state == .active }.map(\.name).sorted()
  }

  func name(_ id: String) -> String { names[RecordKey(type: "transaction", id: id)] ?? own }
}
