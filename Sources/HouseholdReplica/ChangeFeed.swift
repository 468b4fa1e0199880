package import HouseholdRecords

/// How far a follower of the changes has read: opaque to apps, and good for this replica only.
package struct FeedPosition: Hashable, Sendable {
  /// The last place in the log up to which everything is decided.
  package var position: Int64
  /// What lies there; another hash means another log.
  package var hash: [UInt8]
  /// How many changesets are rejected, and the sum of their places: a decision about membership may take back what
  /// was applied before, which no place in the log tells.
  package var rejected: Int64
  package var rejectedPlaces: Int64
  /// How many columns the types have: an upgrade of the schema may bring records to light.
  package var columns: Int64

  package init(position: Int64, hash: [UInt8], rejected: Int64, rejectedPlaces: Int64, columns: Int64) {
    self.position = position
    self.hash = hash
    self.rejected = rejected
    self.rejectedPlaces = rejectedPlaces
    self.columns = columns
  }
}

/// A record that may have changed.
package struct FeedChange: Hashable, Sendable {
  package var key: RecordKey
  /// Whether the record is here now; otherwise it is deleted or merged into another.
  package var isHere: Bool
  /// Whether the change was made on this device only.
  package var isOwn: Bool
}

/// What a follower gets.
package struct Feed: Hashable, Sendable {
  /// Each record once, by type and id.
  package var changes: [FeedChange]
  package var next: FeedPosition
  /// False when the log cannot tell everything that changed: the follower must read all records again.
  package var isComplete: Bool
}

/// Which records changed since a place in the log.
///
/// The place stands still before a changeset that waits or is held, as that one will be applied later at its old
/// place: a record may be told twice and is never missed.
extension RecordAccess {
  /// Where the log stands now.
  package func feedPosition() throws -> FeedPosition {
    let undecided = try connection.integer("SELECT min(position) FROM sync_changeset WHERE state IN (0, 2)")
    let last = try connection.integer("SELECT max(position) FROM sync_changeset") ?? 0
    let position = undecided.map { $0 - 1 } ?? last
    return FeedPosition(
      position: position, hash: try hash(at: position) ?? [],
      rejected: try connection.integer("SELECT count(*) FROM sync_changeset WHERE state >= 3") ?? 0,
      rejectedPlaces: try connection.integer("SELECT sum(position) FROM sync_changeset WHERE state >= 3") ?? 0,
      columns: try connection.integer(
        """
        SELECT count(*) FROM sync_type t JOIN pragma_table_info(t.name) c ON c.name <> 'id'
        WHERE substr(t.name, 1, 5) <> 'sync_'
        """) ?? 0)
  }

  /// The records that changed since, with the edits that are captured and not sealed yet.
  package func feed(since: FeedPosition) throws -> Feed {
    // The new place is read before anything else: what is committed meanwhile is told again next time.
    let next = try feedPosition()
    guard try canFollow(since, to: next) else { return Feed(changes: [], next: next, isComplete: false) }
    var touched: [RecordKey: Bool] = [:]
    func touch(_ key: RecordKey, isOwn: Bool) { touched[key] = (touched[key] ?? true) && isOwn }
    guard try readLog(after: since.position, touch) else { return Feed(changes: [], next: next, isComplete: false) }
    for key in try unsealedRecords() { touch(key, isOwn: true) }
    for (key, others) in try shownWith(touched.keys) {
      for other in others { touch(other, isOwn: touched[key] ?? true) }
    }
    let changes = try touched.keys.sorted().filter { schema.type($0.type) != nil }.map { key in
      FeedChange(key: key, isHere: try isHere(key), isOwn: touched[key] ?? true)
    }
    return Feed(changes: changes, next: next, isComplete: true)
  }

