import HouseholdRecords

/// One record of a CSV file and the physical line, from 1, on which it begins.
package struct CSVRow: Hashable, Sendable {
  /// The physical line on which the record begins.
  package let line: Int
  /// The fields as they were meant: without their quotes, doubled quotes halved.
  package let fields: [String]
  /// Which fields stood in quotes: it tells `""`, an empty text, from nothing at all.
  package let isQuoted: [Bool]

  package init(line: Int, fields: [String], isQuoted: [Bool]) {
    self.line = line
    self.fields = fields
    self.isQuoted = isQuoted
  }
}

/// Why a text is no CSV, and on which physical line.
package struct CSVFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  package enum Reason: Hashable, Sendable {
    /// A quote was opened on that line and never closed.
    case unterminatedQuote
    /// Something other than a separator or the end of the line follows a closing quote.
    case textAfterQuote
    /// A field is no UTF-8.
    case notUTF8
    /// A field is longer than `Limits.textBytes`.
    case fieldTooLong
    /// A record is longer than `Limits.recordBytes`.
    case recordTooLong
    /// A record has more than `Limits.importColumns` fields.
    case tooManyFields
  }

  /// What is wrong.
  package let reason: Reason
  /// The physical line, from 1.
  package let line: Int

  package init(reason: Reason, line: Int) {
    self.reason = reason
    self.line = line
  }

  /// One sentence with the line.
  package var description: String {
    switch reason {
    case .unterminatedQuote: "A quote that opens on line \(line) is never closed."
    case .textAfterQuote: "On line \(line), text follows a closing quote; a quote inside a field must be doubled."
    case .notUTF8: "Line \(line) holds bytes that are no UTF-8 text."
    case .fieldTooLong: "On line \(line), a field is longer than \(Limits.textBytes) bytes."
    case .recordTooLong: "The record that begins on line \(line) is longer than \(Limits.recordBytes) bytes."
    case .tooManyFields: "The record that begins on line \(line) has more than \(Limits.importColumns) fields."
    }
  }
}

