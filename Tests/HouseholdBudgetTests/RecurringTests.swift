import HouseholdBudget
import HouseholdRecords
import Testing

@Suite struct RecurringTests {
  private func series(_ every: String, _ start: String, _ more: [String: FieldValue] = [:]) -> [String: FieldValue] {
    ["every": .text(every), "start": .text(start), "amount_minor": .integer(-95000), "auto_post": .integer(1)]
      .merging(more) { $1 }
  }

  private func days(_ fields: [String: FieldValue], through last: String) throws -> [String] {
    let series = try RecurringSeries(id: "rent", fields: fields)
    return try series.dueDays(through: try #require(CalendarDay(last))).map(\.description)
  }

  /// What would be posted, given what is here; ids in `here` are known.
  private func plan(
    _ fields: [String: FieldValue], through last: String, here: Set<String> = [],
    posted: [(id: String, day: CalendarDay)] = [], automatically: Bool = true
  ) throws -> RecurringPlan {
    try RecurringPlan(
      series: [("rent", fields)], posted: { _ in posted },
      through: try #require(CalendarDay(last)), automatically: automatically, isAbsent: { !here.contains($0.id) },
      sha256: sha256)
  }

  @Test func `day 31 is the last day of shorter months, also in leap years`() throws {
    #expect(
      try days(series("month", "2024-01-31", ["day": .integer(31)]), through: "2024-05-30")
        == ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"])
    #expect(
      try days(series("month", "2026-01-30"), through: "2026-03-30") == ["2026-01-30", "2026-02-28", "2026-03-30"])
    #expect(
      try days(series("year", "2024-02-29"), through: "2028-12-31")
        == ["2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"])
  }

  @Test func `weeks go by the weekday that is named, days by one, and an end ends`() throws {
    #expect(
      try days(series("week", "2026-03-04", ["day": .integer(1)]), through: "2026-03-23")
        == ["2026-03-09", "2026-03-16", "2026-03-23"])
    #expect(try days(series("week", "2026-03-04"), through: "2026-03-12") == ["2026-03-04", "2026-03-11"])
    #expect(
      try days(series("day", "2026-02-27", ["end": .text("2026-03-01")]), through: "2026-12-31")
        == ["2026-02-27", "2026-02-28", "2026-03-01"])
    #expect(
      try days(series("month", "2026-03-10", ["day": .integer(5)]), through: "2026-05-05")
        == ["2026-04-05", "2026-05-05"])
    #expect(try days(series("month", "2026-03-10"), through: "2026-03-09") == [])
  }

  @Test func `what was ever posted is not posted again, and ids are the same everywhere`() throws {
    let fields = series("month", "2026-01-31", ["payee": .text("Landlord")])
    let first = try plan(fields, through: "2026-03-31")
    let ids = first.due.flatMap(\.records).map(\.id)
    #expect(ids.count == 3 && Set(ids).count == 3)
    #expect(first.due.flatMap(\.records).allSatisfy { $0.isWeak && $0.fields["recurring"] == .text("rent") })

    let again = try plan(fields, through: "2026-04-30", here: Set(ids))

    #expect(again.due.flatMap(\.records).compactMap { $0.fields["date"]?.text } == ["2026-04-30"])
    #expect(try plan(fields, through: "2026-03-31").due.flatMap(\.records).map(\.id) == ids)
  }

  @Test func `a series whose day is changed does not post its past a second time`() throws {
    let before = try plan(series("month", "2026-01-31"), through: "2026-03-31").due.flatMap(\.records)
    let posted = before.map { ($0.id, CalendarDay($0.fields["date"]?.text ?? "")!) }

    let after = try plan(
      series("month", "2026-01-01", ["day": .integer(5)]), through: "2026-05-05", here: Set(before.map(\.id)),
      posted: posted)

    #expect(after.due.flatMap(\.records).compactMap { $0.fields["date"]?.text } == ["2026-04-05", "2026-05-05"])
  }

  @Test func `a clock years ahead posts nothing by itself, and a broken series is named`() throws {
    let far = try plan(series("month", "2026-01-31"), through: "2099-01-01")
    #expect(far.due.isEmpty && far.faults.count == 1)
    #expect(try plan(series("month", "2026-01-31"), through: "2099-01-01", automatically: false).due.count == 1)

    for broken in [series("moon", "2026-01-01"), series("day", "no day"), series("day", "0001-01-01")] {
      #expect(try plan(broken, through: "2026-01-31").faults.map(\.series) == ["rent"])
    }
    let manual = series("month", "2026-01-31", ["auto_post": .integer(0)])
    #expect(try plan(manual, through: "2026-03-31").due.isEmpty)
    #expect(try plan(manual, through: "2026-03-31", automatically: false).due.count == 1)
  }
}
