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
