internal import HouseholdNode
internal import HouseholdRecords
internal import HouseholdReplica

/// What events are made of: two of them tell what happened between.
struct EventSnapshot {
  /// How far one partner's device has our changesets.
  private struct Holding: Hashable {
    var confirmed: UInt64
    var missing: UInt64
  }

  private var account: AccountStatus?
  private var members: [HouseholdMember] = []
  private var status: SyncStatus?
  private var holdings: [String: Holding] = [:]
  private var isFetching = false
  private var isSending = false
  private var conflicts: [RecordConflict] = []
  /// How many changes do not show; only when it is another one the failures are read.
  private(set) var failureCount = 0
  /// The changes that do not show.
  var failures: [FailedChange] = []

  /// Before anything was told.
  init() {}

  init(_ report: StatusReport, _ facts: StatusFacts, conflicts: [RecordConflict]) {
    account = AccountStatus(report)
    members = HouseholdMember.all(facts)
    status = SyncStatus(report)
    let own = facts.own.excess(over: VersionVector())
    holdings = Dictionary(
      report.peers.map { peer in
        let missing = peer.hasOurs.missing
        return ("\(peer.member)/\(peer.device)", Holding(confirmed: own - min(own, missing), missing: missing))
      }, uniquingKeysWith: { first, _ in first })
    let connected = report.peers.filter(\.connected)
    isFetching = connected.contains { !$0.weHaveTheirs.complete }
    isSending = !connected.isEmpty && report.changes.unsealed > 0 || connected.contains { !$0.hasOurs.complete }
    failureCount = report.changes.rejected + report.changes.quarantined
    self.conflicts = conflicts
  }

  /// What happened since an earlier snapshot.
  ///
  /// - Parameter fetched: what partners' edits did meanwhile, and the new token.
  func events(since earlier: Self, fetched: [HouseholdEvent]) -> [HouseholdEvent] {
    var events: [HouseholdEvent] = []
    if let account, account != earlier.account { events.append(.accountChange(account)) }
    if members != earlier.members { events.append(.membersChange(members)) }
    events += Self.bracket(
      from: earlier.isFetching, to: isFetching, .willFetchChanges, fetched.filter(\.isFetched), .didFetchChanges)
    events += fetched.filter { !$0.isFetched }
    events += Self.bracket(
      from: earlier.isSending, to: isSending, .willSendChanges, sent(since: earlier), .didSendChanges)
    let failed = Set(earlier.failures)
    let fresh = failures.filter { !failed.contains($0) }
    if !fresh.isEmpty { events.append(.failedChanges(fresh)) }
    let known = Set(earlier.conflicts.map(\.id))
    events += conflicts.filter { !known.contains($0.id) }.map(HouseholdEvent.conflict)
    if let status, status.verdict != earlier.status?.verdict || status.reason != earlier.status?.reason {
      events.append(.verdict(status))
    }
    return events
  }

  private func sent(since earlier: Self) -> [HouseholdEvent] {
    holdings.sorted { $0.key < $1.key }.compactMap { partner, holding in
      guard let before = earlier.holdings[partner], before.confirmed < holding.confirmed else { return nil }
      return .sentChanges(partner: partner, missing: Int(clamping: holding.missing))
    }
  }

  /// The events within the brackets that were opened or closed around them.
  private static func bracket(
    from before: Bool, to now: Bool, _ will: HouseholdEvent, _ events: [HouseholdEvent], _ did: HouseholdEvent
  ) -> [HouseholdEvent] {
    let opens = !before && (now || !events.isEmpty)
    let closes = !now && (before || opens)
    return (opens ? [will] : []) + events + (closes ? [did] : [])
  }
}

extension HouseholdEvent {
  /// Whether it tells of partners' edits.
  fileprivate var isFetched: Bool {
    switch self {
    case .fetchedChanges, .fetchedEverything: true
    default: false
    }
  }
}

extension HouseholdStore {
  /// Everything that events are made of, as of now.
  func snapshot() throws -> EventSnapshot {
    let (report, facts, _) = try look()
    return EventSnapshot(report, facts, conflicts: try conflicts())
  }
}
