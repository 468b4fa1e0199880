package import HouseholdRecords

/// What a connection is for, agreed in the handshake (ALPN).
package enum LinkApplication: String, Hashable, Sendable, CaseIterable {
  /// Members' devices talk to each other.
  case household = "household/1"
  /// A guest joins.
  case pairing = "household-pair/1"
}

/// The device that a verified certificate names.
package struct VerifiedDevice: Hashable, Sendable {
  package let device: DeviceID
  package let member: MemberID

  package init(device: DeviceID, member: MemberID) {
    self.device = device
    self.member = member
  }
}

/// Why a peer's certificate was refused.
package enum PeerRefusal: Error, Hashable, Sendable {
  /// Another share signed it, or none did.
  case otherHousehold
  /// It is wrong in itself; the text says how.
  case malformed(String)
}

/// Judges the certificates that peers show; `HouseholdTrust` knows how, `HouseholdNode` introduces the two.
///
/// Called on the loop's thread in the middle of a handshake, so it must not wait for anything.
package protocol PeerVerification: Sendable {
  /// The device that this certificate (X.509, DER) names, if the pinned share signed it; dates never refuse (R6).
  func device(of certificate: [UInt8]) throws(PeerRefusal) -> VerifiedDevice

  /// Whether a pairing link that we dialled may go on with this host.
  func accepts(host certificate: [UInt8], publicKey: [UInt8]) -> Bool
}

extension PeerVerification {
  /// Any host is accepted: the pairing protocol pins it afterwards.
  package func accepts(host certificate: [UInt8], publicKey: [UInt8]) -> Bool { true }
}
