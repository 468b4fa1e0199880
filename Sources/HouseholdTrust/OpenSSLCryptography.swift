import COpenSSL
import HouseholdRecords

/// The cryptography of records and membership, by OpenSSL.
package struct OpenSSLCryptography: Cryptography {
  private let keys = KnownKeys()

  package init() {}

  /// SHA-256 of the bytes: 32 bytes.
  package func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    _ = unsafe SHA256(bytes, bytes.count, &digest)
    return digest
  }

  /// Whether the signature was made with the private half of an Ed25519 key; false for anything else.
  package func isValid(signature: [UInt8], message: [UInt8], publicKey: [UInt8]) -> Bool {
    do throws(TrustError) {
      return try keys.verifying(publicKey).isValid(signature: signature, message: message)
    } catch {
      return false
    }
  }

  /// Whether this is a device certificate that the share signed for this key.
  package func isDeviceCertificate(_ certificate: [UInt8], publicKey: [UInt8], sharePublicKey: [UInt8]) -> Bool {
    do throws(TrustError) {
      return try DeviceCertificate(der: certificate, sharePublicKey: sharePublicKey).publicKey == publicKey
    } catch {
      return false
    }
  }
}
