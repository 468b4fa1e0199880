internal import HouseholdRecords
internal import HouseholdReplica

/// Looks whether what the node works with is still in its place: the directory, the replica, the control socket.
///
/// A control socket that somebody removed is made anew. A replica that is not there any more takes nothing (see
/// ``Replica``); if it does not come back, the node ends, as its port and its name are somebody else's then.
struct PlaceKeeper {
  private let log: Log
  private let lock: DirectoryLock
  private var goneSince: Tick?

  /// For how long it may be gone, in milliseconds: a directory that is moved and put back, or a backup that is.
  private static let patience: Int64 = 30_000

  init(_ lock: DirectoryLock, log: Log) {
    self.lock = lock
    self.log = log
  }

  /// Looks once; called about once a second.
  ///
  /// - Returns: why the node has to end; nil if it goes on.
  mutating func look(_ replica: Replica, _ control: ControlSocket?, now: Tick) -> NodeError? {
    let place = lock.place
    if place == .there, replica.isInPlace {
      goneSince = nil
      do {
        try control?.look()
      } catch {
        log.problem("the control socket is gone and cannot be made anew", ["error": "\(error)"])
      }
      return nil
    }
    if goneSince == nil {
      log.problem("the data directory or its replica is not in its place", ["replica": replica.path])
    }
    let since = goneSince ?? now
    goneSince = since
    guard place == .deleted || since.advanced(byMilliseconds: Self.patience) <= now else { return nil }
    return NodeError(
      .noHousehold, "\(replica.path) was moved away, deleted or replaced while the node ran, so the node has ended.",
      remedy: "Put the data directory back, and start the node again.")
  }
}
