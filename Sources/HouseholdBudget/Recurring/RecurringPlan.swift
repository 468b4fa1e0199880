package import HouseholdRecords

/// What is due of all series and was never posted: a pure function of the day and of what is here.
package struct RecurringPlan: Sendable {
  /// What of one series is due.
  package struct Due: Hashable, Sendable {
    package let series: String
    package let payee: String?
    package let records: [ImportedRecord]
  }

  /// A series that posts nothing, and why.
  package struct Fault: Hashable, Sendable {
    package let series: String
    package let reason: String
  }

  package private(set) var due: [Due] = []
  package private(set) var faults: [Fault] = []

  /// More missing occurrences of one series than this are posted only on request: a clock may stand years ahead.
  package static let automaticLimit = 400

  /// - Parameters:
  ///   - series: the records of the type recurring.
  ///   - posted: what a series posted and still shows; asked only where something was never posted. A payment that the series as it is now would not post comes
  ///     from its schedule before somebody changed it; what is due before such a one is not posted a second time.
  ///   - automatically: whether a node asks, for the series that say so, within `automaticLimit`.
  ///   - isAbsent: whether nothing was ever heard of a record.
  package init(
    series: [(id: String, fields: [String: FieldValue])], posted: (String) throws -> [(id: String, day: CalendarDay)],
    through today: CalendarDay, automatically: Bool, isAbsent: (RecordKey) throws -> Bool,
    sha256: ([UInt8]) -> [UInt8]
  ) throws {
    for record in series {
      let item: RecurringSeries
      let days: [CalendarDay]
      do throws(RecurringSeries.Fault) {
        item = try RecurringSeries(id: record.id, fields: record.fields)
        guard !automatically || item.isPostedByNodes else { continue }
        days = try item.dueDays(through: today)
      } catch {
        faults.append(Fault(series: record.id, reason: error.reason))
        continue
      }
      try add(
        record.fields["payee"]?.text, series: record.id,
        occurrences: days.map { (day: $0, record: item.transaction(on: $0, sha256: sha256)) },
        posted: posted, isAutomatic: automatically, isAbsent: isAbsent)
    }
  }

  private mutating func add(
    _ payee: String?, series: String, occurrences: [(day: CalendarDay, record: ImportedRecord)],
    posted: (String) throws -> [(id: String, day: CalendarDay)], isAutomatic: Bool,
    isAbsent: (RecordKey) throws -> Bool
  ) throws {
    let absent = try occurrences.filter { try isAbsent(RecordKey(type: $0.record.type, id: $0.record.id)) }
    guard !absent.isEmpty else { return }
    let own = Set(occurrences.map { TextBytes($0.record.id) })
    let lastOfBefore = try posted(series).filter { !own.contains(TextBytes($0.id)) }.map(\.day).max()
    let records = absent.filter { occurrence in lastOfBefore.map { occurrence.day > $0 } ?? true }.map(\.record)
    guard !isAutomatic || records.count <= Self.automaticLimit else {
      let reason = "\(records.count) payments are due at once; household recurring run posts them"
      faults.append(Fault(series: series, reason: reason))
      return
    }
    if !records.isEmpty { due.append(Due(series: series, payee: payee, records: records)) }
  }
}
