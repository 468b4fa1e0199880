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
    guard let tips = try tips(of: device) else { return nil }
    let last = tips.filter { !$0.isSeen(in: tips) }
    guard var common = last.first?.seen else { return nil }
    for tip in last.dropFirst() { common = common.common(with: tip.seen) }
    return common
  }

  /// The last changeset of a replica that is applied here, and what it has seen.
  private struct Tip {
    var header: ChangesetHeader
    var seen: VersionVector

    /// Whether another replica of the device has seen it: then this one has ended, as far as that tells.
    func isSeen(in tips: [Tip]) -> Bool {
      tips.contains { $0.header.name != header.name && $0.seen.contains(header.name) }
    }
  }

  /// The tips of a device's replicas; nil if one of them is not known.
  private func tips(of device: DeviceID) throws -> [Tip]? {
    var tips: [Tip] = []
    for entry in replicas.sorted where entry.device == device && entry.applied > entry.fork {
      let name = ChangesetName(replica: entry.id, sequence: entry.applied)
      guard let header = try log.header(of: name, replicas: replicas) else { return nil }
      tips.append(Tip(header: header, seen: try seen(by: header)))
    }
    return tips
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
  /// What each copy of each active device's directory has confirmed that may still be written in, but for this one's.
  ///
  /// A copy whose last changeset another one has seen may have ended, as a directory that was put back; or it goes on
  /// elsewhere, this device's own too, and says what it says without having seen what the other has. Only time tells.
  ///
  /// - Parameters:
  ///   - own: this device.
  ///   - replica: what this directory writes now.
  func byCopies(
    _ membership: MembershipState, of own: DeviceID, but replica: ReplicaID, now: Instant
  ) throws -> [VersionVector] {
    var confirmed: [VersionVector] = []
    for device in membership.devices.values where device.state == .active && membership.admits(device.id) {
      guard let tips = try tips(of: device.id) else { return [VersionVector()] }
      let living = tips.filter { tip in
        now.milliseconds(since: tip.header.editedAt).magnitude < Limits.copyRestMilliseconds || !tip.isSeen(in: tips)
      }
      confirmed += living.filter { $0.header.name.replica != replica }.map(\.seen)
      if tips.isEmpty && device.id != own { confirmed.append(VersionVector()) }
    }
    return confirmed
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
