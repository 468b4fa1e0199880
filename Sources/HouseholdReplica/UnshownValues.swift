package import HouseholdRecords

/// A record with something that is stored here and does not show (R3): parked or quarantined.
package struct UnshownRecord: Hashable, Sendable {
  /// One field and the value that decides it.
  package struct Field: Hashable, Sendable {
    package var name: String
    package var value: FieldValue
  }

  package var key: RecordKey
  /// Whether the whole type is not known here.
  package var isOfUnknownType: Bool
  /// What does not show, in the order of the names.
  package var fields: [Field]
  /// Who wrote the last of it.
  package var author: Authorship
}

extension Replica {
  /// Calls `body` with each record of a type, or with a field, that the schema here does not know.
  package func forEachParked(_ body: (UnshownRecord) throws -> Void) throws {
    for (name, number) in registry.all where !name.hasPrefix("sync_") {
      let table = registry[number]
      let condition = table == nil ? "1" : "cells IS NOT NULL"
      try forEachStored(type: number, where: condition, table: table) { id, state in
        let known = Set((table?.cells.map(\.name) ?? []) + (table?.sets.map(\.name) ?? []) + [CellName.alive])
        let cells = state.cells.keys.filter { !known.contains($0) }.sorted()
        guard state.isAlive, table == nil || !cells.isEmpty else { return }
        let fields = cells.compactMap { cell -> UnshownRecord.Field? in
          guard let winner = state.winner(of: cell), let value = winner.value.values.first else { return nil }
          return UnshownRecord.Field(name: cell, value: value)
        }
        let writes = (cells.isEmpty ? [CellName.alive] : cells).compactMap { state.winner(of: $0) }
        guard let author = try author(of: writes) else { return }
        try body(
          UnshownRecord(
            key: RecordKey(type: name, id: id), isOfUnknownType: table == nil, fields: fields, author: author))
      }
    }
  }

  /// Calls `body` with each record of which a value does not fit its column.
  package func forEachQuarantined(_ body: (UnshownRecord) throws -> Void) throws {
    for table in registry.sorted {
      let condition = "flags & \(StoredRecord.quarantinedFlag)"
      try forEachStored(type: table.number, where: condition, table: table) { id, state in
        var fields: [UnshownRecord.Field] = []
        var writes: [Write] = []
        for cell in table.cells {
          guard let winner = state.winner(of: cell.name, strategy: cell.strategy) else { continue }
          for (index, value) in zip(cell.fields, winner.value.values) where !table.fits(value, field: index) {
            fields.append(UnshownRecord.Field(name: table.fieldNames[index], value: value))
            writes.append(winner)
          }
        }
        guard let author = try author(of: writes) else { return }
        try body(
          UnshownRecord(
            key: RecordKey(type: table.type.name, id: id), isOfUnknownType: false, fields: fields, author: author))
      }
    }
  }

  private func forEachStored(
    type: Int64, where condition: String, table: TypeTable?, _ body: (String, RecordState) throws -> Void
  ) throws {
    let statement = try connection.statement("SELECT id FROM sync_record WHERE type = ? AND \(condition) ORDER BY id")
    try statement.bind(1, type)
    defer { statement.reset() }
    while try statement.step() {
      let id = statement.text(0)
      guard let stored = try StoredRecord.read(type: type, id: id, on: connection) else { continue }
      let row = stored.isAlive ? try table?.row(id, on: connection) : nil
      try body(id, try CellVersions.decode(stored, row: row, table: table, names: self))
    }
  }

  /// Who wrote the newest of these.
  private func author(of writes: [Write]) throws -> Authorship? {
    guard let last = writes.max(by: { ($0.stamp, $0.name) < ($1.stamp, $1.name) }),
      let header = try log.header(of: last.name, replicas: replicas)
    else { return nil }
    let device = replicas[last.name.replica].flatMap { membershipState.devices[$0.device] }
    return Authorship(
      member: device.flatMap { membershipState.members[$0.member]?.name }, device: device?.name, at: header.editedAt)
  }
}
