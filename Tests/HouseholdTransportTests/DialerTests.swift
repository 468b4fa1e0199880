import Foundation
import HouseholdRecords
import HouseholdTransport
import HouseholdTrust
import Testing

@Suite(.timeLimit(.minutes(1))) struct DialerTests {
  @Test func `of several addresses the first that answers wins, and the others say why not`() async throws {
    let anna = try Node(Fixtures.context())
    let bert = try Node(Fixtures.bert())
    let closed = try closedPort()

    let outcome = await bert.dial(closed, SocketAddress(host: "no-such-host.invalid", port: 1), anna.listener.address)

    #expect(outcome.link?.address == anna.listener.address)
    let refused = try #require(outcome.attempts.first { $0.address == closed })
    #expect(refused.error == "Cannot connect: Connection refused.")
    #expect(outcome.attempts.last?.succeeded == true)
    try await bert.stop()
    try await anna.stop()
  }

  @Test func `an address that never answers does not hold up the next`() async throws {
    let anna = try Node(Fixtures.context())
    let bert = try Node(Fixtures.bert())
    let silent = try SilentListener()

    let outcome = await bert.dial(silent.address, anna.listener.address)

    #expect(outcome.link?.address == anna.listener.address)
    #expect(Set(outcome.attempts.map(\.address)) == [silent.address, anna.listener.address])
    try await bert.stop()
    try await anna.stop()
  }

  @Test func `without an address that answers every outcome is told`() async throws {
    let bert = try Node(Fixtures.bert())
    let closed = try closedPort()

    let outcome = await bert.dial(closed, SocketAddress(host: "no-such-host.invalid", port: 7411))
    let nothing = await LinkDialer(links: bert.links).dial([], for: .household, owner: bert.owner)

    #expect(outcome.link == nil)
    #expect(Set(outcome.attempts.map(\.address.host)) == ["127.0.0.1", "no-such-host.invalid"])
    #expect(outcome.attempts.allSatisfy { $0.error != nil })
    #expect(nothing.link == nil && nothing.attempts.isEmpty)
    try await bert.stop()
  }

  @Test func `R8: a host that accepts and says nothing is given up`() async throws {
    var bounds = LinkBounds()
    bounds.handshakeMilliseconds = 50
    let bert = try Node(Fixtures.bert(), bounds: bounds)
    let silent = try SilentListener()

    let outcome = await bert.dial(silent.address)

    #expect(outcome.attempts.map(\.error) == [LinkCloseReason.handshakeTimedOut.description])
    try await bert.stop()
  }

  @Test func `an address where another device answers does not hold up the next (P16)`() async throws {
    let anna = try Node(Fixtures.context())
    let bert = try Node(Fixtures.bert())
    let certificate = try DeviceCertificate(
      der: Fixtures.certificate("Household/anna.pem"), sharePublicKey: Fixtures.verification().sharePublicKey)

    let outcome = await withCheckedContinuation { continuation in
      LinkDialer(links: bert.links).dial(
        [bert.listener.address, anna.listener.address], for: .household, of: certificate.device, owner: bert.owner
      ) { continuation.resume(returning: $0) }
    }

    #expect(outcome.link?.address == anna.listener.address)
    let wrong = try #require(outcome.attempts.first { $0.address == bert.listener.address })
    #expect(wrong.error == "Another device answers here." && wrong.answeredBy != certificate.device)
    #expect(wrong.answeredBy != nil)
    try await bert.stop()
    try await anna.stop()
  }

  @Test func `a dial is cancelled`() async throws {
    let bert = try Node(Fixtures.bert())
    let silent = try SilentListener()

    let outcome = await withCheckedContinuation { continuation in
      let dial = LinkDialer(links: bert.links).dial([silent.address], for: .household, owner: bert.owner) {
        continuation.resume(returning: $0)
      }
      dial.cancel()
    }

    #expect(outcome.link == nil)
    try await bert.stop()
  }

  @Test func `names are resolved`() async throws {
    let anna = try Node(Fixtures.context(), address: "[::]:0")
    let bert = try Node(Fixtures.bert())

    let outcome = await bert.dial(SocketAddress(host: "localhost", port: anna.listener.address.port))

    #expect(outcome.link != nil)
    try await bert.stop()
    try await anna.stop()
  }

  private func closedPort() throws -> SocketAddress { try SilentListener().address }
}

