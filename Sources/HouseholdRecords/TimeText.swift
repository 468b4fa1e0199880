/// A calendar day of the Gregorian calendar, years 0001 to 9999, in no time zone.
///
/// Source of the arithmetic: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (days_from_civil,
/// civil_from_days). No Foundation, so it means the same on every machine.
package struct CalendarDay: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Days since 1970-01-01, negative before.
  package let dayNumber: Int64

  /// The day with this number; nil outside the years 0001 to 9999.
  package init?(dayNumber: Int64) {
    guard (-719_162...2_932_896).contains(dayNumber) else { return nil }
    self.dayNumber = dayNumber
  }

  /// The day of this year, month and day of the month; nil when the calendar has none.
  package init?(year: Int, month: Int, day: Int) {
    guard (1...9999).contains(year), (1...12).contains(month),
      (1...Self.dayCount(year: year, month: month)).contains(day)
    else { return nil }
    dayNumber = daysFromCivil(year: Int64(year), month: Int64(month), day: Int64(day))
  }

  /// The day written `YYYY-MM-DD`; nil for anything else, such as `2026-02-30`.
  package init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count == 10, bytes[4] == hyphen, bytes[7] == hyphen, let year = number(bytes[0..<4]),
      let month = number(bytes[5..<7]), let day = number(bytes[8..<10])
    else { return nil }
    self.init(year: year, month: month, day: day)
  }

  /// The number of days of a month.
  package static func dayCount(year: Int, month: Int) -> Int {
    switch month {
    case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The year, the month from 1 and the day of the month from 1.
  package var civil: (year: Int, month: Int, day: Int) {
    let civil = civilFromDays(dayNumber)
    return (Int(civil.year), Int(civil.month), Int(civil.day))
  }

  /// The day as `YYYY-MM-DD`.
  package var description: String {
    let (year, month, day) = civil
    return "\(padded(Int64(year), 4))-\(padded(Int64(month), 2))-\(padded(Int64(day), 2))"
  }

  package static func < (a: Self, b: Self) -> Bool { a.dayNumber < b.dayNumber }
}

extension Instant {
  /// The first and the last millisecond that four digits of a year can say.
  private static let writable: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

  /// RFC 3339 in UTC with milliseconds, such as `2026-03-01T09:30:00.250Z`.
  ///
  /// A year has four digits there: points before the year 0000 or after 9999 are written as the end of that range.
  package var rfc3339: String {
    let held = min(max(milliseconds, Self.writable.lowerBound), Self.writable.upperBound)
    let (days, rest) = flooredDivision(held, millisecondsPerDay)
    let date = civilFromDays(days)
    let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60)
    let (second, fraction) = (rest / 1000 % 60, rest % 1000)
    return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
      + "T\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2)).\(padded(fraction, 3))Z"
  }

  /// The point that an RFC 3339 text names, with `Z` or an offset; nil for anything else.
  ///
  /// Digits after the milliseconds are cut off. A leap second (`:60`) is refused: no replica could order it.
  package init?(rfc3339 text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes[4] == hyphen, bytes[7] == hyphen, bytes[10] | 0x20 == UInt8(ascii: "t"),
      bytes[13] == colon, bytes[16] == colon,
      let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
      let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
      (1...12).contains(month), (1...CalendarDay.dayCount(year: year, month: month)).contains(day),
      hour < 24, minute < 60, second < 60
    else { return nil }
    var rest = bytes[19...]
    guard let fraction = takeFraction(&rest), let offsetMinutes = zoneMinutes(rest) else { return nil }
    let days = daysFromCivil(year: Int64(year), month: Int64(month), day: Int64(day))
    let seconds = Int64(hour * 3600 + (minute - offsetMinutes) * 60 + second)
    self.init(milliseconds: days * millisecondsPerDay + seconds * 1000 + fraction)
  }

  /// The point that 24 bytes of the form that `rfc3339` writes say; nil for any other: for reading many.
  package init?(ownSpelling bytes: Span<UInt8>) {
    guard bytes.count == 24 else { return nil }
    var isGood = true
    func number(_ places: Range<Int>) -> Int {
      var value = 0
      for place in places {
        let digit = bytes[place] &- 0x30
        if digit > 9 { isGood = false }
        value = value * 10 + Int(digit)
      }
      return value
    }
    let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
    let (hour, minute, second, fraction) = (number(11..<13), number(14..<16), number(17..<19), number(20..<23))
    let hasMarks =
      bytes[4] == hyphen && bytes[7] == hyphen && bytes[10] == UInt8(ascii: "T") && bytes[13] == colon
      && bytes[16] == colon && bytes[19] == UInt8(ascii: ".") && bytes[23] == UInt8(ascii: "Z")
    guard isGood, hasMarks, (1...12).contains(month),
      (1...CalendarDay.dayCount(year: year, month: month)).contains(day),
      hour < 24, minute < 60, second < 60
    else { return nil }
    let days = daysFromCivil(year: Int64(year), month: Int64(month), day: Int64(day))
    let seconds = Int64(hour * 3600 + minute * 60 + second)
    self.init(milliseconds: days * millisecondsPerDay + seconds * 1000 + Int64(fraction))
  }

  /// Whether a text is what a field of kind timestamp takes: RFC 3339 in UTC, spelled with `Z`.
  package static func isUTCTimestamp(_ text: some StringProtocol) -> Bool {
    text.last == "Z" && Instant(rfc3339: text) != nil
  }

  /// The calendar day in UTC; nil outside the years 0001 to 9999.
  package var utcDay: CalendarDay? {
    CalendarDay(dayNumber: flooredDivision(milliseconds, millisecondsPerDay).quotient)
  }
}

