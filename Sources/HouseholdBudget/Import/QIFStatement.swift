import HouseholdRecords

/// Reads QIF: a letter at the head of each line says what it is, `^` ends a payment.
///
/// Days are written in many ways (`12/31'99`, `1/ 5' 4`, `31.12.1999`): an apostrophe stands before the year. Which of
/// day and month comes first is decided for the whole file.
enum QIFStatement {
  static func read(_ bytes: [UInt8], name: String, into builder: inout PlanBuilder) throws {
    let items = self.items(String(decoding: bytes, as: UTF8.self))
    guard items.isQIF else {
      throw ImportFailure(
        .unknownFormat, "The file \(name) is no QIF file.", remedy: "Download it as QIF, or leave --format out.")
    }
    guard !items.isCut else {
      throw ImportFailure(
        .malformed, "The file \(name) ends in the middle of a payment.", remedy: "Download it from the bank again.")
    }
    let dialect = FileDialect(
      amounts: items.payments.lazy.flatMap(\.amounts), days: items.payments.lazy.compactMap(\.day),
      options: builder.options)
    builder.read(as: ImportChoices(), dialect)
    try builder.read(each: items.payments) { try read($0, dialect: dialect, into: &$1) }
  }

  private struct Part {
    var category: String?
    var note: String?
    var amount: String?
  }

  private struct Item {
    var line: Int
    var day: String?
    var amount: String?
    var payee: String?
    var note: String?
    var category: String?
    var parts: [Part] = []

    var amounts: [String] { [amount].compactMap(\.self) + parts.compactMap(\.amount) }
  }

  private struct Items {
    var payments: [Item] = []
    var isQIF = false
    var isCut = false
  }

  private static func items(_ text: String) -> Items {
    var items = Items()
    var current: Item?
    var isOfPayments = true
    var number = 0
    for line in physicalLines(of: text) {
      number += 1
      guard let letter = line.first, !line.allSatisfy(\.isWhitespace) else { continue }
      let value = String(line.dropFirst()).trimmed
      switch letter {
      case "!":
        items.isQIF = true
        let word = value.lowercased()
        // Lists of accounts, categories and shares have the same letters for other things.
        if word.hasPrefix("type:") {
          isOfPayments = ["bank", "cash", "ccard", "oth a", "oth l"].contains(String(word.dropFirst(5)).trimmed)
        } else if !word.hasPrefix("option") && !word.hasPrefix("clear") {
          isOfPayments = false
        }
        current = nil
      case "^":
        if isOfPayments, let item = current { items.payments.append(item) }
        current = nil
      default:
        var item = current ?? Item(line: number)
        take(letter, value, into: &item)
        current = item
      }
    }
    items.isCut = isOfPayments && current != nil
    return items
  }

  private static func take(_ letter: Character, _ value: String, into item: inout Item) {
    switch letter {
    case "D": item.day = plainDay(value)
    // U says the same as T with more room; some programs write only one of them.
    case "T": item.amount = value
    case "U": item.amount = item.amount ?? value
    case "P": item.payee = value
    case "M": item.note = value
    case "L": item.category = value
    case "S": item.parts.append(Part(category: value))
    case "E": if !item.parts.isEmpty { item.parts[item.parts.count - 1].note = value }
    case "$": if !item.parts.isEmpty { item.parts[item.parts.count - 1].amount = value }
    default: break
    }
  }

  /// `12/31'99`, `1/ 5' 4` and `1/5' 4` as `12/31/99` and `1/5/04`.
  private static func plainDay(_ text: String) -> String {
    var day = text.filter { !$0.isWhitespace }
    day = String(day.map { $0 == "'" || $0 == "\u{2019}" ? "/" : $0 })
    guard let slash = day.lastIndex(where: { $0 == "/" || $0 == "-" || $0 == "." }) else { return day }
    let year = day[day.index(after: slash)...]
    return year.count == 1 ? "\(day[...slash])0\(year)" : day
  }

  private static func read(_ item: Item, dialect: FileDialect, into builder: inout PlanBuilder) throws {
    let currency = builder.currency(own: nil, file: nil)
    let places = Currency.decimalPlaces(currency)
    var row: StatementRow
    do throws(FieldMisfit) {
      guard let day = item.day else { throw FieldMisfit(reason: "it has no date (D)") }
      guard let amount = item.amount else { throw FieldMisfit(reason: "it has no amount (T)") }
      row = StatementRow(
        line: item.line, day: try dialect.day(day), amount: try dialect.amount(amount, places: places),
        currency: currency)
      for part in item.parts {
        guard let amount = part.amount else { throw FieldMisfit(reason: "one of its parts has no amount ($)") }
        row.parts.append(
          .init(
            category: category(part.category), note: part.note,
            amount: try dialect.amount(amount, places: places)))
      }
      try checkParts(of: row)
    } catch {
      return builder.skip(line: item.line, error.reason)
    }
    row.payee = item.payee.map(tidied)
    row.note = item.note.map(tidied)
    row.category = row.parts.isEmpty ? category(item.category) : nil
    if isTransfer(item.category) || item.parts.contains(where: { isTransfer($0.category) }) {
      builder.note("Line \(item.line) is a transfer to or from another account of yours; it has no category.")
    }
    try builder.take(row)
  }

  /// Parts must add up to the payment: else one of the two figures is wrong, and nobody knows which.
  private static func checkParts(of row: StatementRow) throws(FieldMisfit) {
    guard !row.parts.isEmpty else { return }
    var sum = Int128(0)
    for part in row.parts { sum += Int128(part.amount) }
    guard sum == Int128(row.amount) else { throw FieldMisfit(reason: "its parts do not add up to its amount") }
  }

  private static func isTransfer(_ word: String?) -> Bool { word?.hasPrefix("[") ?? false }

  /// The category without its class (`Food/Holiday`); nil for a transfer (`[Savings]`) and for nothing.
  private static func category(_ word: String?) -> String? {
    guard let word, !word.isEmpty, !isTransfer(word) else { return nil }
    let name = word.prefix { $0 != "/" }
    return name.isEmpty ? nil : String(name)
  }
}

/// The lines of a text: LF, CR or CRLF ends them.
func physicalLines(of text: String) -> [Substring] {
  text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
}

extension StringProtocol {
  /// Without blanks at either end.
  var trimmed: String {
    var rest = Substring(self).drop { $0.isWhitespace }
    while rest.last?.isWhitespace ?? false { rest.removeLast() }
    return String(rest)
  }
}
