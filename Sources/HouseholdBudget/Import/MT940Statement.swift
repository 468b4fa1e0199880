import HouseholdRecords

/// Reads MT940: `:61:` is a payment, the `:86:` behind it its text, `:60F:` says the currency.
///
/// The bank's references are not taken for ids: many banks use one reference for all payments of a kind.
enum MT940Statement {
  static func read(_ bytes: [UInt8], name: String, into builder: inout PlanBuilder) throws {
    var scan = Scan()
    for (index, line) in physicalLines(of: String(decoding: bytes, as: UTF8.self)).enumerated() {
      scan.take(line, number: index + 1)
    }
    scan.endField()
    guard scan.isMT940 else {
      throw ImportFailure(
        .unknownFormat, "The file \(name) is no MT940 file.", remedy: "Download it as MT940, or leave --format out.")
    }
    try builder.read(each: scan.entries) { try read($0, into: &$1) }
  }

  private struct Entry {
    var line: Int
    var head: String
    var text: [String] = []
    var currency: String?
    var account: String?
  }

  /// What was read so far; a field goes on over lines until the next begins with `:NN:`.
  private struct Scan {
    var entries: [Entry] = []
    var isMT940 = false
    private var tag = ""
    private var value: [String] = []
    private var line = 0
    private var currency: String?
    private var account: String?
    /// Whether a text now belongs to the last payment.
    private var isInEntry = false

    mutating func take(_ text: Substring, number: Int) {
      if let found = Self.tag(text) {
        endField()
        (tag, line) = (found.tag, number)
        value = [found.value]
      } else if text == "-" || text.hasPrefix("-}") || text.hasPrefix("{") || text == "-XXX" {
        endField()
        isInEntry = false
      } else if !tag.isEmpty {
        value.append(String(text))
      }
    }

    mutating func endField() {
      defer { (tag, value) = ("", []) }
      switch tag {
      case "20", "28", "28C", "NS":
        isMT940 = true
        isInEntry = false
      case "25": account = value.first?.trimmed
      case "60F", "60M":
        isMT940 = true
        currency = value.first.map { String($0.dropFirst(7).prefix(3)) }
      case "61":
        isMT940 = true
        // A second line is the bank's own text about the payment.
        entries.append(
          Entry(line: line, head: value[0], text: Array(value.dropFirst()), currency: currency, account: account))
        isInEntry = true
      case "86": if isInEntry { entries[entries.count - 1].text += value }
      case "": break
      default: isInEntry = false
      }
    }

    private static func tag(_ line: Substring) -> (tag: String, value: String)? {
      guard line.first == ":", let end = line.dropFirst().firstIndex(of: ":") else { return nil }
      let tag = line[line.index(after: line.startIndex)..<end]
      guard (2...3).contains(tag.count), tag.allSatisfy({ $0.isASCII && ($0.isNumber || $0.isUppercase) }) else {
        return nil
      }
      return (String(tag), String(line[line.index(after: end)...]))
    }
  }

  private static func read(_ entry: Entry, into builder: inout PlanBuilder) throws {
    let currency = builder.currency(own: nil, file: entry.currency)
    let (day, amount): (String, Int64)
    do throws(FieldMisfit) {
      (day, amount) = try head(entry.head, places: Currency.decimalPlaces(currency))
    } catch {
      return builder.skip(line: entry.line, error.reason)
    }
    let text = MT940Text(entry.text)
    try builder.take(
      StatementRow(
        line: entry.line, day: day, amount: amount, currency: currency, payee: text.payee, note: text.note,
        fileAccount: entry.account))
  }

