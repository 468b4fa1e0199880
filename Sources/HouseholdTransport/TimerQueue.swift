/// Names one timer of an event loop.
package struct TimerID: Hashable, Sendable {
  let number: UInt64
}

/// The timers of one event loop: a binary heap by deadline, in microseconds of the loop's clock; cancelled ones are
/// skipped when they come up.
struct TimerQueue {
  private var heap: [(deadline: Int64, id: TimerID)] = []
  private var bodies: [TimerID: @Sendable () -> Void] = [:]

  /// The deadline of the next timer that was not cancelled.
  mutating func nextDeadline() -> Int64? {
    while let first = heap.first, bodies[first.id] == nil { removeFirst() }
    return heap.first?.deadline
  }

  mutating func insert(_ id: TimerID, deadline: Int64, body: @escaping @Sendable () -> Void) {
    bodies[id] = body
    heap.append((deadline, id))
    var child = heap.count - 1
    while child > 0, precedes(child, (child - 1) / 2) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func cancel(_ id: TimerID) { bodies[id] = nil }

  /// Takes the next timer that is due, if any.
  mutating func takeDue(_ now: Int64) -> (@Sendable () -> Void)? {
    guard let deadline = nextDeadline(), deadline <= now, let first = heap.first else { return nil }
    removeFirst()
    return bodies.removeValue(forKey: first.id)
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while 2 * parent + 1 < heap.count {
      var child = 2 * parent + 1
      if child + 1 < heap.count, precedes(child + 1, child) { child += 1 }
      guard precedes(child, parent) else { return }
      heap.swapAt(child, parent)
      parent = child
    }
  }

  private func precedes(_ a: Int, _ b: Int) -> Bool {
    (heap[a].deadline, heap[a].id.number) < (heap[b].deadline, heap[b].id.number)
  }
}
