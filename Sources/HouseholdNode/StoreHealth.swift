internal import HouseholdRecords
internal import HouseholdReplica

/// Whether the store takes what it is given, for status: a fault stays until a write has worked again.
struct StoreHealth {
  private(set) var error: LiveFacts.StoreError?
  private var failedAt: Tick?

  /// How long a fault stays at least: longer than a peer waits before it tries again, so that it does not flicker.
  private static let probeAfter: Int64 = 8000
  /// How long nothing is written that can wait.
  private static let restMilliseconds: Int64 = 2000

  mutating func failed(_ error: any Error, now: Tick) {
    let fault = error as? ReplicaError
    self.error = LiveFacts.StoreError(
      code: fault?.code.rawValue ?? "other", message: fault?.message ?? "\(error)")
    failedAt = now
  }

  /// Whether it is time to try whether it works again.
  func isProbeDue(now: Tick) -> Bool { failedAt.map { $0.advanced(byMilliseconds: Self.probeAfter) <= now } ?? false }

  /// Whether it failed just now.
  func isFresh(now: Tick) -> Bool { failedAt.map { now < $0.advanced(byMilliseconds: Self.restMilliseconds) } ?? false }
}
