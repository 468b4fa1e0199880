import HouseholdRecords

extension SyncSession {
  /// Where a session stands.
  enum Phase: Hashable {
    /// Our hello is out, the peer's is not here.
    case greeting
    /// The membership logs differ and are being made equal: nothing else until then.
    case comparing
    /// The membership is equal and admits the peer; `use` was not said on this link.
    case settled
    /// Data flows.
    case inUse
    /// The peer chose a newer link; this one is left to die.
    case superseded
  }

  /// What is to be done with a message of this kind now.
  enum Reaction: Hashable {
    /// It is due.
    case take
    /// It can come without anybody's fault, and has no meaning any more.
    case ignore
    /// The peer broke the order of the protocol: the link closes.
    case refuse
  }

  /// The whole table of (phase, kind of message).
  static func reaction(in phase: Phase, to kind: Message.Kind) -> Reaction {
    switch (phase, kind) {
    // Signs of life and the end are always in place.
    case (_, .ping), (_, .pong), (_, .goodbye): .take

    // The hello comes first and once.
    case (.greeting, .hello): .take
    case (.comparing, .hello), (.settled, .hello), (.inUse, .hello): .refuse
    case (.greeting, .membershipHave), (.greeting, .membership), (.greeting, .use), (.greeting, .have),
      (.greeting, .subscribe), (.greeting, .acknowledge), (.greeting, .offer), (.greeting, .request),
      (.greeting, .batch), (.greeting, .snapshotPage), (.greeting, .branchQuestion),
      (.greeting, .branchAnswer), (.greeting, .withheld), (.greeting, .present):
      .refuse

    // Then the membership logs are made equal; new entries may follow at any time.
    case (.comparing, .membershipHave), (.comparing, .membership), (.settled, .membership), (.inUse, .membership):
      .take
    case (.settled, .membershipHave), (.inUse, .membershipHave): .refuse

    // The smaller device says `use` once, when it has settled; then we have too.
    case (.settled, .use): .take
    case (.comparing, .use), (.inUse, .use): .refuse

    // Data, and what belongs to it, flows on a link in use and on no other.
    case (.inUse, .have), (.inUse, .subscribe), (.inUse, .acknowledge), (.inUse, .offer), (.inUse, .request),
      (.inUse, .batch), (.inUse, .snapshotPage), (.inUse, .branchQuestion),
      (.inUse, .branchAnswer), (.inUse, .withheld), (.inUse, .present):
      .take
    case (.comparing, .have), (.comparing, .subscribe), (.comparing, .acknowledge), (.comparing, .offer),
      (.comparing, .request), (.comparing, .batch), (.comparing, .snapshotPage), (.comparing, .branchQuestion),
      (.comparing, .branchAnswer), (.comparing, .withheld), (.comparing, .present):
      .refuse
    case (.settled, .have), (.settled, .subscribe), (.settled, .acknowledge), (.settled, .offer),
      (.settled, .request), (.settled, .batch), (.settled, .snapshotPage), (.settled, .branchQuestion),
      (.settled, .branchAnswer), (.settled, .withheld), (.settled, .present):
      .refuse

    // So do the share's key and certificates.
    case (.inUse, .shareKeyWanted), (.inUse, .shareKey), (.inUse, .certificateWanted), (.inUse, .certificate): .take
    case (.greeting, .shareKeyWanted), (.greeting, .shareKey), (.comparing, .shareKeyWanted), (.comparing, .shareKey),
      (.settled, .shareKeyWanted), (.settled, .shareKey), (.greeting, .certificateWanted), (.greeting, .certificate),
      (.comparing, .certificateWanted), (.comparing, .certificate), (.settled, .certificateWanted),
      (.settled, .certificate):
      .refuse

    // What was under way on a link that is no longer used was not acknowledged, so it comes again on the other.
    case (.superseded, .hello), (.superseded, .membershipHave), (.superseded, .membership), (.superseded, .use),
      (.superseded, .have), (.superseded, .subscribe), (.superseded, .acknowledge), (.superseded, .offer),
      (.superseded, .request), (.superseded, .batch), (.superseded, .snapshotPage), (.superseded, .branchQuestion),
      (.superseded, .branchAnswer), (.superseded, .withheld), (.superseded, .shareKeyWanted), (.superseded, .shareKey),
      (.superseded, .certificateWanted), (.superseded, .certificate), (.superseded, .present):
      .ignore
    }
  }
}
