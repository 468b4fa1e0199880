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
    try Administration(replica: replica).requireOtherOwner(than: own, "leave")
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
    let lock = try DirectoryLock(directory)
    return try withExtendedLifetime(lock) {
      let keys = try NodeKeys(directory)
      return try NodeError.guarding {
        let replica = try Replica(path: directory.replica, cryptography: OpenSSLCryptography(), signer: keys.key)
        defer { replica.close() }
        // As the node would have done: only what is sealed is counted as this member's.
        _ = try replica.seal(now: SystemClock.now)
        let leaving = Leaving(directory: directory, replica: replica)
        return isDryRun ? try leaving.preview(keep) : try leaving.leave(keep, now: SystemClock.now)
      }
    }
  }
}
