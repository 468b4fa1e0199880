import HouseholdRecords

/// All records of a CSV text, and what of it is no CSV: one bad line does not take the others with it.
struct CSVFile: Sendable {
  /// A record that could not be read.
  struct Fault: Hashable, Sendable {
    /// The physical line, from 1, on which the record begins.
    let line: Int
    let reason: String
  }

  private(set) var rows: [CSVRow] = []
  private(set) var faults: [Fault] = []
  /// Whether the rest was given up because more than `Limits.unreadableLines` records were no CSV.
  private(set) var isGivenUp = false

  /// Reads UTF-8; after a record that is no CSV it goes on with the physical line after that record's first.
  init(_ bytes: [UInt8], separator: Character) {
    let lines = physicalLines(bytes)
    var first = 0
    while first < lines.count {
      guard let fault = read(bytes, lines, from: first, separator: separator) else { return }
      faults.append(fault)
      if faults.count > Limits.unreadableLines {
        isGivenUp = true
        return
      }
      first = fault.line
    }
  }

  /// Reads from a physical line (counted from 0) up to the end or the first fault.
  private mutating func read(
    _ bytes: [UInt8], _ lines: [Range<Int>], from first: Int, separator: Character
  ) -> Fault? {
    var reader = CSVReader(separator: separator)
    do throws(CSVFailure) {
      for line in lines[first...] {
        for row in try reader.read(bytes[line]) { append(row, after: first) }
      }
      for row in try reader.finish() { append(row, after: first) }
      return nil
    } catch {
      return Fault(line: reader.recordLine + first, reason: reason(error))
    }
  }

  private mutating func append(_ row: CSVRow, after lines: Int) {
    rows.append(CSVRow(line: row.line + lines, fields: row.fields, isQuoted: row.isQuoted))
  }

  private func reason(_ failure: CSVFailure) -> String {
    switch failure.reason {
    case .unterminatedQuote: "a quote is opened and never closed"
    case .textAfterQuote: "text follows a closing quote; a quote inside a field must be doubled"
    case .notUTF8: "it holds bytes that are no text"
    case .fieldTooLong: "a field is longer than \(Limits.textBytes) bytes"
    case .recordTooLong: "it is longer than \(Limits.recordBytes) bytes"
    case .tooManyFields: "it has more than \(Limits.importColumns) fields"
    }
  }
}

/// The physical lines with their ends: LF, CR or CRLF.
private func physicalLines(_ bytes: [UInt8]) -> [Range<Int>] {
  var lines: [Range<Int>] = []
  var start = 0
  for index in bytes.indices {
    let byte = bytes[index]
    let isEnd =
      byte == UInt8(ascii: "\n")
      || byte == UInt8(ascii: "\r") && !(index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "\n"))
    guard isEnd else { continue }
    lines.append(start..<index + 1)
    start = index + 1
  }
  if start < bytes.count { lines.append(start..<bytes.count) }
  return lines
}
