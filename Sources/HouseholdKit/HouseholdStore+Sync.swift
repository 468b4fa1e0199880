internal import FoundationEssentials
internal import HouseholdNode
internal import HouseholdRecords
internal import HouseholdReplica

/// How sync is, in one word, one sentence and the next step.
public struct SyncStatus: Hashable, Sendable {
  /// From best to worst.
  public enum Verdict: String, Hashable, Sendable, CaseIterable {
    /// Everything is confirmed by every partner, as of the last contact.
    case inSync
    /// Changes are moving, or a partner is away for less than three days.
    case pending
    /// Something needs attention: conflicts, quarantined data, a clock, a partner silent for longer.
    case degraded
    /// Nothing syncs: no node runs, the disk is full, this device was removed.
    case broken
  }

  /// How sync is, in one word.
  public let verdict: Verdict
  /// A stable code, such as `ok`, `peerUnreachable` or `nodeNotRunning`.
  public let reason: String
  /// One sentence for people.
  public let summary: String
  /// The one next step for people; empty if there is none.
  public let remedy: String
  /// Whether the node runs, which does the syncing.
  public let isNodeRunning: Bool
  /// How many partners' devices are connected now.
  public let connectedPartners: Int
  /// How many edits lost against a concurrent one and wait for somebody to look.
  public let openConflicts: Int
}

/// Who this device is in the household.
public struct AccountStatus: Hashable, Sendable {
  /// What this device may do.
  public enum State: String, Hashable, Sendable {
    /// It reads and writes.
    case available
    /// It reads; what it writes is refused.
    case readOnly
    /// Its membership ended: the records stay, nothing syncs any more.
    case ended
  }

  /// What this device may do.
  public let state: State
  /// The household's name.
  public let household: String
  /// The name of the member whose device this is.
  public let member: String
  /// The name of this device.
  public let device: String
  /// `owner`, `member` or `readOnly`.
  public let role: String
}

extension HouseholdStore {
  /// How sync is now; works with the node running or not.
  public func status() throws(HouseholdStoreError) -> SyncStatus {
    SyncStatus(try unlockedReport())
  }

  /// Who this device is in the household, now.
  public func accountStatus() throws(HouseholdStoreError) -> AccountStatus {
    AccountStatus(try unlockedReport())
  }

  /// Everything that is known of sync's health, as `household status --json` prints it; for reports of faults. Holds
  /// names and addresses, no records and no keys.
  public func debugDump() throws(HouseholdStoreError) -> String {
    try locked { _ in
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      return String(decoding: try encoder.encode(try report()), as: UTF8.self)
    }
  }

  /// The report of an open store, without the lock: the node may take its time, and reading goes on meanwhile.
  private func unlockedReport() throws(HouseholdStoreError) -> StatusReport {
    try locked { _ in }
    return try HouseholdStoreError.translating { try report() }
  }

  /// What the file and, if it runs, the node say.
  func report() throws -> StatusReport { try look().report }

  /// What the file and, if it runs, the node say, judged and as it is.
  func look() throws -> (report: StatusReport, facts: StatusFacts, live: LiveFacts?) {
    try Household.guarded {
      try HouseholdStatus.look(
        directory, node: { _ in try node.facts() }, judgesFiles: node.clock == nil,
        now: node.clock?.now ?? SystemClock.now)
    }
  }

  /// Waits until every partner's device has confirmed everything written here until now.
  ///
  /// Sync is continuous: nothing has to be sent by hand. This is for who must know that it has arrived. On a device that
  /// belongs no longer it throws, as nobody will confirm anything.
  /// - Parameter patience: how long to wait at most.
  public func sendChanges(patience: Duration = .seconds(30)) async throws(HouseholdStoreError) {
    try await wait(patience, "Not everything is confirmed yet") { report, _ in
      report.isNamed && report.changes.unsealed == 0 && report.peers.allSatisfy(\.hasOurs.complete)
    }
  }

  /// Waits until everything that the connected partners have is here; at least one must be connected.
  ///
  /// - Parameter patience: how long to wait at most.
  public func fetchChanges(patience: Duration = .seconds(30)) async throws(HouseholdStoreError) {
    try await wait(patience, "No partner could be asked, or not everything is here yet") { report, live in
      let connected = report.peers.filter(\.connected)
      // Who has just come has not said yet what there is.
      let haveTold = connected.allSatisfy { live?.peers[$0.deviceID]?.caughtUp != false }
      if report.isNamed, report.peers.isEmpty { return true }
      return !connected.isEmpty && haveTold && connected.allSatisfy(\.weHaveTheirs.complete)
    }
  }

  /// Asks the node to look, and looks at its report again and again.
  private func wait(
    _ patience: Duration, _ problem: String, until isDone: (StatusReport, LiveFacts?) -> Bool
  ) async throws(HouseholdStoreError) {
    try locked { _ in }
    let end = ContinuousClock.now + patience
    try HouseholdStoreError.translating { try node.begin() }
    var failure: HouseholdStoreError?
    do {
      guard try node.look() else { throw noNode }
      while true {
        let (report, _, live) = try look()
        if let end = report.ending { throw HouseholdStoreError(.notAllowed, "\(end.summary) \(end.remedy)") }
        if isDone(report, live) { break }
        guard report.node.running else { throw noNode }
        guard ContinuousClock.now < end, try await node.pause() else {
          throw HouseholdStoreError(.partnerUnreachable, "\(problem): \(report.summary) \(report.remedy)")
        }
      }
    } catch is CancellationError {
      failure = HouseholdStoreError(.partnerUnreachable, "The wait was cancelled.")
    } catch {
      failure = HouseholdStoreError(error)
    }
    try HouseholdStoreError.translating { try node.end() }
    if let failure { throw failure }
  }

  private var noNode: HouseholdStoreError {
    HouseholdStoreError(.nodeNotRunning, "No node runs on \(directory.path). Start it: household node")
  }
}

extension SyncStatus {
  init(_ report: StatusReport) {
    verdict =
      switch report.verdict {
      case .inSync: .inSync
      case .pending: .pending
      case .degraded: .degraded
      case .broken: .broken
      }
    reason = report.reason
    summary = report.summary
    remedy = report.remedy
    isNodeRunning = report.node.running
    connectedPartners = report.peers.count { $0.connected }
    openConflicts = report.conflicts
  }
}

extension AccountStatus {
  init(_ report: StatusReport) {
    household = report.household.name
    member = report.device.member
    device = report.device.name
    role = report.device.role
    state = report.ending != nil ? .ended : role == Role.readOnly.rawValue ? .readOnly : .available
  }
}
