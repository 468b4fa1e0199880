import HouseholdRecords
import HouseholdReplica

/// What of its received changesets a device must have applied, computed anew from the set of them (D1, D2, D5).
///
/// It takes from the product who had which right in what heads had seen, which has tests of its own, and nothing of
/// states, limits or order: the changesets of each branch count up to the first that does not.
struct AdmissionTruth {
  private let archive: ChangesetArchive
  private let view: ArchiveView
  private let rights: WriteRights
  /// Changesets that wait for somebody's decision.
  private let held: Set<ChangesetName>
  /// The received changesets of each branch, by seq.
  private var branches: [ReplicaID: [UInt64: Int]] = [:]
  /// The last seq of each branch that counts.
  private var limits: [ReplicaID: UInt64] = [:]

  /// The last changeset on the way to another with which everything before it counts.
  private enum End: Equatable {
    case beforeTheFirst
    case at(Int)
  }

  /// By number; nil for what is not received.
  private var ends: [End?]
  /// What must be applied.
  private(set) var applied = NumberSet()
  /// Whether something does not count only because the changeset that an entry names is not here: until it comes, values
  /// may be missing that everybody had confirmed to be written over (decision 0009).
  private(set) var isUncertain = false

  init(
    _ device: SimulatedDevice, received: NumberSet, view: ArchiveView, archive: ChangesetArchive, rights: WriteRights
  ) throws {
    (self.archive, self.view, self.rights) = (archive, view, rights)
    held = Set(
      try device.replica.withheld().filter { $0.reason == .held }.map {
        ChangesetName(replica: $0.replica, sequence: $0.first)
      })
    ends = Array(repeating: nil, count: archive.count)
    let inOrder = received.compactMap { number in view.names[number].map { (number: number, name: $0) } }.sorted {
      ($0.name.sequence, $0.name.replica) < ($1.name.sequence, $1.name.replica)
    }
    for (number, name) in inOrder { branches[name.replica, default: [:]][name.sequence] = number }
    for (branch, changesets) in branches {
      let (limit, isUncertain) = limit(of: branch, changesets)
      limits[branch] = limit
      if isUncertain { self.isUncertain = true }
    }
    for (number, name) in inOrder {
      let before = endBefore(number)
      let isWhole = before == archive.relations[number].previous.map(End.at) ?? .beforeTheFirst
      ends[number] = isWhole && name.sequence <= limits[name.replica] ?? .max ? .at(number) : before
    }
    while applyMore(inOrder.map(\.number)) {}
  }

  /// The end on the way to the changeset before this one; nil if that is not received.
  private func endBefore(_ number: Int) -> End? {
    if let previous = archive.relations[number].previous { return ends[previous] }
    return archive.known[number].isFirst ? .beforeTheFirst : nil
  }

  /// A changeset that is applied, and that does not count or depends on something that counts and is not; nil if none.
  ///
  /// What counts again need not be here at once, and what was applied when it did not count stays: what entries bound is not
  /// asked for.
  func firstFault(in applied: NumberSet) -> String? {
    for number in applied {
      guard let name = view.names[number] else { continue }
      if ends[number] != .at(number) { return "has applied \(name), which does not count (D5)" }
      if let missing = firstMissing(number, in: applied, waitsForBound: false) {
        return "has applied \(name) before \(missing) (D2)"
      }
    }
    return nil
  }

  private func limit(of branch: ReplicaID, _ changesets: [UInt64: Int]) -> (limit: UInt64, isUncertain: Bool) {
    var limit = UInt64.max
    var isUncertain = false
    let last = changesets.keys.max() ?? 0
    // All of a branch are of one device and begun at the same heads, and its author learns seldom of others.
    var cutoffs: [(device: DeviceID, begun: [EntryHash], cutoff: UInt64?)] = []
    var mayWrite: [(device: DeviceID, heads: [EntryHash], mayWrite: Bool)] = []
    for (sequence, number) in changesets {
      let known = archive.known[number]
      guard let device = known.device else { continue }
      if let found = cutoffs.first(where: { $0.device == device && $0.begun == known.begun }) {
        limit = min(limit, found.cutoff ?? .max)
      } else {
        let cutoff = rights.cutoff(of: branch, device: device, begunAt: known.begun) { named in
          let reach = reach(named, of: known.changeset.name.replica, on: branch)
          if reach < last, named.entries.values.contains(where: { isAbsent($0) }) { isUncertain = true }
          return reach
        }
        cutoffs.append((device, known.begun, cutoff))
        limit = min(limit, cutoff ?? .max)
      }
      if known.changeset.operations.isEmpty { continue }
      let found = mayWrite.first { $0.device == device && $0.heads == known.heads }?.mayWrite
      let isAllowed = found ?? rights.mayWrite(device, at: known.heads)
      if found == nil { mayWrite.append((device, known.heads, isAllowed)) }
      if !isAllowed { limit = min(limit, sequence - 1) }
    }
    return (limit, isUncertain)
  }

  private func isAbsent(_ named: Dependency) -> Bool { archive.resolve(named).flatMap { view.names[$0] } == nil }

