import HouseholdRecords
import HouseholdReplica
import HouseholdTrust

/// Every changeset that was ever sealed: the truth that all devices are measured against.
///
/// It knows the merge rule and the rule of names (D4), and nothing of packed cells, positions, snapshots or tables. It
/// keeps changesets by hash; what they are called is computed anew for each device from those that it knows.
struct ChangesetArchive {
  struct Known {
    var changeset: Changeset
    /// Complete, not only what changed; as the author named them.
    var dependencies: Dependencies
    /// Of the membership log, as its author knew it.
    var heads: [EntryHash]
    /// Who sealed it, and the heads of the first changeset of its replica on the way to it.
    var device: DeviceID?
    var begun: [EntryHash]
  }

  private(set) var known: [ChangesetHash: Known] = [:]
  /// What no device had any more: a copy that is put back may hold it, and only its name.
  private var lost: [ChangesetHash: Known] = [:]
  private var bySequence: [UInt64: [ChangesetHash]] = [:]
  /// Up to where each device's file was read.
  private var positions: [String: LogPosition] = [:]

  /// Who has which right, by the heads of the membership log; it takes long to find out.
  private var rights: [[EntryHash]: WriteRights] = [:]

  /// Who has which right as far as the device knows, evaluated from the entries of its log.
  mutating func rights(of device: SimulatedDevice, in world: World) throws -> WriteRights {
    let heads = try device.replica.membership().heads
    if let known = rights[heads] { return known }
    var log = MembershipLog(household: device.replica.household)
    _ = try log.add(try device.replica.membershipEntries(except: []), cryptography: world.cryptography)
    let found = MembershipEvaluation.evaluate(log).rights
    rights[heads] = found
    return found
  }

  /// How many changesets there are.
  var count: Int { known.count }

  /// Adds what is new in the logs of these devices.
  mutating func collect(from devices: [SimulatedDevice]) throws {
    var new: [ChangesetHash: Changeset] = [:]
    for device in devices {
      let slice = try device.replica.log(
        after: positions[device.fileName] ?? .start, skipping: VersionVector(), limitBytes: .max)
      positions[device.fileName] = slice.next
      for logged in slice.changesets {
        let (signed, changeset) = try Replica.unpack(logged.packed)
        let hash: ChangesetHash = OpenSSLCryptography().hashed(signed.bytes)
        if known[hash] == nil { new[hash] = changeset }
      }
    }
    for (hash, changeset) in new.sorted(by: { ($0.value.name.sequence, $0.key) < ($1.value.name.sequence, $1.key) }) {
      remember(through: changeset.previous)
      lost[hash] = nil
      let before = known[changeset.previous]
      let heads = changeset.membershipHeads ?? before?.heads ?? []
      known[hash] = Known(
        changeset: changeset,
        dependencies: (before?.dependencies ?? Dependencies()).applying(changeset.dependencyChanges), heads: heads,
        device: changeset.origin?.device ?? before?.device, begun: before?.begun ?? heads)
      bySequence[changeset.name.sequence, default: []].append(hash)
    }
    if lost.isEmpty { return }
    for device in devices {
      for tip in try device.replica.receivedDependencies() where resolve(tip) == nil {
        let found = lost.first { $0.value.changeset.name.sequence == tip.sequence && $0.key.prefix == tip.hashPrefix }
        if let found { remember(through: found.key) }
      }
    }
  }

  /// Knows again what was lost, this changeset and those before it.
  private mutating func remember(through last: ChangesetHash) {
    var hash = last
    while let again = lost.removeValue(forKey: hash) {
      known[hash] = again
      bySequence[again.changeset.name.sequence, default: []].append(hash)
      hash = again.changeset.previous
    }
  }

  /// Forgets what no device has any more, after one was put back to an older state.
  mutating func forgetLost(_ devices: [SimulatedDevice]) throws {
    var kept: Set<ChangesetHash> = []
    for device in devices { kept.formUnion(try received(by: device) ?? []) }
    for hash in Set(known.keys).subtracting(kept).sorted() {
      guard let gone = known.removeValue(forKey: hash) else { continue }
      bySequence[gone.changeset.name.sequence]?.removeAll { $0 == hash }
      lost[hash] = gone
    }
  }

  /// The changeset that a dependency names, whatever its name meant.
  func resolve(_ dependency: Dependency) -> ChangesetHash? {
    bySequence[dependency.sequence]?.first { $0.prefix == dependency.hashPrefix }
  }

  /// These changesets and all before them.
  func closure(of tips: [ChangesetHash]) -> Set<ChangesetHash> {
    var found: Set<ChangesetHash> = []
    for tip in tips {
      var hash = tip
      while hash != .zero, found.insert(hash).inserted { hash = known[hash]?.changeset.previous ?? .zero }
    }
    return found
  }

  /// What a device has received, as its holdings say; nil if it has what nobody sealed.
  func received(by device: SimulatedDevice) throws -> Set<ChangesetHash>? {
    var tips: [ChangesetHash] = []
    for dependency in try device.replica.receivedDependencies() {
      guard let hash = resolve(dependency) else { return nil }
      tips.append(hash)
    }
    return closure(of: tips)
  }
}

/// A set of changesets with the names that follow from it (D4).
struct ArchiveView: Coverage {
  private let archive: ChangesetArchive
  private(set) var names: [ChangesetHash: ChangesetName] = [:]
  private(set) var hashes: [ChangesetName: ChangesetHash] = [:]

