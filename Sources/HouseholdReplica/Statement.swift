internal import CSQLite
internal import HouseholdRecords

/// A prepared statement: values in, rows out. Every result code is checked where it comes.
@safe final class Statement {
  private let handle: OpaquePointer
  private let connection: OpaquePointer
  private let sql: String
  private let malformed: MalformedText.Count

  /// Takes over a statement that was prepared on `connection`.
  ///
  /// - Parameter malformed: counts the texts that are none.
  init(_ handle: OpaquePointer, connection: OpaquePointer, sql: String, malformed: MalformedText.Count) {
    self.malformed = malformed
    unsafe self.handle = unsafe handle
    unsafe self.connection = unsafe connection
    self.sql = sql
  }

  deinit { unsafe sqlite3_finalize(handle) }

  /// Makes the statement ready for its next use; what an earlier step said was dealt with there.
  func reset() { unsafe sqlite3_reset(handle) }

  /// Steps to the next row; false after the last.
  func step() throws -> Bool {
    let code = unsafe sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    let error = unsafe Connection.error(code, on: connection, doing: sql)
    unsafe sqlite3_reset(handle)
    throw error
  }

  /// Runs to the end and makes the statement ready again.
  func run() throws {
    while try step() {}
    reset()
  }

  // MARK: Values in, from index 1

  /// Binds all values in order.
  func bind(_ values: [FieldValue]) throws {
    for (index, value) in values.enumerated() { try bind(Int32(index + 1), value) }
  }

  func bind(_ index: Int32, _ value: FieldValue) throws {
    switch value {
    case .null: try check(unsafe sqlite3_bind_null(handle, index))
    case .integer(let integer): try bind(index, integer)
    case .real(let real): try check(unsafe sqlite3_bind_double(handle, index, real))
    case .text(let text): try bind(index, text)
    case .bytes(let bytes): try bind(index, bytes)
    }
  }

  func bind(_ index: Int32, _ value: Int64) throws { try check(unsafe sqlite3_bind_int64(handle, index, value)) }

  func bind(_ index: Int32, _ value: String) throws {
    var value = value
    let code = value.withUTF8 { utf8 in
      unsafe utf8.withMemoryRebound(to: CChar.self) { characters in
        // An empty text has no address; SQLite would take that for null.
        unsafe household_sqlite_bind_text(handle, index, characters.baseAddress ?? emptyText, Int32(characters.count))
      }
    }
    try check(code)
  }

  func bind(_ index: Int32, _ value: [UInt8]) throws {
    try check(
      unsafe value.withUnsafeBytes { unsafe household_sqlite_bind_blob(handle, index, $0.baseAddress, Int32($0.count)) }
    )
  }

  func bindNull(_ index: Int32) throws { try check(unsafe sqlite3_bind_null(handle, index)) }

  // MARK: Values that stay where they are

  /// Binds a text that SQLite reads where it lies: it has to stay there until ``forgetValues()``.
  @unsafe func bind(_ index: Int32, textInPlace text: UnsafeRawBufferPointer) throws {
    let start = unsafe text.baseAddress?.assumingMemoryBound(to: CChar.self)
    try check(unsafe sqlite3_bind_text(handle, index, start ?? emptyText, Int32(text.count), nil))
  }

  /// Binds bytes that SQLite reads where they lie: they have to stay there until ``forgetValues()``.
  @unsafe func bind(_ index: Int32, bytesInPlace bytes: UnsafeRawBufferPointer) throws {
    guard let start = bytes.baseAddress, unsafe !bytes.isEmpty else { return try bind(index, []) }
    try check(unsafe sqlite3_bind_blob(handle, index, start, Int32(bytes.count), nil))
  }

  /// Lets go of all values that were bound.
  func forgetValues() {
    unsafe sqlite3_reset(handle)
    unsafe sqlite3_clear_bindings(handle)
  }

  /// Places for the values of so many rows, as SQL.
  static func marks(columns: Int, rows: Int) -> String {
    let row = "(" + Array(repeating: "?", count: columns).joined(separator: ", ") + ")"
    return Array(repeating: row, count: rows).joined(separator: ", ")
  }

