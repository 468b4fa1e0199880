import HouseholdRecords

/// The share's key goes from one owner's device to another's that asks for it, inside the authenticated link, and to
/// nobody else: what counts is what the membership log here says of the asking device, at both ends.
extension SyncEngine {
  /// Asks once in a session, where this device is an owner's and has not got the key.
  func askForShareKey(_ moment: Moment) throws {
    guard shareKey == nil else { return }
    let membership = try moment.store.membership()
    guard membership.isOwner(moment.store.device) else { return }
    for link in links {
      guard let session = sessions[link], session.phase == .inUse, !session.hasAskedForShareKey,
        membership.isOwner(session.device)
      else { continue }
      sessions[link]?.hasAskedForShareKey = true
      send(.shareKeyWanted, on: link)
    }
  }

  /// Gives the key to an owner's device; anybody else is left without an answer.
  func receiveShareKeyWanted(from session: SyncSession, _ moment: Moment) throws {
    guard let shareKey else { return }
    let membership = try moment.store.membership()
    guard membership.isOwner(moment.store.device), membership.isOwner(session.device) else { return }
    send(.shareKey(shareKey), on: session.link)
    report(.shareKeyGiven(to: session.device))
  }

  /// Takes the key if it was asked for; the node checks that it is the share's.
  func receive(shareKey key: [UInt8], from session: SyncSession, _ moment: Moment) throws {
    guard session.hasAskedForShareKey else {
      throw Violation(.unexpectedMessage, "The peer sent the share's key without being asked for it.")
    }
    guard shareKey == nil, try moment.store.membership().isOwner(moment.store.device) else { return }
    report(.shareKeyReceived(key, from: session.device))
  }
}
