import Foundation
import Testing

/// Runs a test on threads of its own: one that waits for processes would hold up all others in the shared pool.
struct OwnThread: TestTrait, SuiteTrait, TestScoping {
  private final class ThreadForEachJob: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let executor = asUnownedTaskExecutor()
      Thread.detachNewThread { job.runSynchronously(on: executor) }
    }
  }

  var isRecursive: Bool { true }

  @concurrent func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(ThreadForEachJob()) { try await function() }
  }
}

extension Trait where Self == OwnThread {
  /// On threads of its own.
  static var ownThread: OwnThread { OwnThread() }
}
