package import HouseholdRecords

/// A changeset whose author had no right to write it, as people see it.
package struct RejectedChange: Hashable, Sendable {
  /// What it would have done to one record.
  package struct Edit: Hashable, Sendable {
    package var kind: Operation.Kind
    package var type: String
    package var id: String
    /// In the order of the author's fields.
    package var fields: [Field]
    /// The rows of a whole set, whose type is the name of its one field.
    package var rows: OwnedRows
  }

  /// One field and the value that was written.
  package struct Field: Hashable, Sendable {
    package var name: String
    package var value: FieldValue
  }

  /// Names it on every device.
  package var id: String
  package var author: Authorship
  /// Whether this device wrote it.
  package var isOwn: Bool
  package var edits: [Edit]
  /// Where it lies in the log.
  var position: Int64
}

/// What was rejected, and what becomes of it: an owner can write it as his own, and anyone can put it aside.
extension RecordAccess {
  /// The rejected changesets that nobody here has decided about, oldest first; on a device that belongs no longer its
  /// own that came too late, which are in its tables.
  package func rejected() throws -> [RejectedChange] {
    let facts = Facts(connection)
    let device: DeviceID = try facts.identifier256(.device)
    let replicas = try ReplicaTable(connection)
    let statement = try connection.statement(
      """
      SELECT c.position, c.replica, a.name, a.member, a.device, a.edited_at, c.body
      FROM sync_changeset c JOIN sync_author a ON a.position = c.position
      WHERE c.body IS NOT NULL AND (c.state = 3 OR c.state < 3 AND c.replica IN (SELECT value FROM json_each(?)))
      ORDER BY c.position
      """)
    let late = try lateReplicas(of: device, replicas)
    try statement.bind(1, "[" + late.keys.sorted().map(String.init).joined(separator: ",") + "]")
    defer { statement.reset() }
    var list: [RejectedChange] = []
    while try statement.step() {
      let changeset = try Replica.unpack(PackedChangeset(bytes: statement.bytes(6))).1
      if let limit = late[statement.integer(1)], changeset.name.sequence <= limit { continue }
      let edits = changeset.operations.map { Self.edit($0, of: changeset) }
      list.append(Self.change(in: statement, edits: edits, replicas, device: device))
    }
    return (list + (try rejectedAside(replicas, device: device))).sorted { $0.position < $1.position }
  }

  /// What a row says: position, replica, name, member, device and time.
  static func change(
    in row: Statement, edits: [RejectedChange.Edit], _ replicas: ReplicaTable, device: DeviceID
  ) -> RejectedChange {
    RejectedChange(
      id: row.text(2),
      author: Authorship(
        member: row.isNull(3) ? nil : row.text(3), device: row.isNull(4) ? nil : row.text(4),
        at: Instant(milliseconds: row.integer(5))),
      isOwn: replicas[number: row.integer(1)]?.device == device, edits: edits, position: row.integer(0))
  }

  private static func edit(_ operation: Operation, of changeset: Changeset) -> RejectedChange.Edit {
    let shape = changeset.shapes[operation.shape]
    return RejectedChange.Edit(
      kind: operation.kind, type: shape.type, id: operation.id,
      fields: zip(shape.fields, operation.values).filter { operation.kind != .insert || !$0.1.isNull }
        .map { RejectedChange.Field(name: $0.0, value: $0.1) }
        + (operation.kind == .set
          ? shape.fields.prefix(1).map { RejectedChange.Field(name: $0, value: operation.rows.cellValue) } : []),
      rows: operation.rows)
  }

  /// On a device that belongs no longer: the last seq that counts of each of its replicas, by number.
  private func lateReplicas(of device: DeviceID, _ replicas: ReplicaTable) throws -> [Int64: UInt64] {
    guard !membership.admits(device) else { return [:] }
    var late: [Int64: UInt64] = [:]
    for entry in replicas.sorted where entry.device == device {
      late[entry.number] = rights.cutoff(of: entry.id, device: device, begunAt: entry.begun)
    }
    return late
  }

  /// Writes what was rejected as edits of this device, which must be an owner's, and puts it aside; returns the records
  /// that could not be written, because they are not there or of a type that is not known.
  package func adopt(_ id: String) throws -> [RecordKey] {
    let device: DeviceID = try Facts(connection).identifier256(.device)
    guard membership.isOwner(device) else {
      throw ReplicaError(.notAllowed, "Only an owner can adopt what was rejected.")
    }
    return try transaction {
      let change = try requireRejected(id)
      var skipped: [RecordKey] = []
      for edit in change.edits where try !apply(edit) { skipped.append(RecordKey(type: edit.type, id: edit.id)) }
      try settle(change)
      return skipped
    }
  }

  /// Puts a rejected changeset aside: it stays in the log and is listed no more.
  package func dismiss(_ id: String) throws {
    try transaction { try settle(try requireRejected(id)) }
  }

  private func requireRejected(_ id: String) throws -> RejectedChange {
    guard let change = try rejected().first(where: { $0.id == id }) else {
      throw ReplicaError(.notFound, "There is no rejected change \(id) here.")
    }
    return change
  }

  private func settle(_ change: RejectedChange) throws {
    try connection.run(
      "UPDATE sync_changeset SET state = 4 WHERE position = ? AND state = 3", .integer(change.position))
  }

  private func apply(_ edit: RejectedChange.Edit) throws -> Bool {
    guard let type = schema.type(edit.type) else { return false }
    let fields = edit.fields.filter { type.field($0.name) != nil }.map { (name: $0.name, value: $0.value) }
    switch edit.kind {
    case .delete: return try delete(type, edit.id)
    case .update:
      guard try record(type, edit.id) != nil else { return false }
      _ = try put(type, edit.id, fields)
    case .insert: _ = try put(type, edit.id, fields)
    case .set: return try applySet(edit)
    }
    return true
  }

  /// Makes the rows of an owner those of the edit.
  private func applySet(_ edit: RejectedChange.Edit) throws -> Bool {
    guard let name = edit.fields.first?.name,
      let set = schema.ownerships.first(where: { $0.owner == edit.type && $0.set.type == name })?.set,
      let type = schema.type(set.type)
    else { return false }
    var former: [String] = []
    try forEach(type, where: [(set.by, .text(edit.id))]) { former.append($0.key.id) }
    for id in former where edit.rows.row(id) == nil { _ = try delete(type, id) }
    for row in edit.rows.rows {
      let values = edit.rows.fields.filter { type.field($0) != nil && $0 != set.by }
        .map { (name: $0, value: edit.rows.value(of: $0, in: row)) }
      _ = try put(type, row.id, values + [(name: set.by, value: .text(edit.id))])
    }
    return true
  }
}
