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

  /// One write of one cell.
  private struct CellWrite {
    var key: RecordKey
    var cell: String
    var write: Write
  }

  /// What a vector's changesets make of all records.
  private struct Truth {
    var applied: VersionVector
    var schemaVersion: UInt64
    var states: [RecordKey: RecordState]
  }

  /// What was computed last, so that a check has to merge only what is new since then.
  private var truths: [Truth] = []
  private static let keptTruths = 8

  /// The state of every record that the changesets of this vector write, merged in an order that the seed picks.
  ///
  /// - Parameter anew: whether all writes are merged from nothing; else those that an earlier call has not seen.
  mutating func states(
    at applied: VersionVector, schema: Schema, anew: Bool, random: inout SeededRandom
  ) throws -> [RecordKey: RecordState] {
    var base = Truth(applied: VersionVector(), schemaVersion: schema.version, states: [:])
    if !anew {
      let usable = truths.filter { $0.schemaVersion == schema.version && applied.covers($0.applied) }
      base = usable.min { applied.excess(over: $0.applied) < applied.excess(over: $1.applied) } ?? base
    }
    var writes: [CellWrite] = []
    for entry in applied.sorted {
      let first = base.applied[entry.replica] + 1
      guard first <= entry.sequence else { continue }
      for sequence in first...entry.sequence {
        writes += self.writes(of: ChangesetName(replica: entry.replica, sequence: sequence), schema: schema)
      }
    }
    writes.shuffle(using: &random)
    var states = base.states
    for write in writes {
      try states[write.key, default: RecordState()].merge(write.write, cell: write.cell, coverage: self)
    }
    truths.append(Truth(applied: applied, schemaVersion: schema.version, states: states))
    if truths.count > Self.keptTruths { truths.removeFirst() }
    return states
  }

  /// Compares what was merged write by write with the rule written a second time; nil if they agree.
  ///
  /// Cells with very many writes are left out, as it takes the square of their number.
  func firstDisagreement(at applied: VersionVector, schema: Schema, states: [RecordKey: RecordState]) throws -> String?
  {
    var cells: [RecordKey: [String: [Write]]] = [:]
    for entry in applied.sorted where entry.sequence > 0 {
      for sequence in 1...entry.sequence {
        for write in writes(of: ChangesetName(replica: entry.replica, sequence: sequence), schema: schema) {
          cells[write.key, default: [:]][write.cell, default: []].append(write.write)
        }
      }
    }
    for key in cells.keys.sorted() {
      guard let written = cells[key], written.values.allSatisfy({ $0.count <= 120 }) else { continue }
      let maximal = try written.mapValues { try ReferenceRule.maximal($0, coverage: self) }
      for cell in maximal.keys.sorted() where maximal[cell] != states[key]?.cells[cell] {
        return "\(key), cell '\(cell)': the merge rule keeps other writes than the design says"
      }
      guard let type = schema.type(key.type), let state = states[key] else { continue }
      if ReferenceRule.row(of: maximal, type: type) != Self.row(of: state, type: type) {
        return "\(key): the merge rule shows \(Judge.text(Self.row(of: state, type: type))), not what the design says"
      }
    }
    return nil
  }

  private func writes(of name: ChangesetName, schema: Schema) -> [CellWrite] {
    guard let changeset = known[name]?.changeset else { return [] }
    return changeset.operations.flatMap { operation in
      let shape = changeset.shapes[operation.shape]
      let key = RecordKey(type: shape.type, id: operation.id)
      return operation.writes(
        name: name, stamp: changeset.stamp, fields: shape.fields,
        type: shape.type == AliasFact.typeName ? AliasFact.recordType : schema.type(shape.type)
      ).map { CellWrite(key: key, cell: $0.cell, write: $0.write) }
    }
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
