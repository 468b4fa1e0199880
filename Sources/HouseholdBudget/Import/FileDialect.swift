import HouseholdRecords

/// What amounts and days look like in one file: decided once for all its rows, never per row.
struct FileDialect: Sendable {
  private let mark: MoneyText.Mark?
  private let order: DayText.Order?
  /// What the file itself proves: worth remembering for the account's next file, which may prove nothing.
  let proven: ImportChoices
  /// What a person should know about how the file was read.
  private(set) var note: String?

  /// Collects what each text proves by itself.
  ///
  /// - Parameters:
  ///   - amounts: all amounts of the file.
  ///   - days: all days of the file.
  init(amounts: some Sequence<String>, days: some Sequence<String>, options: ImportOptions) {
    var (points, commas, daysFirst, monthsFirst) = (0, 0, 0, 0)
    for amount in amounts {
      switch MoneyText(amount)?.evidence {
      case .point: points += 1
      case .comma: commas += 1
      case nil: break
      }
    }
    for day in days {
      switch DayText(day)?.evidence {
      case .dayFirst: daysFirst += 1
      case .monthFirst: monthsFirst += 1
      case nil: break
      }
    }
    proven = ImportChoices(
      isDayFirst: daysFirst == monthsFirst ? nil : daysFirst > monthsFirst,
      hasDecimalComma: points == commas ? nil : commas > points)
    let known = options.choices.over(proven).over(options.remembered)
    mark = known.hasDecimalComma.map { $0 ? .comma : .point }
    if let isDayFirst = known.isDayFirst {
      order = isDayFirst ? .dayFirst : .monthFirst
    } else if daysFirst == 0, let denser = Self.denserOrder(days.compactMap { DayText($0)?.readings }) {
      order = denser
      let (read, other) = denser == .dayFirst ? ("day before month", "mdy") : ("month before day", "dmy")
      note =
        "No date proves its order; they lie close together as \(read), so they were read so (else: --date-order \(other))."
    } else {
      order = nil
    }
  }

  /// How the file was read, as far as that was decided.
  var choices: ImportChoices {
    ImportChoices(isDayFirst: order.map { $0 == .dayFirst }, hasDecimalComma: mark.map { $0 == .comma })
  }

  /// The order in which days that could be either lie much closer together, as those of a statement do.
  private static func denserOrder(
    _ readings: [(dayFirst: CalendarDay, monthFirst: CalendarDay)]
  ) -> DayText.Order? {
    let (dayFirst, monthFirst) = (Set(readings.map(\.dayFirst)), Set(readings.map(\.monthFirst)))
    guard dayFirst.count >= 3, let firstOfOne = dayFirst.min(), let lastOfOne = dayFirst.max(),
      let firstOfOther = monthFirst.min(), let lastOfOther = monthFirst.max()
    else { return nil }
    let one = lastOfOne.dayNumber - firstOfOne.dayNumber
    let other = lastOfOther.dayNumber - firstOfOther.dayNumber
    if one * 4 + 30 < other { return .dayFirst }
    return other * 4 + 30 < one ? .monthFirst : nil
  }

  /// The day that a text means in this file.
  func day(_ text: String) throws(FieldMisfit) -> String {
    guard let written = DayText(text) else { throw FieldMisfit(reason: "\(quoted(text)) is no date") }
    do throws(FieldMisfit) {
      return try written.day(order).description
    } catch {
      throw FieldMisfit(reason: "the date \(quoted(text)): \(error.reason)")
    }
  }

  /// The amount that a text means in this file.
  func amount(_ text: String, places: Int) throws(FieldMisfit) -> Int64 {
    guard let money = MoneyText(text) else { throw FieldMisfit(reason: "\(quoted(text)) is no amount") }
    do throws(FieldMisfit) {
      return try money.minorUnits(mark: mark, places: places)
    } catch {
      throw FieldMisfit(reason: "the amount \(quoted(text)): \(error.reason)")
    }
  }

  /// An amount of a format that never groups thousands: a lone mark is its decimal mark.
  static func plainAmount(_ text: String, places: Int) throws(FieldMisfit) -> Int64 {
    guard let money = MoneyText(text) else { throw FieldMisfit(reason: "\(quoted(text)) is no amount") }
    do throws(FieldMisfit) {
      return try money.minorUnits(
        mark: money.evidence ?? (text.utf8.contains(UInt8(ascii: ",")) ? .comma : .point), places: places)
    } catch {
      throw FieldMisfit(reason: "the amount \(quoted(text)): \(error.reason)")
    }
  }

  /// A day that begins with its eight digits or is written `YYYY-MM-DD`, whatever time and zone follow.
  static func plainDay(_ text: String) throws(FieldMisfit) -> String {
    let word = text.drop { $0.isWhitespace }
    if word.utf8.prefix(8).count == 8, word.utf8.prefix(8).allSatisfy({ (0x30...0x39).contains($0) }) {
      let digits = word.prefix(8)
      let written = "\(digits.prefix(4))-\(digits.dropFirst(4).prefix(2))-\(digits.suffix(2))"
      guard CalendarDay(written) != nil else {
        throw FieldMisfit(reason: "the date \(quoted(text)): the calendar has no such day")
      }
      return written
    }
    guard CalendarDay(word.prefix(10)) != nil else { throw FieldMisfit(reason: "\(quoted(text)) is no date") }
    return String(word.prefix(10))
  }
}

/// The same text from every encoding and system: composed, line ends as LF.
func tidied(_ text: String) -> String {
  if text.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\r") }) { return text }
  let composed = Folding.composed(text)
  guard composed.utf8.contains(UInt8(ascii: "\r")) else { return composed }
  var scalars = String.UnicodeScalarView()
  var isAfterReturn = false
  for scalar in composed.unicodeScalars {
    if scalar == "\r" || scalar == "\n" && !isAfterReturn { scalars.append("\n") }
    if scalar != "\r", scalar != "\n" { scalars.append(scalar) }
    isAfterReturn = scalar == "\r"
  }
  return String(scalars)
}

/// A text with its blanks and line ends as single blanks, and none around; nil for nothing.
func onOneLine(_ text: String?) -> String? {
  guard let text else { return nil }
  let words = tidied(text).unicodeScalars.split(omittingEmptySubsequences: true) { $0.properties.isWhitespace }
  return words.isEmpty ? nil : words.map { String(String.UnicodeScalarView($0)) }.joined(separator: " ")
}
