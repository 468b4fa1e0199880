import HouseholdRecords

/// The conversation with one peer over one link: what was said, what the peer has, and how far both streams are.
///
/// A value without effects of its own; the engine drives it. Which message may come when stands in
/// `SyncSession+State.swift`.
struct SyncSession {
  let opening: LinkOpening
  let openedAt: Tick
  /// When something last came in.
  var lastHeard: Tick
  /// Whether a ping went out since then.
  var isProbed = false
  var phase = Phase.greeting
  /// What the peer said of itself.
  var hello: Hello?
  /// The heads in our own hello: both sides decide by the two hellos whether entries are exchanged.
  let saidHeads: [EntryHash]
  /// Membership entries that the peer has or was sent.
  var peerEntries: Set<EntryHash>
  var exchange = MembershipExchange()
  /// What the peer is known to have stored.
  var known = VersionVector()
  /// What the peer was told that we have stored; our own newest changesets are pushed instead.
  var told = VersionVector()
  /// Up to where asking the peer for a replica was in vain.
  var refused = VersionVector()
  /// The names of replicas of which the peer has another branch than we (D4): they mean other things to it.
  var forks: Set<ReplicaID> = []
  /// Branches of ours of which it is not known yet how far the peer has them.
  var searches: [ReplicaID: BranchSearch] = [:]
  /// What the searches are to tell, by name: whether the peer has more of a branch of ours, or another one.
  var doubts: [ReplicaID: BranchDoubt] = [:]
  /// What the peer has under a name that is known here, beyond what is here: more of it, or another branch.
  var unplaced: [Dependency] = []
  /// What the peer was told that we keep from our records; nil before it was told anything.
  var toldWithheld: [Withheld]?
  /// What the peer was told of other devices, and what it told of them.
  var toldPresence: [Presence] = []
  var present: [DeviceID: Presence] = [:]
  var outgoing = OutgoingStream()
  var incoming = IncomingStream()
  /// Whether a newer link to the same device waits for this one to prove that it is dead (D12).
  var trial: Trial?
  var wasSynced = false
  /// Whether the peer was asked for the share's key.
  var hasAskedForShareKey = false
  /// When the peer was last asked for a certificate, and whether it has not answered.
  var askedForCertificate: Tick?
  var awaitsCertificate = false
  var clockOffsetMilliseconds: Int64 = 0
  /// The digests that were told here and there last.
  var toldDigest: StoreDigest?
  var peerDigest: StoreDigest?
  var sentCount = 0
  var receivedCount = 0

  init(_ opening: LinkOpening, saidHeads: [EntryHash], entries: Set<EntryHash>, tick: Tick) {
    self.opening = opening
    self.saidHeads = saidHeads
    peerEntries = entries
    openedAt = tick
    lastHeard = tick
  }

  var device: DeviceID { opening.device }
  var link: LinkNumber { opening.link }

  /// What need not be sent to the peer: it has it, or it is on its way there.
  var reached: VersionVector {
    var reached = known
    reached.merge(outgoing.sent)
    return reached
  }

  /// What asking the peer for may bring.
  var obtainable: VersionVector {
    var obtainable = known
    for entry in refused.entries where entry.value >= known[entry.key] { obtainable[entry.key] = 0 }
    return obtainable
  }

  /// Whether new membership entries are pushed on this link: before that the exchange takes care of them.
  var takesNewEntries: Bool {
    switch phase {
    case .greeting, .superseded: false
    case .comparing: exchange.hasAnswered
    case .settled, .inUse: true
    }
  }

  /// Whether both sides have everything that the other has, as far as is known here.
  func isSynced(received: VersionVector, hasAsks: Bool) -> Bool {
    phase == .inUse && incoming.state == .live && !hasAsks && received.covers(known) && outgoing.isIdle
      && known.covers(received)
  }
}

/// How far the exchange of membership entries is.
struct MembershipExchange: Hashable {
  /// Whether we sent what the peer lacks.
  var hasAnswered = false
  /// Whether the peer sent all that we lack.
  var hasReceived = false

  var isComplete: Bool { hasAnswered && hasReceived }
}

/// The older of two links is asked for a sign of life.
struct Trial: Hashable {
  /// The newer link, which waits; nil if it need not wait because it leads to another start of the device's node.
  var candidate: LinkNumber?
  var number: UInt64
  var deadline: Tick
}
