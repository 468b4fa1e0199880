package import HouseholdRecords
import HouseholdTrust

/// Cryptography for simulated households: the real SHA-256, and signatures that are keyed hashes.
///
/// It is some fifty times quicker than Ed25519 and finds every forgery that the real one does: whoever lacks the
/// secret of this household, or signs for another key, or changes a byte, gives a signature that is not valid. (Whoever
/// checks could sign too; no simulated device does.)
package struct SimulatedCryptography: Cryptography {
  private static let hashing = OpenSSLCryptography()
  private let secret: [UInt8]

  package init(secret: [UInt8]) { self.secret = secret }

  package func sha256(_ bytes: [UInt8]) -> [UInt8] { Self.hashing.sha256(bytes) }

  package func isValid(signature: [UInt8], message: [UInt8], publicKey: [UInt8]) -> Bool {
    signature == self.signature(of: message, publicKey: publicKey)
  }

  package func isDeviceCertificate(_ certificate: [UInt8], publicKey: [UInt8], sharePublicKey: [UInt8]) -> Bool {
    false
  }

  /// 64 bytes that only the holder of the secret can make.
  fileprivate func signature(of message: [UInt8], publicKey: [UInt8]) -> [UInt8] {
    let inner = sha256(message)
    let first = sha256(secret + publicKey + inner)
    return first + sha256(secret + first)
  }

  /// A key pair of this household; the same bytes give the same one.
  package func key(_ seed: [UInt8]) -> SimulatedKey {
    // The first bytes are those of every Ed25519 key in DER.
    let publicKey = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00] + sha256(seed)
    return SimulatedKey(publicKey: publicKey, device: deviceID(publicKey: publicKey), cryptography: self)
  }
}

/// The key of a simulated device.
package struct SimulatedKey: DeviceSigner {
  package let publicKey: [UInt8]
  package let device: DeviceID
  fileprivate let cryptography: SimulatedCryptography

  package func signature(of message: [UInt8]) -> [UInt8] {
    cryptography.signature(of: message, publicKey: publicKey)
  }
}
