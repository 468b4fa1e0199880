internal import HouseholdRecords

/// One captured edit.
struct OutboxRow {
  /// What a trigger saw.
  ///
  /// `confirmed` is no trigger's: a person has seen an edit that lost against a deletion, and the deletion stays.
  enum Kind: Int64 { case replacing = 0, inserted = 1, updated = 2, deleted = 3, confirmed = 4 }

  var number: Int64
  var type: Int64
  var id: String
  var kind: Kind
  /// A bit for each field that an update changed.
  var fields: UInt64
  /// Milliseconds since 1970 by this machine's clock.
  var at: Int64
  var image: String?
  var isWeak: Bool
}

/// Names a record inside this file; ids are compared byte for byte.
struct RecordPlace: Hashable, Comparable {
  var type: Int64
  var id: String

  static func == (a: Self, b: Self) -> Bool { a.type == b.type && a.id.hasSameBytes(as: b.id) }

  /// In the order of the tables: by type, then by the bytes of the id.
  static func < (a: Self, b: Self) -> Bool { a.type == b.type ? a.id.isBefore(b.id) : a.type < b.type }

  func hash(into hasher: inout Hasher) {
    hasher.combine(type)
    id.hashBytes(into: &hasher)
  }
}

/// The edits that were captured and not sealed yet.
struct Outbox {
  let connection: Connection

  /// How many rows are sealed in one go: a bound on memory; what goes on is marked as one transaction.
  var chunkRows = 20_000
  /// Edits further apart than this are sealed as separate changesets, each with its own time (D11).
  static let gapMilliseconds: Int64 = 1000

  /// How many rows wait.
  func count() throws -> Int64 { try connection.integer("SELECT count(*) FROM sync_outbox") ?? 0 }

  /// Whether anything waits.
  func isEmpty() throws -> Bool { try connection.integer("SELECT 1 FROM sync_outbox LIMIT 1") == nil }

  /// The oldest rows in order, at most one chunk and some more to look ahead.
  func chunk() throws -> [OutboxRow] {
    let statement = try connection.statement(
      """
      SELECT number, type, id, kind, fields, at, image, weak FROM sync_outbox WHERE kind < \(Decision.firstKind)
      ORDER BY number LIMIT ?
      """)
    try statement.bind(1, Int64(chunkRows + 3))
    defer { statement.reset() }
    var rows: [OutboxRow] = []
    while try statement.step() { if let row = Self.row(statement) { rows.append(row) } }
    return rows
  }

  private static func row(_ statement: Statement) -> OutboxRow? {
    guard let kind = OutboxRow.Kind(rawValue: statement.integer(3)) else { return nil }
    return OutboxRow(
      number: statement.integer(0), type: statement.integer(1), id: statement.text(2), kind: kind,
      fields: UInt64(bitPattern: statement.integer(4)), at: statement.integer(5),
      image: statement.isNull(6) ? nil : statement.text(6), isWeak: statement.integer(7) != 0)
  }

  /// A bit for each field of which a change is known.
  private struct Told {
    var byPerson: UInt64 = 0
    var generated: UInt64 = 0
  }

  /// What comes after this chunk of its records, as far as it tells what their rows were before: of each field the first
  /// change, by a person and generated, up to the first replacement or deletion.
  ///
  /// So it is a bound on memory however often a record is changed.
  func changes(after chunk: [OutboxRow]) throws -> [RecordPlace: [OutboxRow]] {
    let statement = try connection.statement(
      """
      SELECT number, type, id, kind, fields, at, image, weak FROM sync_outbox WHERE number > ? AND image IS NOT NULL
      ORDER BY number
      """)
    try statement.bind(1, chunk.last?.number ?? 0)
    defer { statement.reset() }
    var told = Dictionary(
      chunk.map { (RecordPlace(type: $0.type, id: $0.id), Told()) }, uniquingKeysWith: { first, _ in first })
    var changes: [RecordPlace: [OutboxRow]] = [:]
    while try statement.step() {
      let place = RecordPlace(type: statement.integer(1), id: statement.text(2))
      guard var known = told[place], let row = Self.row(statement) else { continue }
      if row.kind == .updated {
        let field = row.isWeak ? \Told.generated : \Told.byPerson
        if row.fields & ~known[keyPath: field] == 0 { continue }
        known[keyPath: field] |= row.fields
        told[place] = known
      } else {
        told[place] = nil
      }
      changes[place, default: []].append(row)
    }
    return changes
  }

  /// How many of these rows make a chunk: a replacement is not cut from what it consists of, up to three rows.
  func cut(_ rows: [OutboxRow]) -> Int {
    var end = min(chunkRows, rows.count)
    func isInReplacement(_ end: Int) -> Bool {
      rows[end - 1].kind == .replacing
        || end > 1 && rows[end - 1].kind == .deleted && rows[end - 2].kind == .replacing
    }
    while end < rows.count, isInReplacement(end) { end += 1 }
    return end
  }

