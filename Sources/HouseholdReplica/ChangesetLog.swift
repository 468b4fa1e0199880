internal import HouseholdRecords

/// What is known of a changeset without its operations.
struct ChangesetHeader: Hashable {
  /// Where it lies in this replica's log; stands for it in `sync_record`.
  var position: Int64
  var name: ChangesetName
  var hash: ChangesetHash
  var stamp: Stamp
  var editedAt: Instant
  var schemaVersion: UInt64
  var continues: Bool
  /// Complete, not only what changed since its predecessor.
  var dependencies: Dependencies
  var membershipHeads: [EntryHash]
}

/// The changesets in the order in which they came, and the headers of those that came by snapshot.
///
/// Headers are looked up for every merge, so the recent ones stay in memory.
final class ChangesetLog {
  private let connection: Connection
  private var byPosition: [Int64: ChangesetHeader] = [:]
  private var positions: [ChangesetName: Int64] = [:]
  /// The position that the next changeset gets.
  private(set) var nextPosition: Int64
  private static let cacheLimit = 20_000

  init(_ connection: Connection) throws {
    self.connection = connection
    nextPosition = (try connection.integer("SELECT max(position) FROM sync_changeset") ?? 0) + 1
  }

  /// Forgets everything from this position on, after a transaction that wrote it was undone.
  func forget(from position: Int64) {
    byPosition = [:]
    positions = [:]
    nextPosition = position
  }

  private static let columns = """
    SELECT position, replica, seq, hash, stamp, edited_at, schema_version, continues, dependencies, heads
    FROM sync_changeset
    """

  /// The header at this position.
  func header(at position: Int64, replicas: ReplicaTable) throws -> ChangesetHeader {
    if let known = byPosition[position] { return known }
    let statement = try connection.statement(Self.columns + " WHERE position = ?")
    try statement.bind(1, position)
    defer { statement.reset() }
    guard try statement.step() else {
      throw ReplicaError(.corrupt, "The log has no changeset at position \(position), but a record was written by it.")
    }
    return try remember(Self.header(from: statement, replicas: replicas))
  }

  /// The header of this changeset, if it is known here.
  func header(of name: ChangesetName, replicas: ReplicaTable) throws -> ChangesetHeader? {
    if let position = positions[name], let known = byPosition[position] { return known }
    guard let replica = replicas[name.replica] else { return nil }
    let statement = try connection.statement(Self.columns + " WHERE replica = ? AND seq = ?")
    try statement.bind([.integer(replica.number), .integer(Int64(clamping: name.sequence))])
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return try remember(Self.header(from: statement, replicas: replicas))
  }

  private func remember(_ header: ChangesetHeader) -> ChangesetHeader {
    if byPosition.count >= Self.cacheLimit {
      byPosition = [:]
      positions = [:]
    }
    byPosition[header.position] = header
    positions[header.name] = header.position
    return header
  }

  private static func header(from statement: Statement, replicas: ReplicaTable) throws -> ChangesetHeader {
    guard let replica = replicas[number: statement.integer(1)], let hash = ChangesetHash(bytes: statement.bytes(3))
    else { throw ReplicaError(.corrupt, "The log names a replica that is not known.") }
    do {
      var dependencies = ByteReader(statement.bytes(8))
      var heads = ByteReader(statement.bytes(9))
      return ChangesetHeader(
        position: statement.integer(0),
        name: ChangesetName(replica: replica.id, sequence: UInt64(statement.integer(2))), hash: hash,
        stamp: Stamp(rawValue: UInt64(bitPattern: statement.integer(4))),
        editedAt: Instant(milliseconds: statement.integer(5)), schemaVersion: UInt64(statement.integer(6)),
        continues: statement.integer(7) != 0, dependencies: Dependencies(try dependencies.dependencies()),
        membershipHeads: try heads.heads())
    } catch {
      throw ReplicaError(.corrupt, "A header in the log cannot be read.", cause: "\(error)")
    }
  }

  /// What became of a changeset.
  enum State: Int64 {
    case waiting = 0
    case applied = 1
    /// Its deletions wait for somebody's approval.
    case held = 2
    /// Its author had no right to write it.
    case rejected = 3
    /// As rejected, and somebody here has decided what becomes of it.
    case settled = 4
  }