  /// The records with edits that are captured and not sealed yet, each once.
  package func unsealedRecords() throws -> [RecordKey] {
    let statement = try connection.statement(
      """
      SELECT DISTINCT t.name, o.id FROM sync_outbox o JOIN sync_type t ON t.number = o.type
      WHERE o.kind < 100 AND substr(t.name, 1, 5) <> 'sync_' ORDER BY o.number
      """)
    defer { statement.reset() }
    var keys: [RecordKey] = []
    while try statement.step() { keys.append(RecordKey(type: statement.text(0), id: statement.text(1))) }
    return keys
  }

  private func hash(at position: Int64) throws -> [UInt8]? {
    try connection.bytes("SELECT hash FROM sync_changeset WHERE position = ?", .integer(position))
  }

  private func canFollow(_ since: FeedPosition, to next: FeedPosition) throws -> Bool {
    let isSameLog = since.position == 0 ? since.hash.isEmpty : try hash(at: since.position) == since.hash
    let kept = try connection.integer(
      "SELECT count(*) FROM sync_changeset WHERE position > ? AND position <= ?", .integer(since.position),
      .integer(next.position))
    return isSameLog && since.rejected == next.rejected && since.rejectedPlaces == next.rejectedPlaces
      && since.columns == next.columns && kept == max(0, next.position - since.position)
  }

  /// Tells every record that an applied changeset after this place wrote; false if that cannot be known.
  private func readLog(after position: Int64, _ touch: (RecordKey, Bool) -> Void) throws -> Bool {
    let device: DeviceID = try Facts(connection).identifier256(.device)
    let replicas = try ReplicaTable(connection)
    let statement = try connection.statement(
      "SELECT replica, body FROM sync_changeset WHERE position > ? AND state = 1 ORDER BY position")
    try statement.bind(1, position)
    defer { statement.reset() }
    var wroteSet = false
    while try statement.step() {
      guard !statement.isNull(1) else { return false }
      let isOwn = replicas[number: statement.integer(0)]?.device == device
      let changeset = try Replica.unpack(PackedChangeset(bytes: statement.bytes(1))).1
      for operation in changeset.operations {
        let shape = changeset.shapes[operation.shape]
        guard let records = Self.records(of: operation, shape) else { return false }
        for key in records { touch(key, isOwn) }
        wroteSet = wroteSet || operation.kind == .set
      }
    }
    // The rows that a set no longer holds are named by the history only.
    if wroteSet { try readHistory(after: position, touch) }
    return true
  }

  /// The records that an operation writes: of a set the owner and the rows, of a fact about duplicates the two that are
  /// one thing. Nil for a fact that is taken back, which does not say about whom.
  private static func records(of operation: Operation, _ shape: Shape) -> [RecordKey]? {
    let own = RecordKey(type: shape.type, id: operation.id)
    if operation.kind == .set {
      guard let type = shape.fields.first else { return [own] }
      return [own] + operation.rows.rows.map { RecordKey(type: type, id: $0.id) }
    }
    guard shape.type == "sync_alias" else { return [own] }
    let values = Dictionary(zip(shape.fields, operation.values)) { first, _ in first }
    guard let type = values["type"]?.text, let first = values["first"]?.text, let second = values["second"]?.text
    else { return nil }
    return [RecordKey(type: type, id: first), RecordKey(type: type, id: second)]
  }

  private func readHistory(after position: Int64, _ touch: (RecordKey, Bool) -> Void) throws {
    let statement = try connection.statement(
      """
      SELECT DISTINCT t.name, h.id FROM sync_change h JOIN sync_type t ON t.number = h.type WHERE h.position > ?
      """)
    try statement.bind(1, position)
    defer { statement.reset() }
    while try statement.step() { touch(RecordKey(type: statement.text(0), id: statement.text(1)), false) }
  }

  private func isHere(_ key: RecordKey) throws -> Bool {
    try connection.integer("SELECT 1 FROM \(SchemaTables.quoted(key.type)) WHERE id = ?", .text(key.id)) != nil
  }
}
