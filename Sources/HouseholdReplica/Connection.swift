internal import CSQLite
internal import Glibc
internal import HouseholdRecords

/// One connection to a SQLite file: opens, runs, keeps prepared statements, and turns result codes into errors.
///
/// Not for more than one thread at a time; its owner sees to that (the file is opened without SQLite's own mutexes).
@safe final class Connection {
  /// What the connection may do.
  enum Mode { case readWrite, readWriteCreate, readOnly }

  private let handle: OpaquePointer
  private var statements: [StatementText: Statement] = [:]
  /// How many prepared statements are kept: edits of one type can name its fields in more ways than memory would hold.
  private static let mostStatements = 500
  private(set) var isInTransaction = false
  /// How many texts were read that are none.
  let malformed = MalformedText.Count()
  /// How often something was committed on this connection.
  private(set) var commits = 0
  /// Where SQLite's hook leaves the length of the write-ahead log; nil while SQLite tidies the log by itself.
  private var logLength: UnsafeMutablePointer<Int32>?
  /// Where the file lies.
  let path: String

  /// Tells SQLite not to count its memory, once, before it is used first: a tenth of the time of a first sync went into
  /// the lock around the count, which nobody here reads. An app that used SQLite before us keeps its settings.
  private static let settings: Int32 = household_sqlite_count_no_memory()

  /// Opens the file.
  ///
  /// - Parameter busyMilliseconds: how long to wait for another program's lock.
  init(path: String, mode: Mode, busyMilliseconds: Int32 = 5000) throws {
    self.path = path
    _ = Self.settings
    let flags =
      switch mode {
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readOnly: SQLITE_OPEN_READONLY
      }
    var opened: OpaquePointer?
    let code = unsafe sqlite3_open_v2(
      path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI, nil)
    guard let opened = unsafe opened else {
      throw ReplicaError(.other, "SQLite has no memory to open \(path).")
    }
    unsafe handle = unsafe opened
    guard code == SQLITE_OK else {
      let error = unsafe Self.error(code, on: opened, doing: "open \(path)")
      unsafe sqlite3_close_v2(opened)
      throw error
    }
    unsafe sqlite3_busy_timeout(handle, busyMilliseconds)
  }

  /// Opens a replica for reading, also where nothing can be written: on a read-only file system SQLite cannot make the
  /// files that a WAL needs beside it, so the file is read as one that nobody changes.
  static func reader(path: String, busyMilliseconds: Int32 = 5000) throws -> Connection {
    do {
      let connection = try Connection(path: path, mode: .readOnly, busyMilliseconds: busyMilliseconds)
      _ = try connection.integer("SELECT count(*) FROM sqlite_master")
      return connection
    } catch let error as ReplicaError where error.code == .notFound || error.code == .readOnlyFileSystem {
      let escaped = path.flatMap { ["%": "%25", "?": "%3f", "#": "%23"][$0] ?? String($0) }
      let unchanging = try Connection(path: "file:\(String(escaped))?immutable=1", mode: .readOnly)
      guard try unchanging.integer("SELECT count(*) FROM sqlite_master") != nil else { throw error }
      return unchanging
    }
  }

  deinit { close() }

  private var isClosed = false

  /// Closes the file; nothing may be called afterwards.
  func close() {
    if isClosed { return }
    isClosed = true
    statements = [:]
    unsafe sqlite3_close_v2(handle)
    unsafe logLength?.deallocate()
    unsafe logLength = nil
  }

  /// Gives a cache that was made larger for one transaction back to the system.
  func shrinkCache() {
    unsafe sqlite3_exec(handle, "PRAGMA cache_size = -2000", nil, nil, nil)
    unsafe sqlite3_db_release_memory(handle)
  }

