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
  private var branches: [ReplicaID: [UInt64: ChangesetHash]] = [:]
  /// The last seq of each branch that counts.
  private var limits: [ReplicaID: UInt64] = [:]
  /// For each received changeset the last one on the way to it with which everything before it counts.
  private var ends: [ChangesetHash: ChangesetHash] = [.zero: .zero]
  /// What must be applied.
  private(set) var applied: Set<ChangesetHash> = []

  init(
    _ device: SimulatedDevice, received: Set<ChangesetHash>, view: ArchiveView, archive: ChangesetArchive,
    rights: WriteRights
  ) throws {
    (self.archive, self.view, self.rights) = (archive, view, rights)
    held = Set(
      try device.replica.withheld().filter { $0.reason == .held }.map {
        ChangesetName(replica: $0.replica, sequence: $0.first)
      })
    for hash in received {
      guard let name = view.names[hash] else { continue }
      branches[name.replica, default: [:]][name.sequence] = hash
    }
    for (branch, changesets) in branches { limits[branch] = limit(of: branch, changesets) }
    let inOrder = received.compactMap { hash in view.names[hash].map { (hash: hash, name: $0) } }.sorted {
      ($0.name.sequence, $0.name.replica) < ($1.name.sequence, $1.name.replica)
    }
    for (hash, name) in inOrder {
      let previous = archive.known[hash]?.changeset.previous ?? .zero
      let counts = name.sequence <= limits[name.replica] ?? .max && ends[previous] == previous
      ends[hash] = counts ? hash : ends[previous]
    }
    while applyMore(inOrder.map(\.hash)) {}
  }

  /// A changeset that is applied, and that does not count or depends on something that counts and is not; nil if none.
  func firstFault(in applied: Set<ChangesetHash>) -> String? {
    for hash in applied.sorted() {
      guard let name = view.names[hash] else { continue }
      if ends[hash] != hash { return "has applied \(name), which does not count (D5)" }
      if let missing = firstMissing(hash, in: applied) { return "has applied \(name) before \(missing) (D2)" }
    }
    return nil
  }

  private func limit(of branch: ReplicaID, _ changesets: [UInt64: ChangesetHash]) -> UInt64 {
    var limit = UInt64.max
    for (sequence, hash) in changesets {
      guard let known = archive.known[hash], let device = known.device else { continue }
      let cutoff = rights.cutoff(of: branch, device: device, begunAt: known.begun) { named in
        reach(named, of: known.changeset.name.replica, on: branch)
      }
      if let cutoff { limit = min(limit, cutoff) }
      if !known.changeset.operations.isEmpty && !rights.mayWrite(device, at: known.heads) {
        limit = min(limit, sequence - 1)
      }
    }
    return limit
  }

  /// How far along a branch the paths to the named changesets go.
  ///
  /// One that is not here may lie on any branch of its replica that has no other in its place (decision 0009).
  private func reach(_ named: Dependencies, of root: ReplicaID, on branch: ReplicaID) -> UInt64 {
    named.sorted.map { last in
      let hash = archive.resolve(last)
      if let hash, view.names[hash] != nil {
        return archive.closure(of: [hash]).compactMap { view.names[$0] }.filter { $0.replica == branch }
          .map(\.sequence).max() ?? 0
      }
      let isOfReplica =
        last.replica == root
        || branches[last.replica]?.values.contains {
          archive.known[$0]?.changeset.name.replica == root
        } ?? false
      return isOfReplica && branches[branch]?[last.sequence] == nil ? last.sequence : 0
    }.max() ?? 0
  }

  private mutating func applyMore(_ inOrder: [ChangesetHash]) -> Bool {
    let before = applied.count
    for hash in inOrder where !applied.contains(hash) {
      if let transaction = transaction(from: hash) { applied.formUnion(transaction) }
    }
    return applied.count > before
  }

  /// The changesets of a local transaction that goes on here, if all of them may be applied.
  private func transaction(from first: ChangesetHash) -> [ChangesetHash]? {
    guard var name = view.names[first], let previous = archive.known[first]?.changeset.previous,
      previous == .zero || applied.contains(previous)
    else { return nil }
    var (list, hash) = ([ChangesetHash](), first)
    while true {
      guard let known = archive.known[hash], ends[hash] == hash, !held.contains(name),
        firstMissing(hash, in: applied) == nil
      else { return nil }
      list.append(hash)
      if !known.changeset.continues { return list }
      name.sequence += 1
      guard let next = branches[name.replica]?[name.sequence] else { return nil }
      hash = next
    }
  }

  /// The first thing that counts of what the changeset depends on and that is not in the set; nil if all is.
  private func firstMissing(_ hash: ChangesetHash, in set: Set<ChangesetHash>) -> String? {
    for dependency in archive.known[hash]?.dependencies.sorted ?? [] {
      guard
        let end = archive.resolve(dependency).flatMap({ ends[$0] ?? (set.contains(hash) ? endOfAbsent($0) : nil) })
      else {
        return "\(dependency.replica):\(dependency.sequence), which is not here,"
      }
      if end != .zero && !set.contains(end) { return view.names[end].map { "\($0)" } ?? "\(end)" }
    }
    return nil
  }

  /// The same of a changeset that is not here and does not count: it may come later, and nothing waits for it.
  private func endOfAbsent(_ hash: ChangesetHash) -> ChangesetHash? {
    guard let known = archive.known[hash], let device = known.device else { return ends[hash] }
    let name = known.changeset.name
    let path = archive.closure(of: [hash])
    let cutoff = rights.cutoff(of: name.replica, device: device, begunAt: known.begun) { named in
      named.sorted.compactMap(archive.resolve).flatMap { archive.closure(of: [$0]).intersection(path) }
        .compactMap { archive.known[$0]?.changeset.name.sequence }.max() ?? 0
    }
    guard let cutoff, name.sequence > cutoff else { return nil }
    return ends[known.changeset.previous] ?? endOfAbsent(known.changeset.previous)
  }
}
