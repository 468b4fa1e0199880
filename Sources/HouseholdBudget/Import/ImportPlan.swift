package import HouseholdRecords

/// A record that an import would write; none of its id has ever been here.
package struct ImportedRecord: Hashable, Sendable {
  package var type: String
  package var id: String
  /// Only the fields that the file speaks of; the others stay null.
  package var fields: [String: FieldValue]
  /// Whether whatever a person wrote wins: rows of a statement, and accounts and categories made for them.
  package var isWeak: Bool

  package init(type: String, id: String, fields: [String: FieldValue], isWeak: Bool) {
    self.type = type
    self.id = id
    self.fields = fields
    self.isWeak = isWeak
  }
}

/// A record of the file that is not taken, and why.
package struct SkippedLine: Hashable, Sendable {
  /// The physical line, from 1.
  package let line: Int
  /// A sentence's end in words for people; it quotes what is wrong.
  package let reason: String

  package init(line: Int, reason: String) {
    self.line = line
    self.reason = reason
  }
}

/// What importing a file would do: a pure function of its bytes, the options and what is here.
///
/// `found` is `added + known + skipped.count`. Records that are here already, or were deleted here, are known and stay
/// as they are. Writing `records` carries the plan out; a dry run only shows it.
package struct ImportPlan: Hashable, Sendable {
  /// The format that the file has.
  package let format: ImportFormat
  /// Such as `utf-8`, `utf-16le`, `iso-8859-1`, `windows-1252`.
  package let encoding: String
  /// How many rows (in our own JSON: records) are in the file.
  package let found: Int
  /// How many of them are new.
  package let added: Int
  /// How many of them are here, or were deleted here.
  package let known: Int
  /// Those that are not taken, by line.
  package let skipped: [SkippedLine]
  /// What to write, accounts and categories that the rows need before them.
  package let records: [ImportedRecord]

  /// Reads a file and says what importing it would do.
  ///
  /// - Parameter fileName: only for sentences and to tell formats apart.
  /// - Throws: `ImportFailure`, and what the context's `presence` throws.
  package static func make(
    bytes: [UInt8], fileName: String, options: ImportOptions, context: ImportContext
  ) throws -> ImportPlan {
    let name = quoted(fileName)
    guard bytes.count <= Limits.importBytes else {
      throw ImportFailure(
        .tooLarge, "The file \(name) is larger than \(Limits.importBytes >> 20) MiB.",
        remedy: "Export a shorter period from the bank, or cut the file.")
    }
    let text = try decode(bytes, name: name)
    guard text.bytes.contains(where: { $0 > 0x20 }) else {
      throw ImportFailure(.empty, "The file \(name) is empty.", remedy: "Export it from the bank again.")
    }
    let format = try format(of: text, name: name, options: options)
    var builder = PlanBuilder(options: options, context: context)
    switch format {
    case .json: try RecordsJSON.read(text.bytes, name: name, into: &builder)
    case .csv, .automatic: try TransactionsCSV.read(text.bytes, name: name, into: &builder)
    }
    return ImportPlan(
      format: format, encoding: text.encoding, found: builder.added + builder.known + builder.skipped.count,
      added: builder.added, known: builder.known, skipped: builder.skipped.sorted { $0.line < $1.line },
      records: builder.records)
  }

  private static func decode(_ bytes: [UInt8], name: String) throws(ImportFailure) -> DecodedText {
    do throws(TextDecodingFailure) {
      return try TextDecoding.decode(bytes)
    } catch {
      throw ImportFailure(
        .notText, "The file \(name) is no text that can be imported: \(error.reason).",
        remedy: "Export it as CSV or JSON.")
    }
  }

  private static func format(
    of text: DecodedText, name: String, options: ImportOptions
  ) throws(ImportFailure) -> ImportFormat {
    guard options.format == .automatic else { return options.format }
    let first = text.bytes.first { $0 > 0x20 }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return .json }
    guard first != UInt8(ascii: "<") else {
      throw ImportFailure(
        .unknownFormat, "The file \(name) is a page or XML, which is not known here.", remedy: "Export it as CSV.")
    }
    return .csv
  }
}
