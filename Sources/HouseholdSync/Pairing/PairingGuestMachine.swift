package import HouseholdRecords

/// The joining side of one pairing link: events in, effects out; see ``PairingHostMachine`` for why no half pair can
/// come of it.
///
/// A guest that starts again after it was killed and finds a membership that is stored and not in force puts it in
/// force: it cannot know whether it had said `stored`, the person had confirmed, and the join is valid by itself.
package struct PairingGuestMachine {
  /// What happens to it.
  package enum Event: Hashable, Sendable {
    /// The link is up.
    case opened
    case frame(type: UInt8, payload: [UInt8])
    /// The person wants it: with the signing request for the link's key.
    case confirmed(signingRequest: [UInt8], deviceName: String)
    /// The person does not want it.
    case declined
    /// All that `store` asked for was checked and is durable.
    case stored
    /// It is not what it should be, or could not be written.
    case storingFailed(sentence: String)
    /// Time goes on.
    case tick
    /// The link is gone.
    case closed
  }

  /// What it wants done.
  package enum Effect: Hashable, Sendable {
    case send(PairingMessage)
    /// Show it to the person and answer with `confirmed` or `declined`.
    case show(PairingPreview)
    /// Check certificates and entries against the previewed household, write everything, not in force yet, and answer
    /// with `stored` or `storingFailed`.
    case store(PairingCompletion)
    /// What was stored is in force: this device belongs to the household.
    case activate
    /// Forget what was stored, if anything.
    case discard
    /// The pairing came to nothing; the sentence is for the person.
    case fail(PairingFailure)
    /// Close the link after what was sent.
    case close
  }

  private enum State {
    case fresh
    case awaitingWelcome(until: Tick)
    case awaitingPreview(key: [UInt8], until: Tick)
    case deciding(PairingPreview, until: Tick)
    case awaitingCompletion(PairingPreview, until: Tick)
    case storing
    case awaitingCommit(until: Tick)
    case ended
  }

  private let code: InvitationCode
  /// Whom the link named, if there was one.
  private let expected: HouseholdID?
  private let channel: PairingChannel
  private let cryptography: any PairingCryptography
  private var state = State.fresh

  package init(
    code: InvitationCode, expecting household: HouseholdID? = nil, channel: PairingChannel,
    cryptography: any PairingCryptography
  ) {
    self.code = code
    expected = household
    self.channel = channel
    self.cryptography = cryptography
  }

  /// When a tick is due, if any.
  package var deadline: Tick? {
    switch state {
    case .fresh, .storing, .ended: nil
    case .awaitingWelcome(let until), .awaitingPreview(_, let until), .deciding(_, let until),
      .awaitingCompletion(_, let until), .awaitingCommit(let until):
      until
    }
  }

  /// Takes in one event.
  package mutating func handle(_ event: Event, now: Tick) -> [Effect] {
    switch event {
    case .opened:
      guard case .fresh = state else { return [] }  // A link opens once.
      state = .awaitingWelcome(until: answer(now))
      return []
    case .closed: return giveUp(.linkLost, saying: nil)
    case .tick:
      guard let deadline, now >= deadline else { return [] }
      return giveUp(.tooSlow, saying: "The answer took too long.")
    case .frame(let type, let payload): return take(type, payload, now)
    case .confirmed(let signingRequest, let deviceName):
      guard case .deciding(let preview, _) = state else { return [] }  // Came after the end of the link.
      state = .awaitingCompletion(preview, until: answer(now))
      return [.send(.request(signingRequest: signingRequest, deviceName: deviceName))]
    case .declined:
      guard case .deciding = state else { return [] }  // Came after the end of the link.
      return giveUp(.declined, saying: "The person at the other device declined.")
    case .stored:
      guard case .storing = state else { return [] }  // The link is gone, and `discard` was asked for.
      state = .awaitingCommit(until: answer(now))
      return [.send(.stored)]
    case .storingFailed(let sentence):
      guard case .storing = state else { return [] }  // The link is gone, and `discard` was asked for.
      return giveUp(.storing(sentence), saying: "The other device could not store the membership.")
    }
  }

  private mutating func take(_ type: UInt8, _ payload: [UInt8], _ now: Tick) -> [Effect] {
    if case .ended = state { return [] }  // What was on its way when we closed.
    let message: PairingMessage
    do {
      message = try PairingMessageCodec.decode(type: type, payload: payload)
    } catch {
      return giveUp(.unexpected, saying: "The host sent something that is no message of a pairing.")
    }
    switch (state, message) {
    case (_, .refused(let refusal)): return giveUp(.refused(refusal), saying: nil)
    case (_, .abandon(let sentence)): return giveUp(.abandoned(sentence), saying: nil)
    case (.awaitingWelcome, .welcome(let version, let salt)): return prove(version, salt, now)
    case (.awaitingPreview(let key, _), .preview(let mac, let preview)): return judge(mac, preview, key, now)
    case (.awaitingCompletion(let preview, _), .complete(let completion)):
      guard completion.shareCertificate == preview.shareCertificate else {
        return giveUp(.otherHousehold, saying: "The host gave another household than it had shown.")
      }
      state = .storing
      return [.store(completion)]
    case (.awaitingCommit, .committed):
      state = .ended
      return [.activate, .close]
    case (.fresh, _), (.awaitingWelcome, _), (.awaitingPreview, _), (.deciding, _), (.awaitingCompletion, _),
      (.storing, _), (.awaitingCommit, _), (.ended, _):
      return giveUp(.unexpected, saying: "The host sent a message that has no place now.")
    }
  }

  private mutating func prove(_ version: UInt64, _ salt: [UInt8], _ now: Tick) -> [Effect] {
    guard version == PairingMessage.version else {
      return giveUp(.otherVersion, saying: "The devices have different versions of the pairing.")
    }
    let key = cryptography.pairingKey(code: code.secret, salt: salt)
    state = .awaitingPreview(key: key, until: answer(now))
    return [.send(.proof(mac: cryptography.authenticationCode(key: key, message: channel.guestTranscript)))]
  }

  private mutating func judge(
    _ mac: [UInt8], _ preview: PairingPreview, _ key: [UInt8], _ now: Tick
  ) -> [Effect] {
    let good = cryptography.authenticationCode(key: key, message: channel.hostTranscript)
    guard cryptography.areEqual(mac, good) else {
      return giveUp(.notTheInviter, saying: "The host does not know the code.")
    }
    guard expected == nil || expected == preview.household else {
      return giveUp(.otherHousehold, saying: "The link names another household.")
    }
    state = .deciding(preview, until: now.advanced(byMilliseconds: PairingDeadline.decisionMilliseconds))
    return [.show(preview)]
  }

  /// Ends the pairing: without effect, or, once `stored` was said, with the membership in force whatever happens.
  private mutating func giveUp(_ failure: PairingFailure, saying sentence: String?) -> [Effect] {
    defer { state = .ended }
    switch state {
    case .ended: return []
    case .awaitingCommit: return [.activate, .close]
    case .fresh, .awaitingWelcome, .awaitingPreview, .deciding, .awaitingCompletion, .storing:
      let farewell = sentence.map { [Effect.send(.abandon(sentence: $0))] } ?? []
      return farewell + [.discard, .fail(failure), .close]
    }
  }

  private func answer(_ now: Tick) -> Tick { now.advanced(byMilliseconds: PairingDeadline.answerMilliseconds) }
}

