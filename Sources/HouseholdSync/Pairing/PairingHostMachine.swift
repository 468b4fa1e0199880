package import HouseholdRecords

/// The inviting side of one pairing link: events in, effects out.
///
/// **No half pair.** The host signs the join entry but puts it into its log only when the guest says `stored`: up to
/// then nobody has joined here, and the invitation can be used again by the same key. The guest says `stored` only when
/// everything is durable with it, and counts itself as joined when it hears `committed`, *or* when the link ends in any
/// way after that word: it holds a join that is signed by a device with the right to it, valid by itself, and whoever
/// it meets first learns of it, this host included. So every death leaves one of two states: neither side paired
/// (before `stored` was sent), or the guest paired and the host paired or about to learn it. The host never ends up
/// paired with a guest that has nothing.
package struct PairingHostMachine {
  /// What happens to it.
  package enum Event: Hashable, Sendable {
    /// The link is up.
    case opened
    /// Too many guests wait, and this one has waited longest without proving a code.
    case crowded
    case frame(type: UInt8, payload: [UInt8])
    /// Time goes on.
    case tick
    /// The link is gone.
    case closed
  }

  /// What it wants done.
  package enum Effect: Hashable, Sendable {
    case send(PairingMessage)
    /// The guest is a device of the household.
    case paired(InvitationID)
    /// This machine could not do something: for the log.
    case fault(String)
    /// Close the link after what was sent.
    case close
  }

  private enum State {
    case fresh
    case awaitingProof(until: Tick)
    case awaitingRequest(InvitationID, until: Tick)
    case awaitingStored(InvitationID, PairingCompletion, until: Tick)
    case ended
  }

  private let channel: PairingChannel
  private let desk: any PairingDesk
  private let cryptography: any PairingCryptography
  private var state = State.fresh

  package init(channel: PairingChannel, desk: any PairingDesk, cryptography: any PairingCryptography) {
    self.channel = channel
    self.desk = desk
    self.cryptography = cryptography
  }

  /// Whether the guest has not proved yet that it knows a code.
  package var isUnproved: Bool {
    if case .awaitingProof = state { return true }
    return false
  }

  /// When a tick is due, if any.
  package var deadline: Tick? {
    switch state {
    case .fresh, .ended: nil
    case .awaitingProof(let until), .awaitingRequest(_, let until), .awaitingStored(_, _, let until): until
    }
  }

  /// Takes in one event.
  package mutating func handle(_ event: Event, now: Tick) -> [Effect] {
    switch event {
    case .opened: return open(now)
    case .crowded:
      guard isUnproved else { return [] }
      return refuse(PairingRefusal(.busy, "Too many devices want to join at once. Try again in a minute."))
    case .closed:
      end()
      return []
    case .tick:
      guard let deadline, now >= deadline else { return [] }
      end()
      return [.send(.abandon(sentence: "The other device took too long. Start the join again.")), .close]
    case .frame(let type, let payload):
      if case .ended = state { return [] }  // What was on its way when we closed.
      do {
        return try take(try PairingMessageCodec.decode(type: type, payload: payload), now)
      } catch let refusal as PairingRefusal {
        return refuse(refusal)
      } catch is DecodingViolation {
        return refuse(Self.unexpected)
      } catch {
        return refuse(Self.failed) + [.fault(String(describing: error))]
      }
    }
  }

  private mutating func open(_ now: Tick) -> [Effect] {
    guard case .fresh = state else { return [] }  // A link opens once.
    state = .awaitingProof(until: now.advanced(byMilliseconds: PairingDeadline.answerMilliseconds))
    return [.send(.welcome(version: PairingMessage.version, salt: desk.salt))]
  }

  private mutating func take(_ message: PairingMessage, _ now: Tick) throws -> [Effect] {
    if case .abandon = message {
      end()
      return [.close]
    }
    switch (state, message) {
    case (.awaitingProof, .proof(let mac)): return try judge(mac, now)
    case (.awaitingRequest(let invitation, _), .request(let signingRequest, let deviceName)):
      let completion = try desk.prepareJoin(
        signingRequest: signingRequest, deviceName: deviceName, guestPublicKey: channel.guestPublicKey,
        invitation: invitation)
      guard PairingMessageCodec.encode(.complete(completion)).payload.count <= Limits.messageBytes else {
        throw PairingRefusal(.failed, "The household's membership log is too large for one message.")
      }
      state = .awaitingStored(
        invitation, completion, until: now.advanced(byMilliseconds: PairingDeadline.answerMilliseconds))
      return [.send(.complete(completion))]
    case (.awaitingStored(let invitation, let completion, _), .stored):
      return commit(completion, invitation)
    case (.fresh, _), (.ended, _), (.awaitingProof, _), (.awaitingRequest, _), (.awaitingStored, _):
      throw Self.unexpected
    }
  }

  /// Compares the proof with every key, whether or not one fitted before: the time tells nothing.
  private mutating func judge(_ mac: [UInt8], _ now: Tick) throws -> [Effect] {
    let transcript = channel.guestTranscript
    let fitting = try desk.invitations().filter { invitation in
      cryptography.areEqual(mac, cryptography.authenticationCode(key: invitation.key, message: transcript))
    }
    guard let invitation = fitting.first(where: { $0.state == .open }) ?? fitting.first else {
      let left = try desk.countWrongTry()
      throw PairingRefusal(.wrong, Self.wrongSentence(triesLeft: left), triesLeft: left)
    }
    if let refusal = Self.refusal(of: invitation.state) { throw refusal }
    guard desk.reserve(invitation.id) else {
      throw PairingRefusal(.busy, "Another device is joining with this code right now. Try again in a minute.")
    }
    state = .awaitingRequest(
      invitation.id, until: now.advanced(byMilliseconds: PairingDeadline.decisionMilliseconds))
    let preview = try desk.preview(of: invitation.id)
    let own = cryptography.authenticationCode(key: invitation.key, message: channel.hostTranscript)
    return [.send(.preview(mac: own, preview))]
  }

  /// If the log cannot be written, the link ends without a word: the guest is joined all the same, see the type.
  private mutating func commit(_ completion: PairingCompletion, _ invitation: InvitationID) -> [Effect] {
    defer { end() }
    do {
      try desk.commitJoin(completion, invitation: invitation)
    } catch {
      return [.close, .fault(String(describing: error))]
    }
    return [.send(.committed), .paired(invitation), .close]
  }

  private mutating func refuse(_ refusal: PairingRefusal) -> [Effect] {
    end()
    return [.send(.refused(refusal)), .close]
  }

  private mutating func end() {
    switch state {
    case .awaitingRequest(let invitation, _), .awaitingStored(let invitation, _, _): desk.release(invitation)
    case .fresh, .awaitingProof, .ended: break
    }
    state = .ended
  }

  private static let unexpected = PairingRefusal(
    .unexpected, "The other device did not keep to the pairing. Use the same version on both devices.")
  private static let failed = PairingRefusal(
    .failed, "The inviting device could not do its part. Look at its status, then start the join again.")

  private static func wrongSentence(triesLeft: Int) -> String {
    triesLeft > 0
      ? "The code is wrong. Compare it with the inviting device; tries left: \(triesLeft)."
      : "The code is wrong, and no tries are left. Ask for a new invitation."
  }

  /// What a guest hears whose invitation is in this state; nil if it can be used.
  package static func refusal(of state: PairingInvitation.State) -> PairingRefusal? {
    switch state {
    case .open: nil
    case .used: PairingRefusal(.used, "This invitation was used already. Ask for a new one.")
    case .expired: PairingRefusal(.expired, "This invitation has expired. Ask for a new one.")
    case .cancelled: PairingRefusal(.cancelled, "This invitation was cancelled. Ask for a new one.")
    case .locked:
      PairingRefusal(.locked, "This invitation is locked after too many wrong tries. Ask for a new one.")
    }
  }
}