  /// Runs statements that give no rows.
  func execute(_ sql: String) throws {
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw unsafe Self.error(code, on: handle, doing: sql) }
  }

  /// The prepared statement for this text, made at its first use and kept.
  func statement(_ sql: String) throws -> Statement {
    let text = StatementText(sql)
    if let known = statements[text] {
      known.reset()
      return known
    }
    let statement = try prepare(sql)
    if statements.count >= Self.mostStatements { statements = [:] }
    statements[text] = statement
    return statement
  }

  /// A statement that is not kept: for a piece of work that comes seldom.
  func prepare(_ sql: String) throws -> Statement {
    var prepared: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared = unsafe prepared else {
      throw unsafe Self.error(code, on: handle, doing: sql)
    }
    return unsafe Statement(prepared, connection: handle, sql: sql, malformed: malformed)
  }

  /// Forgets prepared statements: needed before tables are changed under a reader that is still open.
  func forgetStatements() { statements = [:] }

  /// Runs a statement that gives no rows with these values.
  func run(_ sql: String, _ values: FieldValue...) throws {
    let statement = try statement(sql)
    try statement.bind(values)
    try statement.run()
  }

  /// The first column of the first row as an integer; nil without a row or for null.
  func integer(_ sql: String, _ values: FieldValue...) throws -> Int64? {
    let statement = try statement(sql)
    try statement.bind(values)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return statement.isNull(0) ? nil : statement.integer(0)
  }

  /// The first column of the first row as a text; nil without a row or for null.
  func text(_ sql: String, _ values: FieldValue...) throws -> String? {
    let statement = try statement(sql)
    try statement.bind(values)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return statement.isNull(0) ? nil : statement.text(0)
  }

  /// The first column of the first row as bytes; nil without a row or for null.
  func bytes(_ sql: String, _ values: FieldValue...) throws -> [UInt8]? {
    let statement = try statement(sql)
    try statement.bind(values)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return statement.isNull(0) ? nil : statement.bytes(0)
  }

  /// How many rows the last statement changed.
  var changes: Int { Int(unsafe sqlite3_changes64(handle)) }

  /// Runs the body in one write transaction; what it throws undoes everything.
  ///
  /// Inside a transaction that runs already the body simply becomes part of it.
  func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    if isInTransaction { return try body() }
    try begin()
    let result: Result
    do {
      result = try body()
    } catch {
      rollBack()
      throw error
    }
    try commit()
    return result
  }

  /// The same for what need not be on the disk when this returns: it is there with the next transaction that must, and
  /// a power cut before takes it away whole.
  func transactionInPassing<Result>(_ body: () throws -> Result) throws -> Result {
    if isInTransaction { return try body() }
    try execute("PRAGMA synchronous = NORMAL")
    let result: Result
    do {
      result = try transaction(body)
    } catch {
      try execute("PRAGMA synchronous = FULL")
      throw error
    }
    try execute("PRAGMA synchronous = FULL")
    return result
  }

  /// Begins a write transaction that `commit` or `rollBack` ends; transactions in between become part of it.
  func begin() throws {
    precondition(!isInTransaction, "a connection has one transaction at a time")
    try run("BEGIN IMMEDIATE")
    isInTransaction = true
  }

  /// Makes everything since `begin` durable; if that fails nothing of it happened.
  func commit() throws {
    do {
      try run("COMMIT")
      isInTransaction = false
      commits += 1
    } catch {
      rollBack()
      throw error
    }
  }

  /// Undoes everything since `begin`.
  func rollBack() {
    isInTransaction = false
    // After some errors SQLite has rolled back by itself; a second ROLLBACK then says so, which changes nothing.
    unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
  }

  // MARK: The write-ahead log

  /// Leaves the log to `tidyLog`: by itself SQLite tidies it with the commit that makes it longer than 1,000 pages, and
  /// whoever waits for that commit waits for all of them. A very long one is still tidied so.
  func tidyLogByHand() {
    guard unsafe logLength == nil else { return }
    let length = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    unsafe length.initialize(to: 0)
    unsafe logLength = unsafe length
    unsafe household_sqlite_note_log_length(handle, length)
  }

  /// How many pages the log had after the last commit here.
  var logPages: Int { unsafe logLength.map { unsafe Int($0.pointee) } ?? 0 }

  /// Moves the pages of the log to their places, as far as no reader needs them where they are.
  func tidyLog() throws {
    var (pages, moved): (Int32, Int32) = (0, 0)
    let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved)
    unsafe logLength?.pointee = max(0, pages - moved)
    // Somebody else is at it.
    if code == SQLITE_BUSY { return }
    guard code == SQLITE_OK else { throw unsafe Self.error(code, on: handle, doing: "tidy the log") }
  }

  /// Gives back what a large piece of work took: a node is idle most of the time, and its memory is others' then.
  func releaseMemory() { unsafe household_sqlite_release_memory(handle) }

  /// The same after work that may have been small: then there is little to give back, and looking for it takes longer
  /// than the work.
  func releaseMemoryAfterLargeWork() {
    var (used, most): (Int32, Int32) = (0, 0)
    unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_USED, &used, &most, 0)
    guard used >= Self.largeCacheBytes else { return }
    // Those for many rows at once are large, and seldom needed.
    forgetStatements()
    releaseMemory()
  }

  /// So much of the file is in the cache only after large work; all of it may be 8 MB.
  private static let largeCacheBytes: Int32 = 1 << 20

  /// Whether the file was moved away, deleted or replaced since it was opened: what is written then is in no file that
  /// anybody would find. A file system that cannot tell says no.
  var hasMoved: Bool {
    var moved: Int32 = 0
    let code = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
    return code == SQLITE_OK && moved != 0
  }

  /// Switches triggers on this connection: off on the engine's own, so that what sync writes is never captured.
  func setTriggers(_ on: Bool) throws {
    let code = unsafe household_sqlite_set_triggers(handle, on ? 1 : 0)
    guard code == SQLITE_OK else { throw unsafe Self.error(code, on: handle, doing: "set triggers") }
  }

  /// A file that was not read, written or opened, for another reason than a full disk.
  private static func unreadable(_ code: Int32, cause: String) -> ReplicaError {
    code == SQLITE_IOERR
      ? ReplicaError(.inputOutput, "The disk did not read or write; check it.", cause: cause)
      : ReplicaError(.notFound, "The replica cannot be opened; is it there, and may you read it?", cause: cause)
  }

  /// What SQLite says about a failed call.
  static func error(_ code: Int32, on handle: OpaquePointer, doing what: String) -> ReplicaError {
    let said = unsafe String(cString: sqlite3_errmsg(handle))
    let cause = "SQLite \(code): \(said); doing: \(what.prefix(200))"
    switch code & 0xFF {
    case SQLITE_IOERR, SQLITE_CANTOPEN:
      // A file beside the replica that cannot grow, or be made, is told by the system alone.
      if [ENOSPC, EDQUOT].contains(unsafe sqlite3_system_errno(handle)) { fallthrough }
      return unreadable(code & 0xFF, cause: cause)
    case SQLITE_FULL:
      return ReplicaError(.diskFull, "The disk is full; free some space.", cause: cause)
    case SQLITE_BUSY, SQLITE_LOCKED:
      return ReplicaError(.databaseLocked, "Another program holds the replica locked; close it or wait.", cause: cause)
    case SQLITE_READONLY, SQLITE_PERM:
      return ReplicaError(
        .readOnlyFileSystem, "The replica is read-only here; check the file system and permissions.", cause: cause)
    case SQLITE_CORRUPT:
      return ReplicaError(.corrupt, "The replica file is damaged; restore a backup or pair again.", cause: cause)
    case SQLITE_NOTADB:
      return ReplicaError(.notAReplica, "The file is not a replica.", cause: cause)
    case SQLITE_CONSTRAINT where said.hasPrefix(WriteProtection.prefix):
      return ReplicaError(.notAllowed, said, cause: cause)
    case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG:
      return ReplicaError(.badValue, said, cause: cause)
    default: return ReplicaError(.other, "SQLite refused: \(said)", cause: cause)
    }
  }
}

/// The words of a statement, found again by their number: to hash all of them took a tenth of the time of receiving edits,
/// and few statements are of one length.
private struct StatementText: Hashable {
  let sql: String

  init(_ sql: String) { self.sql = sql }

  static func == (a: Self, b: Self) -> Bool { a.sql == b.sql }

  func hash(into hasher: inout Hasher) { hasher.combine(sql.utf8.count) }
}
