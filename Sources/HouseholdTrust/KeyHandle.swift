import COpenSSL

/// Owns one Ed25519 key of OpenSSL's, private or public.
///
/// Unchecked: OpenSSL only reads a key that is made, from as many threads as like.
@safe final class KeyHandle: @unchecked Sendable {
  let pointer: OpaquePointer

  private init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

  deinit { unsafe EVP_PKEY_free(pointer) }

  /// What stands before the 32 bytes of a public key in its SubjectPublicKeyInfo (RFC 8410).
  static let publicPrefix: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]
  /// What stands before the 32 bytes of a private key in its PKCS#8 form (RFC 8410).
  static let privatePrefix: [UInt8] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
  ]

  /// A new private key from the system's randomness.
  static func generated() throws(TrustError) -> KeyHandle {
    guard let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil) else {
      throw .openSSL(call: "EVP_PKEY_CTX_new_id")
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_keygen(context, &key) == 1, let key = unsafe key
    else { throw .openSSL(call: "EVP_PKEY_keygen") }
    return unsafe KeyHandle(key)
  }

  /// The public key with this SubjectPublicKeyInfo: exactly one form is read, so a key has one hash.
  convenience init(publicKey: [UInt8]) throws(TrustError) {
    guard publicKey.count == Self.publicPrefix.count + 32, publicKey.starts(with: Self.publicPrefix) else {
      throw .notAKey
    }
    let raw = Array(publicKey.suffix(32))
    guard let key = unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, raw, raw.count) else { throw .notAKey }
    unsafe self.init(key)
  }

  /// The private key with this PKCS#8 form.
  convenience init(privateKey: [UInt8]) throws(TrustError) {
    guard privateKey.count == Self.privatePrefix.count + 32, privateKey.starts(with: Self.privatePrefix) else {
      throw .notAKey
    }
    let raw = Array(privateKey.suffix(32))
    guard let key = unsafe EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, raw, raw.count) else { throw .notAKey }
    unsafe self.init(key)
  }

  /// The key inside a certificate or request; takes the reference over.
  convenience init(taking key: OpaquePointer?) throws(TrustError) {
    guard let key = unsafe key else {
      ERR_clear_error()
      throw .notAKey
    }
    guard unsafe EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 else {
      unsafe EVP_PKEY_free(key)
      throw .wrongKindOfKey
    }
    unsafe self.init(key)
  }

  /// SubjectPublicKeyInfo in DER.
  func publicKey() throws(TrustError) -> [UInt8] {
    var raw = [UInt8](repeating: 0, count: 32)
    var count = raw.count
    guard unsafe EVP_PKEY_get_raw_public_key(pointer, &raw, &count) == 1, count == 32 else {
      throw .openSSL(call: "EVP_PKEY_get_raw_public_key")
    }
    return Self.publicPrefix + raw
  }

  /// PKCS#8 in DER.
  func privateKey() throws(TrustError) -> [UInt8] {
    var raw = [UInt8](repeating: 0, count: 32)
    var count = raw.count
    guard unsafe EVP_PKEY_get_raw_private_key(pointer, &raw, &count) == 1, count == 32 else {
      throw .openSSL(call: "EVP_PKEY_get_raw_private_key")
    }
    return Self.privatePrefix + raw
  }
}
