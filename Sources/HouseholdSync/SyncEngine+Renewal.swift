import HouseholdRecords

/// A device whose certificate runs out asks an owner's device for another one, inside the authenticated link.
///
/// The question says nothing: whom it is for is known by the link, and what may be said of that device by the membership
/// log of whoever answers. The certificate stands for the household and gives no role.
extension SyncEngine {
  /// Asks every owner's device that a session is in use with, once, and again after an hour.
  func askForCertificate(_ moment: Moment) throws {
    guard wantsCertificate else { return }
    let due = links.filter { sessions[$0]?.mayAskForCertificate(moment.tick) == true }
    guard !due.isEmpty else { return }
    let membership = try moment.store.membership()
    guard membership.admits(moment.store.device) else { return }
    for link in due {
      guard let session = sessions[link], membership.isOwner(session.device) else { continue }
      sessions[link]?.askedForCertificate = moment.tick
      sessions[link]?.awaitsCertificate = true
      send(.certificateWanted, on: link)
    }
  }

  /// Lets the node make a certificate for a device that belongs; anybody else is left without an answer, and so is who
  /// asks again too soon.
  func receiveCertificateWanted(from session: SyncSession, _ moment: Moment) throws {
    guard shareKey != nil else { return }
    let membership = try moment.store.membership()
    guard membership.isOwner(moment.store.device), membership.admits(session.device) else { return }
    if let last = certificatesGiven[session.device],
      moment.tick < last.advanced(byMilliseconds: SyncTiming.certificatePause)
    {
      return
    }
    certificatesGiven[session.device] = moment.tick
    report(.certificateWanted(session.link, by: session.device))
  }

  /// Sends what the node made, if the link is still in use.
  func give(certificate der: [UInt8], on link: LinkNumber) {
    if sessions[link]?.phase == .inUse { send(.certificate(der), on: link) }
  }

  /// Takes a certificate if it was asked for; the node checks that it is this device's and of use.
  func receive(certificate der: [UInt8], from session: SyncSession) throws {
    guard session.awaitsCertificate else {
      throw Violation(.unexpectedMessage, "The peer sent a certificate without being asked for it.")
    }
    sessions[session.link]?.awaitsCertificate = false
    if wantsCertificate { report(.certificateReceived(der, from: session.device)) }
  }
}

extension SyncSession {
  /// Whether the peer may be asked for a certificate now, if it is an owner's device.
  fileprivate func mayAskForCertificate(_ tick: Tick) -> Bool {
    guard phase == .inUse else { return false }
    return askedForCertificate.map { tick >= $0.advanced(byMilliseconds: SyncTiming.certificateQuestionPause) } ?? true
  }
}
