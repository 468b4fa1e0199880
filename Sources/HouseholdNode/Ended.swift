internal import Glibc

/// Tells a thread that waits that what it waits for has ended, and how.
///
/// Unchecked: the error is written before the semaphore is raised and read after it was taken.
@safe final class Ended: @unchecked Sendable {
  private let semaphore: UnsafeMutablePointer<sem_t>
  private var error: (any Error)?

  init() {
    unsafe semaphore = .allocate(capacity: 1)
    let result = unsafe sem_init(semaphore, 0, 0)
    precondition(result == 0, "a semaphore of this process needs no resources that can be missing")
  }

  deinit {
    unsafe sem_destroy(semaphore)
    unsafe semaphore.deallocate()
  }

  /// It has ended; once only.
  func tell(_ error: (any Error)?) {
    self.error = error
    unsafe sem_post(semaphore)
  }

  /// Waits for the end, and gives the error, if there was one.
  func wait() -> (any Error)? {
    while unsafe sem_wait(semaphore) != 0 {}
    return error
  }
}