/// Reads CSV as it arrives: bytes of UTF-8 in, whole records out, never more than one record in memory.
///
/// RFC 4180, and what banks make of it: lines end with LF, CR or CRLF, also mixed; a byte order mark is skipped; blank
/// lines yield nothing but are counted; a quote inside a field that did not begin with one stands for itself. Line
/// ends inside quotes belong to the field as they are. After an error the reader is of no further use.
package struct CSVReader: Sendable {
  private enum State { case fieldStart, plain, quoted, quoteInQuoted }

  private let separator: UInt8
  private var state = State.fieldStart
  private var fields: [String] = []
  private var isQuoted: [Bool] = []
  /// The marks of the last record: most records of a file have the same, and one array does for all of these.
  private var lastQuoted: [Bool] = []
  private var field: [UInt8] = []
  private var isFieldQuoted = false
  private var recordBytes = 0
  /// The line of the next byte.
  private var line = 1
  /// The line on which the record now being read begins; after a failure, the record that failed.
  private(set) var recordLine = 1
  /// The line of the last opening quote.
  private var quoteLine = 1
  /// Whether the last byte was a CR, whose LF must not count as another line.
  private var afterReturn = false
  /// Whether the record has anything yet: a lone `""` is a record, a blank line is none.
  private var begun = false
  /// How many bytes of a byte order mark were seen at the start; nil once past it.
  private var markBytes: Int? = 0

  /// A reader for fields separated by this ASCII character: a comma unless said otherwise.
  package init(separator: Character = ",") {
    guard let ascii = separator.asciiValue, ascii != quote, ascii != lineFeed, ascii != carriageReturn else {
      preconditionFailure("A separator is one ASCII character, no quote and no line end.")
    }
    self.separator = ascii
  }

  /// Takes the next bytes, cut anywhere, and returns the records that they complete.
  package mutating func read(_ chunk: some Sequence<UInt8>) throws(CSVFailure) -> [CSVRow] {
    var rows: [CSVRow] = []
    for byte in chunk { try skipMark(byte, &rows) }
    return rows
  }

  /// Says that no more bytes follow and returns the last record, if its line had no end.
  package mutating func finish() throws(CSVFailure) -> [CSVRow] {
    var rows: [CSVRow] = []
    if let seen = markBytes, seen > 0 {
      markBytes = nil
      for byte in byteOrderMark[..<seen] { try take(byte, &rows) }
    }
    if state == .quoted { throw CSVFailure(reason: .unterminatedQuote, line: quoteLine) }
    try endRecord(&rows)
    return rows
  }

  /// Reads a whole text at once.
  package static func rows(_ bytes: some Sequence<UInt8>, separator: Character = ",") throws(CSVFailure) -> [CSVRow] {
    var reader = CSVReader(separator: separator)
    return try reader.read(bytes) + reader.finish()
  }

  private mutating func skipMark(_ byte: UInt8, _ rows: inout [CSVRow]) throws(CSVFailure) {
    guard let seen = markBytes else { return try take(byte, &rows) }
    if byte == byteOrderMark[seen] {
      markBytes = seen + 1 == byteOrderMark.count ? nil : seen + 1
      return
    }
    markBytes = nil
    for held in byteOrderMark[..<seen] { try take(held, &rows) }
    try take(byte, &rows)
  }

  private mutating func take(_ byte: UInt8, _ rows: inout [CSVRow]) throws(CSVFailure) {
    let secondOfPair = afterReturn && byte == lineFeed
    afterReturn = byte == carriageReturn
    if secondOfPair {
      if state == .quoted { try append(byte) }
      return
    }
    switch state {
    case .quoted:
      if byte == quote {
        state = .quoteInQuoted
      } else {
        try append(byte)
        if byte == lineFeed || byte == carriageReturn { line += 1 }
      }
    case .quoteInQuoted where byte == quote:
      state = .quoted
      try append(byte)
    case .fieldStart where byte == quote:
      state = .quoted
      begun = true
      isFieldQuoted = true
      quoteLine = line
    case .fieldStart, .plain, .quoteInQuoted:
      try takeOutsideQuotes(byte, &rows)
    }
  }

  private mutating func takeOutsideQuotes(_ byte: UInt8, _ rows: inout [CSVRow]) throws(CSVFailure) {
    switch byte {
    case separator:
      begun = true
      try endField()
    case lineFeed, carriageReturn:
      try endRecord(&rows)
      line += 1
      recordLine = line
    case UInt8(ascii: " ") where state == .quoteInQuoted, UInt8(ascii: "\t") where state == .quoteInQuoted:
      // Blanks between a closing quote and what must follow it say nothing.
      return
    default:
      guard state != .quoteInQuoted else { throw CSVFailure(reason: .textAfterQuote, line: line) }
      state = .plain
      begun = true
      try append(byte)
    }
  }

  private mutating func append(_ byte: UInt8) throws(CSVFailure) {
    guard field.count < Limits.textBytes else { throw CSVFailure(reason: .fieldTooLong, line: line) }
    guard recordBytes < Limits.recordBytes else { throw CSVFailure(reason: .recordTooLong, line: recordLine) }
    field.append(byte)
    recordBytes += 1
  }

  private mutating func endField() throws(CSVFailure) {
    guard fields.count < Limits.importColumns else { throw CSVFailure(reason: .tooManyFields, line: recordLine) }
    guard let text = String(validating: field, as: UTF8.self) else {
      throw CSVFailure(reason: .notUTF8, line: recordLine)
    }
    fields.append(text)
    isQuoted.append(isFieldQuoted)
    isFieldQuoted = false
    field.removeAll(keepingCapacity: true)
    state = .fieldStart
  }

  private mutating func endRecord(_ rows: inout [CSVRow]) throws(CSVFailure) {
    guard begun else { return }
    try endField()
    if lastQuoted != isQuoted { lastQuoted = isQuoted }
    rows.append(CSVRow(line: recordLine, fields: fields, isQuoted: lastQuoted))
    fields = []
    fields.reserveCapacity(lastQuoted.count)
    isQuoted.removeAll(keepingCapacity: true)
    recordBytes = 0
    begun = false
  }
}

private let quote = UInt8(ascii: "\"")
private let lineFeed = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")
private let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
