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
  /// Whether something is wrong with it; not so for a payment whose amount the bank changed.
  package let isFault: Bool

  package init(line: Int, reason: String, isFault: Bool = true) {
    self.isFault = isFault
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
  /// Records of former imports that the file changes; each is among `skipped` with the reason.
  package let updates: [ImportedRecord]
  /// Sentences about the whole file.
  package let notes: [String]
  /// The id of the account that was asked for; nil if none was, or if it is not there and nothing needs it.
  package let account: String?
  /// How the file was read: the delimiter, the columns, and the order and the mark as far as they were decided.
  package let reading: ImportChoices
  /// What is worth remembering for the account's next file: what a person said, and what the file proves by itself.
  package let lesson: ImportChoices
  /// The new payments that are one end of a transfer, by id, and the other end.
  package let transfers: [String: TransferLeg]

  /// Reads a file and says what importing it would do.
  ///
  /// - Parameter fileName: only for sentences and to tell formats apart.
  /// - Parameter progress: hears now and then how many rows of how many are done.
  /// - Parameter writing: takes each weak record at once; they are not in the plan's `records` then. What it wrote must
  ///   be undone if this throws.
  /// - Throws: `ImportFailure`, and what the context's `presence` throws.
  package static func make(
    bytes: [UInt8], fileName: String, options: ImportOptions, context: ImportContext,
    progress: ((_ done: Int, _ all: Int) -> Void)? = nil, writing: ((ImportedRecord) throws -> Void)? = nil
  ) throws -> ImportPlan {
    let name = quoted(fileName)
    guard bytes.count <= Limits.importBytes else {
      throw ImportFailure(
        .tooLarge, "The file \(name) is larger than \(Limits.importBytes >> 20) MiB.",
        remedy: "Export a shorter period from the bank, or cut the file.")
    }
    let text = try decode(bytes, name: name, options: options)
    guard text.bytes.contains(where: { $0 > 0x20 }) else {
      throw ImportFailure(.empty, "The file \(name) is empty.", remedy: "Export it from the bank again.")
    }
    let format = try format(of: text, name: name, options: options)
    var builder = PlanBuilder(options: options, context: context, progress: progress, writing: writing)
    switch format {
    case .ofx: try OFXStatement.read(text.bytes, name: name, into: &builder)
    case .qif: try QIFStatement.read(text.bytes, name: name, into: &builder)
    case .camt: try CAMTStatement.read(text.bytes, name: name, into: &builder)
    case .mt940: try MT940Statement.read(text.bytes, name: name, into: &builder)
    case .json: try RecordsJSON.read(text.bytes, name: name, into: &builder)
    case .csv, .automatic: try TransactionsCSV.read(text.bytes, name: name, into: &builder)
    }
    if text.isDoubtful {
      builder.note(
        "The text seems to have lost letters before it came here; \(text.encoding) was the best guess. "
          + "Choose with --encoding, or download it again.")
    }
    return ImportPlan(
      format: format, encoding: text.encoding, found: builder.added + builder.known + builder.skipped.count,
      added: builder.added, known: builder.known, skipped: builder.skipped.sorted { $0.line < $1.line },
      records: builder.records, updates: builder.updates, notes: builder.notes, account: builder.accountID,
      reading: builder.reading,
      lesson: options.choices.over(builder.proven).over(options.remembered), transfers: builder.transfers.found)
  }

  private static func decode(
    _ bytes: [UInt8], name: String, options: ImportOptions
  ) throws(ImportFailure) -> DecodedText {
    var wish: String?
    if let word = options.choices.encoding, !["auto", "utf-8", "utf-16"].contains(word.lowercased()) {
      wish = TextConversion.name(word)
      guard wish != nil else {
        throw ImportFailure(
          .unknownFormat, "The encoding \(quoted(word)) is not known here.",
          remedy: "Use utf-8, utf-16, windows-1250 to 1258, iso-8859-1 to 16, gb18030, shift_jis, koi8-r or big5.")
      }
    }
    do throws(TextDecodingFailure) {
      return try TextDecoding.decode(bytes, as: wish, former: options.remembered.encoding.flatMap(TextConversion.name))
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
    let head = String(decoding: text.bytes.prefix(4096), as: UTF8.self)
    if head.contains("<OFX") || head.contains("OFXHEADER") || head.contains("<ofx") { return .ofx }
    if head.contains("BkToCstmr") || head.contains("camt.05") { return .camt }
    let lines = physicalLines(of: head)
    if lines.contains(where: { $0.hasPrefix(":20:") || $0.hasPrefix(":60F:") || $0.hasPrefix(":NS:") }) {
      return .mt940
    }
    if lines.contains(where: { $0.lowercased().hasPrefix("!type:") }) { return .qif }
    let first = text.bytes.first { $0 > 0x20 }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return .json }
    guard first != UInt8(ascii: "<") else {
      throw ImportFailure(
        .unknownFormat, "The file \(name) is a page or XML of a kind that is not known here.",
        remedy: "Download it from the bank as CSV, OFX or CAMT.053.")
    }
    return .csv
  }
}
