import COpenSSL
package import HouseholdRecords

/// A request for a device certificate (PKCS#10): proves that whoever asks holds the key.
package struct SigningRequest: Sendable, Hashable {
  /// PKCS#10, DER.
  package let der: [UInt8]
  /// SubjectPublicKeyInfo of the device, DER.
  package let publicKey: [UInt8]
  /// The device that asks.
  package let device: DeviceID

  /// Reads a request and checks that its own key signed it.
  package init(der: [UInt8]) throws(TrustError) {
    let request = try RequestHandle(der: der)
    let key = try unsafe KeyHandle(taking: X509_REQ_get_pubkey(request.pointer))
    defer { ERR_clear_error() }
    guard unsafe X509_REQ_verify(request.pointer, key.pointer) == 1 else { throw .notASigningRequest }
    self.der = der
    publicKey = try key.publicKey()
    device = OpenSSLCryptography().deviceID(publicKey: publicKey)
  }

  /// A request for this key pair.
  package static func make(for keyPair: KeyPair) throws(TrustError) -> Self {
    guard let pointer = unsafe X509_REQ_new() else { throw .openSSL(call: "X509_REQ_new") }
    let request = unsafe RequestHandle(pointer)
    let name = Array("household device \(keyPair.device.description.prefix(16))".utf8)
    guard unsafe X509_REQ_set_version(pointer, 0) == 1,
      unsafe household_add_common_name(X509_REQ_get_subject_name(pointer), name, Int32(name.count)) == 1,
      unsafe X509_REQ_set_pubkey(pointer, keyPair.handle.pointer) == 1,
      unsafe X509_REQ_sign(pointer, keyPair.handle.pointer, nil) > 0
    else { throw .openSSL(call: "X509_REQ_sign") }
    return try Self(der: request.der())
  }
}

/// Owns one PKCS#10 request of OpenSSL's.
@safe private final class RequestHandle {
  let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

  deinit { unsafe X509_REQ_free(pointer) }

  convenience init(der: [UInt8]) throws(TrustError) {
    let request = unsafe der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var cursor = buffer.baseAddress
      guard let read = unsafe d2i_X509_REQ(nil, &cursor, buffer.count) else { return nil }
      guard unsafe cursor == buffer.baseAddress.map({ unsafe $0 + buffer.count }) else {
        unsafe X509_REQ_free(read)
        return nil
      }
      return unsafe read
    }
    ERR_clear_error()
    guard let request = unsafe request else { throw .notASigningRequest }
    unsafe self.init(request)
  }

  func der() throws(TrustError) -> [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = unsafe i2d_X509_REQ(pointer, &bytes)
    guard count > 0, let bytes = unsafe bytes else { throw .openSSL(call: "i2d_X509_REQ") }
    defer { unsafe CRYPTO_free(bytes, #file, #line) }
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
  }
}
