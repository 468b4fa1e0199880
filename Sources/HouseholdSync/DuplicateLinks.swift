import HouseholdRecords

/// Two links to one device (D12): the smaller device decides, after the older link had its chance to answer.
extension SyncEngine {
  /// Decides about a settled link; only the node with the smaller device id comes here.
  func choose(_ link: LinkNumber, _ moment: Moment) {
    guard let session = sessions[link], let hello = session.hello else { return }
    for rival in links where rival != link {
      guard let older = sessions[rival], older.device == session.device, older.phase == .inUse else { continue }
      let isSameStart = older.hello?.bootNonce == hello.bootNonce
      if isSameStart, older.trial?.candidate != nil {
        close(link, Goodbye(.duplicate, "Two other links to this node are being compared."), moment)
        return
      }
      // A link that is on trial already for the sake of another one is not tried twice.
      if !isSameStart, older.trial != nil { continue }
      let ping = nextPing(moment)
      sessions[rival]?.trial = Trial(
        candidate: isSameStart ? link : nil, number: ping.number,
        deadline: moment.tick.advanced(byMilliseconds: SyncTiming.duplicateTrial))
      send(.ping(ping), on: rival)
      if isSameStart { return }
    }
    send(.use, on: link)
    put(inUse: link, moment)
  }

  /// The peer, whose device is the smaller, says that this link is used; an older one to the same start is left.
  func receiveUse(on link: LinkNumber, _ moment: Moment) throws {
    guard let session = sessions[link] else { return }
    guard session.device < moment.store.device else {
      throw Violation(.unexpectedMessage, "The peer chose the link, but its device id is not the smaller one.")
    }
    for rival in links where rival != link {
      guard let older = sessions[rival], older.device == session.device, older.phase == .inUse,
        older.hello?.bootNonce == session.hello?.bootNonce
      else { continue }
      supersede(rival, moment)
    }
    put(inUse: link, moment)
  }

  /// Leaves a link to die: nothing is sent on it, and what was asked of it is asked of others.
  private func supersede(_ link: LinkNumber, _ moment: Moment) {
    if case .snapshot(let serving) = sessions[link]?.outgoing.state { moment.store.closeSnapshot(serving.id) }
    offers.drop(link)
    sessions[link]?.phase = .superseded
    sessions[link]?.outgoing = OutgoingStream()
    sessions[link]?.incoming = IncomingStream()
  }

  private func put(inUse link: LinkNumber, _ moment: Moment) {
    sessions[link]?.phase = .inUse
    presenceIsDue = true
    if let device = sessions[link]?.device { report(.inUse(device)) }
    guarded(link, moment) { try sendHoldings(on: link, moment) }
  }

  /// Something came in on a link that was being tried: it lives.
  func passTrial(_ link: LinkNumber, _ moment: Moment) {
    guard let session = sessions[link], let trial = session.trial else { return }
    sessions[link]?.trial = nil
    if let candidate = trial.candidate {
      close(candidate, Goodbye(.duplicate, "Another link to this node is in use and answers."), moment)
    } else {
      report(.cloneSuspected(session.device))
    }
  }

  /// Keep-alives, deadlines and trials.
  func watchTheClock(_ moment: Moment) {
    for link in links {
      guard let session = sessions[link] else { continue }
      let silence = moment.tick.milliseconds - session.lastHeard.milliseconds
      let age = moment.tick.milliseconds - session.openedAt.milliseconds
      if let trial = session.trial, trial.deadline <= moment.tick {
        close(link, Goodbye(.silent, "This link did not answer, and a newer one is there."), moment)
      } else if silence >= SyncTiming.deadAfterSilence {
        close(link, Goodbye(.silent, "Nothing was heard on this link for too long."), moment)
      } else if age >= SyncTiming.readyDeadline, session.phase != .inUse, session.phase != .superseded {
        close(link, Goodbye(.tooSlow, "The session was not ready in time."), moment)
      } else if silence >= SyncTiming.pingAfterSilence, !session.isProbed {
        sessions[link]?.isProbed = true
        send(.ping(nextPing(moment)), on: link)
      }
    }
  }
}
