package import HouseholdRecords

/// Why a record needs a person's attention.
package enum AttentionCode: String, Sendable {
  /// The rows of a set do not add up to what their owner says.
  case sum
  /// A row of the set shows under another owner, which holds it too.
  case elsewhere
}

/// What a person should look at: derived from the records, never a change of them (design 2.4, Invariants).
///
/// An item is a pure function of the set of changesets, so it is the same on every device, and goes by itself.
extension Replica {
  /// Notes that the record needs attention.
  ///
  /// - Parameters:
  ///   - text: one sentence that says what is wrong; the record is named beside it.
  ///   - since: when the edit was made that brought it about.
  func raise(_ code: AttentionCode, of place: RecordPlace, _ text: String, since: Instant) throws {
    try connection.run(
      """
      INSERT INTO sync_attention(type, id, code, text, since) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT(type, id, code) DO UPDATE SET text = excluded.text, since = excluded.since
      """, .integer(place.type), .text(place.id), .text(code.rawValue), .text(text), .integer(since.milliseconds))
  }

  /// Notes that it needs none any more.
  func clear(_ code: AttentionCode, of place: RecordPlace) throws {
    try connection.run(
      "DELETE FROM sync_attention WHERE type = ? AND id = ? AND code = ?", .integer(place.type), .text(place.id),
      .text(code.rawValue))
  }

  /// Judges a set: whether it adds up, and whether all its rows show.
  func judge(_ set: TypeTable.OwnedSet, of owner: RecordPlace, table: TypeTable, state: RecordState) throws {
    let shown = state.shownSet(of: set.name)
    let hidden = try shown == nil ? [] : hiddenRows(of: owner, type: set.number)
    if let shown, !hidden.isEmpty {
      try raise(
        .elsewhere, of: owner,
        "Its set of \(set.name) holds rows that show elsewhere: " + hidden.map(\.id).sorted().joined(separator: ", ")
          + ".", since: try header(of: try number(of: shown.write.name)).editedAt)
    } else {
      try clear(.elsewhere, of: owner)
    }
    guard let rule = set.sum else { return }
    guard let shown, state.isAlive,
      let cell = table.cells.first(where: { cell in
        cell.fields.contains { table.fieldNames[$0] == rule.equals }
      })
    else { return try clear(.sum, of: owner) }
    let decides = state.winner(of: cell.name, strategy: cell.strategy)
    let place = cell.fields.firstIndex { table.fieldNames[$0] == rule.equals }
    let due =
      place.flatMap { index in
        decides.flatMap { $0.value.values.indices.contains(index) ? $0.value.values[index].integer : nil }
      } ?? 0
    let hiddenPlaces = Set(hidden)
    var sum: Int64? = 0
    for row in shown.rows.rows where !hiddenPlaces.contains(RecordPlace(type: set.number, id: row.id)) {
      let (next, isOver) = (sum ?? 0).addingReportingOverflow(shown.rows.value(of: rule.of, in: row).integer ?? 0)
      sum = isOver || sum == nil ? nil : next
    }
    if sum == due { return try clear(.sum, of: owner) }
    let writes = [shown.write, decides].compactMap(\.self)
    let last = try writes.map { try header(of: try number(of: $0.name)).editedAt }.max()
    try raise(
      .sum, of: owner,
      "Its \(set.name) rows add up to \(sum.map(String.init) ?? "more than 64 bits hold"), its \(rule.equals) is \(due).",
      since: last ?? Instant(milliseconds: 0))
  }

  private func hiddenRows(of owner: RecordPlace, type: Int64) throws -> [RecordPlace] {
    let statement = try connection.statement("SELECT id FROM sync_owned WHERE type = ? AND owner = ? AND shown = 0")
    try statement.bind([.integer(type), .text(owner.id)])
    defer { statement.reset() }
    var rows: [RecordPlace] = []
    while try statement.step() { rows.append(RecordPlace(type: type, id: statement.text(0))) }
    return rows
  }
}

/// A record that needs attention, as people see it.
package struct AttentionItem: Hashable, Sendable {
  package var key: RecordKey
  /// One of ``AttentionCode``, or one that a newer program wrote.
  package var code: String
  package var text: String
  package var since: Instant

  /// The items of a replica in the order of type, id and code.
  static func all(on connection: Connection, limit: Int64) throws -> [Self] {
    let statement = try connection.statement(
      """
      SELECT t.name, a.id, a.code, a.text, a.since FROM sync_attention a JOIN sync_type t ON t.number = a.type
      ORDER BY t.name, a.id, a.code LIMIT ?
      """)
    try statement.bind(1, limit)
    defer { statement.reset() }
    var items: [Self] = []
    while try statement.step() {
      items.append(
        Self(
          key: RecordKey(type: statement.text(0), id: statement.text(1)), code: statement.text(2),
          text: statement.text(3), since: Instant(milliseconds: statement.integer(4))))
    }
    return items
  }
}

extension RecordAccess {
  /// What needs attention, in the order of type, id and code.
  package func attention() throws -> [AttentionItem] { try AttentionItem.all(on: connection, limit: .max) }
}
