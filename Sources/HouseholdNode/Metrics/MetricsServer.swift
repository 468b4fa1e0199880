internal import FoundationEssentials
internal import Glibc
internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTransport
internal import HouseholdTrust

/// Serves the figures at a loopback address, on a thread of its own: whoever asks, and however often, the replica's thread
/// only says what it knows of the peers.
///
/// The figures are those of `household status`, by the same judge. Unchecked: what changes is used on the loop only.
final class MetricsServer: @unchecked Sendable {
  private let wanted: SocketAddress
  private let directory: DataDirectory
  private let log: Log
  private let loop: EventLoop
  private let live: @Sendable (@escaping @Sendable (LiveFacts?) -> Void) -> Void
  private var listener: Int32?
  /// The bytes of requests that are not whole; an answered one is not read any more.
  private var requests: [Int32: [UInt8]] = [:]
  /// The connections, each with a number of its own: the system gives descriptors out again.
  private var numbers: [Int32: Int] = [:]
  private var lastNumber = 0
  private var hasToldTaken = false
  private var isStopped = false

  /// How many may ask at one time, and for how long in milliseconds: Prometheus and a person, and little to attack.
  private static let connectionLimit = 16
  private static let patience: Int64 = 5000
  /// How often a taken port is tried again, in milliseconds.
  private static let listenRetry: Int64 = 5000

  /// Listens from now on; a port that is taken is tried again and again, as figures are no reason not to sync.
  ///
  /// - Parameter live: asks the node for what only it knows, and calls back on any thread.
  init(
    _ address: SocketAddress, directory: DataDirectory, log: Log,
    live: @escaping @Sendable (@escaping @Sendable (LiveFacts?) -> Void) -> Void
  ) throws {
    wanted = address
    self.directory = directory
    self.log = log
    self.live = live
    let first = try LoopbackSocket.listening(at: address)
    loop = try EventLoop()
    loop.submit { [self] in begin(first) }
  }

  /// Closes everything and waits for the thread's end.
  func stop() {
    loop.submit { [self] in
      isStopped = true
      for connection in numbers.keys.sorted() { drop(connection) }
      guard let listener else { return }
      loop.unwatchReading(listener)
      close(listener)
    }
    loop.stop()
  }

  private func begin(_ made: (descriptor: Int32, address: SocketAddress)?) {
    guard let made else {
      if !hasToldTaken { log.problem("the port for figures is taken", ["address": wanted.description]) }
      hasToldTaken = true
      return again()
    }
    do {
      try loop.watchReading(made.descriptor) { [weak self] in self?.accept() }
      listener = made.descriptor
      log.note("figures are served", ["at": "http://\(made.address)/metrics"])
    } catch {
      close(made.descriptor)
      again()
    }
  }

  private func again() {
    _ = loop.schedule(afterMilliseconds: Self.listenRetry) { [weak self] in
      guard let self, !self.isStopped else { return }
      do {
        self.begin(try LoopbackSocket.listening(at: self.wanted))
      } catch {
        self.log.problem("figures cannot be served", ["error": "\(error)"])
        self.again()
      }
    }
  }

  // MARK: Requests

  private func accept() {
    guard let listener else { return }
    while true {
      let connection = Glibc.accept(listener, nil, nil)
      guard connection >= 0 else { return }
      guard numbers.count < Self.connectionLimit, fcntl(connection, F_SETFD, FD_CLOEXEC) == 0,
        fcntl(connection, F_SETFL, O_NONBLOCK) == 0
      else {
        close(connection)
        continue
      }
      do {
        try loop.watchReading(connection) { [weak self] in self?.read(connection) }
      } catch {
        close(connection)
        continue
      }
      lastNumber += 1
      let number = lastNumber
      numbers[connection] = number
      requests[connection] = []
      _ = loop.schedule(afterMilliseconds: Self.patience) { [weak self] in
        if self?.numbers[connection] == number { self?.drop(connection) }
      }
      read(connection)
    }
  }

  private func read(_ connection: Int32) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while let request = requests[connection] {
      let count = unsafe Glibc.read(connection, &buffer, buffer.count)
      if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { return drop(connection) }
      if count < 0, errno == EAGAIN { return }
      guard count > 0 else { continue }
      let bytes = request + buffer.prefix(count)
      switch MetricsRequest(bytes) {
      case .incomplete: requests[connection] = bytes
      case .refused(let status, let sentence):
        requests[connection] = nil
        answer(connection, status, sentence + "\n")
      case .figures:
        requests[connection] = nil
        gather(for: connection)
      }
    }
  }

  private func gather(for connection: Int32) {
    let number = numbers[connection]
    live { [weak self] facts in
      self?.loop.submit { [weak self] in
        guard let self, self.numbers[connection] == number else { return }
        do {
          self.answer(connection, 200, try self.page(facts))
        } catch {
          self.answer(connection, 503, "The figures cannot be had: \(error)\n")
        }
      }
    }
  }

  private func page(_ live: LiveFacts?) throws -> String {
    let now = SystemClock.now
    let node = live.map(NodeAnswer.facts) ?? .silent("The node does not say how it is.")
    let facts: StatusFacts
    do {
      if let loss = directory.lostReplica { throw loss }
      facts = try StatusFacts.read(path: directory.replica, cryptography: OpenSSLCryptography(), now: now)
    } catch let fault as ReplicaError {
      return MetricsText(
        unreadable: StatusJudge.report(unreadable: fault, node: node, disk: DiskFacts(directory), now: now)
      ).text
    }
    let report = StatusJudge.report(
      facts, node: node, disk: DiskFacts(directory),
      ownFiles: OwnFiles.check(directory, facts, now: now), now: now)
    return MetricsText(
      report, replicaBytes: Self.size(directory.replica), walBytes: Self.size(directory.replica + "-wal")
    ).text
  }

  private static func size(_ path: String) -> Int64 {
    var facts = stat()
    return unsafe stat(path, &facts) == 0 ? Int64(facts.st_size) : 0
  }

  // MARK: Answers

  private static let reasons = [
    200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    431: "Request Header Fields Too Large", 503: "Service Unavailable",
  ]

  /// Sends an answer and closes; whoever does not take it within a moment goes without.
  private func answer(_ connection: Int32, _ status: Int, _ body: String) {
    let head = """
      HTTP/1.1 \(status) \(Self.reasons[status] ?? "")\r
      Content-Type: text/plain; version=0.0.4; charset=utf-8\r
      Content-Length: \(body.utf8.count)\r
      \(status == 405 ? "Allow: GET\r\n" : "")Cache-Control: no-store\r
      Connection: close\r
      \r

      """
    let bytes = Array((head + body).utf8)
    var sent = 0
    var patience = 200
    while sent < bytes.count, patience > 0 {
      let rest = Array(bytes[sent...])
      let count = unsafe send(connection, rest, rest.count, Int32(MSG_NOSIGNAL))
      if count > 0 {
        sent += count
      } else {
        guard errno == EAGAIN || errno == EINTR else { break }
        patience -= 1
        usleep(1000)
      }
    }
    shutdown(connection, Int32(SHUT_WR))
    drop(connection)
  }

  private func drop(_ connection: Int32) {
    guard numbers.removeValue(forKey: connection) != nil else { return }
    requests[connection] = nil
    loop.unwatchReading(connection)
    close(connection)
  }
}
