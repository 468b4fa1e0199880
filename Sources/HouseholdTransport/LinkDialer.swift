import Glibc
package import HouseholdRecords

/// What became of one address of a dial.
package struct DialAttempt: Hashable, Sendable {
  /// The address as it was given.
  package let address: SocketAddress
  /// Why it did not work; nil for the one that did, and for those that were not needed.
  package let error: String?
  /// Whether the link came about here.
  package let succeeded: Bool
  /// What kind of thing the error is.
  package var obstacle: DialObstacle?
  /// Who answered instead of the device that was dialled.
  package var answeredBy: DeviceID?
}

/// What became of a dial.
package struct DialOutcome: Sendable {
  /// The open link, if one of the addresses answered.
  package let link: Link?
  /// Every address that was tried, in the order of their ends.
  package let attempts: [DialAttempt]
}

/// Makes links to peers, trying their addresses side by side.
package struct LinkDialer: Sendable {
  private let links: LinkSet

  package init(links: LinkSet) { self.links = links }

  /// Tries the addresses: the next after a short while or when one fails, until a handshake is done.
  ///
  /// The owner hears `linkOpened` before `completion`, which is called once, on the loop's thread.
  ///
  /// - Parameter device: who must answer: where another device does, the next address is tried. Nil for anybody.
  @discardableResult
  package func dial(
    _ addresses: [SocketAddress], for application: LinkApplication, of device: DeviceID? = nil, owner: any LinkOwner,
    completion: @escaping @Sendable (DialOutcome) -> Void
  ) -> Dial {
    let dial = Dial(links: links, application: application, device: device, owner: owner, completion: completion)
    links.loop.submit { dial.start(Array(addresses.prefix(Limits.dialCandidates))) }
    return dial
  }

  /// The same for a caller that can wait; when its task is cancelled, so is the dial.
  package func dial(
    _ addresses: [SocketAddress], for application: LinkApplication, owner: any LinkOwner
  ) async -> DialOutcome {
    let running = Lock<Dial?>(nil)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let dial = dial(addresses, for: application, owner: owner) { continuation.resume(returning: $0) }
        running.withLock { $0 = dial }
        if Task.isCancelled { dial.cancel() }
      }
    } onCancel: {
      running.withLock { $0 }?.cancel()
    }
  }
}

/// One attempt to reach a peer at several addresses (RFC 8305).
///
/// Unchecked: used on the loop's thread only, but for `cancel`, which goes there.
package final class Dial: @unchecked Sendable {
  private let links: LinkSet
  private let application: LinkApplication
  private let device: DeviceID?
  private let owner: any LinkOwner
  private var completion: (@Sendable (DialOutcome) -> Void)?
  private var waiting: [(given: SocketAddress, numeric: NumericAddress)] = []
  private var begun: Set<NumericAddress> = []
  private var running: [LinkID: (link: Link, given: SocketAddress)] = [:]
  private var resolving = 0
  private var attempts: [DialAttempt] = []
  private var stagger: TimerID?

  init(
    links: LinkSet, application: LinkApplication, device: DeviceID?, owner: any LinkOwner,
    completion: @escaping @Sendable (DialOutcome) -> Void
  ) {
    self.links = links
    self.application = application
    self.device = device
    self.owner = owner
    self.completion = completion
  }

  /// Gives up; the outcome has no link. Does nothing once there is one.
  package func cancel() { links.loop.submit { self.complete(with: nil) } }

  func start(_ addresses: [SocketAddress]) {
    resolving = addresses.count
    for address in addresses {
      links.resolver.resolve(address) { answer in
        self.links.loop.submit { self.resolved(address, answer) }
      }
    }
    tryNext()
  }

  private func resolved(_ address: SocketAddress, _ answer: AddressResolver.Answer) {
    resolving -= 1
    switch answer {
    case .success(let found):
      for numeric in found where begun.count < Limits.dialCandidates && begun.insert(numeric).inserted {
        waiting.append((address, numeric))
      }
    case .failure(let fault): note(address, fault.description, .name)
    }
    if stagger == nil { tryNext() }
  }

  /// Tries one more address, and the next one a little later.
  private func tryNext() {
    if let stagger { links.loop.cancel(stagger) }
    stagger = nil
    guard completion != nil else { return }
    guard !waiting.isEmpty else {
      if running.isEmpty && resolving == 0 { complete(with: nil) }
      return
    }
    let (given, numeric) = waiting.removeFirst()
    stagger = links.loop.schedule(afterMilliseconds: Limits.dialStaggerMilliseconds) {
      self.stagger = nil
      self.tryNext()
    }
    do throws(LinkCloseReason) {
      try connect(given, numeric)
    } catch {
      note(given, error.description, error.obstacle)
      tryNext()
    }
  }

  private func connect(_ given: SocketAddress, _ numeric: NumericAddress) throws(LinkCloseReason) {
    let socket: Socket
    do throws(SocketFault) { socket = try Socket(family: numeric.family) } catch { throw .socket(error) }
    let result = unsafe numeric.withSocketAddress { unsafe Glibc.connect(socket.descriptor, $0, $1) }
    guard result == 0 || errno == EINPROGRESS else {
      let fault = SocketFault(operation: "connect")
      socket.close()
      throw .socket(fault)
    }
    let link = try links.make(
      socket, application: application, address: numeric.address, owner: owner, dial: self)
    running[link.id] = (link, given)
    link.start()
  }

  /// Throws unless a link whose handshake is done is the first, and leads to whom was dialled.
  func judge(_ identity: LinkIdentity) throws(LinkCloseReason) {
    if completion == nil { throw .superseded }
    if let device, let found = identity.peer?.device, found != device { throw .anotherDevice(found) }
  }

  /// The link is open, and its owner knows.
  func finish(with link: Link) { complete(with: link) }

  /// A link did not come about.
  func failed(_ link: Link, _ reason: LinkCloseReason) {
    guard let (_, given) = running.removeValue(forKey: link.id) else { return }
    var answeredBy: DeviceID?
    if case .anotherDevice(let found) = reason { answeredBy = found }
    note(given, reason.description, reason.obstacle, answeredBy: answeredBy)
    tryNext()
  }

  private func note(
    _ address: SocketAddress, _ error: String, _ obstacle: DialObstacle, answeredBy: DeviceID? = nil
  ) {
    attempts.append(
      DialAttempt(address: address, error: error, succeeded: false, obstacle: obstacle, answeredBy: answeredBy))
  }

  private func complete(with link: Link?) {
    guard let completion else { return }
    self.completion = nil
    if let stagger { links.loop.cancel(stagger) }
    stagger = nil
    let losers = running.sorted { $0.key < $1.key }.map(\.value)
    running = [:]
    waiting = []
    for (loser, given) in losers where loser.id != link?.id {
      attempts.append(DialAttempt(address: given, error: nil, succeeded: false))
      loser.finish(.superseded)
    }
    if let link, let given = losers.first(where: { $0.link.id == link.id })?.given {
      attempts.append(DialAttempt(address: given, error: nil, succeeded: true))
    }
    completion(DialOutcome(link: link, attempts: attempts))
  }
}
