import Foundation
import HouseholdRecords
import HouseholdTransport

/// What a link's owner heard.
enum Heard: Sendable {
  case opened(Link, LinkIdentity)
  case received(Link, InboundMessage)
  case closed(Link, LinkCloseReason)
}

/// An owner that keeps what it hears in order, for a test to await.
final class Listening: LinkOwner {
  /// Whether payloads count as consumed when they come.
  let consumes: Bool
  private let continuation: AsyncStream<Heard>.Continuation
  private let stream: AsyncStream<Heard>

  init(consumes: Bool = true) {
    self.consumes = consumes
    (stream, continuation) = AsyncStream.makeStream()
  }

  func linkOpened(_ link: Link, identity: LinkIdentity) { continuation.yield(.opened(link, identity)) }

  func linkReceived(_ link: Link, message: InboundMessage) {
    if consumes { link.consumed(message.payload.count) }
    continuation.yield(.received(link, message))
  }

  func linkClosed(_ link: Link, reason: LinkCloseReason) { continuation.yield(.closed(link, reason)) }

  func next() async throws -> Heard {
    for await heard in stream { return heard }
    throw Unexpected(heard: nil)
  }

  func opened() async throws -> (link: Link, identity: LinkIdentity) {
    let heard = try await next()
    guard case .opened(let link, let identity) = heard else { throw Unexpected(heard: heard) }
    return (link, identity)
  }

  func message() async throws -> InboundMessage {
    let heard = try await next()
    guard case .received(_, let message) = heard else { throw Unexpected(heard: heard) }
    return message
  }

  func closed() async throws -> LinkCloseReason {
    let heard = try await next()
    guard case .closed(_, let reason) = heard else { throw Unexpected(heard: heard) }
    return reason
  }
}

/// A test heard something else than it awaited.
struct Unexpected: Error {
  let heard: Heard?
}

/// A loop with its links, a listener on loopback and a dialer.
final class Node: Sendable {
  let loop: EventLoop
  let links: LinkSet
  let owner: Listening
  let listener: LinkListener

  init(
    _ context: TLSContext?, owner: Listening = Listening(), address: String = "127.0.0.1:0",
    bounds: LinkBounds = LinkBounds()
  ) throws {
    loop = try EventLoop()
    links = LinkSet(loop: loop, context: context, bounds: bounds)
    self.owner = owner
    listener = try LinkListener(SocketAddress(parsing: address), links: links, owner: owner)
  }

  func dial(_ addresses: SocketAddress..., for application: LinkApplication = .household) async -> DialOutcome {
    await LinkDialer(links: links).dial(addresses, for: application, owner: owner)
  }

  /// Closes everything; the loop's thread is gone afterwards.
  func stop() async throws {
    listener.close()
    await links.closeAll("The test is over.")
    try await onThread { self.loop.stop() }
  }
}

/// Two nodes of one household with an open link between them.
struct LinkedPair {
  let anna: Node
  let bert: Node
  /// Anna's end.
  let annas: Link
  /// Bert's end, who dialled.
  let berts: Link

  init(annaConsumes: Bool = true, bertsBounds: LinkBounds = LinkBounds()) async throws {
    anna = try Node(Fixtures.context(), owner: Listening(consumes: annaConsumes))
    bert = try Node(Fixtures.bert(), bounds: bertsBounds)
    _ = await bert.dial(anna.listener.address)
    berts = try await bert.owner.opened().link
    annas = try await anna.owner.opened().link
  }

  func stop() async throws {
    try await bert.stop()
    try await anna.stop()
  }
}

/// A plain TCP connection that blocks.
final class RawConnection: Sendable {
  let descriptor: Int32

  init(to address: SocketAddress) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var target = sockaddr_in()
    target.sin_family = sa_family_t(AF_INET)
    target.sin_port = address.port.bigEndian
    target.sin_addr.s_addr = inet_addr(address.host)
    let result = withUnsafePointer(to: &target) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8]) { _ = Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

  func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Everything until the peer closes.
  func readToEnd() -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return all }
      all += buffer.prefix(count)
    }
  }
}

/// What `openssl s_client` says when it talks to the address until the peer closes.
func opensslClient(_ address: SocketAddress, _ arguments: String...) async throws -> String {
  try await opensslClient(address, arguments)
}

/// The same with words that are in a list.
func opensslClient(_ address: SocketAddress, _ arguments: [String]) async throws -> String {
  try await onThread {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = ["s_client", "-connect", address.description] + arguments
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    withExtendedLifetime(input) {}
    return String(decoding: text, as: UTF8.self)
  }
}
