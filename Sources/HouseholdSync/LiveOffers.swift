import HouseholdRecords

/// Who is asked for what: for each replica at most one link at a time (D12).
///
/// So that a changeset that several peers offer is fetched once, and each replica's come without a gap. There is no
/// timer: an ask ends with its answer or with its link.
struct LiveOffers {
  /// What was asked of a link.
  struct Ask: Hashable {
    var link: LinkNumber
    var last: UInt64
  }

  private(set) var asks: [ReplicaID: Ask] = [:]

  /// Whether something was asked of this link and not answered.
  func hasAsks(on link: LinkNumber) -> Bool { asks.values.contains { $0.link == link } }

  /// Takes note that an answer is complete; returns what had been asked of that link.
  mutating func answered(_ replica: ReplicaID, by link: LinkNumber) -> Ask? {
    guard let ask = asks[replica], ask.link == link else { return nil }
    asks[replica] = nil
    return ask
  }

  /// Forgets what was asked of a link that is gone, so that others are asked.
  mutating func drop(_ link: LinkNumber) {
    asks = asks.filter { $0.value.link != link }
  }

  /// What is to be asked now.
  ///
  /// - Parameters:
  ///   - received: what is stored here.
  ///   - sources: the sessions in use in ascending order of their links, with what each peer has, and whether its
  ///     stream brings it anyway.
  mutating func next(
    received: VersionVector, sources: [(link: LinkNumber, known: VersionVector, bringsAll: Bool, isLive: Bool)]
  ) -> [(link: LinkNumber, request: ChangesetRequest)] {
    var best: [ReplicaID: Ask] = [:]
    var onTheWay: Set<ReplicaID> = []
    for source in sources {
      for (replica, sequence) in source.known.entries where sequence > received[replica] {
        if source.bringsAll { onTheWay.insert(replica) }
        if source.isLive, sequence > best[replica]?.last ?? 0 {
          best[replica] = Ask(link: source.link, last: sequence)
        }
      }
    }
    var requests: [(link: LinkNumber, request: ChangesetRequest)] = []
    for (replica, ask) in best.sorted(by: { $0.key < $1.key })
    where asks[replica] == nil && !onTheWay.contains(replica) {
      asks[replica] = ask
      requests.append(
        (ask.link, ChangesetRequest(replica: replica, first: received[replica] + 1, last: ask.last)))
    }
    return requests
  }
}