  /// Stores a changeset (or, without a body, only its header) at the next position.
  ///
  /// - Parameter header: its position is set here.
  func append(
    _ header: ChangesetHeader, replica: Int64, state: State, body: PackedChangeset?
  ) throws -> ChangesetHeader {
    var header = header
    header.position = nextPosition
    var dependencies = ByteWriter()
    dependencies.dependencies(header.dependencies.sorted)
    var heads = ByteWriter()
    heads.heads(header.membershipHeads)
    let statement = try connection.statement(
      """
      INSERT INTO sync_changeset(position, replica, seq, state, hash, stamp, edited_at, schema_version, continues,
        dependencies, heads, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    try statement.bind([
      .integer(header.position), .integer(replica), .integer(Int64(clamping: header.name.sequence)),
      .integer(state.rawValue), .bytes(header.hash.bytes), .integer(Int64(bitPattern: header.stamp.rawValue)),
      .integer(header.editedAt.milliseconds), .integer(Int64(clamping: header.schemaVersion)),
      .integer(header.continues ? 1 : 0), .bytes(dependencies.bytes), .bytes(heads.bytes),
      body.map { .bytes($0.bytes) } ?? .null,
    ])
    try statement.run()
    nextPosition += 1
    return remember(header)
  }

  /// Marks a changeset as applied.
  func markApplied(_ position: Int64) throws { try mark(position, .applied) }

  /// Writes down what became of a changeset.
  func mark(_ position: Int64, _ state: State) throws {
    try connection.run(
      "UPDATE sync_changeset SET state = ? WHERE position = ?", .integer(state.rawValue), .integer(position))
  }

  /// The author's bytes at this position, as stored.
  func body(at position: Int64) throws -> PackedChangeset? {
    try connection.bytes("SELECT body FROM sync_changeset WHERE position = ?", .integer(position))
      .map(PackedChangeset.init)
  }

  /// A part of the log after a position, see ``RecordStore/log(after:skipping:limitBytes:)``.
  func slice(
    after position: LogPosition, skipping known: VersionVector, limitBytes: Int, replicas: ReplicaTable,
    own device: DeviceID
  ) throws -> LogSlice {
    let statement = try connection.statement(
      """
      SELECT position, replica, seq, body FROM sync_changeset
      WHERE position > ? AND body IS NOT NULL ORDER BY position
      """)
    try statement.bind(1, Int64(clamping: position.rawValue))
    defer { statement.reset() }
    var slice = LogSlice(changesets: [], next: position, reachedEnd: true)
    var size = 0
    while try statement.step() {
      guard let replica = replicas[number: statement.integer(1)] else {
        throw ReplicaError(.corrupt, "The log names a replica that is not known.")
      }
      let name = ChangesetName(replica: replica.id, sequence: UInt64(statement.integer(2)))
      let here = LogPosition(rawValue: UInt64(statement.integer(0)))
      if !known.contains(name) {
        if size >= limitBytes {
          slice.reachedEnd = false
          return slice
        }
        let body = PackedChangeset(bytes: statement.bytes(3))
        size += body.bytes.count
        slice.changesets.append(
          LoggedChangeset(
            position: here, name: name, isOwn: replica.device == device, packed: body,
            beginsBranch: name.sequence == replica.fork + 1))
      }
      slice.next = here
    }
    return slice
  }

  /// Changesets of one replica by seq, see ``RecordStore/changesets(of:from:through:limitBytes:)``.
  func changesets(
    of replica: ReplicaTable.Entry, from first: UInt64, through last: UInt64, limitBytes: Int, own device: DeviceID
  ) throws -> [LoggedChangeset] {
    let statement = try connection.statement(
      "SELECT position, seq, body FROM sync_changeset WHERE replica = ? AND seq BETWEEN ? AND ? ORDER BY seq")
    // What a branch shares with others is held under their names.
    let first = max(first, replica.fork + 1)
    try statement.bind([
      .integer(replica.number), .integer(Int64(clamping: first)), .integer(Int64(clamping: last)),
    ])
    defer { statement.reset() }
    var list: [LoggedChangeset] = []
    var size = 0
    var expected = first
    while size < limitBytes, try statement.step() {
      guard UInt64(statement.integer(1)) == expected, !statement.isNull(2) else { break }
      let body = PackedChangeset(bytes: statement.bytes(2))
      size += body.bytes.count
      list.append(
        LoggedChangeset(
          position: LogPosition(rawValue: UInt64(statement.integer(0))),
          name: ChangesetName(replica: replica.id, sequence: expected), isOwn: replica.device == device, packed: body,
          beginsBranch: expected == replica.fork + 1))
      expected += 1
    }
    return list
  }
}
