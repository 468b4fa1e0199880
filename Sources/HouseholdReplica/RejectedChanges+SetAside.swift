internal import HouseholdRecords

/// What was rejected of changesets that came by snapshot: their contents are not here, and what of their writes could
/// matter is set aside (see ``Replica/withdraw(_:)``).
extension RecordAccess {
  /// The rejected changesets of which something is set aside, in the order in which their headers came.
  func rejectedAside(_ replicas: ReplicaTable, device: DeviceID) throws -> [RejectedChange] {
    // `state >= 3` is the condition of the index; SQLite does not take it from `state = 3`.
    let statement = try connection.statement(
      """
      SELECT c.position, c.replica, a.name, a.member, a.device, a.edited_at
      FROM sync_changeset c JOIN sync_author a ON a.position = c.position
      WHERE c.state >= 3 AND c.state = 3 AND c.body IS NULL
        AND c.position IN (SELECT writer FROM sync_displaced WHERE writer = displacer)
      ORDER BY c.position
      """)
    defer { statement.reset() }
    var list: [RejectedChange] = []
    while try statement.step() {
      let edits = try editsAside(of: statement.integer(0))
      list.append(Self.change(in: statement, edits: edits, replicas, device: device))
    }
    return list
  }

  /// The edits that the writes set aside amount to, one for each life of a record and one for each set.
  private func editsAside(of position: Int64) throws -> [RejectedChange.Edit] {
    let statement = try connection.statement(
      """
      SELECT t.name, d.id, d.cell, d.life, d.content FROM sync_displaced d JOIN sync_type t ON t.number = d.type
      WHERE d.writer = ?1 AND d.displacer = ?1 ORDER BY d.type, d.id, d.life, d.cell
      """)
    try statement.bind([.integer(position)])
    defer { statement.reset() }
    var edits: [RejectedChange.Edit] = []
    var sets: [RejectedChange.Edit] = []
    var last: (type: String, id: String, life: Int64)?
    while try statement.step() {
      let (type, id, cell, life) = (statement.text(0), statement.text(1), statement.text(2), statement.integer(3))
      let value = try Self.value(statement.bytes(4))
      if case .rows(let rows) = value {
        sets.append(
          .init(kind: .set, type: type, id: id, fields: [.init(name: cell, value: rows.cellValue)], rows: rows))
        continue
      }
      // The cell that says whether the record is there has the least name.
      if last?.type != type || last?.id != id || last?.life != life {
        let kind: Operation.Kind =
          switch value {
          case .alive(let isAlive): isAlive ? .insert : .delete
          case .fields, .rows: .update
          }
        edits.append(.init(kind: kind, type: type, id: id, fields: [], rows: .none))
        last = (type, id, life)
      }
      let names = schema.type(type).flatMap { $0.field(cell) == nil ? nil : $0.cellFields(of: cell) } ?? [cell]
      edits[edits.count - 1].fields += zip(names, value.values).filter { edits.last?.kind != .insert || !$0.1.isNull }
        .map { .init(name: $0, value: $1) }
    }
    return edits + sets
  }

  private static func value(_ bytes: [UInt8]) throws -> CellValue {
    do {
      return try DisplacedContent.decode(bytes).value
    } catch {
      throw ReplicaError(.corrupt, "A write that is set aside cannot be read.", cause: "\(error)")
    }
  }
}
