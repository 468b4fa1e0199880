package import HouseholdRecords

/// What two devices say to each other on a pairing link, in the order of the cases.
package enum PairingMessage: Hashable, Sendable {
  /// Host: begins, with the salt for the code.
  case welcome(version: UInt64, salt: [UInt8])
  /// Guest: knows the code.
  case proof(mac: [UInt8])
  /// Host: knows it, too; this is what the guest is about to join.
  case preview(mac: [UInt8], PairingPreview)
  /// Host: no, and why.
  case refused(PairingRefusal)
  /// Guest: the person confirmed.
  case request(signingRequest: [UInt8], deviceName: String)
  /// Host: everything that the guest needs, also to be a member without the host.
  case complete(PairingCompletion)
  /// Guest: all of it is durable here.
  case stored
  /// Host: the join is in the log here.
  case committed
  /// Either: ends the pairing, and why.
  case abandon(sentence: String)

  /// The version of the pairing protocol.
  package static let version: UInt64 = 1
  /// The length of the salt, in bytes.
  package static let saltBytes = 16
  /// The length of a proof, in bytes: HMAC-SHA256.
  package static let macBytes = 32
}

/// What a guest is shown before the person confirms.
package struct PairingPreview: Hashable, Sendable {
  package var household: HouseholdID
  package var householdName: String
  /// X.509, DER.
  package var shareCertificate: [UInt8]
  package var inviterMember: String
  package var inviterDevice: String
  /// As whom the guest is invited.
  package var member: MemberID
  package var memberName: String
  package var role: Role
  /// Whether it is another device of the inviting member.
  package var isDeviceInvitation: Bool
  package var schemaName: String
  package var recordCounts: [RecordCount]
  package var memberNames: [String]

  package init(
    household: HouseholdID, householdName: String, shareCertificate: [UInt8], inviterMember: String,
    inviterDevice: String, member: MemberID, memberName: String, role: Role, isDeviceInvitation: Bool,
    schemaName: String, recordCounts: [RecordCount], memberNames: [String]
  ) {
    self.household = household
    self.householdName = householdName
    self.shareCertificate = shareCertificate
    self.inviterMember = inviterMember
    self.inviterDevice = inviterDevice
    self.member = member
    self.memberName = memberName
    self.role = role
    self.isDeviceInvitation = isDeviceInvitation
    self.schemaName = schemaName
    self.recordCounts = recordCounts
    self.memberNames = memberNames
  }

  /// How many records of a type the household has.
  package struct RecordCount: Hashable, Sendable {
    package var type: String
    package var count: UInt64

    package init(type: String, count: UInt64) {
      self.type = type
      self.count = count
    }
  }
}

/// What makes the guest a device of the household.
package struct PairingCompletion: Hashable, Sendable {
  /// X.509, DER.
  package var deviceCertificate: [UInt8]
  /// X.509, DER.
  package var shareCertificate: [UInt8]
  /// The whole membership log, the signed join of this guest included.
  package var entries: [[UInt8]]
  /// Where the household's nodes were last seen, `HOST:PORT`.
  package var addresses: [String]

  package init(
    deviceCertificate: [UInt8], shareCertificate: [UInt8], entries: [[UInt8]], addresses: [String]
  ) {
    self.deviceCertificate = deviceCertificate
    self.shareCertificate = shareCertificate
    self.entries = entries
    self.addresses = addresses
  }
}

/// Why a host says no.
package struct PairingRefusal: Error, Hashable, Sendable {
  /// The kinds of refusals.
  package enum Code: UInt8, Sendable {
    case wrong = 1
    case used = 2
    case expired = 3
    case cancelled = 4
    case locked = 5
    case busy = 6
    /// The guest's message has no place here, or is none.
    case unexpected = 7
    /// The host could not do its part.
    case failed = 8
  }

  package var code: Code
  /// What happened, and the next step.
  package var sentence: String
  /// How many tries are left, after a wrong one.
  package var triesLeft: Int

  package init(_ code: Code, _ sentence: String, triesLeft: Int = 0) {
    self.code = code
    self.sentence = sentence
    self.triesLeft = triesLeft
  }
}
