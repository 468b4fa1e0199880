import HouseholdRecords
import HouseholdReplica

/// Every changeset that was ever sealed, as its author's log has it: the truth that all devices are measured against.
///
/// It knows the merge rule and nothing of packed cells, positions, snapshots or tables: what it says of a record is
/// computed anew from all writes, in any order.
struct ChangesetArchive: Coverage {
  private struct Known {
    var changeset: Changeset
    /// Complete, not only what changed.
    var dependencies: Dependencies
  }

  private var known: [ChangesetName: Known] = [:]
  /// What is in here.
  private(set) var vector = VersionVector()

  /// How many changesets there are.
  var count: Int { known.count }

  /// Adds what this device has sealed since the last time.
  mutating func collect(from device: SimulatedDevice) throws {
    let replica = device.replica.replica
    let first = vector[replica] + 1
    let last = try device.replica.vectors().received[replica]
    guard first <= last else { return }
    for logged in try device.replica.changesets(of: replica, from: first, through: last, limitBytes: .max) {
      let changeset = try Replica.unpack(logged.packed).1
      let before = known[ChangesetName(replica: replica, sequence: logged.name.sequence - 1)]?.dependencies
      known[logged.name] = Known(
        changeset: changeset,
        dependencies: (before ?? Dependencies()).applying(changeset.dependencyChanges))
      vector[replica] = logged.name.sequence
    }
  }

  func covers(_ later: ChangesetName, _ earlier: ChangesetName) throws -> Bool {
    if later.replica == earlier.replica { return later.sequence > earlier.sequence }
    return (known[later]?.dependencies.sequence(of: earlier.replica) ?? 0) >= earlier.sequence
  }

  /// A replica whose last counted changeset depends on something that the vector does not count; nil if there is none.
  ///
  /// Dependencies only grow from one changeset of a replica to the next, so the last one stands for all.
  func firstGap(in applied: VersionVector) -> ReplicaID? {
    applied.sorted.first { entry in
      let last = known[ChangesetName(replica: entry.replica, sequence: entry.sequence)]
      return last.map { !applied.covers($0.dependencies.vector) } ?? true
    }?.replica
  }

  /// The state of every record that the changesets of this vector write, merged in an order that the seed picks.
  func states(
    at applied: VersionVector, schema: Schema, random: inout SeededRandom
  ) throws -> [RecordKey: RecordState] {
    var writes: [(key: RecordKey, cell: String, write: Write)] = []
    for name in known.keys.sorted() where applied.contains(name) {
      guard let changeset = known[name]?.changeset else { continue }
      for operation in changeset.operations {
        let shape = changeset.shapes[operation.shape]
        let key = RecordKey(type: shape.type, id: operation.id)
        let type = shape.type == AliasFact.typeName ? AliasFact.recordType : schema.type(shape.type)
        let list = operation.writes(name: name, stamp: changeset.stamp, fields: shape.fields, type: type)
        writes += list.map { (key, $0.cell, $0.write) }
      }
    }
    writes.shuffle(using: &random)
    var states: [RecordKey: RecordState] = [:]
    for (key, cell, write) in writes {
      try states[key, default: RecordState()].merge(write, cell: cell, coverage: self)
    }
    return states
  }

  /// What the tables show of all these states: each record's row, and each row of a set at the owner whose claim on it
  /// is the greatest.
  static func rows(of states: [RecordKey: RecordState], schema: Schema) -> [RecordKey: [FieldValue]] {
    var rows: [RecordKey: [FieldValue]] = [:]
    var claims: [RecordKey: RowClaim] = [:]
    let ownerships = schema.ownerships
    for (key, state) in states {
      guard let type = schema.type(key.type), let row = row(of: state, type: type) else { continue }
      rows[key] = row
      claims[key] = state.winner(of: CellName.alive).map { RowClaim($0, owner: "") }
    }
    for (owner, state) in states {
      for ownership in ownerships where ownership.owner == owner.type {
        guard let shown = state.shownSet(of: ownership.set.type), let type = schema.type(ownership.set.type) else {
          continue
        }
        let claim = RowClaim(shown.write, owner: owner.id)
        for row in shown.rows.rows {
          let key = RecordKey(type: type.name, id: row.id)
          if let other = claims[key], claim < other { continue }
          claims[key] = claim
          rows[key] = type.fields.map { field in
            field.name == ownership.set.by ? .text(owner.id) : shown.rows.value(of: field.name, in: row)
          }
        }
      }
    }
    return rows
  }

  /// What of these states needs attention, as `TYPE/ID code`: sets that do not add up, and rows that show elsewhere.
  static func attention(
    of states: [RecordKey: RecordState], rows: [RecordKey: [FieldValue]], schema: Schema
  ) -> Set<String> {
    var items: Set<String> = []
    for (owner, state) in states {
      for ownership in schema.ownerships where ownership.owner == owner.type {
        guard let set = state.shownSet(of: ownership.set.type)?.rows, let type = schema.type(ownership.set.type) else {
          continue
        }
        func value(_ field: String, _ key: RecordKey) -> FieldValue {
          guard let row = rows[key], let index = schema.type(key.type)?.fields.firstIndex(where: { $0.name == field })
          else { return .null }
          return row[index]
        }
        let keys = set.rows.map { RecordKey(type: type.name, id: $0.id) }
        let here = keys.filter { value(ownership.set.by, $0) == .text(owner.id) }
        if here.count < keys.count { items.insert("\(owner) elsewhere") }
        guard let rule = ownership.set.sum, state.isAlive else { continue }
        let sum = here.reduce(Int128(0)) { $0 + Int128(value(rule.of, $1).integer ?? 0) }
        if sum != Int128(value(rule.equals, owner).integer ?? 0) { items.insert("\(owner) sum") }
      }
    }
    return items
  }

  /// The row that a state shows; nil if the record is not alive.
  static func row(of state: RecordState, type: RecordType) -> [FieldValue]? {
    guard state.isAlive else { return nil }
    var row: [String: FieldValue] = [:]
    for fields in type.cells {
      let strategy = MergeStrategy(rawValue: type.strategies[fields[0]] ?? type.strategy) ?? .merge
      guard let winner = state.winner(of: fields[0], strategy: strategy) else { continue }
      for (field, value) in zip(fields, winner.value.values) { row[field] = value }
    }
    return type.fields.map { row[$0.name] ?? .null }
  }
}
