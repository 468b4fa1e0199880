/// What the replica and the membership log need of cryptography; `HouseholdTrust` provides it.
package protocol Cryptography: Sendable {
  /// SHA-256 of the bytes: 32 bytes.
  func sha256(_ bytes: [UInt8]) -> [UInt8]

  /// Whether `signature` over `message` was made with the private half of `publicKey`.
  ///
  /// - Parameter publicKey: a SubjectPublicKeyInfo in DER, Ed25519; any other kind of key gives false.
  func isValid(signature: [UInt8], message: [UInt8], publicKey: [UInt8]) -> Bool

  /// Whether `certificate` is a device certificate that this share signed for this key.
  ///
  /// - Parameters:
  ///   - certificate: X.509 in DER. Its dates are not judged (R6).
  ///   - sharePublicKey: SubjectPublicKeyInfo in DER.
  func isDeviceCertificate(_ certificate: [UInt8], publicKey: [UInt8], sharePublicKey: [UInt8]) -> Bool
}

extension Cryptography {
  /// The household that a share's public key stands for.
  package func householdID(sharePublicKey: [UInt8]) -> HouseholdID {
    hashed(sharePublicKey)
  }

  /// The device that a public key stands for.
  package func deviceID(publicKey: [UInt8]) -> DeviceID {
    hashed(publicKey)
  }

  /// The replica that a device begins with this nonce (D4).
  package func replicaID(device: DeviceID, nonce: ReplicaNonce) -> ReplicaID {
    guard let id = ReplicaID(bytes: sha256(device.bytes + nonce.bytes).prefix(ReplicaID.byteCount)) else {
      preconditionFailure("SHA-256 gives 32 bytes")
    }
    return id
  }

  /// SHA-256 of the bytes as an identifier of this kind.
  package func hashed<Kind>(_ bytes: [UInt8]) -> Identifier256<Kind> {
    guard let id = Identifier256<Kind>(bytes: sha256(bytes)) else { preconditionFailure("SHA-256 gives 32 bytes") }
    return id
  }
}

/// Signs with the private key of this device; the key itself never leaves the implementation.
package protocol DeviceSigner: Sendable {
  /// The device whose key it is.
  var device: DeviceID { get }
  /// The public half: SubjectPublicKeyInfo, DER.
  var publicKey: [UInt8] { get }
  /// An Ed25519 signature of the message: 64 bytes.
  func signature(of message: [UInt8]) throws -> [UInt8]
}