  init(_ archive: ChangesetArchive, of set: Set<ChangesetHash>) {
    self.archive = archive
    var children: [String: [ChangesetHash]] = [:]
    for hash in set.sorted() {
      guard let changeset = archive.known[hash]?.changeset else { continue }
      children[Self.key(changeset.name.replica, changeset.previous), default: []].append(hash)
    }
    for root in Set(set.compactMap { archive.known[$0]?.changeset.name.replica }) {
      var open: [(after: ChangesetHash, name: ReplicaID)] = [(.zero, root)]
      while let (after, name) = open.popLast() {
        // In ascending order: the first keeps the name, the others are named after themselves.
        for (index, hash) in (children[Self.key(root, after)] ?? []).enumerated() {
          guard let own = ReplicaID(bytes: hash.bytes.prefix(ReplicaID.byteCount)),
            let sequence = archive.known[hash]?.changeset.name.sequence
          else { continue }
          let called = ChangesetName(replica: index == 0 ? name : own, sequence: sequence)
          names[hash] = called
          hashes[called] = hash
          open.append((hash, called.replica))
        }
      }
    }
  }

  private static func key(_ root: ReplicaID, _ after: ChangesetHash) -> String { "\(root) \(after)" }

  /// Whether one is the other or before it in the same replica.
  private func isOnPath(_ earlier: ChangesetHash, to later: ChangesetHash) -> Bool {
    guard let first = archive.known[earlier]?.changeset.name else { return false }
    var hash = later
    while let changeset = archive.known[hash]?.changeset {
      if hash == earlier { return true }
      if changeset.name.replica != first.replica || changeset.name.sequence <= first.sequence { return false }
      hash = changeset.previous
    }
    return false
  }

  func covers(_ later: ChangesetName, _ earlier: ChangesetName) throws -> Bool {
    guard later != earlier, let new = hashes[later], let old = hashes[earlier], let known = archive.known[new]
    else { return false }
    if isOnPath(old, to: new) { return true }
    return known.dependencies.entries.values.contains { dependency in
      dependency.sequence >= earlier.sequence && archive.resolve(dependency).map { isOnPath(old, to: $0) } ?? false
    }
  }

  /// The state of every record that these changesets write, merged in an order that the seed picks.
  func states(
    of applied: Set<ChangesetHash>, schema: Schema, random: inout SeededRandom
  ) throws -> [RecordKey: RecordState] {
    var writes = applied.sorted().flatMap { self.writes(of: $0, schema: schema) }
    writes.shuffle(using: &random)
    var states: [RecordKey: RecordState] = [:]
    for write in writes {
      try states[write.key, default: RecordState()].merge(write.write, cell: write.cell, coverage: self)
    }
    try displace(amid: writes, in: &states)
    return states
  }

  /// Takes out what any write displaces, also one that is displaced itself: its author had seen more than the author of
  /// what displaced it, for whom some of that did not count.
  private func displace(amid all: [CellWrite], in states: inout [RecordKey: RecordState]) throws {
    var open: [RecordKey: [String: [Write]]] = [:]
    for (key, state) in states {
      for (cell, maximal) in state.cells where maximal.count > 1 { open[key, default: [:]][cell] = maximal }
    }
    for other in all {
      guard let maximal = open[other.key]?[other.cell] else { continue }
      for lost in maximal where lost != other.write {
        guard try MergeRule.displaces(other.write, lost, coverage: self) else { continue }
        states[other.key]?.cells[other.cell]?.removeAll { $0 == lost }
      }
    }
  }

  /// One write of one cell.
  private struct CellWrite {
    var key: RecordKey
    var cell: String
    var write: Write
  }

  private func writes(of hash: ChangesetHash, schema: Schema) -> [CellWrite] {
    guard let changeset = archive.known[hash]?.changeset, let name = names[hash] else { return [] }
    return changeset.operations.flatMap { operation in
      let shape = changeset.shapes[operation.shape]
      let key = RecordKey(type: shape.type, id: operation.id)
      return operation.writes(
        name: name, stamp: changeset.stamp, fields: shape.fields,
        type: shape.type == AliasFact.typeName ? AliasFact.recordType : schema.type(shape.type)
      ).map { CellWrite(key: key, cell: $0.cell, write: $0.write) }
    }
  }

  /// Compares what was merged write by write with the rule written a second time; nil if they agree.
  ///
  /// Cells with very many writes are left out, as it takes the square of their number.
  func firstDisagreement(
    of applied: Set<ChangesetHash>, schema: Schema, states: [RecordKey: RecordState]
  ) throws -> String? {
    var cells: [RecordKey: [String: [Write]]] = [:]
    for hash in applied.sorted() {
      for write in writes(of: hash, schema: schema) {
        cells[write.key, default: [:]][write.cell, default: []].append(write.write)
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

  /// The row that a state shows; nil if the record is not alive.
  static func row(of state: RecordState, type: RecordType) -> [FieldValue]? {
    guard state.isAlive else { return nil }
    var row: [String: FieldValue] = [:]
    for fields in type.cells {
      let strategy = MergeStrategy(rawValue: type.strategies[fields[0]] ?? type.strategy) ?? .merge
      guard let winner = state.winner(of: fields[0], strategy: strategy) else { continue }
      for (field, value) in zip(fields, winner.value.values) { row[field] = value }
    }
    return type.fields.map { $0.shows(row[$0.name] ?? .null) }
  }
}
