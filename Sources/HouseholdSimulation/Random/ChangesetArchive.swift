import HouseholdRecords
import HouseholdReplica
import HouseholdTrust

/// Every changeset that was ever sealed: the truth that all devices are measured against.
///
/// It knows the merge rule and the rule of names (D4), and nothing of packed cells, positions, snapshots or tables. It
/// keeps changesets by hash; what they are called is computed anew for each device from those that it knows. Here each has
/// a number, so that sets of them are bits: who had seen what is asked for every two writes of a cell.
struct ChangesetArchive {
  struct Known {
    var changeset: Changeset
    var hash: ChangesetHash
    /// Complete, not only what changed; as the author named them.
    var dependencies: Dependencies
    /// Of the membership log, as its author knew it.
    var heads: [EntryHash]
    /// Who sealed it, and the heads of the first changeset of its replica on the way to it.
    var device: DeviceID?
    var begun: [EntryHash]

    /// Whether none of its replica is before it.
    var isFirst: Bool { changeset.previous == .zero }
  }

  /// What follows for one changeset from all of them.
  struct Relations {
    /// The one before it; nil for the first of a replica.
    var previous: Int?
    /// What its author had applied, in ascending order of the replicas; a number is nil for what is not here.
    var dependencies: [(named: Dependency, number: Int?)] = []
    /// Itself and all before it in its replica.
    var path = NumberSet()
    /// All that its author had seen, in the same replica and by dependencies; not itself.
    var seen = NumberSet()
  }

  /// What no device had any more: a copy that is put back may hold it, and only its name.
  private var lost: [ChangesetHash: Known] = [:]
  /// By number. Numbers are given anew when some are forgotten.
  private(set) var known: [Known] = []
  private(set) var relations: [Relations] = []
  private(set) var numbers: [ChangesetHash: Int] = [:]
  private var bySequence: [UInt64: [Int]] = [:]
  /// The numbers in ascending order of the hashes.
  private(set) var byHash: [Int] = []
  /// Up to where each device's file was read.
  private var positions: [String: LogPosition] = [:]
  /// What was read, by the bytes: devices pass them on unchanged (R7).
  private var hashes: [PackedChangeset: ChangesetHash] = [:]
  /// What each changeset writes, computed once.
  let writes = ChangesetWrites()

  /// Who has which right, by the heads of the membership log; it takes long to find out.
  private(set) var rights: [[EntryHash]: WriteRights] = [:]

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
        if let hash = hashes[logged.packed], numbers[hash] != nil || new[hash] != nil { continue }
        let (signed, changeset) = try Replica.unpack(logged.packed)
        let hash: ChangesetHash = OpenSSLCryptography().hashed(signed.bytes)
        hashes[logged.packed] = hash
        if numbers[hash] == nil { new[hash] = changeset }
      }
    }
    for (hash, changeset) in new.sorted(by: { ($0.value.name.sequence, $0.key) < ($1.value.name.sequence, $1.key) }) {
      remember(through: changeset.previous)
      lost[hash] = nil
      let before = numbers[changeset.previous].map { known[$0] }
      let heads = changeset.membershipHeads ?? before?.heads ?? []
      add(
        Known(
          changeset: changeset, hash: hash,
          dependencies: (before?.dependencies ?? Dependencies()).applying(changeset.dependencyChanges), heads: heads,
          device: changeset.origin?.device ?? before?.device, begun: before?.begun ?? heads))
    }
    let hasRemembered = try remember(of: devices)
    if !new.isEmpty || hasRemembered { relate() }
  }

  private mutating func add(_ one: Known) {
    numbers[one.hash] = known.count
    bySequence[one.changeset.name.sequence, default: []].append(known.count)
    known.append(one)
  }

  /// Finds out anew what follows from all changesets: what one depends on may have come after it, or be forgotten.
  private mutating func relate() {
    byHash = known.indices.sorted { known[$0].hash < known[$1].hash }
    relations = Array(repeating: Relations(), count: known.count)
    let inOrder = known.indices.sorted { known[$0].changeset.name.sequence < known[$1].changeset.name.sequence }
    for number in inOrder {
      var found = Relations()
      found.previous = numbers[known[number].changeset.previous]
      if let previous = found.previous { found.path = relations[previous].path }
      found.seen = found.path
      found.path.insert(number)
      found.dependencies = known[number].dependencies.sorted.map { (named: $0, number: resolve($0)) }
      relations[number] = found
    }
    for number in inOrder {
      for dependency in relations[number].dependencies.compactMap(\.number) {
        relations[number].seen.formUnion(relations[dependency].path)
      }
    }
  }

  /// Knows again what was lost, and what a device holds by name.
  private mutating func remember(of devices: [SimulatedDevice]) throws -> Bool {
    let before = known.count
    for device in devices where !lost.isEmpty {
      for tip in try device.replica.receivedDependencies() where resolve(tip) == nil {
        let found = lost.first { $0.value.changeset.name.sequence == tip.sequence && $0.key.prefix == tip.hashPrefix }
        if let found { remember(through: found.key) }
      }
    }
    return known.count > before
  }

  /// Knows again this changeset and those before it.
  private mutating func remember(through last: ChangesetHash) {
    var hash = last
    while let again = lost.removeValue(forKey: hash) {
      add(again)
      hash = again.changeset.previous
    }
  }

  /// Forgets what no device has any more, after one was put back to an older state.
  mutating func forgetLost(_ devices: [SimulatedDevice]) throws {
    var kept = NumberSet()
    for device in devices { kept.formUnion(try received(by: device) ?? NumberSet()) }
    if kept.count == known.count { return }
    let left = kept.map { known[$0] }
    for (number, one) in known.enumerated() where !kept.contains(number) { lost[one.hash] = one }
    (known, numbers, bySequence) = ([], [:], [:])
    for one in left { add(one) }
    relate()
  }

  /// The changeset that a dependency names, whatever its name meant.
  func resolve(_ dependency: Dependency) -> Int? {
    bySequence[dependency.sequence]?.first { known[$0].hash.prefix == dependency.hashPrefix }
  }

  /// These changesets and all before them.
  func closure(of tips: [Int]) -> NumberSet { tips.reduce(into: NumberSet()) { $0.formUnion(relations[$1].path) } }

  /// The hashes of what a device has received.
  func hashesReceived(by device: SimulatedDevice) throws -> Set<ChangesetHash> {
    Set((try received(by: device) ?? NumberSet()).map { known[$0].hash })
  }

  /// What a device has received, as its holdings say; nil if it has what nobody sealed.
  func received(by device: SimulatedDevice) throws -> NumberSet? {
    var tips: [Int] = []
    for dependency in try device.replica.receivedDependencies() {
      guard let number = resolve(dependency) else { return nil }
      tips.append(number)
    }
    return closure(of: tips)
  }
}
