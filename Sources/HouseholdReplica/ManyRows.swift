internal import HouseholdRecords

/// Puts records of a snapshot's page in place, many with one statement, bound where they lie on the page.
///
/// One statement for many rows takes SQLite a quarter less than one for each: it finds its place in the table once. It
/// is for records that show and of which nothing is known here, that have no sets and no conflicts; whatever is the
/// matter, the rows go the other way one by one, from where this began.
struct ManyRows {
  private static let count = NewRecords.count

  /// What came of an attempt.
  enum Outcome {
    /// They are in place.
    case all
    /// The next rows, so many of them, have to go one by one.
    case not(Int)
    /// Something is known of one of the next rows.
    case known
  }

  private let page: AdoptedPage
  private let connection: Connection

  init(_ page: AdoptedPage, on connection: Connection) {
    (self.page, self.connection) = (page, connection)
  }

  /// Puts the next rows in place; unless it was all of them, nothing has happened and the reader stands where it stood.
  ///
  /// - Parameter place: the page's bytes.
  @unsafe func adopt(
    from reader: inout SnapshotPageReader, in place: UnsafeRawBufferPointer, replica: Replica
  ) throws -> Outcome {
    guard reader.remaining >= Self.count else { return .not(reader.remaining) }
    var ahead = reader
    let first = try reader.shapeOfNext()
    let shape = page.shapes[first]
    guard shape.isPlain, let table = shape.table else { return .not(1) }
    let records = try connection.statement(NewRecords.sql)
    let rows = try connection.statement(shape.manySQL)
    defer {
      records.forgetValues()
      rows.forgetValues()
    }
    for index in 0..<Self.count {
      let head = try ahead.head()
      guard head.shape == first, Self.isPlain(head.flags),
        try unsafe bind(head, index, from: &ahead, table: table, to: rows, in: place)
      else { return .not(index + 1) }
      try unsafe bind(
        head, cells: ahead.cells(of: head), type: shape.number, at: Int32(index * NewRecords.columns), to: records,
        in: place, replica: replica)
    }
    guard try NewRecords.run(records) else { return .known }
    try rows.run()
    reader = ahead
    return .all
  }

  private static func isPlain(_ flags: UInt8) -> Bool {
    let (needed, refused) = (
      SnapshotRow.Flag.alive | SnapshotRow.Flag.row, SnapshotRow.Flag.conflict | SnapshotRow.Flag.sets
    )
    return flags & (needed | refused) == needed
  }

  /// Binds the values of a row; false if one does not fit its column.
  @unsafe private func bind(
    _ head: SnapshotPageReader.Head, _ index: Int, from reader: inout SnapshotPageReader, table: TypeTable,
    to statement: Statement, in place: UnsafeRawBufferPointer
  ) throws -> Bool {
    let fields = table.fieldNames.count
    var column = Int32(index * (fields + 1) + 1)
    try unsafe statement.bind(column, textInPlace: UnsafeRawBufferPointer(rebasing: place[head.id]))
    for field in 0..<fields {
      column += 1
      guard let value = try reader.value({ table.fits($0, field: field) }) else { return false }
      switch value {
      case .null: try statement.bindNull(column)
      case .integer(let integer): try statement.bind(column, integer)
      case .real(let real): try statement.bind(column, .real(real))
      case .text(let range):
        try unsafe statement.bind(column, textInPlace: UnsafeRawBufferPointer(rebasing: place[range]))
      case .bytes(let range):
        try unsafe statement.bind(column, bytesInPlace: UnsafeRawBufferPointer(rebasing: place[range]))
      }
    }
    return true
  }

  /// Binds what decides a record, after this many values of others.
  @unsafe private func bind(
    _ head: SnapshotPageReader.Head, cells: [UInt8]?, type: Int64, at column: Int32, to statement: Statement,
    in place: UnsafeRawBufferPointer, replica: Replica
  ) throws {
    try statement.bind(column + 1, type)
    try unsafe statement.bind(column + 2, textInPlace: UnsafeRawBufferPointer(rebasing: place[head.id]))
    try statement.bind(column + 3, page.known[head.writer].position)
    try statement.bind(column + 4, page.known[head.modified].position)
    try statement.bind(column + 5, AdoptedPage.storedFlags(head.flags))
    try statement.bind(column + 6, Int64(clamping: head.life))
    try statement.bind(column + 7, 1)
    if let cells {
      try statement.bind(column + 8, CellVersions.renumber(cells, from: page.names, to: replica))
    } else {
      try statement.bindNull(column + 8)
    }
  }
}
