internal import HouseholdRecords

/// What each device has confirmed, by the dependencies of its own signed changesets (D9).
struct Confirmations {
  let replicas: ReplicaTable
  let log: ChangesetLog

  /// What the device is known to have applied; nil if it has sealed nothing that is applied here.
  ///
  /// It may have several replicas that do not know of each other, as a copied or restored directory has: then only what
  /// all of them had counts. One whose last changeset another has seen has ended.
  func confirmed(by device: DeviceID) throws -> VersionVector? {
    var tips: [(name: ChangesetName, seen: VersionVector)] = []
    for entry in replicas.sorted where entry.device == device && entry.applied > entry.fork {
      let name = ChangesetName(replica: entry.id, sequence: entry.applied)
      guard let header = try log.header(of: name, replicas: replicas) else { return nil }
      tips.append((name, try seen(by: header)))
    }
    let last = tips.filter { tip in
      !tips.contains { $0.name != tip.name && $0.seen.contains(tip.name) }
    }
    guard var common = last.first?.seen else { return nil }
    for tip in last.dropFirst() { common = common.common(with: tip.seen) }
    return common
  }

  private func seen(by tip: ChangesetHeader) throws -> VersionVector {
    var seen = VersionVector()
    count(tip.name, in: &seen)
    for dependency in tip.dependencies.entries.values {
      if let name = try replicas.resolve(dependency, in: log) { count(name, in: &seen) }
    }
    return seen
  }

  /// Counts a changeset and everything before it, also before a fork.
  private func count(_ name: ChangesetName, in seen: inout VersionVector) {
    var branch = replicas[name.replica]
    var reached = name.sequence
    while let entry = branch {
      if entry.holds(reached) { seen[entry.id] = max(seen[entry.id], reached) }
      reached = min(reached, entry.fork)
      branch = entry.parent.flatMap { replicas[number: $0] }
    }
  }
}

extension Confirmations {
  /// What each active device but this one has confirmed.
  func byActive(_ membership: MembershipState, but device: DeviceID) throws -> [VersionVector] {
    let others = membership.devices.values.filter {
      $0.id != device && $0.state == .active && membership.admits($0.id)
    }
    return try others.map { try confirmed(by: $0.id) ?? VersionVector() }
  }

  /// When the device's newest changeset that is applied here was made, by its clock; nil if there is none.
  func lastHeard(of device: DeviceID) throws -> Instant? {
    var last: Instant?
    for entry in replicas.sorted where entry.device == device && entry.applied > entry.fork {
      let name = ChangesetName(replica: entry.id, sequence: entry.applied)
      if let header = try log.header(of: name, replicas: replicas) {
        last = max(last ?? header.editedAt, header.editedAt)
      }
    }
    return last
  }
}