  /// How far along a branch the paths to the named changesets go.
  ///
  /// One that is not here may lie on any branch of its replica that is not as long (decision 0009), and so after all that
  /// the branch leaves; and if it is not here and the replica's is not either, whatever nobody here has heard of may.
  private func reach(_ named: Dependencies, of root: ReplicaID, on branch: ReplicaID) -> UInt64 {
    var (found, absent) = ([Int](), [Dependency]())
    for last in named.entries.values {
      if let number = archive.resolve(last), view.names[number] != nil {
        found.append(number)
      } else {
        absent.append(last)
      }
    }
    let reach = found.reduce(0) { reach, number in max(reach, end(of: archive.relations[number].path, on: branch)) }
    guard absent.contains(where: { isOf($0.replica, root) ?? false }) else { return reach }
    return absent.filter { isOf($0.replica, root) ?? true }.reduce(reach) { reach, last in
      branches.reduce(reach) { reach, other in
        guard let tip = other.value.max(by: { $0.key < $1.key }), tip.key < last.sequence,
          archive.known[tip.value].changeset.name.replica == root
        else { return reach }
        if other.key == branch { return max(reach, last.sequence) }
        return max(reach, end(of: archive.relations[tip.value].path, on: branch))
      }
    }
  }

  private func end(of path: NumberSet, on branch: ReplicaID) -> UInt64 {
    path.reduce(0) { end, number in
      guard let name = view.names[number], name.replica == branch else { return end }
      return max(end, name.sequence)
    }
  }

  /// Whether a name is that of a branch of the replica; nil for one of which nothing is here.
  private func isOf(_ name: ReplicaID, _ root: ReplicaID) -> Bool? {
    if name == root { return true }
    return branches[name].map { $0.values.contains { archive.known[$0].changeset.name.replica == root } }
  }

  private mutating func applyMore(_ inOrder: [Int]) -> Bool {
    var hasMore = false
    for number in inOrder where !applied.contains(number) {
      guard let transaction = transaction(from: number) else { continue }
      for number in transaction { applied.insert(number) }
      hasMore = true
    }
    return hasMore
  }

  /// The changesets of a local transaction that goes on here, if all of them may be applied.
  private func transaction(from first: Int) -> [Int]? {
    guard var name = view.names[first] else { return nil }
    let before = archive.relations[first].previous
    guard before.map(applied.contains) ?? archive.known[first].isFirst else { return nil }
    var (list, number) = ([Int](), first)
    while true {
      guard ends[number] == .at(number), !held.contains(name), firstMissing(number, in: applied) == nil else {
        return nil
      }
      list.append(number)
      if !archive.known[number].changeset.continues || view.isForkPoint(number) { return list }
      name.sequence += 1
      guard let next = branches[name.replica]?[name.sequence] else { return nil }
      number = next
    }
  }

  /// The first thing that counts of what the changeset depends on and that is not in the set; nil if all is.
  ///
  /// - Parameter waitsForBound: whether changesets of replicas that an entry bounds are looked for too.
  private func firstMissing(_ number: Int, in set: NumberSet, waitsForBound: Bool = true) -> String? {
    for (dependency, needed) in archive.relations[number].dependencies {
      if needed == nil, set.contains(number), isCutOff(dependency) { continue }
      if !waitsForBound, let needed, wasBound(needed) { continue }
      guard let end = needed.flatMap({ ends[$0] ?? (set.contains(number) ? endOfAbsent($0) : nil) }) else {
        return "\(dependency.replica):\(dependency.sequence), which is not here,"
      }
      guard case .at(let end) = end, !set.contains(end) else { continue }
      return view.names[end].map { "\($0)" } ?? "\(archive.known[end].hash)"
    }
    return nil
  }

  /// Whether something that is applied has seen what is not here, of a replica that an entry bounds: on which branch that lies
  /// shows only when it comes, and so what of the branch that is here was seen.
  func hasSeenAbsent(_ applied: NumberSet) -> Bool {
    applied.contains { number in
      archive.relations[number].dependencies.contains { dependency in
        guard let needed = dependency.number, view.names[needed] == nil else { return false }
        return isBound(needed)
      }
    }
  }

  /// Whether an entry bounds the replica of a changeset by what is known here, or did by what was known anywhere before: it
  /// may have turned out not to count since, and what was applied meanwhile stays.
  private func wasBound(_ number: Int) -> Bool {
    isBound(number) || archive.rights.values.contains { isBound(number, by: $0) }
  }

  /// Whether an entry bounds the replica of a changeset.
  private func isBound(_ number: Int) -> Bool { isBound(number, by: rights) }

  private func isBound(_ number: Int, by rights: WriteRights) -> Bool {
    let known = archive.known[number]
    guard let device = known.device else { return false }
    return rights.cutoff(of: known.changeset.name.replica, device: device, begunAt: known.begun) != nil
  }

  /// Whether a changeset that nobody has any more, and of which only its name and hash are known, is beyond what entries
  /// leave to its replica.
  private func isCutOff(_ lost: Dependency) -> Bool {
    guard let other = archive.known.first(where: { $0.changeset.name.replica == lost.replica }),
      let device = other.device
    else { return false }
    let cutoff = rights.cutoff(of: lost.replica, device: device, begunAt: other.begun) { named in
      named.entries.values.filter { $0.replica == lost.replica && archive.resolve($0) == nil }.map(\.sequence).max()
        ?? 0
    }
    return cutoff.map { $0 < lost.sequence } ?? false
  }

  /// The same of a changeset that is not here and does not count: it may come later, and nothing waits for it.
  private func endOfAbsent(_ number: Int) -> End? {
    let known = archive.known[number]
    guard let device = known.device else { return ends[number] }
    let name = known.changeset.name
    let path = archive.relations[number].path
    let cutoff = rights.cutoff(of: name.replica, device: device, begunAt: known.begun) { named in
      named.entries.values.compactMap(archive.resolve)
        .flatMap { archive.relations[$0].path.intersection(path) }
        .map { archive.known[$0].changeset.name.sequence }.max() ?? 0
    }
    guard let cutoff, name.sequence > cutoff else { return nil }
    if let end = endBefore(number) { return end }
    return archive.relations[number].previous.flatMap(endOfAbsent)
  }
}
