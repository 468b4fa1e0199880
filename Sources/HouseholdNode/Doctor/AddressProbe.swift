package import HouseholdRecords
internal import HouseholdSync
package import HouseholdTransport

/// Dials one address as the node would, and waits for the hello of whoever answers.
package struct AddressProbe: Sendable {
  /// What came of an address.
  package enum Outcome: Hashable, Sendable {
    /// The device said hello.
    case hello(DeviceID, program: String)
    case failed(DialObstacle, String)
    /// A link came about, and no hello on it.
    case silent(String)
  }

  private let links: LinkSet
  /// How long a hello may take once the link is there, in milliseconds.
  private static let patience: Int64 = 5000

  package init(links: LinkSet) { self.links = links }

  package func dial(_ address: SocketAddress) async -> Outcome {
    let (stream, heard) = AsyncStream.makeStream(of: Outcome.self)
    let ear = ProbeEar(heard)
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

  init(_ heard: AsyncStream<AddressProbe.Outcome>.Continuation) { self.heard = heard }

  func linkOpened(_ link: Link, identity: LinkIdentity) {}

  func linkReceived(_ link: Link, message: InboundMessage) {
    link.consumed(message.payload.count)
    guard let kind = Message.Kind(rawValue: message.type) else { return }
    do {
      switch try MessageCodec.decode(kind, message.payload) {
      case .hello(let hello): heard.yield(.hello(hello.device, program: hello.programVersion))
      case .goodbye(let goodbye): heard.yield(.silent(goodbye.sentence))
      default: return
      }
    } catch {
      heard.yield(.silent("What it said cannot be read: \(error)"))
    }
  }

  func linkClosed(_ link: Link, reason: LinkCloseReason) {
    switch reason {
    case .tls: heard.yield(.failed(.tls, reason.description))
    case .closedHere, .closedByPeer, .cutOff, .violation, .queueFull, .handshakeTimedOut, .connectTimedOut,
      .tooManyLinks, .superseded, .socket:
      heard.yield(.silent(reason.description))
    }
  }
}
