/// An amount as a bank wrote it, and what it says about the decimal mark of its file.
///
/// Everything is done on digits: no `Double` comes near money.
struct MoneyText: Hashable, Sendable {
  /// The character before the decimal places.
  enum Mark: Hashable, Sendable {
    case point, comma

    var other: Mark { self == .point ? .comma : .point }
    var byte: UInt8 { self == .point ? UInt8(ascii: ".") : UInt8(ascii: ",") }
  }

  private let isNegative: Bool
  /// Digits, points, commas and `'` for any other mark between thousands.
  private let core: [UInt8]

  /// Takes signs, brackets, blanks, currency signs and direction marks off; nil if no amount is left.
  init?(_ text: String) {
    if let (isNegative, core) = plainAmount(text) {
      self.isNegative = isNegative
      self.core = core
      return
    }
    guard let (isNegative, letters) = unsigned(text) else { return nil }
    var core: [UInt8] = []
    for scalar in letters {
      guard let byte = asciiForm(scalar) else { return nil }
      core.append(byte)
    }
    guard core.contains(where: isDigit), core.first != apostrophe, core.last != apostrophe else { return nil }
    self.isNegative = isNegative
    self.core = core
  }

  /// The decimal mark that this amount alone proves; nil when it could be either.
  var evidence: Mark? {
    let (points, commas) = (count(.point), count(.comma))
    if points > 0, commas > 0 {
      return core.last { $0 == Mark.point.byte || $0 == Mark.comma.byte } == Mark.point.byte ? .point : .comma
    }
    guard points + commas > 0 else { return nil }
    let mark: Mark = points > 0 ? .point : .comma
    guard points + commas == 1 else { return mark.other }
    let parts = core.split(separator: mark.byte, omittingEmptySubsequences: false)
    let couldGroup = parts[1].count == 3 && (1...3).contains(parts[0].count) && parts[0].first != UInt8(ascii: "0")
    return couldGroup ? nil : mark
  }

  /// The amount in minor units of a currency with so many decimal places.
  ///
  /// - Parameter mark: the decimal mark of the file; nil when no amount of it proves one. Then three places behind a
  ///   lone mark are places only where the currency has three, and thousands only where it has none.
  func minorUnits(mark: Mark?, places: Int) throws(FieldMisfit) -> Int64 {
    let ambiguous = evidence == nil && count(.point) + count(.comma) > 0
    var decimal = mark ?? evidence
    if decimal == nil, ambiguous {
      let written: Mark = count(.point) > 0 ? .point : .comma
      guard places == 3 || places == 0 else {
        throw FieldMisfit(reason: "it cannot be told whether the mark is a decimal mark or one of thousands")
      }
      decimal = places == 3 ? written : written.other
    }
    let byte = (decimal ?? .point).byte
    let parts = core.split(separator: byte, omittingEmptySubsequences: false)
    guard parts.count <= 2, let whole = digits(grouped: parts[0], decimal: decimal ?? .point) else {
      throw FieldMisfit(reason: "it does not fit the decimal mark of the file")
    }
    var fraction = parts.count == 2 ? Array(parts[1]) : []
    guard fraction.allSatisfy(isDigit) else {
      throw FieldMisfit(reason: "it does not fit the decimal mark of the file")
    }
    while fraction.count > places, fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
    guard fraction.count <= places else {
      throw FieldMisfit(reason: "it has more decimal places than the currency, which has \(places)")
    }
    fraction += Array(repeating: UInt8(ascii: "0"), count: places - fraction.count)
    return try value(whole + fraction)
  }

  private func count(_ mark: Mark) -> Int { core.count { $0 == mark.byte } }

  /// The digits before the decimal mark; nil when marks between them do not stand where thousands are.
  private func digits(grouped part: ArraySlice<UInt8>, decimal: Mark) -> [UInt8]? {
    let groups = part.split(omittingEmptySubsequences: false) { $0 == decimal.other.byte || $0 == apostrophe }
    guard groups.allSatisfy({ $0.allSatisfy(isDigit) }) else { return nil }
    if groups.count > 1 {
      // Thousands, or as in India: two digits each, and three in the last group.
      guard (1...3).contains(groups[0].count), groups.last?.count == 3,
        groups.dropFirst().dropLast().allSatisfy({ $0.count == 2 || $0.count == 3 })
      else { return nil }
    }
    return Array(groups.joined())
  }

