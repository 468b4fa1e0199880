internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTrust

/// What leaving does, for whoever is about to: in a dry run, and afterwards as it was done.
package struct LeavingFacts: Codable, Hashable, Sendable {
  package var household: String
  /// `all`, `mine` or `none`.
  package var keep: String
  /// Records that stay on this device, and that go from it, by type; types without records are left out.
  package var kept: [String: Int64]
  package var gone: [String: Int64]
  /// Records with edits of this device that no partner has confirmed, as TYPE/ID: partners will not get these edits.
  package var unsent: [String]
  /// How many such records there are; more than are named.
  package var unsentCount: Int
  /// The other members, who keep everything that they have.
  package var partners: [String]
  /// Other devices of this member, which leave too and keep what they have.
  package var otherDevices: [String]
  /// The copy that was made first; nil in a dry run.
  package var copy: String?
  /// Whether the sharing ends for everyone, and this member stays with all records.
  package var dissolves = false
}

/// Leaving the household: one signed entry, and what this device keeps (contract 1.1, design 2.9).
package struct Leaving {
  let directory: DataDirectory
  let replica: Replica

  /// How many unsent records are named.
  private static let namedUnsent = 50

  /// What would happen.
  func preview(_ keep: String) throws -> LeavingFacts {
    let choice = try Self.choice(keep)
    let membership = replica.membershipNow
    let identity = replica.identity
    guard membership.admits(identity.device), let own = membership.members[identity.member] else {
      throw NodeError(.notAllowed, "This device belongs to the household no longer.", remedy: "See household status.")
    }
    let partners = membership.members.values.filter { $0.id != own.id && $0.state == .active }
    guard !partners.isEmpty else {
      throw NodeError(
        .notAllowed, "\(own.name) is the only owner and the only member: without them there is no household to leave.",
        remedy: "Export what you need and delete \(directory.path), or invite someone and make them an owner.")
    }
    if own.role == .owner, otherOwners(than: own).isEmpty {
      throw NodeError(
        .notAllowed, "\(own.name) is the last owner and cannot leave.",
        remedy:
          "Hand over first (household promote NAME), or end the sharing for everyone (household leave --dissolve).")
    }
    let counts = try replica.countsForLeaving(keeping: choice)
    let unsent = try replica.unsentRecords()
    return LeavingFacts(
      household: membership.genesis?.householdName ?? "", keep: keep,
      kept: counts.kept.filter { $0.value > 0 }, gone: counts.gone.filter { $0.value > 0 },
      unsent: unsent.prefix(Self.namedUnsent).map { "\($0.type)/\($0.id)" }, unsentCount: unsent.count,
      partners: partners.map(\.name).sorted(),
      otherDevices: membership.devices.values
        .filter { $0.member == own.id && $0.id != identity.device && membership.admits($0.id) }.map(\.name).sorted(),
      copy: nil)
  }

  private func otherOwners(than own: MembershipState.Member) -> [MembershipState.Member] {
    let membership = replica.membershipNow
    let owners = Set(membership.devices.keys.filter(membership.isOwner).compactMap { membership.member(of: $0)?.id })
    return membership.members.values.filter { owners.contains($0.id) && $0.id != own.id }
  }

  /// What would happen if the sharing ended: this member keeps the household for himself, and each of the others keeps
  /// what he has.
  func previewOfDissolving() throws -> LeavingFacts {
    let membership = replica.membershipNow
    guard membership.isOwner(replica.identity.device), let own = membership.members[replica.identity.member] else {
      throw NodeError(.notAllowed, "Only an owner can end the sharing.", remedy: "To go yourself: household leave")
    }
    guard otherOwners(than: own).isEmpty else {
      throw NodeError(
        .notAllowed, "There are other owners, who would go on.", remedy: "To go yourself: household leave")
    }
    let partners = membership.members.values.filter { $0.id != own.id && $0.state == .active }
    guard !partners.isEmpty else {
      throw NodeError(.notAllowed, "Nobody else is in this household: there is no sharing to end.")
    }
    let counts = try replica.countsForLeaving(keeping: .all)
    let unsent = try replica.unsentRecords()
    return LeavingFacts(
      household: membership.genesis?.householdName ?? "", keep: KeptRecords.all.rawValue,
      kept: counts.kept.filter { $0.value > 0 }, gone: [:],
      unsent: unsent.prefix(Self.namedUnsent).map { "\($0.type)/\($0.id)" }, unsentCount: unsent.count,
      partners: partners.map(\.name).sorted(), otherDevices: [], copy: nil, dissolves: true)
  }

  /// Ends the sharing for everyone.
  func dissolve(now: Instant) throws -> LeavingFacts {
    _ = try replica.seal(now: now)
    var facts = try previewOfDissolving()
    facts.copy = try SafetyCopy.take(directory, before: "leave", now: now)
    try replica.dissolve(now: now)
    return facts
  }

  /// Leaves: copies the replica first, then writes the entry and takes away what is not kept, in one transaction.
  func leave(_ keep: String, now: Instant) throws -> LeavingFacts {
    _ = try replica.seal(now: now)
    var facts = try preview(keep)
    facts.copy = try SafetyCopy.take(directory, before: "leave", now: now)
    try replica.leave(keeping: try Self.choice(keep), now: now)
    return facts
  }

  private static func choice(_ keep: String) throws -> KeptRecords {
    guard let choice = KeptRecords(rawValue: keep) else {
      throw NodeError(.badArgument, "\(keep) is not one of all, mine, none.", remedy: "Say --keep all, mine or none.")
    }
    return choice
  }

  // MARK: Without a node

  /// What would happen, or leaving itself, where no node runs on the directory.
  package static func withoutNode(_ directory: DataDirectory, keep: String, isDryRun: Bool) throws -> LeavingFacts {
    try alone(with: directory) { isDryRun ? try $0.preview(keep) : try $0.leave(keep, now: SystemClock.now) }
  }

  /// The same for ending the sharing.
  package static func dissolveWithoutNode(_ directory: DataDirectory, isDryRun: Bool) throws -> LeavingFacts {
    try alone(with: directory) { isDryRun ? try $0.previewOfDissolving() : try $0.dissolve(now: SystemClock.now) }
  }

  private static func alone(
    with directory: DataDirectory, _ act: (Leaving) throws -> LeavingFacts
  ) throws -> LeavingFacts {
    try StoppedNode.inItsPlace(directory) { replica in
      // As the node would have done: only what is sealed is counted as this member's.
      _ = try replica.seal(now: SystemClock.now)
      return try act(Leaving(directory: directory, replica: replica))
    }
  }
}
