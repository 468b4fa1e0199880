import Glibc

/// The public keys that signatures were checked with last, ready for the next.
///
/// Unchecked: what changes is behind a lock.
@safe final class KnownKeys: @unchecked Sendable {
  /// How many are kept: the devices of a household, as a rule.
  private static let limit = 32

  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var contexts: [[UInt8]: ReadyContext] = [:]

  init() {
    unsafe mutex = .allocate(capacity: 1)
    let result = unsafe pthread_mutex_init(mutex, nil)
    precondition(result == 0, "a mutex needs no resources that can be missing")
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// What verifies with this key, a SubjectPublicKeyInfo in DER.
  func verifying(_ publicKey: [UInt8]) throws(TrustError) -> ReadyContext {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    if let known = contexts[publicKey] { return known }
    let made = try ReadyContext(.verifying, with: KeyHandle(publicKey: publicKey))
    if contexts.count >= Self.limit { contexts = [:] }
    contexts[publicKey] = made
    return made
  }
}