  private func check(_ code: Int32) throws {
    guard code == SQLITE_OK else { throw unsafe Connection.error(code, on: connection, doing: sql) }
  }

  // MARK: Values out, from column 0

  func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

  func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

  /// The text; bytes that are not UTF-8 come as U+FFFD.
  func text(_ column: Int32) -> String {
    guard let start = unsafe sqlite3_column_text(handle, column) else { return "" }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    let utf8 = unsafe UnsafeBufferPointer(start: start, count: count)
    if let text = unsafe String(validating: utf8, as: UTF8.self) { return text }
    malformed.value += 1
    return unsafe String(decoding: utf8, as: UTF8.self)
  }

  /// What a text that is no UTF-8 is read as; nil for any other value.
  func malformedText(_ column: Int32) -> String? {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT else { return nil }
    guard let start = unsafe sqlite3_column_text(handle, column) else { return nil }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    let utf8 = unsafe UnsafeBufferPointer(start: start, count: count)
    return unsafe String(validating: utf8, as: UTF8.self) == nil ? MalformedText.read(Array(utf8)) : nil
  }

  /// The text; nil for what is of another type.
  func textIfText(_ column: Int32) -> String? {
    unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT ? text(column) : nil
  }

  /// The moment that a text of our own spelling says, read where it lies; nil for any other.
  func instant(_ column: Int32) -> Instant? {
    guard let start = unsafe sqlite3_column_text(handle, column), unsafe sqlite3_column_bytes(handle, column) == 24
    else { return nil }
    return unsafe Instant(ownSpelling: Span(_unsafeStart: start, count: 24))
  }

  /// The integer; nil for what is of another type.
  func integerIfInteger(_ column: Int32) -> Int64? {
    unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER ? sqlite3_column_int64(handle, column) : nil
  }

  func bytes(_ column: Int32) -> [UInt8] {
    guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Writes the value as ``ByteWriter/value(_:)`` writes it, without making it first; returns about how many bytes it
  /// takes, as ``FieldValue/byteCount`` counts.
  func write(_ column: Int32, to writer: inout ByteWriter) -> Int {
    let isText = unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT
    guard isText, let start = unsafe sqlite3_column_text(handle, column) else {
      let value = value(column)
      writer.value(value)
      return value.byteCount
    }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    let utf8 = unsafe UnsafeBufferPointer(start: start, count: count)
    writer.byte(FieldValue.Kind.text.rawValue)
    return unsafe Self.write(utf8, to: &writer) + 4
  }

  /// Writes the text as ``ByteWriter/text(_:)`` writes it; returns how many bytes it has.
  func writeText(_ column: Int32, to writer: inout ByteWriter) -> Int {
    guard let start = unsafe sqlite3_column_text(handle, column) else {
      writer.text("")
      return 0
    }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    return unsafe Self.write(UnsafeBufferPointer(start: start, count: count), to: &writer)
  }

  private static func write(_ utf8: UnsafeBufferPointer<UInt8>, to writer: inout ByteWriter) -> Int {
    do {
      _ = try unsafe UTF8Span(validating: utf8.span)
    } catch {
      // Bytes that are not UTF-8 go out as U+FFFD, as they come with `text`.
      let text = unsafe String(decoding: utf8, as: UTF8.self)
      writer.text(text)
      return text.utf8.count
    }
    unsafe writer.data(copying: UnsafeRawBufferPointer(utf8))
    return utf8.count
  }

  func value(_ column: Int32) -> FieldValue {
    switch unsafe sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_FLOAT: .real(unsafe sqlite3_column_double(handle, column))
    case SQLITE_TEXT: .text(text(column))
    case SQLITE_BLOB: .bytes(bytes(column))
    default: .null
    }
  }
}

/// Something for an empty text to point at; never read, as its length is 0.
nonisolated(unsafe) private let emptyText: UnsafePointer<CChar> = {
  let place = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
  unsafe place.initialize(to: 0)
  return unsafe UnsafePointer(place)
}()
