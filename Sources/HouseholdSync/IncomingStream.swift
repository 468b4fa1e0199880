import HouseholdRecords

/// How far the peer's log has been read over a link.
struct IncomingStream: Hashable {
  /// Where the reading stands.
  enum State: Hashable {
    /// The peer has not said what it has.
    case unknown
    /// A subscription is to be sent.
    case due
    /// A snapshot was asked for.
    case awaitingSnapshot
    /// Pages come in.
    case receivingSnapshot
    /// The log comes in, since then.
    case catchingUp(since: Tick)
    /// Everything that the peer had has come; new changesets are pushed or offered.
    case live
  }

  var state = State.unknown
  /// The number of our newest subscription on this link.
  var number: UInt64 = 0
  /// What the peer's log does not hold one by one.
  var peerBase = VersionVector()
  /// Whether some name in it is another branch at the peer than here.
  var hasOtherBase = false
  /// Where the peer's log goes on after the snapshot that comes in.
  var snapshotToken: ChangeToken?
  /// How far the snapshot has come that was asked for over this link; nil for none of it.
  var snapshot: SnapshotProgress?
  /// The newest token that is durable here.
  var token: ChangeToken?

  /// Whether a snapshot comes over this link.
  var isSnapshot: Bool {
    switch state {
    case .awaitingSnapshot, .receivingSnapshot: true
    case .unknown, .due, .catchingUp, .live: false
    }
  }

  /// Whether what the peer is known to have comes without being asked for.
  var bringsAll: Bool {
    switch state {
    case .awaitingSnapshot, .receivingSnapshot, .catchingUp: true
    case .unknown, .due, .live: false
    }
  }
}
