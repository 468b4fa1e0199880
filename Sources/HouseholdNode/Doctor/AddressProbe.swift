package import HouseholdRecords
internal import HouseholdSync
package import HouseholdTransport

/// Dials one address as the node would, and waits for the hello of whoever answers.
///
/// It says no hello itself: a second node of this device would be taken for a copy of it.
package struct AddressProbe: Sendable {
  /// What came of an address.
  package enum Outcome: Hashable, Sendable {
    /// Somebody said hello.
    case hello(Greeting)
    case failed(DialObstacle, String)
    /// A link came about, and no hello on it.
    case silent(String)
  }

  /// What a hello says of whom it comes from.
  package struct Greeting: Hashable, Sendable {
    package var device: DeviceID
    package var program: String
    /// Whether it speaks a version of the protocol that is spoken here.
    package var isUnderstood: Bool
    /// Whether it knows the same members and devices.
    package var knowsSameMembers: Bool
    /// How far its clock is ahead of ours, and at most as much as the hello was under way behind that, in milliseconds.
    package var clockOffset: Int64

    package init(
      device: DeviceID, program: String, isUnderstood: Bool = true, knowsSameMembers: Bool = true,
      clockOffset: Int64 = 0
    ) {
      self.device = device
      self.program = program
      self.isUnderstood = isUnderstood
      self.knowsSameMembers = knowsSameMembers
      self.clockOffset = clockOffset
    }
  }

  private let links: LinkSet
  /// The heads of the membership log here.
  private let heads: [EntryHash]
  /// How long a hello may take once the link is there, in milliseconds.
  private static let patience: Int64 = 5000

  package init(links: LinkSet, heads: [EntryHash]) {
    self.links = links
    self.heads = heads
  }

  package func dial(_ address: SocketAddress) async -> Outcome {
    let (stream, heard) = AsyncStream.makeStream(of: Outcome.self)
    let ear = ProbeEar(heard, heads: heads)
    let outcome = await LinkDialer(links: links).dial([address], for: .household, owner: ear)
    guard let link = outcome.link else {
      let attempt = outcome.attempts.last
      return .failed(attempt?.obstacle ?? .other, attempt?.error ?? "The address cannot be dialled.")
    }
    links.loop.schedule(afterMilliseconds: Self.patience) {
      heard.yield(.silent("It did not say hello within \(Self.patience / 1000) seconds."))
    }
    var answer = Outcome.silent("It did not say hello.")
    for await said in stream {
      answer = said
      break
    }
    let goodbye = Goodbye(.shuttingDown, "This was household doctor.")
    link.send(type: Message.Kind.goodbye.rawValue, payload: MessageCodec.encode(.goodbye(goodbye)))
    link.close(goodbye.sentence)
    return answer
  }
}

/// Hears the first thing that is said on a link.
private final class ProbeEar: LinkOwner {
  private let heard: AsyncStream<AddressProbe.Outcome>.Continuation
  private let heads: [EntryHash]

  init(_ heard: AsyncStream<AddressProbe.Outcome>.Continuation, heads: [EntryHash]) {
    self.heard = heard
    self.heads = heads
  }

  func linkOpened(_ link: Link, identity: LinkIdentity) {}

  func linkReceived(_ link: Link, message: InboundMessage) {
    link.consumed(message.payload.count)
    guard let kind = Message.Kind(rawValue: message.type) else { return }
    do {
      switch try MessageCodec.decode(kind, message.payload) {
      case .hello(let hello): heard.yield(.hello(greeting(hello)))
      case .goodbye(let goodbye): heard.yield(.silent(goodbye.sentence))
      default: return
      }
    } catch {
      heard.yield(.silent("What it said cannot be read: \(error)"))
    }
  }

  private func greeting(_ hello: Hello) -> AddressProbe.Greeting {
    AddressProbe.Greeting(
      device: hello.device, program: hello.programVersion, isUnderstood: hello.versions.overlaps(Hello.supported),
      knowsSameMembers: hello.membershipHeads == heads, clockOffset: hello.wall.milliseconds(since: SystemClock.now))
  }

  func linkClosed(_ link: Link, reason: LinkCloseReason) {
    switch reason {
    case .tls: heard.yield(.failed(.tls, reason.description))
    case .closedHere, .closedByPeer, .cutOff, .violation, .queueFull, .handshakeTimedOut, .connectTimedOut,
      .tooManyLinks, .superseded, .anotherDevice, .socket:
      heard.yield(.silent(reason.description))
    }
  }
}
