/// Who may write, and up to where: what the accepted entries of a membership log say of every changeset (design 2.6, D5).
///
/// A pure function of the set of entries, like ``MembershipState``; it keeps who had seen what, because a changeset is
/// judged by the membership heads that it names, not by what holds now.
package struct WriteRights: Sendable {
  private let graph: MembershipGraph
  private let members: [MemberID: MemberRegister]
  private let devices: [DeviceID: DeviceRegister]
  private let withdrawals: [Withdrawal]
  private let dormancies: [AcceptedDormancy]

  init(_ judgement: MembershipJudgement) {
    graph = judgement.graph
    members = judgement.members
    devices = judgement.devices
    withdrawals = judgement.withdrawals
    dormancies = judgement.dormancies
  }

  /// The seq after which changesets of the replica are rejected whatever they name; nil if nothing bounds it.
  ///
  /// An entry that takes the right to write binds only replicas that were begun without knowing it; of several such
  /// entries the greatest seq counts, and a replica that an entry does not name has 0. What a member says of himself
  /// (`leave`) counts only where no other member's entry binds: nobody may answer his removal with a higher number. An
  /// author who was asleep, and did not know, had at least what he had confirmed before (D9).
  ///
  /// - Parameters:
  ///   - heads: the membership heads of the replica's first changeset.
  ///   - reach: how far along the replica the path to the named changesets goes.
  package func cutoff(
    of replica: ReplicaID, device: DeviceID, begunAt heads: [EntryHash],
    reach: (Dependencies) throws -> UInt64
  ) rethrows -> UInt64? {
    guard let known = devices[device] else { return 0 }
    var byOthers: UInt64?
    var byOneself: UInt64?
    for withdrawal in withdrawals where withdrawal.concerns(device, of: known.member) {
      if hasSeen(heads, withdrawal.entry) { continue }
      let named = try reach(withdrawal.cutoffs[device] ?? Dependencies())
      let sequence = try floors(of: withdrawal).map { try reach($0.confirmed) }.max().map { max(named, $0) } ?? named
      if withdrawal.author == known.member {
        byOneself = max(byOneself ?? 0, sequence)
      } else {
        byOthers = max(byOthers ?? 0, sequence)
      }
    }
    return byOthers ?? byOneself
  }

  /// The same for who has no branches to look at: the changesets are taken by their names.
  package func cutoff(of replica: ReplicaID, device: DeviceID, begunAt heads: [EntryHash]) -> UInt64? {
    cutoff(of: replica, device: device, begunAt: heads) { $0.sequence(of: replica) }
  }

  /// Whether an entry names a changeset of this seq as the last of the device that counts, or one that a sleeping author
  /// had.
  package func isLast(_ sequence: UInt64, of device: DeviceID) -> Bool {
    lasts(of: device).contains { $0.entries.values.contains { $0.sequence == sequence } }
  }

  /// Whether an entry names a changeset of this replica as one of the last of the device that count.
  package func names(_ replica: ReplicaID, of device: DeviceID) -> Bool {
    lasts(of: device).contains { $0.entries[replica] != nil }
  }

  private func lasts(of device: DeviceID) -> [Dependencies] {
    withdrawals.flatMap { withdrawal in
      [withdrawal.cutoffs[device]].compactMap(\.self) + floors(of: withdrawal).map(\.confirmed)
    }
  }

  /// What the author of an entry surely had: others may have compacted as much while he slept.
  private func floors(of withdrawal: Withdrawal) -> [AcceptedDormancy] {
    dormancies.filter {
      $0.device == withdrawal.device && !graph.saw(withdrawal.entry, $0.entry)
        && !graph.saw($0.entry, withdrawal.entry)
    }
  }

  /// Whether the device had the right to write, in what these heads had seen.
  package func mayWrite(_ device: DeviceID, at heads: [EntryHash]) -> Bool {
    guard let known = devices[device], known.standings.last(where: { hasSeen(heads, $0.by) })?.belongs == true,
      let standing = members[known.member]?.standings.last(where: { hasSeen(heads, $0.by) })
    else { return false }
    return standing.state == .active && standing.role != .readOnly
  }

  /// Whether the device's member was an owner, in what these heads had seen.
  package func isOwner(_ device: DeviceID, at heads: [EntryHash]) -> Bool {
    guard mayWrite(device, at: heads), let known = devices[device] else { return false }
    return members[known.member]?.standings.last { hasSeen(heads, $0.by) }?.role == .owner
  }

  /// Whether `later` had seen everything that `earlier` had.
  package func covers(_ later: [EntryHash], _ earlier: [EntryHash]) -> Bool {
    later == earlier || earlier.allSatisfy { hash in graph.index[hash].map { hasSeen(later, $0) } ?? false }
  }

  /// Whether the device's rights are the same in both, at any heads that both know.
  package func agree(with other: Self, on device: DeviceID) -> Bool { facts(of: device) == other.facts(of: device) }

  private func hasSeen(_ heads: [EntryHash], _ entry: Int) -> Bool {
    heads.contains { head in
      guard let number = graph.index[head] else { return false }
      return number == entry || graph.saw(number, entry)
    }
  }

  /// One thing that decides a device's rights, by the entry that says it.
  private struct Fact: Hashable {
    var entry: EntryHash
    var belongs: Bool
    var role: Role?
  }

  private func facts(of device: DeviceID) -> [Fact] {
    guard let known = devices[device] else { return [] }
    let standings = members[known.member]?.standings ?? []
    return known.standings.map { Fact(entry: graph.entries[$0.by].hash, belongs: $0.belongs, role: nil) }
      + standings.map { Fact(entry: graph.entries[$0.by].hash, belongs: $0.state == .active, role: $0.role) }
  }
}

/// An accepted entry that took the right to write from someone, and what is admitted all the same.
struct Withdrawal {
  /// The number of the entry.
  let entry: Int
  /// Who wrote it, and with which device.
  let author: MemberID
  let device: DeviceID
  let subject: MembershipEntry.Subject
  /// By device; one that is not named has nothing.
  let cutoffs: [DeviceID: Dependencies]

  init(
    entry: Int, author: MemberID, device: DeviceID, subject: MembershipEntry.Subject,
    cutoffs: [MembershipEntry.Cutoffs]
  ) {
    self.entry = entry
    self.author = author
    self.device = device
    self.subject = subject
    self.cutoffs = Dictionary(cutoffs.map { ($0.device, $0.through) }) { first, _ in first }
  }

  func concerns(_ device: DeviceID, of member: MemberID) -> Bool {
    switch subject {
    case .member(let whose): whose == member
    case .device(let whose): whose == device
    }
  }
}

/// An accepted entry that says that a device sleeps.
struct AcceptedDormancy {
  /// The number of the entry.
  let entry: Int
  let device: DeviceID
  /// What the device had confirmed by then.
  let confirmed: Dependencies
}

extension MembershipState {
  /// Whether the device may write now: it belongs, and its member is not read-only.
  package func mayWrite(_ device: DeviceID) -> Bool {
    guard admits(device), let member = member(of: device) else { return false }
    return member.role != .readOnly
  }

  /// Whether the device's member is an owner, and the device belongs.
  package func isOwner(_ device: DeviceID) -> Bool { admits(device) && member(of: device)?.role == .owner }
}
