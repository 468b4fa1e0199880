package import HouseholdRecords

/// An Ed25519 key pair of a device or of the share; printing it never shows the private half.
package final class KeyPair: DeviceSigner, CustomStringConvertible, CustomReflectable {
  /// SubjectPublicKeyInfo, DER.
  package let publicKey: [UInt8]
  /// SHA-256 of the public key.
  package let device: DeviceID
  let handle: KeyHandle
  private let signing: ReadyContext

  private init(handle: KeyHandle) throws(TrustError) {
    self.handle = handle
    signing = try ReadyContext(.signing, with: handle)
    publicKey = try handle.publicKey()
    device = OpenSSLCryptography().deviceID(publicKey: publicKey)
  }

  /// A new key pair from the system's randomness.
  package static func generate() throws(TrustError) -> KeyPair { try KeyPair(handle: .generated()) }

  /// The key pair whose private half is this PKCS#8 in DER.
  package convenience init(privateKey: [UInt8]) throws(TrustError) {
    try self.init(handle: KeyHandle(privateKey: privateKey))
  }

  /// The key pair in a PEM file.
  package convenience init(contentsOf path: String) throws(TrustError) {
    try self.init(privateKey: PEM.decoded(DurableFile(path: path).read(), label: PEM.privateKey))
  }

  /// Writes the key as PKCS#8 in PEM, readable by its owner only, durable when this returns.
  package func save(to path: String) throws(TrustError) {
    try DurableFile(path: path).write(PEM.encoded(handle.privateKey(), label: PEM.privateKey), mode: 0o600)
  }

  /// The private half as PKCS#8 in DER: for TLS, and for handing the share's key to a new owner.
  package func privateKey() throws(TrustError) -> [UInt8] { try handle.privateKey() }

  /// An Ed25519 signature of the message: 64 bytes.
  package func signature(of message: [UInt8]) throws -> [UInt8] { try signing.signature(of: message) }

  /// The key pair by its device id.
  package var description: String { "key \(device)" }

  /// Shows the public half only, so that a dump cannot leak the key.
  package var customMirror: Mirror { Mirror(self, children: ["device": device]) }
}
