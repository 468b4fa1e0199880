import HouseholdKit
import HouseholdNode

/// Something that happened to sync, as `household events` tells it: what is known of it, and nothing of the records' values.
struct SyncHappening: Encodable, Hashable, Sendable {
  /// What kinds there are; a script reads the name.
  enum Kind: String, Encodable, Sendable, CaseIterable {
    case nodeStarted, nodeStopped, peerConnected, peerGone, changesReceived, changesSent, conflict, verdict
  }

  /// A device of the household.
  struct Peer: Encodable, Hashable, Sendable {
    var member: String
    var device: String
    var deviceID: String

    init(_ peer: StatusReport.Peer) {
      member = peer.member
      device = peer.device
      deviceID = peer.deviceID
    }
  }

  /// RFC 3339: when it was seen.
  var at: String
  var event: Kind
  /// Whose device; of what happened to peers.
  var peer: Peer?
  /// Where it is, when it connected; if known.
  var address: String?
  /// How many changesets came or went.
  var count: UInt64?
  /// Why it went, if known.
  var error: String?
  /// The conflict's name, and the record and field in question.
  var conflict: String?
  var type: String?
  var id: String?
  var field: String?
  /// Sync's health from now on.
  var verdict: String?
  var reason: String?
  var summary: String?
  var remedy: String?

  private init(_ event: Kind, at: String) {
    self.event = event
    self.at = at
  }

  private init(_ event: Kind, _ peer: StatusReport.Peer, at: String) {
    self.init(event, at: at)
    self.peer = Peer(peer)
  }

  /// One line for people.
  var sentence: String {
    let who = peer.map { "\($0.device) of \($0.member)" } ?? ""
    switch event {
    case .nodeStarted: return "the node runs"
    case .nodeStopped: return "the node has stopped"
    case .peerConnected: return "\(who) is connected\(address.map { " at \($0)" } ?? "")"
    case .peerGone: return "\(who) is gone\(error.map { ": \($0)" } ?? "")"
    case .changesReceived: return "\(count ?? 0) changes came from \(who)"
    case .changesSent: return "\(count ?? 0) changes went to \(who)"
    case .conflict: return "conflict \(conflict ?? "") in \(field ?? "") of \(type ?? "") \(id ?? "")"
    case .verdict: return "\(verdict ?? ""): \(summary ?? "")"
    }
  }
}

extension SyncHappening {
  /// What happened between two looks, in the order in which it can have come about.
  ///
  /// - Parameter before: the earlier look; nil tells who is there and the verdict as they are.
  static func between(
    _ before: SyncLook?, _ now: SyncLook
  ) -> [SyncHappening] {
    let at = now.report.asOf
    var happenings: [SyncHappening] = []
    let (ran, runs) = (before?.report.node.running ?? false, now.report.node.running)
    let isAnother = ran && runs && before?.report.node.startedAt != now.report.node.startedAt
    if ran, !runs || isAnother { happenings.append(SyncHappening(.nodeStopped, at: at)) }
    if runs, !ran || isAnother { happenings.append(SyncHappening(.nodeStarted, at: at)) }
    let known = Dictionary((before?.report.peers ?? []).map { ($0.deviceID, $0) }) { first, _ in first }
    for peer in now.report.peers { happenings += Self.of(peer, known[peer.deviceID], isFirst: before == nil, at: at) }
    let present = Set(now.report.peers.map(\.deviceID))
    for peer in before?.report.peers ?? [] where peer.connected && !present.contains(peer.deviceID) {
      happenings.append(SyncHappening(.peerGone, peer, at: at))
    }
    if let before {
      let open = Set(before.conflicts.map(\.conflict))
      happenings += now.conflicts.filter { !open.contains($0.conflict) }.map { edit in
        var happening = SyncHappening(.conflict, at: at)
        (happening.conflict, happening.type) = (edit.conflict, edit.type)
        (happening.id, happening.field) = (edit.id, edit.field)
        return happening
      }
    }
    if now.report.verdict != before?.report.verdict || now.report.reason != before?.report.reason {
      var happening = SyncHappening(.verdict, at: at)
      (happening.verdict, happening.reason) = (now.report.verdict.rawValue, now.report.reason)
      (happening.summary, happening.remedy) = (now.report.summary, now.report.remedy)
      happenings.append(happening)
    }
    return happenings
  }

  private static func of(
    _ peer: StatusReport.Peer, _ before: StatusReport.Peer?, isFirst: Bool, at: String
  ) -> [SyncHappening] {
    var happenings: [SyncHappening] = []
    let was = before?.connected ?? false
    if peer.connected, !was {
      var happening = SyncHappening(.peerConnected, peer, at: at)
      happening.address = peer.address
      happenings.append(happening)
    }
    if !isFirst {
      // The totals are kept across restarts; one that has become smaller was forgotten, and begins anew.
      for (kind, total, earlier) in [
        (Kind.changesReceived, peer.changesReceived, before?.changesReceived ?? 0),
        (.changesSent, peer.changesSent, before?.changesSent ?? 0),
      ] where total > earlier {
        var happening = SyncHappening(kind, peer, at: at)
        happening.count = total - earlier
        happenings.append(happening)
      }
    }
    if was, !peer.connected {
      var happening = SyncHappening(.peerGone, peer, at: at)
      happening.error = peer.lastError
      happenings.append(happening)
    }
    return happenings
  }
}

/// Everything that happenings are told from, at one moment.
struct SyncLook: Sendable {
  var report: StatusReport
  /// The open conflicts.
  var conflicts: [Household.LostEdit]

  init(report: StatusReport, conflicts: [Household.LostEdit]) {
    self.report = report
    self.conflicts = conflicts
  }
}
