import COpenSSL

/// A context of OpenSSL's that is ready to sign or to verify with one key; each use works on a copy of it.
///
/// To make one OpenSSL looks its algorithms up, which takes a third of the time of a signature in a process that has not
/// signed just before. Unchecked: a context that is only copied changes no more.
@safe final class ReadyContext: @unchecked Sendable {
  /// What it is ready for.
  enum Purpose { case signing, verifying }

  private let pointer: OpaquePointer

  /// Makes it; throws if OpenSSL does not take the key for that.
  init(_ purpose: Purpose, with key: KeyHandle) throws(TrustError) {
    guard let pointer = unsafe EVP_MD_CTX_new() else { throw .openSSL(call: "EVP_MD_CTX_new") }
    let result =
      switch purpose {
      case .signing: unsafe EVP_DigestSignInit(pointer, nil, nil, nil, key.pointer)
      case .verifying: unsafe EVP_DigestVerifyInit(pointer, nil, nil, nil, key.pointer)
      }
    guard result == 1 else {
      unsafe EVP_MD_CTX_free(pointer)
      throw .openSSL(call: "EVP_DigestSignInit")
    }
    unsafe self.pointer = pointer
  }

  deinit { unsafe EVP_MD_CTX_free(pointer) }

  /// An Ed25519 signature of the message: 64 bytes.
  func signature(of message: [UInt8]) throws(TrustError) -> [UInt8] {
    guard let context = unsafe EVP_MD_CTX_new() else { throw .openSSL(call: "EVP_MD_CTX_new") }
    defer { unsafe EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: 64)
    var count = signature.count
    guard unsafe EVP_MD_CTX_copy_ex(context, pointer) == 1,
      unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1, count == 64
    else { throw .openSSL(call: "EVP_DigestSign") }
    return signature
  }

  /// Whether the signature of the message was made with the private half of the key.
  func isValid(signature: [UInt8], message: [UInt8]) -> Bool {
    guard signature.count == 64, let context = unsafe EVP_MD_CTX_new() else { return false }
    defer {
      unsafe EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    return unsafe EVP_MD_CTX_copy_ex(context, pointer) == 1
      && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }
}
