internal import HouseholdRecords
package import HouseholdTransport
package import HouseholdTrust

/// The certificates and keys of a device, read from the data directory and checked against each other.
package struct NodeKeys: Sendable {
  package let share: ShareCertificate
  package let device: DeviceCertificate
  package let key: KeyPair
  /// The share with its key; owners have it.
  package let authority: ShareAuthority?

  /// Reads and checks the files.
  package init(_ directory: DataDirectory) throws {
    do {
      share = try ShareCertificate(contentsOf: directory.shareCertificate)
      device = try DeviceCertificate(contentsOf: directory.deviceCertificate, sharePublicKey: share.publicKey)
      key = try KeyPair(contentsOf: directory.deviceKey)
      authority =
        DataDirectory.exists(directory.shareKey)
        ? try ShareAuthority(certificate: share, key: try KeyPair(contentsOf: directory.shareKey)) : nil
    } catch {
      throw NodeError(
        .keys, "A key or certificate in \(directory.shareFolder) cannot be used: \(error)",
        remedy: "Restore the folder from a copy, or pair this device again.")
    }
    guard key.publicKey == device.publicKey else {
      throw NodeError(
        .keys, "The key in \(directory.deviceKey) does not belong to the certificate beside it.",
        remedy: "Restore the folder from a copy, or pair this device again.")
    }
  }

  /// What this node shows and accepts on its links.
  package func context() throws -> TLSContext {
    do {
      return try TLSContext(
        identity: TLSIdentity(certificate: device.der, privateKey: try key.privateKey()),
        applications: [.household, .pairing], verification: ShareVerification(sharePublicKey: share.publicKey))
    } catch {
      throw NodeError(.keys, "TLS does not take the keys of this device: \(error)", remedy: "Pair this device again.")
    }
  }
}

/// Lets in whose certificate this household's share signed; what they may do is the membership log's business.
struct ShareVerification: PeerVerification {
  let sharePublicKey: [UInt8]

  func device(of certificate: [UInt8]) throws(PeerRefusal) -> VerifiedDevice {
    do {
      let parsed = try DeviceCertificate(der: certificate, sharePublicKey: sharePublicKey)
      return VerifiedDevice(device: parsed.device, member: parsed.member)
    } catch {
      switch error {
      case .signedByAnotherShare, .identityOfAnotherHousehold: throw .otherHousehold
      default: throw .malformed("\(error)")
      }
    }
  }
}
