import HouseholdRecords

/// A calendar day as a bank wrote it, and what it says about the order of day and month in its file.
///
/// The day is the one that is written, whatever time or zone stands behind it.
struct DayText: Hashable, Sendable {
  /// Which number comes first where the year does not.
  enum Order: Hashable, Sendable {
    case dayFirst, monthFirst
  }

  /// As they stand; the year whole.
  private let numbers: Numbers
  private let isYearFirst: Bool
  private let hasPoints: Bool

  private struct Numbers: Hashable, Sendable {
    let first, second, third: Int

    init(_ first: Int, _ second: Int, _ third: Int) { (self.first, self.second, self.third) = (first, second, third) }
  }

  /// Reads three numbers between points, slashes or hyphens, or eight digits; nil for anything else.
  init?(_ text: String) {
    if let (year, month, day) = isoNumbers(text) {
      numbers = Numbers(year, month, day)
      (isYearFirst, hasPoints) = (true, false)
      return
    }
    let trimmed = text.unicodeScalars.split(omittingEmptySubsequences: true) { $0.properties.isWhitespace }
    guard let word = trimmed.first else { return nil }
    let day = Array(word.prefix { $0 != "T" })
    if day.count == 8, let digits = number(day[...]) {
      numbers = Numbers(digits / 10_000, digits / 100 % 100, digits % 100)
      (isYearFirst, hasPoints) = (true, false)
      return
    }
    guard let separator = day.first(where: { $0 == "." || $0 == "/" || $0 == "-" }) else { return nil }
    var parts = day.split(separator: separator, omittingEmptySubsequences: false)
    if separator == ".", parts.count == 4, parts[3].isEmpty { parts.removeLast() }
    let values = parts.compactMap(number)
    guard parts.count == 3, values.count == 3 else { return nil }
    let isYearFirst = parts[0].count == 4
    self.isYearFirst = isYearFirst
    hasPoints = separator == "."
    let year = isYearFirst ? parts[0] : parts[2]
    let others = isYearFirst ? parts[1...2] : parts[0...1]
    guard year.count == 4 || year.count == 2, others.allSatisfy({ $0.count <= 2 }) else { return nil }
    let isShort = !isYearFirst && year.count == 2
    numbers = Numbers(values[0], values[1], isShort ? values[2] + (values[2] < 70 ? 2000 : 1900) : values[2])
  }

  /// The order that this day alone proves; nil when it could be either, or when the year comes first.
  var evidence: Order? {
    if isYearFirst { return nil }
    if hasPoints { return .dayFirst }
    if numbers.first > 12, numbers.second <= 12 { return .dayFirst }
    if numbers.second > 12, numbers.first <= 12 { return .monthFirst }
    return nil
  }

  /// The day under either order; nil where the order makes no difference or one of them is no day.
  var readings: (dayFirst: CalendarDay, monthFirst: CalendarDay)? {
    guard !isYearFirst, let dayFirst = CalendarDay(year: numbers.third, month: numbers.second, day: numbers.first),
      let monthFirst = CalendarDay(year: numbers.third, month: numbers.first, day: numbers.second)
    else { return nil }
    return (dayFirst, monthFirst)
  }

  /// The day, once the order of the file is known.
  func day(_ order: Order?) throws(FieldMisfit) -> CalendarDay {
    let day: CalendarDay?
    if isYearFirst {
      day = CalendarDay(year: numbers.first, month: numbers.second, day: numbers.third)
    } else if numbers.first == numbers.second {
      day = CalendarDay(year: numbers.third, month: numbers.first, day: numbers.second)
    } else {
      guard let order = order ?? evidence else {
        throw FieldMisfit(reason: "it cannot be told whether the day or the month comes first")
      }
      let (first, second) = (numbers.first, numbers.second)
      day =
        order == .dayFirst
        ? CalendarDay(year: numbers.third, month: second, day: first)
        : CalendarDay(year: numbers.third, month: first, day: second)
    }
    guard let day else { throw FieldMisfit(reason: "the calendar has no such day") }
    return day
  }
}

/// The numbers of `YYYY-MM-DD` and nothing else, as most files write days; nil for any other way.
private func isoNumbers(_ text: String) -> (year: Int, month: Int, day: Int)? {
  guard text.utf8.count == 10 else { return nil }
  var (numbers, place, index) = ((year: 0, month: 0, day: 0), 0, 0)
  for byte in text.utf8 {
    defer { index += 1 }
    if index == 4 || index == 7 {
      guard byte == UInt8(ascii: "-") else { return nil }
      place += 1
      continue
    }
    guard (0x30...0x39).contains(byte) else { return nil }
    let digit = Int(byte - 0x30)
    switch place {
    case 0: numbers.year = numbers.year * 10 + digit
    case 1: numbers.month = numbers.month * 10 + digit
    default: numbers.day = numbers.day * 10 + digit
    }
  }
  return numbers
}

private func number(_ digits: ArraySlice<Unicode.Scalar>) -> Int? {
  guard (1...8).contains(digits.count), digits.allSatisfy({ ("0"..."9").contains($0) }) else { return nil }
  return digits.reduce(0) { $0 * 10 + Int($1.value - 0x30) }
}
