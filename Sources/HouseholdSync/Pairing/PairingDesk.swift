package import HouseholdRecords

/// What a pairing needs of cryptography; `HouseholdTrust` has it.
package protocol PairingCryptography: Sendable {
  /// scrypt of the code: slow on purpose, so that guessing is; never called by the host's machine.
  func pairingKey(code: [UInt8], salt: [UInt8]) -> [UInt8]
  /// HMAC-SHA256: 32 bytes.
  func authenticationCode(key: [UInt8], message: [UInt8]) -> [UInt8]
  /// Whether both are equal, in a time that depends on their lengths only.
  func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool
}

/// What both sides of a pairing see of their TLS link: a man in the middle has two links, with different exporters.
package struct PairingChannel: Hashable, Sendable {
  /// Keying material exported from the TLS session (RFC 8446, 7.5).
  package var exporter: [UInt8]
  /// SubjectPublicKeyInfo of the guest's certificate, DER.
  package var guestPublicKey: [UInt8]
  /// SubjectPublicKeyInfo of the host's certificate, DER.
  package var hostPublicKey: [UInt8]

  package init(exporter: [UInt8], guestPublicKey: [UInt8], hostPublicKey: [UInt8]) {
    self.exporter = exporter
    self.guestPublicKey = guestPublicKey
    self.hostPublicKey = hostPublicKey
  }

  /// What the guest's proof is made over.
  package var guestTranscript: [UInt8] { exporter + Array("guest".utf8) + guestPublicKey + hostPublicKey }

  /// What the host's proof is made over.
  package var hostTranscript: [UInt8] { exporter + Array("host".utf8) + guestPublicKey + hostPublicKey }
}

/// An invitation as the pairing sees it.
package struct PairingInvitation: Hashable, Sendable {
  /// Whether it can be used.
  package enum State: Hashable, Sendable { case open, used, expired, cancelled, locked }

  package var id: InvitationID
  /// scrypt of the code with the desk's salt.
  package var key: [UInt8]
  package var state: State

  package init(id: InvitationID, key: [UInt8], state: State) {
    self.id = id
    self.key = key
    self.state = state
  }
}

/// Where the host's side of a pairing finds and leaves its facts; one desk serves all pairing links of a node.
///
/// Calls are synchronous, and what they write is durable when they return. A method that says no for a reason the
/// guest should read throws ``PairingRefusal``; any other error is a fault of this machine.
package protocol PairingDesk: AnyObject {
  /// The salt with which all keys here were derived: 16 bytes, the same for all invitations, as the guest cannot say
  /// which one it means.
  var salt: [UInt8] { get }
  /// All open invitations, and those closed in the last days with the reason.
  func invitations() throws -> [PairingInvitation]
  /// Counts a wrong try against every open invitation; the third locks it, also after a restart.
  ///
  /// - Returns: the most tries that any invitation has left.
  func countWrongTry() throws -> Int
  /// Holds the invitation for one link; false if another link has it. As long as it is held it does not expire.
  func reserve(_ invitation: InvitationID) -> Bool
  /// Lets go of the invitation.
  func release(_ invitation: InvitationID)
  /// What a guest with this invitation is about to join.
  func preview(of invitation: InvitationID) throws -> PairingPreview
  /// Signs the certificate and the join entry, and puts nothing into the log.
  ///
  /// From here on the invitation answers to this key only, also after a restart: the guest may hold a join that this
  /// node does not have. The same key may ask again; one that was cancelled meanwhile is refused.
  ///
  /// - Parameter guestPublicKey: the key of the link, which the signing request must be for.
  func prepareJoin(
    signingRequest: [UInt8], deviceName: String, guestPublicKey: [UInt8], invitation: InvitationID
  ) throws -> PairingCompletion
  /// Puts the join into the log and marks the invitation as used, in one transaction; also if it was cancelled after the
  /// join was signed, as the guest has it and it counts.
  func commitJoin(_ completion: PairingCompletion, invitation: InvitationID) throws
}

/// How long each side waits for the other.
package enum PairingDeadline {
  /// For an answer that needs no person.
  package static let answerMilliseconds: Int64 = 30_000
  /// For the person at the guest.
  package static let decisionMilliseconds: Int64 = 300_000
}
