import HouseholdBudget
import HouseholdKit
import HouseholdNode
import HouseholdRecords

/// `recurring run`: posts what is due of recurring series.
struct RecurringCommand: Command {
  let description = CommandDescription(
    "recurring", group: .files, summary: "Post the payments of recurring series that are due.",
    discussion: """
      A running node posts those of series with auto_post by itself; this posts those of all series, up to today or \
      --until. What was posted before, edited or deleted is left alone; after a restore it waits for the first sync. Series are records of the type recurring: every \
      (day, week, month, year), day (31 is the last day of shorter months; 1 to 7 is Monday to Sunday for weeks), start, \
      end, amount_minor, currency, payee, category, account, auto_post.
      """,
    operands: [Operand("run", kind: .choice(["run"]), help: "Post what is due.")],
    options: [
      .value("until", "DAY", kind: .day, help: "Post up to this day; default: today."),
      .flag("dry-run", help: "Only show what would be posted."),
    ])

  private struct Posted: Encodable {
    var series: String
    var id: String
    var date: String
  }

  private struct Fault: Encodable {
    var series: String
    var reason: String
  }

  private struct Shown: Encodable {
    var posted: [Posted]
    var faults: [Fault]
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    guard let until = invocation.day("until") ?? SystemClock.today else {
      throw CommandError(
        code: "clock", message: "this machine does not say which day it is.", remedy: "Name one with --until DAY.")
    }
    try requireCaughtUp(invocation, to: "post what is due")
    let isDry = invocation.flag("dry-run")
    let plan = try withHousehold(invocation, readOnly: false) { household in
      try household.generating { generation in
        let plan = try duePlan(household, generation, through: until)
        if !isDry { try write(plan, household, generation) }
        return plan
      }
    }
    let shown = Shown(
      posted: plan.due.flatMap { due in
        due.records.map { Posted(series: due.series, id: $0.id, date: $0.fields["date"]?.text ?? "") }
      },
      faults: plan.faults.map { Fault(series: $0.series, reason: $0.reason) })
    try output.result(shown) {
      for due in plan.due {
        let days = due.records.compactMap { $0.fields["date"]?.text }
        let name = escapingControls(due.payee ?? due.series)
        try output.line("\(isDry ? "would post" : "posted") \(name): \(days.joined(separator: ", "))")
      }
      if plan.due.isEmpty { try output.line("Nothing is due.") }
      for fault in plan.faults {
        output.note("The series \(escapingControls(fault.series)) is left out: \(fault.reason).")
      }
    }
    return .done
  }

  private func duePlan(
    _ household: Household, _ generation: Household.Generation, through until: CalendarDay
  ) throws -> RecurringPlan {
    let (type, transactions) = (try household.requireType("recurring"), try household.requireType("transaction"))
    var series: [(id: String, fields: [String: FieldValue])] = []
    try household.forEach(type) { series.append(($0.id, $0.fields)) }
    func posted(_ series: String) throws -> [(id: String, day: CalendarDay)] {
      var posted: [(id: String, day: CalendarDay)] = []
      try household.forEach(transactions, where: [("recurring", .text(series))]) { record in
        if let day = record.fields["date"]?.text.flatMap({ CalendarDay($0) }) { posted.append((record.id, day)) }
      }
      return posted
    }
    return try RecurringPlan(
      series: series, posted: posted, through: until, automatically: false,
      isAbsent: { try generation.presence(transactions, $0.id) == .absent }, sha256: Household.sha256)
  }

  private func write(_ plan: RecurringPlan, _ household: Household, _ generation: Household.Generation) throws {
    let type = try household.requireType("transaction")
    for record in plan.due.flatMap(\.records) {
      let fields = record.fields.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
      try generation.insert(type, record.id, fields)
    }
  }
}
