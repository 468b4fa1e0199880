import CSQLite

/// A SQLite file used as any program would: the twin, and the foreign program that writes beside a node.
@safe final class PlainFile {
  private let handle: OpaquePointer
  private var statements: [String: OpaquePointer] = unsafe [:]

  /// Opens the file with durable commits, and makes it if it is not there.
  init(_ path: String) throws {
    var opened: OpaquePointer?
    let code = unsafe sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
    guard code == SQLITE_OK, let opened = unsafe opened else {
      throw BenchmarkError(description: "SQLite \(code) cannot open \(path)")
    }
    unsafe handle = unsafe opened
    unsafe sqlite3_busy_timeout(handle, 20_000)
    try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
  }

  deinit {
    while let entry = unsafe statements.popFirst() { unsafe sqlite3_finalize(entry.value) }
    unsafe sqlite3_close_v2(handle)
  }

  /// The table of transactions as the product makes it, without its triggers.
  func makeTable() throws {
    try execute(
      """
      CREATE TABLE "transaction"(id TEXT PRIMARY KEY NOT NULL DEFAULT (lower(hex(randomblob(16)))), date TEXT,
        amount_minor INTEGER, currency TEXT, payee TEXT, category TEXT, account TEXT, member TEXT, note TEXT,
        cleared INTEGER, import_id TEXT, recurring TEXT) STRICT, WITHOUT ROWID
      """)
  }

  func execute(_ sql: String) throws {
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw unsafe Self.error(handle, doing: sql) }
  }

  /// Runs a statement with these values and returns the first column of its first row, if it gives one.
  @discardableResult
  func run(_ sql: String, _ values: [PlainValue] = []) throws -> PlainValue? {
    let statement = try unsafe prepared(sql)
    defer { unsafe sqlite3_reset(statement) }
    for (index, value) in values.enumerated() {
      let code =
        switch value {
        case .integer(let integer): unsafe sqlite3_bind_int64(statement, Int32(index + 1), integer)
        case .text(let text): unsafe Self.bind(text, to: statement, at: Int32(index + 1))
        }
      guard code == SQLITE_OK else { throw unsafe Self.error(handle, doing: sql) }
    }
    switch unsafe sqlite3_step(statement) {
    case SQLITE_DONE: return nil
    case SQLITE_ROW:
      guard unsafe sqlite3_column_type(statement, 0) == SQLITE_TEXT else {
        return .integer(unsafe sqlite3_column_int64(statement, 0))
      }
      return unsafe sqlite3_column_text(statement, 0).map { .text(unsafe String(cString: $0)) }
    default: throw unsafe Self.error(handle, doing: sql)
    }
  }

  private static func bind(_ text: String, to statement: OpaquePointer, at index: Int32) -> Int32 {
    var text = text
    return text.withUTF8 { utf8 in
      unsafe utf8.withMemoryRebound(to: CChar.self) { characters in
        unsafe household_sqlite_bind_text(statement, index, characters.baseAddress, Int32(characters.count))
      }
    }
  }

  /// Inserts all rows in one transaction.
  func insert(_ rows: [TransactionData.Row]) throws {
    let marks = TransactionData.columns.map { _ in "?" }.joined(separator: ", ")
    let sql =
      "INSERT INTO \"transaction\"(\(TransactionData.columns.joined(separator: ", "))) VALUES (\(marks))"
    try transaction {
      for row in rows {
        try run(
          sql,
          [
            .text(row.id), .text(row.date), .integer(row.amountMinor), .text("EUR"), .text(row.payee),
            .text(row.category), .text(row.member), .text(row.note),
          ])
      }
    }
  }

  /// Changes one field of one transaction.
  func setPayee(_ payee: String, of id: String) throws {
    try run("UPDATE \"transaction\" SET payee = ? WHERE id = ?", [.text(payee), .text(id)])
  }

  /// The field that `setPayee` changes.
  func payee(of id: String) throws -> PlainValue? {
    try run("SELECT payee FROM \"transaction\" WHERE id = ?", [.text(id)])
  }

  func transaction(_ body: () throws -> Void) throws {
    try execute("BEGIN IMMEDIATE")
    do {
      try body()
      try execute("COMMIT")
    } catch {
      try execute("ROLLBACK")
      throw error
    }
  }

  func integer(_ sql: String) throws -> Int64 {
    guard case .integer(let integer) = try run(sql) else { return 0 }
    return integer
  }

  private func prepared(_ sql: String) throws -> OpaquePointer {
    if let known = unsafe statements[sql] { return unsafe known }
    var made: OpaquePointer?
    guard unsafe sqlite3_prepare_v2(handle, sql, -1, &made, nil) == SQLITE_OK, let made = unsafe made else {
      throw unsafe Self.error(handle, doing: sql)
    }
    unsafe statements[sql] = unsafe made
    return unsafe made
  }

  private static func error(_ handle: OpaquePointer, doing sql: String) -> BenchmarkError {
    BenchmarkError(description: "SQLite: \(unsafe String(cString: sqlite3_errmsg(handle))); doing: \(sql.prefix(120))")
  }
}

/// What is bound and read.
enum PlainValue: Equatable {
  case integer(Int64)
  case text(String)
}
