import HouseholdRecords

/// Whether equal changes gave equal records (R5): each end tells its digest once it has one, and compares.
extension SyncEngine {
  /// Tells a digest that is new to peers that were told another one or none, and compares it with theirs.
  func tellDigest(_ moment: Moment) {
    for link in links where sessions[link]?.phase == .inUse {
      guarded(link, moment) {
        guard let digest = try moment.store.digest(), digest != sessions[link]?.toldDigest else { return }
        try sendHoldings(on: link, moment)
        try compareDigests(on: link, moment)
      }
    }
  }

  /// Compares the digests of both ends, where they are of the same changes and members.
  func compareDigests(on link: LinkNumber, _ moment: Moment) throws {
    guard let session = sessions[link], let theirs = session.peerDigest, let ours = try moment.store.digest(),
      theirs.applied == ours.applied, theirs.membershipHeads == ours.membershipHeads
    else { return }
    report(theirs.bytes == ours.bytes ? .agreed(session.device) : .diverged(session.device))
  }
}
