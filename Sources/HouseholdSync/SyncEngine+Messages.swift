import HouseholdRecords

/// One message: decoded, judged by the table of phases, and given to whoever acts on it.
extension SyncEngine {
  func receive(_ link: LinkNumber, type: UInt8, flags: UInt8, payload: [UInt8], _ moment: Moment) throws {
    guard let session = sessions[link] else { return }
    sessions[link]?.lastHeard = moment.tick
    sessions[link]?.isProbed = false
    guard let kind = Message.Kind(rawValue: type) else {
      if flags & MessageCodec.ignorableFlag != 0 { return }
      throw Violation(.unexpectedMessage, "The peer sent a message of the unknown type \(type).")
    }
    switch SyncSession.reaction(in: session.phase, to: kind) {
    case .take: break
    case .ignore: return
    case .refuse: throw Violation(.unexpectedMessage, "The peer sent \(kind) when it had no place.")
    }
    let message: Message
    do {
      message = try MessageCodec.decode(kind, payload)
    } catch {
      throw Violation(error, in: "a message (\(kind))")
    }
    if kind != .goodbye { passTrial(link, moment) }
    try act(on: message, payloadBytes: payload.count, from: session, moment)
  }

  private func act(on message: Message, payloadBytes: Int, from session: SyncSession, _ moment: Moment) throws {
    let link = session.link
    switch message {
    case .hello(let hello): try receive(hello, on: link, moment)
    case .use: try receiveUse(on: link, moment)
    case .acknowledge(let acknowledgement): try receive(acknowledgement, on: link, moment)
    case .offer(let dependencies): try learn(dependencies, from: session, moment)
    case .request(let request): try sessions[link]?.outgoing.add(request)
    case .ping(let ping):
      compareClock(ping, on: link, moment)
      send(.pong(Pong(number: ping.number, asked: ping.wall, wall: moment.wall)), on: link)
    case .pong(let pong): estimateClock(pong, on: link, moment)
    case .goodbye(let goodbye): closeAfter(goodbye, of: session, moment)
    case .shareKeyWanted: try receiveShareKeyWanted(from: session, moment)
    case .shareKey(let key): try receive(shareKey: key, from: session, moment)
    case .certificateWanted: try receiveCertificateWanted(from: session, moment)
    case .certificate(let der): try receive(certificate: der, from: session)
    case .membershipHave(let hashes): try receiveMembershipHave(hashes, on: link, moment)
    case .membership(let part): try receive(part, on: link, moment)
    case .have(let holdings): try receive(holdings, on: link, moment)
    case .subscribe(let subscription): try receive(subscription, on: link, moment)
    case .batch(let batch): try receive(batch, payloadBytes: payloadBytes, on: link, moment)
    case .snapshotPage(let part): try receive(part, payloadBytes: payloadBytes, on: link, moment)
    case .branchQuestion(let points): try answer(points, on: link, moment)
    case .branchAnswer(let name): try receiveBranchAnswer(name, on: link, moment)
    case .withheld(let list): report(.withheld(list, by: session.device))
    case .present(let list): try receive(list, from: session, moment)
    }
  }

  /// The peer's clock by its question, which was under way for an unknown time: taken only where it has moved since the
  /// last measure. Who is asked does not ask, so without this one side of a link would never notice.
  private func compareClock(_ ping: Ping, on link: LinkNumber, _ moment: Moment) {
    guard let known = sessions[link]?.clockOffsetMilliseconds else { return }
    let offset = ping.wall.milliseconds(since: moment.wall)
    if (offset &- known).magnitude > SyncTiming.clockStep { sessions[link]?.clockOffsetMilliseconds = offset }
  }

  /// The peer's clock against the middle of our question and its answer; a figure for status, nothing else (R6).
  private func estimateClock(_ pong: Pong, on link: LinkNumber, _ moment: Moment) {
    let halfway = max(0, min(moment.wall.milliseconds(since: pong.asked), SyncTiming.deadAfterSilence)) / 2
    sessions[link]?.clockOffsetMilliseconds = pong.wall.milliseconds(
      since: pong.asked.advanced(byMilliseconds: halfway))
  }
}
