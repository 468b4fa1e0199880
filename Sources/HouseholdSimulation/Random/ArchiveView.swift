import HouseholdRecords
import HouseholdReplica

/// A set of changesets with the names that follow from it (D4), and what they make of every record.
struct ArchiveView: Coverage {
  private let archive: ChangesetArchive
  /// By the changesets' numbers; nil for those that are not in the set.
  private(set) var names: [ChangesetName?]
  /// The changesets by name.
  private(set) var numbers: [ChangesetName: Int] = [:]
  /// The replicas of which this has several branches.
  private var branched: Set<ReplicaID> = []
  /// The changesets after which several branches go on.
  private var forkPoints = NumberSet()

  init(_ archive: ChangesetArchive, of set: NumberSet) {
    self.archive = archive
    names = Array(repeating: nil, count: archive.count)
    numbers.reserveCapacity(archive.count)
    // In ascending order of the hashes: the first keeps the name, the others are named after themselves.
    var firsts: [(number: Int, name: ReplicaID)] = []
    var following: [[Int]] = Array(repeating: [], count: archive.count)
    var roots: Set<ReplicaID> = []
    for number in archive.byHash where set.contains(number) {
      let one = archive.known[number]
      if let previous = archive.relations[number].previous {
        following[previous].append(number)
      } else if one.isFirst {
        let root = one.changeset.name.replica
        let isMain = roots.insert(root).inserted
        if !isMain { branched.insert(root) }
        guard let name = isMain ? root : Self.branchName(one.hash) else { continue }
        firsts.append((number, name))
      }
    }
    while let (number, name) = firsts.popLast() {
      let called = ChangesetName(replica: name, sequence: archive.known[number].changeset.name.sequence)
      names[number] = called
      numbers[called] = number
      if following[number].count > 1 {
        branched.insert(archive.known[number].changeset.name.replica)
        forkPoints.insert(number)
      }
      for (index, next) in following[number].enumerated() {
        guard let name = index == 0 ? name : Self.branchName(archive.known[next].hash) else { continue }
        firsts.append((next, name))
      }
    }
  }

  private static func branchName(_ hash: ChangesetHash) -> ReplicaID? {
    ReplicaID(bytes: hash.bytes.prefix(ReplicaID.byteCount))
  }

  /// Whether several branches go on from the changeset.
  func isForkPoint(_ number: Int) -> Bool { forkPoints.contains(number) }

  func covers(_ later: ChangesetName, _ earlier: ChangesetName) throws -> Bool {
    guard later != earlier, let new = numbers[later], let old = numbers[earlier] else { return false }
    let relations = archive.relations[new]
    if relations.path.contains(old) { return true }
    let root = archive.known[old].changeset.name.replica
    return relations.dependencies.contains { dependency in
      guard let tip = dependency.number else { return false }
      guard names[tip] == nil else { return archive.relations[tip].path.contains(old) }
      // On which of several branches one lies that does not count and is not here nobody can know here. Where there is only
      // one, it is another that has the place already, or may be this one.
      let known = archive.known[tip].changeset.name
      return known.replica == root && !branched.contains(root)
        && numbers[ChangesetName(replica: root, sequence: known.sequence)] == nil
    }
  }

  /// The changesets up to these, which a vector counts.
  func closure(of vector: VersionVector) -> NumberSet {
    archive.closure(
      of: vector.entries.compactMap { numbers[ChangesetName(replica: $0.key, sequence: $0.value)] })
  }

  // MARK: What they write

  private func writes(of changesets: NumberSet, schema: Schema) -> [ChangesetWrites.CellWrite] {
    archive.writes.writes(
      of: changesets.compactMap { number in names[number].map { (archive.known[number], name: $0) } }, schema: schema)
  }

  /// The state of every record that these changesets write, merged in an order that the seed picks.
  func states(
    of applied: NumberSet, schema: Schema, random: inout SeededRandom
  ) throws -> [RecordKey: RecordState] {
    var writes = writes(of: applied, schema: schema)
    writes.shuffle(using: &random)
    var cells = [[Write]](repeating: [], count: archive.writes.cells.count)
    for write in writes { try MergeRule.insert(write.write, into: &cells[write.cell], coverage: self) }
    try displace(amid: writes, in: &cells)
    var states: [RecordKey: RecordState] = [:]
    for (cell, maximal) in zip(archive.writes.cells, cells) where !maximal.isEmpty {
      states[cell.key, default: RecordState()].cells[cell.name] = maximal
    }
    return states
  }

  /// Takes out what any write displaces, also one that is displaced itself: its author had seen more than the author of
  /// what displaced it, for whom some of that did not count.
  private func displace(amid all: [ChangesetWrites.CellWrite], in cells: inout [[Write]]) throws {
    let open = cells.map { $0.count > 1 ? $0 : [] }
    for other in all {
      for lost in open[other.cell] where lost != other.write {
        guard try MergeRule.displaces(other.write, lost, coverage: self) else { continue }
        cells[other.cell].removeAll { $0 == lost }
      }
    }
  }

  /// Compares what was merged write by write with the rule written a second time; nil if they agree.
  ///
  /// Cells with very many writes are left out, as it takes the square of their number.
  func firstDisagreement(
    of applied: NumberSet, schema: Schema, states: [RecordKey: RecordState]
  ) throws -> String? {
    var cells: [RecordKey: [String: [Write]]] = [:]
    for write in writes(of: applied, schema: schema) {
      let (key, name) = archive.writes.cells[write.cell]
      cells[key, default: [:]][name, default: []].append(write.write)
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
    let life = state.life
    var row = [FieldValue](repeating: .null, count: type.fields.count)
    for fields in type.cells {
      let strategy = MergeStrategy(rawValue: type.strategies[fields[0]] ?? type.strategy) ?? .merge
      guard let winner = MergeRule.winner(of: state.cells[fields[0]] ?? [], life: life, strategy: strategy) else {
        continue
      }
      for (field, value) in zip(fields, winner.value.values) {
        guard let index = type.fields.firstIndex(where: { $0.name == field }) else { continue }
        row[index] = type.fields[index].shows(value)
      }
    }
    return row
  }
}