/// Why a pairing came to nothing, at the guest.
package enum PairingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  case refused(PairingRefusal)
  case abandoned(String)
  case linkLost
  case tooSlow
  case declined
  case unexpected
  case otherVersion
  /// The host did not prove the code: perhaps someone is in between.
  case notTheInviter
  case otherHousehold
  case storing(String)

  /// Whether the code is of no use any more to whoever asked.
  package var endsCode: Bool {
    guard case .refused(let refusal) = self else { return false }
    return switch refusal.code {
    case .used, .expired, .cancelled, .locked: true
    case .wrong, .busy, .unexpected, .failed: false
    }
  }

  package var description: String {
    switch self {
    case .refused(let refusal): refusal.sentence
    case .abandoned(let sentence): sentence
    case .linkLost: "The link to the inviting device was lost; nothing was joined. Start the join again."
    case .tooSlow: "The pairing took too long; nothing was joined. Start the join again."
    case .declined: "Nothing was joined."
    case .unexpected: "The inviting device did not keep to the pairing. Use the same version on both devices."
    case .otherVersion: "The inviting device has another version of household. Update the older one."
    case .notTheInviter:
      "The device at that address did not make this code. Check the address; nothing was joined."
    case .otherHousehold: "The device at that address belongs to another household than the link names."
    case .storing(let sentence): sentence
    }
  }
}