  private func value(_ digits: [UInt8]) throws(FieldMisfit) -> Int64 {
    var value: Int64 = 0
    for digit in digits {
      let (shifted, isOver) = value.multipliedReportingOverflow(by: 10)
      let step = Int64(digit - UInt8(ascii: "0"))
      let (next, isPast) = shifted.addingReportingOverflow(isNegative ? -step : step)
      guard !isOver, !isPast else { throw FieldMisfit(reason: "it does not fit 64 bits of minor units") }
      value = next
    }
    return value
  }
}

/// An amount of nothing but digits, marks and a sign before them, as most are; nil for any other way of writing.
private func plainAmount(_ text: String) -> (isNegative: Bool, core: [UInt8])? {
  let bytes = Array(text.utf8)
  let isNegative = bytes.first == UInt8(ascii: "-")
  let rest = isNegative ? bytes.dropFirst() : bytes[...]
  let isPlain = rest.allSatisfy { isDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }
  guard isPlain, rest.contains(where: isDigit) else { return nil }
  return (isNegative, Array(rest))
}

private let apostrophe = UInt8(ascii: "'")

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

/// The sign, and what is left without signs, brackets, blanks around and currency signs.
private func unsigned(_ text: String) -> (isNegative: Bool, letters: ArraySlice<Unicode.Scalar>)? {
  var rest = text.unicodeScalars.filter { !isDirectionMark($0) }[...].map { $0 }[...]
  var signs: [Bool] = []
  trim(&rest)
  if rest.first == "(", rest.last == ")" {
    rest = rest.dropFirst().dropLast()
    signs.append(true)
    trim(&rest)
  }
  takeSign(&rest, fromEnd: false, into: &signs)
  guard takeCurrency(&rest) else { return nil }
  takeSign(&rest, fromEnd: false, into: &signs)
  takeSign(&rest, fromEnd: true, into: &signs)
  guard signs.count <= 1 else { return nil }
  return (signs.first ?? false, rest)
}

private func takeSign(_ rest: inout ArraySlice<Unicode.Scalar>, fromEnd: Bool, into signs: inout [Bool]) {
  trim(&rest)
  guard let scalar = fromEnd ? rest.last : rest.first else { return }
  let isMinus = ["-", "\u{2212}", "\u{2013}"].contains(scalar)
  guard isMinus || scalar == "+" else { return }
  signs.append(isMinus)
  if fromEnd { rest.removeLast() } else { rest.removeFirst() }
  trim(&rest)
}

/// Takes a currency's sign or letters off both ends; false for letters that mean a direction, such as `S` or `CR`.
private func takeCurrency(_ rest: inout ArraySlice<Unicode.Scalar>) -> Bool {
  let isSign = { (scalar: Unicode.Scalar) in
    scalar.properties.isAlphabetic || scalar.properties.generalCategory == .currencySymbol
  }
  guard rest.first.map(isSign) ?? false || rest.last.map(isSign) ?? false else { return true }
  // A point belongs to a word only behind its letters: `د.ب.4` and `Rs. 4`, but `kr .5` keeps its own.
  let head = rest.first.map(isSign) ?? false ? rest.prefix { isSign($0) || $0 == "." } : []
  let tail = rest.dropFirst(head.count).reversed().prefix(while: isSign).count
  let words = [head.filter(isSign), Array(rest.suffix(tail))].map { scalars in
    scalars.map(String.init).joined().uppercased()
  }
  guard words.allSatisfy({ !["S", "H", "D", "C", "K", "CR", "DR", "DB", "E", "NAN", "INF"].contains($0) }) else {
    return false
  }
  rest = rest.dropFirst(head.count).dropLast(tail)
  trim(&rest)
  return true
}

private func trim(_ rest: inout ArraySlice<Unicode.Scalar>) {
  rest = rest.drop { $0.properties.isWhitespace }
  while rest.last?.properties.isWhitespace ?? false { rest.removeLast() }
}

private func isDirectionMark(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: true
  default: false
  }
}

/// A digit of any script, a point, a comma, or `'` for every other mark between thousands; nil for anything else.
private func asciiForm(_ scalar: Unicode.Scalar) -> UInt8? {
  if scalar.properties.numericType == .decimal, let value = scalar.properties.numericValue {
    return UInt8(ascii: "0") + UInt8(value)
  }
  switch scalar.value {
  case 0x2E, 0xFF0E, 0x066B: return UInt8(ascii: ".")
  case 0x2C, 0xFF0C, 0x066C: return UInt8(ascii: ",")
  case 0x27, 0x2019, 0x20, 0xA0, 0x2009, 0x202F: return apostrophe
  default: return nil
  }
}