@Suite(.timeLimit(.minutes(1))) struct ListenerTests {
  @Test func `one listener takes IPv4 and IPv6`() async throws {
    let anna = try Node(Fixtures.context(), address: "[::]:0")
    let bert = try Node(Fixtures.bert())
    let port = anna.listener.address.port

    let four = await bert.dial(SocketAddress(host: "127.0.0.1", port: port))
    let fourIdentity = try await anna.owner.opened().identity
    let six = await bert.dial(SocketAddress(host: "::1", port: port))

    #expect(four.link != nil)
    #expect(fourIdentity.address.host == "127.0.0.1")
    if anna.listener.address.host == "::" { #expect(six.link?.address.description == "[::1]:\(port)") }
    try await bert.stop()
    try await anna.stop()
  }

  @Test func `a taken port is told apart, and is free once its listener closed`() async throws {
    let anna = try Node(Fixtures.context())
    let address = anna.listener.address

    #expect(throws: ListenFault.portInUse(address)) {
      try LinkListener(address, links: anna.links, owner: anna.owner)
    }
    #expect(throws: ListenFault.self) {
      try LinkListener(SocketAddress(host: "203.0.113.1", port: 1), links: anna.links, owner: anna.owner)
    }
    try await anna.stop()
    let again = try Node(Fixtures.context(), address: address.description)
    #expect(again.listener.address == address)
    try await again.stop()
  }
}

/// A port where connections are taken by the system and nobody answers; closed with the object.
final class SilentListener {
  let descriptor: Int32
  let address: SocketAddress

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = inet_addr("127.0.0.1")
    var count = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let result = withUnsafeMutablePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, count) == 0 && listen(descriptor, 8) == 0 ? getsockname(descriptor, $0, &count) : -1
      }
    }
    guard result == 0 else { throw POSIXError(.EADDRINUSE) }
    address = SocketAddress(host: "127.0.0.1", port: UInt16(bigEndian: name.sin_port))
  }

  deinit { close(descriptor) }
}

@Suite(.timeLimit(.minutes(1))) struct EventLoopTests {
  /// An actor that lives on the loop.
  actor Resident {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    var count = 0

    init(loop: EventLoop) { self.loop = loop }

    func visit() -> Bool {
      count += 1
      return loop.isOnLoop
    }
  }

  @Test func `actors and tasks run on the loop's thread`() async throws {
    let loop = try EventLoop()
    let resident = Resident(loop: loop)

    let isOnLoop = await resident.visit()
    let prefers = await Task(executorPreference: loop) { loop.isOnLoop }.value
    let assumed = await withCheckedContinuation { continuation in
      loop.submit { continuation.resume(returning: resident.assumeIsolated { $0.count }) }
    }

    #expect(isOnLoop && prefers && !loop.isOnLoop)
    #expect(assumed == 1)
    try await onThread { loop.stop() }
  }

  @Test func `timers run in the order of their deadlines, cancelled ones never`() async throws {
    let loop = try EventLoop()
    let (stream, continuation) = AsyncStream.makeStream(of: Int64.self)

    loop.submit {
      let cancelled = loop.schedule(afterMilliseconds: 1) { continuation.yield(-1) }
      for delay in [30, 10, 20, 10, 5] as [Int64] {
        loop.schedule(afterMilliseconds: delay) { continuation.yield(delay) }
      }
      loop.schedule(afterMilliseconds: 40) { continuation.finish() }
      loop.cancel(cancelled)
    }

    #expect(await stream.reduce(into: []) { $0.append($1) } == [5, 10, 10, 20, 30])
    try await onThread { loop.stop() }
  }
}
