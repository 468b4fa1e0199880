internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTrust

/// What compaction did and left, as commands show it.
package struct CompactionFacts: Codable, Hashable, Sendable {
  /// The log: changesets whose contents went, their bytes in the file, and how many are still there.
  package struct LogFacts: Codable, Hashable, Sendable {
    package var collected: Int64
    package var bytes: Int64
    package var kept: Int64
  }

  /// Deleted records: by type those whose values went, and by reason those that keep them.
  package struct DeletedFacts: Codable, Hashable, Sendable {
    package var collected: [String: Int64]
    package var kept: [String: Int64]
  }

  /// A device that has not confirmed what is old enough.
  package struct Blocker: Codable, Hashable, Sendable {
    package var member: String
    package var device: String
    package var id: String
    /// `active`: the log waits for it; `dormant`: only the values of deleted records do.
    package var state: String
    /// How many changesets it has not confirmed.
    package var missing: UInt64
    /// When it wrote or confirmed last, by its clock.
    @Nullable package var lastHeard: String?
  }

  package var log: LogFacts
  package var deleted: DeletedFacts
  package var blockers: [Blocker]
}

/// Compaction, by the node or without one.
package struct Compacting {
  let replica: Replica

  /// Collects what may go.
  func compact(keepMilliseconds: Int64, now: Instant) throws -> CompactionFacts {
    let done = try replica.compact(keepMilliseconds: keepMilliseconds, now: now)
    let membership = replica.membershipNow
    return CompactionFacts(
      log: .init(collected: done.changesets, bytes: done.bytes, kept: done.keptChangesets),
      deleted: .init(
        collected: done.emptied,
        kept: Dictionary(uniqueKeysWithValues: done.kept.map { ($0.key.rawValue, $0.value) })),
      blockers: done.blockers.map { blocker in
        CompactionFacts.Blocker(
          member: membership.member(of: blocker.device)?.name ?? "",
          device: membership.devices[blocker.device]?.name ?? "", id: blocker.device.description,
          state: blocker.isDormant ? "dormant" : "active", missing: blocker.missing,
          lastHeard: blocker.lastHeard?.rfc3339)
      })
  }

  /// The span that is kept unless a person says otherwise, in milliseconds.
  package static var defaultKeepMilliseconds: Int64 { CompactionRule.keptMilliseconds }

  /// Compacts where no node runs on the directory.
  package static func withoutNode(_ directory: DataDirectory, keepMilliseconds: Int64) throws -> CompactionFacts {
    try StoppedNode.inItsPlace(directory) { replica in
      try Compacting(replica: replica).compact(keepMilliseconds: keepMilliseconds, now: SystemClock.now)
    }
  }
}
