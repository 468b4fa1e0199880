import COpenSSL

/// What both sides of a pairing make of the code, and prove to each other without showing it.
///
/// scrypt with N = 2^15, r = 8, p = 1 (RFC 7914): about 80 ms and 32 MiB for every guess.
package struct PairingSecret: Sendable, CustomStringConvertible {
  /// 32 bytes; never printed.
  package let key: [UInt8]

  /// Derives the secret from the code's bytes; takes a noticeable time, so never on the loop's thread.
  package init(code: [UInt8], salt: [UInt8]) throws(TrustError) {
    var key = [UInt8](repeating: 0, count: 32)
    let derived = unsafe household_scrypt(
      code, code.count, salt, salt.count, 1 << 15, 8, 1, 64 << 20, &key, key.count)
    guard derived == 1 else { throw .openSSL(call: "EVP_PBE_scrypt") }
    self.key = key
  }

  /// HMAC-SHA256 over what the proof is about: exporter, role and both public keys.
  package func proof(of transcript: [UInt8]) -> [UInt8] { messageAuthenticationCode(key: key, message: transcript) }

  /// Whether `proof` is that of the transcript; takes the same time for every wrong one.
  package func isProof(_ proof: [UInt8], of transcript: [UInt8]) -> Bool {
    areEqualInConstantTime(proof, self.proof(of: transcript))
  }

  /// A fixed text: the secret is never printed.
  package var description: String { "pairing secret" }
}

/// HMAC-SHA256 (RFC 2104): 32 bytes.
package func messageAuthenticationCode(key: [UInt8], message: [UInt8]) -> [UInt8] {
  var code = [UInt8](repeating: 0, count: 32)
  var count: UInt32 = 32
  let made = unsafe HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &code, &count)
  precondition(unsafe made != nil && count == 32, "HMAC-SHA256 takes any key and message")
  return code
}

/// Whether two byte strings are equal, in a time that depends on their lengths only.
package func areEqualInConstantTime(_ a: [UInt8], _ b: [UInt8]) -> Bool {
  guard a.count == b.count else { return false }
  return unsafe CRYPTO_memcmp(a, b, a.count) == 0
}

/// Random numbers of OpenSSL's generator, fit for keys and nonces.
package struct SecureRandom: RandomNumberGenerator, Sendable {
  package init() {}

  /// The next 64 random bits.
  package mutating func next() -> UInt64 { Self.bytes(8).reduce(0) { $0 << 8 | UInt64($1) } }

  /// This many random bytes.
  package static func bytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    precondition(unsafe RAND_bytes(&bytes, Int32(count)) == 1, "the system gives no randomness: no key is safe here")
    return bytes
  }
}
