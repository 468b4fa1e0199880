package import HouseholdRecords

/// A payment that comes back, and the days on which it is due.
///
/// The record id of an occurrence follows from the series and the due day, and its writes are weak: two devices that
/// both post it make one, and whatever a person did to it stays.
package struct RecurringSeries: Hashable, Sendable {
  /// How often.
  package enum Every: String, Hashable, Sendable { case day, week, month, year }

  package let id: String
  package let isPostedByNodes: Bool
  private let every: Every
  private let day: Int?
  private let start: CalendarDay
  private let end: CalendarDay?
  private let fields: [String: FieldValue]

  /// Why a series has no occurrences; the end of a sentence.
  package struct Fault: Error, Hashable, Sendable {
    package let reason: String
  }

  /// Reads a record of the type recurring.
  package init(id: String, fields: [String: FieldValue]) throws(Fault) {
    guard let word = fields["every"]?.text, let every = Every(rawValue: word) else {
      throw Fault(reason: "its “every” is none of day, week, month and year")
    }
    guard let start = fields["start"]?.text.flatMap({ CalendarDay($0) }) else {
      throw Fault(reason: "it has no “start”")
    }
    guard fields["amount_minor"]?.integer != nil else { throw Fault(reason: "it has no amount") }
    self.id = id
    self.every = every
    self.start = start
    end = fields["end"]?.text.flatMap { CalendarDay($0) }
    day = fields["day"]?.integer.flatMap { Int(exactly: $0) }.flatMap { $0 > 0 ? $0 : nil }
    isPostedByNodes = fields["auto_post"]?.integer == 1
    self.fields = fields
  }

  /// The due days up to a day, within what the series itself says.
  ///
  /// A day that a month does not have is its last: 31 is 30 April, and 29 February is the 28th in common years.
  package func dueDays(through today: CalendarDay) throws(Fault) -> [CalendarDay] {
    let through = end.map { min($0, today) } ?? today
    var days: [CalendarDay] = []
    var step = 0
    while let day = occurrence(step), day <= through {
      if day >= start { days.append(day) }
      step += 1
      guard days.count <= Self.dayLimit else { throw Fault(reason: "it began more than \(Self.dayLimit) payments ago") }
    }
    return days
  }

  /// Every day of 27 years: a series with more is a mistake, and would keep a node busy.
  private static let dayLimit = 10_000

  /// The day of a step from the start, nil beyond the calendar; the first may lie before the start.
  private func occurrence(_ step: Int) -> CalendarDay? {
    let from = start.civil
    switch every {
    case .day: return CalendarDay(dayNumber: start.dayNumber + Int64(step))
    case .week:
      // Day 1 is Monday, as in ISO 8601; 1970-01-01 was a Thursday.
      let weekday = Int((start.dayNumber % 7 + 7 + 3) % 7) + 1
      let shift = day.map { (1...7).contains($0) ? ($0 - weekday + 7) % 7 : 0 } ?? 0
      return CalendarDay(dayNumber: start.dayNumber + Int64(shift + step * 7))
    case .month:
      let months = from.year * 12 + from.month - 1 + step
      return Self.day(year: months / 12, month: months % 12 + 1, day: day ?? from.day)
    case .year: return Self.day(year: from.year + step, month: from.month, day: day ?? from.day)
    }
  }

  private static func day(year: Int, month: Int, day: Int) -> CalendarDay? {
    CalendarDay(year: year, month: month, day: min(day, CalendarDay.dayCount(year: year, month: month)))
  }

  /// The record id of the occurrence of a day.
  package func occurrenceID(_ day: CalendarDay, sha256: ([UInt8]) -> [UInt8]) -> String {
    "occurrence-" + ContentID.id(["household/occurrence/1", id, day.description], sha256: sha256)
  }

  /// The transaction that is posted for a day.
  package func transaction(on day: CalendarDay, sha256: ([UInt8]) -> [UInt8]) -> ImportedRecord {
    var values: [String: FieldValue] = ["date": .text(day.description), "recurring": .text(id)]
    for name in ["amount_minor", "currency", "payee", "category", "account"] {
      if let value = fields[name], !value.isNull { values[name] = value }
    }
    return ImportedRecord(type: "transaction", id: occurrenceID(day, sha256: sha256), fields: values, isWeak: true)
  }
}