  /// The image that the next replacement or deletion of the record took, after this row.
  func nextImage(of place: RecordPlace, after number: Int64) throws -> String? {
    try connection.text(
      """
      SELECT image FROM sync_outbox WHERE number > ? AND type = ? AND id = ? AND kind IN (0, 3) AND image IS NOT NULL
      ORDER BY number LIMIT 1
      """, .integer(number), .integer(place.type), .text(place.id))
  }

  /// Whether the record was edited again after this row.
  func hasMore(of place: RecordPlace, after number: Int64) throws -> Bool {
    try connection.integer(
      "SELECT 1 FROM sync_outbox WHERE number > ? AND type = ? AND id = ? LIMIT 1", .integer(number),
      .integer(place.type), .text(place.id)) != nil
  }

  /// Takes out what was sealed.
  func remove(through number: Int64) throws {
    try connection.run(
      "DELETE FROM sync_outbox WHERE number <= ? AND kind < \(Decision.firstKind)", .integer(number))
  }

  // MARK: Decisions

  /// What a person decided about a held changeset; the node carries it out.
  enum Decision: Int64 {
    case approved = 100
    case rejected = 101

    /// From this kind on a row is a decision, not an edit.
    static let firstKind: Int64 = 100
  }

  /// Leaves a decision for whoever seals.
  func decide(_ decision: Decision, about hash: ChangesetHash, now: Instant) throws {
    try connection.run(
      "INSERT INTO sync_outbox(type, id, kind, fields, at) VALUES (0, ?, ?, 0, ?)",
      .text(hexadecimal(hash.bytes)), .integer(decision.rawValue), .integer(now.milliseconds))
  }

  /// Takes all decisions out, oldest first.
  func takeDecisions() throws -> [(hash: String, decision: Decision)] {
    let statement = try connection.statement(
      "SELECT id, kind FROM sync_outbox WHERE kind >= \(Decision.firstKind) ORDER BY number")
    defer { statement.reset() }
    var list: [(hash: String, decision: Decision)] = []
    while try statement.step() {
      if let decision = Decision(rawValue: statement.integer(1)) { list.append((statement.text(0), decision)) }
    }
    if !list.isEmpty { try connection.run("DELETE FROM sync_outbox WHERE kind >= \(Decision.firstKind)") }
    return list
  }
}

/// What happened to one record in one run of edits, folded from its outbox rows.
struct FoldedEdit {
  /// Fields that were changed by updates before a deletion, or in all if there was none.
  var changed: UInt64 = 0
  /// Fields changed after the record was made again.
  private var changedInNewLife: UInt64 = 0
  /// The row before the first replacement (`INSERT OR REPLACE` of a live row) that was not undone by a deletion.
  var replacedImage: String?
  /// The row at the first real deletion.
  var deletedImage: String?
  var wasDeleted = false
  var wasInserted = false
  /// Whether a deletion is to be sealed though the record is dead.
  var confirmsDeletion = false
  var isThereAfter: Bool
  var isWeak = true
  /// The number of the last row.
  var last: Int64 = 0

  /// Folds the rows of a record that was there, or not, before them.
  init(_ rows: [OutboxRow], wasThere: Bool) {
    isThereAfter = wasThere
    var pendingImage: String?
    var heldDeletion: OutboxRow?
    for row in rows {
      last = row.number
      if !row.isWeak { isWeak = false }
      if row.kind != .inserted && row.kind != .deleted, let deletion = heldDeletion {
        delete(deletion)
        heldDeletion = nil
      }
      switch row.kind {
      case .replacing: pendingImage = row.image
      case .deleted:
        // With recursive triggers on, REPLACE deletes between the two; only what comes next tells.
        if pendingImage != nil { heldDeletion = row } else { delete(row) }
      case .inserted:
        if let image = pendingImage {
          if !wasDeleted { replacedImage = replacedImage ?? image }
        } else {
          wasInserted = true
          // The row that was there vanished without a trigger (`UPDATE OR REPLACE` of another row's id, in a file whose
          // triggers took no image of it): the new one stands in its place, so every field was written.
          if isThereAfter && !wasDeleted { changed = .max }
        }
        isThereAfter = true
        pendingImage = nil
        heldDeletion = nil
      case .confirmed: confirmsDeletion = true
      case .updated:
        pendingImage = nil
        if wasDeleted { changedInNewLife |= row.fields } else { changed |= row.fields }
      }
    }
    if let heldDeletion { delete(heldDeletion) }
  }

  private mutating func delete(_ row: OutboxRow) {
    isThereAfter = false
    if !wasDeleted { deletedImage = row.image }
    wasDeleted = true
  }
}