private let millisecondsPerDay: Int64 = 86_400_000
private let hyphen = UInt8(ascii: "-")
private let colon = UInt8(ascii: ":")

private func flooredDivision(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
  let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
  return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}

private func daysFromCivil(year: Int64, month: Int64, day: Int64) -> Int64 {
  let shifted = month <= 2 ? year - 1 : year
  let (era, yearOfEra) = flooredDivision(shifted, 400)
  let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
  return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}

private func civilFromDays(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
  let (era, dayOfEra) = flooredDivision(days + 719_468, 146_097)
  let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let shifted = (5 * dayOfYear + 2) / 153
  let month = shifted < 10 ? shifted + 3 : shifted - 9
  return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
}

/// The number that these bytes spell in ASCII digits; nil if one is no digit.
private func number(_ digits: ArraySlice<UInt8>) -> Int? {
  var value = 0
  for digit in digits {
    guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
    value = value * 10 + Int(digit - UInt8(ascii: "0"))
  }
  return value
}

/// Takes `.digits` from the front, if there, as milliseconds; nil when the point has no digits.
private func takeFraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
  guard rest.first == UInt8(ascii: ".") else { return 0 }
  rest.removeFirst()
  let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  guard !digits.isEmpty, let value = number(digits.prefix(3)) else { return nil }
  rest = rest.dropFirst(digits.count)
  return Int64(value) * (digits.count == 1 ? 100 : digits.count == 2 ? 10 : 1)
}

/// The minutes east of UTC that `Z` or `±HH:MM` says; nil for anything else.
private func zoneMinutes(_ zone: ArraySlice<UInt8>) -> Int? {
  let bytes = Array(zone)
  if bytes.count == 1, bytes[0] | 0x20 == UInt8(ascii: "z") { return 0 }
  guard bytes.count == 6, bytes[3] == colon, bytes[0] == UInt8(ascii: "+") || bytes[0] == hyphen,
    let hours = number(bytes[1..<3]), let minutes = number(bytes[4..<6]), hours < 24, minutes < 60
  else { return nil }
  return (hours * 60 + minutes) * (bytes[0] == hyphen ? -1 : 1)
}

private func padded(_ value: Int64, _ width: Int) -> String {
  let digits = String(value)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
