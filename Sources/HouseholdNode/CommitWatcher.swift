internal import HouseholdTransport

/// Tells an app's observers, from a thread of its own, that some program may have written to the replica.
///
/// Whoever made it calls `stop`. Unchecked: the watcher and the listeners are used on the loop's thread only.
package final class CommitWatcher: @unchecked Sendable {
  private let loop: EventLoop
  private var watcher: ReplicaWatcher?
  private var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
  private var lastListener = 0
  /// Whether it watches no more: a loop that has ended runs nothing, so what comes later must not be left to it.
  private let isOver = Lock(false)

  /// Watches from now on.
  package init(_ directory: DataDirectory) async throws {
    loop = try EventLoop()
    do {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        loop.submit { [self] in
          do {
            watcher = try ReplicaWatcher(directory, loop: loop) { [weak self] in
              self?.tell()
              return false
            }
            continuation.resume()
          } catch {
            continuation.resume(throwing: error)
          }
        }
      }
    } catch {
      loop.stop()
      throw error
    }
  }

  /// Watches no more, ends all signals and waits for the thread's end.
  package func stop() {
    isOver.withLock { $0 = true }
    loop.submit { [self] in
      watcher?.stop()
      for listener in listeners.values { listener.finish() }
      listeners = [:]
    }
    loop.stop()
  }

  private func tell() { for listener in listeners.values { listener.yield() } }

  /// A signal for each time when it is worth to look, and every two seconds; signals that nobody took are one.
  package func signals() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    // Whatever was written before the listener was there.
    continuation.yield()
    isOver.withLock { isOver in
      if isOver { return continuation.finish() }
      loop.submit { [self] in
        lastListener += 1
        let number = lastListener
        listeners[number] = continuation
        continuation.onTermination = { [weak self] _ in
          self?.loop.submit { [weak self] in self?.listeners[number] = nil }
        }
      }
    }
    return stream
  }
}
