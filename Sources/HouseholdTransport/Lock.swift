import Glibc

/// A value that one thread at a time may use.
///
/// A pthread mutex and not `Synchronization.Mutex`, whose lock ThreadSanitizer cannot see on Linux. Unchecked: the
/// value is reached only while the mutex is held.
@safe package final class Lock<Value: Sendable>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  package init(_ value: Value) {
    unsafe mutex = .allocate(capacity: 1)
    self.value = value
    let result = unsafe pthread_mutex_init(mutex, nil)
    precondition(result == 0, "a mutex needs no resources that can be missing")
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// What `body` makes of the value; it must be short and take no other lock.
  package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
    -> Result
  {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
