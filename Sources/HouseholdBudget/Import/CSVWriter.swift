/// Writes CSV that `CSVReader` reads back to the same fields: quotes only where needed, lines end with LF.
package struct CSVWriter: Sendable {
  private let separator: UInt8

  /// A writer of fields separated by this ASCII character: a comma unless said otherwise.
  package init(separator: Character = ",") {
    guard let ascii = separator.asciiValue, !"\"\r\n".utf8.contains(ascii) else {
      preconditionFailure("A separator is one ASCII character, no quote and no line end.")
    }
    self.separator = ascii
  }

  /// One record as a line, its line end included; a record has at least one field.
  ///
  /// A lone empty field is written as `""`, because a blank line is no record.
  package func line(_ fields: [String]) -> String {
    precondition(!fields.isEmpty, "A CSV record has at least one field.")
    var bytes: [UInt8] = []
    for (index, field) in fields.enumerated() {
      if index > 0 { bytes.append(separator) }
      append(field, to: &bytes, alone: fields.count == 1)
    }
    bytes.append(UInt8(ascii: "\n"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// One record as a line in which nil is nothing at all and empty text is `""`: `CSVReader` tells them apart.
  package func lineKeepingNulls(_ fields: [String?]) -> String {
    precondition(fields.count > 1, "A lone null would be a blank line, which is no record.")
    var bytes: [UInt8] = []
    for (index, field) in fields.enumerated() {
      if index > 0 { bytes.append(separator) }
      if let field { append(field, to: &bytes, alone: field.isEmpty) }
    }
    bytes.append(UInt8(ascii: "\n"))
    return String(decoding: bytes, as: UTF8.self)
  }

  private func append(_ field: String, to bytes: inout [UInt8], alone: Bool) {
    let quote = UInt8(ascii: "\"")
    let mustQuote =
      field.utf8.contains { $0 == quote || $0 == separator || $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
      || (alone && field.isEmpty) || field.unicodeScalars.first == "\u{FEFF}"
    guard mustQuote else { return bytes.append(contentsOf: field.utf8) }
    bytes.append(quote)
    for byte in field.utf8 {
      if byte == quote { bytes.append(quote) }
      bytes.append(byte)
    }
    bytes.append(quote)
  }
}
