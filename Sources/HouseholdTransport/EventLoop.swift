import CEpoll
import Glibc
package import HouseholdRecords
import Synchronization

/// One thread that waits for sockets, timers and work, and is the executor of whoever lives on it.
///
/// epoll, edge-triggered: a handler reads or writes until the socket has no more, or comes back by `submit`. The loop
/// lives until `stop`. Unchecked: `watchers` and `timers` are used on the loop's thread only, the inbox has a lock.
package final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
  private enum Work: Sendable {
    case job(UnownedJob)
    case body(@Sendable () -> Void)
  }

  private struct Inbox: Sendable {
    var work: [Work] = []
    var isWoken = false
    var isStopping = false
  }

  private let epoll: Int32
  private let wakeDescriptor: Int32
  private let inbox = Lock(Inbox())
  private let threadNumber = Atomic<UInt>(0)
  private let lastTimer = Atomic<UInt64>(0)
  private let joined = Lock<pthread_t?>(nil)
  private var watchers: [UInt64: (Readiness) -> Void] = [:]
  private var keys: [Int32: UInt64] = [:]
  private var lastKey: UInt64 = 0
  private var timers = TimerQueue()

  /// Starts the thread.
  package init() throws(SocketFault) {
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard epoll >= 0, wakeDescriptor >= 0 else { throw SocketFault(operation: "make an event loop") }
    var event = unsafe epoll_event(events: EPOLLIN.rawValue | EPOLLET.rawValue, data: epoll_data_t(u64: 0))
    guard unsafe epoll_ctl(epoll, EPOLL_CTL_ADD, wakeDescriptor, &event) == 0 else {
      throw SocketFault(operation: "make an event loop")
    }
    let context = unsafe Unmanaged.passRetained(self).toOpaque()
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, context)
    guard result == 0 else {
      unsafe Unmanaged<EventLoop>.fromOpaque(context).release()
      throw SocketFault(operation: "start a thread", errno: result)
    }
    joined.withLock { $0 = thread }
  }

  deinit {
    close(epoll)
    close(wakeDescriptor)
  }

  /// Whether the caller runs on the loop's thread.
  package var isOnLoop: Bool { threadNumber.load(ordering: .acquiring) == UInt(pthread_self()) }

  /// Runs the body on the loop's thread, after what was submitted before it.
  package func submit(_ body: @escaping @Sendable () -> Void) { append(.body(body)) }

  /// Ends the loop once nothing is left to run, and waits for its thread; close all links before.
  ///
  /// What is submitted afterwards never runs.
  package func stop() {
    precondition(!isOnLoop, "a thread cannot wait for its own end")
    inbox.withLock { $0.isStopping = true }
    wake()
    let thread = joined.withLock { thread in
      defer { thread = nil }
      return thread
    }
    if let thread { pthread_join(thread, nil) }
  }

  // MARK: Executor

  package func enqueue(_ job: consuming ExecutorJob) { append(.job(UnownedJob(job))) }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { unsafe UnownedSerialExecutor(ordinary: self) }

  package func isIsolatingCurrentContext() -> Bool? { isOnLoop }

  package func checkIsolated() { precondition(isOnLoop, "this must run on the event loop's thread") }

  // MARK: Timers

  /// Runs the body on the loop's thread after this time; callable from any thread.
  @discardableResult
  package func schedule(afterMilliseconds delay: Int64, _ body: @escaping @Sendable () -> Void) -> TimerID {
    schedule(afterMicroseconds: min(delay, .max / 2000) * 1000, body)
  }

  /// The same for what cannot wait a millisecond.
  @discardableResult
  package func schedule(afterMicroseconds delay: Int64, _ body: @escaping @Sendable () -> Void) -> TimerID {
    let id = TimerID(number: lastTimer.add(1, ordering: .relaxed).newValue)
    let deadline = Self.microseconds &+ max(0, delay)
    perform { self.timers.insert(id, deadline: deadline, body: body) }
    return id
  }

  /// Takes a timer back; one that ran already does not matter.
  package func cancel(_ timer: TimerID) { perform { self.timers.cancel(timer) } }

  /// The clock of the timers: runs forward only.
  package static var now: Tick { Tick(milliseconds: microseconds / 1000) }

  private static var microseconds: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }

  // MARK: Sockets

  /// What a watched descriptor is ready for.
  struct Readiness: OptionSet, Sendable {
    let rawValue: UInt32
    static let reading = Self(rawValue: EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue)
    static let writing = Self(rawValue: EPOLLOUT.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue)

    func intersects(_ other: Self) -> Bool { !isDisjoint(with: other) }
  }

  /// Calls the handler at each change of the descriptor's readiness, until `unwatch`; on the loop only.
  func watch(_ descriptor: Int32, _ handler: @escaping (Readiness) -> Void) throws(SocketFault) {
    checkIsolated()
    lastKey += 1
    let wanted = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
    var event = unsafe epoll_event(events: wanted, data: epoll_data_t(u64: lastKey))
    guard unsafe epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
      throw SocketFault(operation: "watch a socket")
    }
    keys[descriptor] = lastKey
    watchers[lastKey] = handler
  }

  /// Forgets the descriptor, which must still be open; on the loop only.
  func unwatch(_ descriptor: Int32) {
    checkIsolated()
    guard let key = keys.removeValue(forKey: descriptor) else { return }
    watchers[key] = nil
    var event = unsafe epoll_event()
    unsafe epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event)
  }

  // MARK: The thread

  private func perform(_ body: @escaping @Sendable () -> Void) {
    if isOnLoop { body() } else { submit(body) }
  }

  private func append(_ work: Work) {
    let mustWake = inbox.withLock { inbox in
      inbox.work.append(work)
      defer { inbox.isWoken = true }
      return !inbox.isWoken
    }
    if mustWake { wake() }
  }

  private func wake() {
    var one: UInt64 = 1
    _ = unsafe write(wakeDescriptor, &one, 8)
  }

  private func run() {
    threadNumber.store(UInt(pthread_self()), ordering: .releasing)
    household_exact_timers()
    var events = unsafe [epoll_event](repeating: epoll_event(), count: 128)
    while runSubmitted() {
      while let body = timers.takeDue(Self.microseconds) { body() }
      let count = unsafe wait(for: &events)
      guard count >= 0 || errno == EINTR else { preconditionFailure("epoll_pwait2 fails only on a closed descriptor") }
      for index in 0..<Int(max(0, count)) {
        let key = unsafe events[index].data.u64
        if key == 0 { drainWakes() } else { watchers[key]?(Readiness(rawValue: unsafe events[index].events)) }
      }
    }
    watchers = [:]
  }

  /// Runs what was submitted; false when the loop is to end.
  private func runSubmitted() -> Bool {
    let (work, isStopping) = inbox.withLock { inbox in
      defer {
        inbox.work = []
        inbox.isWoken = false
      }
      return (inbox.work, inbox.isStopping)
    }
    for item in work {
      switch item {
      case .job(let job):
        unsafe job.runSynchronously(
          isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      case .body(let body): body()
      }
    }
    return !(isStopping && work.isEmpty)
  }

  /// Waits until a descriptor is ready or the next timer is due; not at all when there is something to run.
  private func wait(for events: inout [epoll_event]) -> Int32 {
    var pause = timespec()
    if inbox.withLock({ $0.work.isEmpty && !$0.isStopping }) {
      guard let deadline = timers.nextDeadline() else {
        return unsafe epoll_pwait2(epoll, &events, Int32(events.count), nil, nil)
      }
      let rest = max(0, deadline - Self.microseconds)
      pause = timespec(tv_sec: Int(rest / 1_000_000), tv_nsec: Int(rest % 1_000_000) * 1000)
    }
    return unsafe epoll_pwait2(epoll, &events, Int32(events.count), &pause, nil)
  }

  private func drainWakes() {
    var count: UInt64 = 0
    _ = unsafe read(wakeDescriptor, &count, 8)
  }
}