  /// The day and the amount: value day, booking day (may be left out), sign, a letter of the currency, amount.
  private static func head(_ head: String, places: Int) throws(FieldMisfit) -> (String, Int64) {
    var rest = Array(head.utf8)[...]
    func digits(_ count: Int) -> Int? {
      guard rest.count >= count, rest.prefix(count).allSatisfy(isDigit) else { return nil }
      return rest.prefix(count).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
    guard let value = digits(6) else { throw FieldMisfit(reason: "\(quoted(head)) has no date") }
    rest = rest.dropFirst(6)
    let year = value / 10_000
    let valueDay = CalendarDay(
      year: year < 70 ? 2000 + year : 1900 + year, month: value / 100 % 100, day: value % 100)
    guard let valueDay else { throw FieldMisfit(reason: "the date of \(quoted(head)): the calendar has no such day") }
    var day = valueDay
    if let booked = digits(4) {
      rest = rest.dropFirst(4)
      day = bookingDay(month: booked / 100, day: booked % 100, near: valueDay) ?? valueDay
    }
    let isReversal = rest.first == UInt8(ascii: "R") || rest.first == UInt8(ascii: "E")
    let isReversed = rest.first == UInt8(ascii: "R")
    if isReversal { rest = rest.dropFirst() }
    guard let mark = rest.first, mark == UInt8(ascii: "C") || mark == UInt8(ascii: "D") else {
      throw FieldMisfit(reason: "\(quoted(head)) says neither C nor D")
    }
    rest = rest.dropFirst()
    if let letter = rest.first, !isDigit(letter) { rest = rest.dropFirst() }
    let amount = rest.prefix { isDigit($0) || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ".") }
    let minor = try FileDialect.plainAmount(String(decoding: amount, as: UTF8.self), places: places)
    let isOut = (mark == UInt8(ascii: "D")) != isReversed
    return (day.description, isOut ? -minor : minor)
  }

  /// The booking day has no year: the one nearest to the value day.
  private static func bookingDay(month: Int, day: Int, near value: CalendarDay) -> CalendarDay? {
    (-1...1).compactMap { CalendarDay(year: value.civil.year + $0, month: month, day: day) }
      .min { abs($0.dayNumber - value.dayNumber) < abs($1.dayNumber - value.dayNumber) }
  }
}

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

/// The text of a payment in MT940: who, and what for, as far as the bank's way of writing tells them apart.
struct MT940Text: Hashable, Sendable {
  let payee: String?
  let note: String?

  init(_ lines: [String]) {
    let whole = lines.joined(separator: "\n")
    let note: String?
    let payee: String?
    if let fields = Self.numbered(lines) {
      payee = onOneLine(["32", "33"].compactMap { fields[$0] }.joined())
      note = onOneLine(
        (["00"] + (20...29).map(String.init) + (60...63).map(String.init)).compactMap { fields[$0] }
          .joined(separator: " "))
    } else if let name = Self.word("NAME", in: whole) {
      payee = name
      note = Self.word("REMI", in: whole) ?? onOneLine(whole)
    } else {
      payee = lines.lazy.compactMap(onOneLine).first
      note = onOneLine(whole)
    }
    self.payee = payee ?? note
    self.note = payee == nil || note == payee ? nil : note
  }

  /// German fields: a number of three digits, then `?20` and the like.
  private static func numbered(_ lines: [String]) -> [String: String]? {
    let text = lines.joined()
    guard text.count > 4, text.prefix(3).allSatisfy(\.isNumber), let mark = text.dropFirst(3).first,
      mark == "?" || mark == "<" || mark == ">"
    else { return nil }
    var fields: [String: String] = [:]
    for part in text.dropFirst(4).split(separator: mark) where part.count >= 2 {
      fields[String(part.prefix(2)), default: ""] += part.dropFirst(2)
    }
    return fields
  }

  /// Dutch fields: `/NAME/W. Jansen/REMI/...`.
  private static func word(_ name: String, in text: String) -> String? {
    let joined = text.filter { !$0.isNewline }
    guard let start = joined.firstRange(of: "/\(name)/")?.upperBound else { return nil }
    let rest = joined[start...]
    let end = rest.firstRange(of: /\/(?:[A-Z]{4}|BIC|IBAN|EREF|MARF|CSID)\//)?.lowerBound ?? rest.endIndex
    return onOneLine(String(rest[..<end]))
  }
}
