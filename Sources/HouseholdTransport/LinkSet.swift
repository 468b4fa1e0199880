import CEpoll
import Glibc
import HouseholdRecords

/// How many links there may be, and how long they may take to come about; tests use smaller ones than nodes.
package struct LinkBounds: Sendable {
  /// The most accepted links whose handshake is not done, and the most pairing links.
  package var strangers = Limits.strangers
  /// The most open links.
  package var links = Limits.links
  /// The most open links of one device.
  package var linksPerDevice = Limits.linksPerDevice
  /// How long a TCP connection may take to come about.
  package var connectMilliseconds = Limits.connectMilliseconds
  /// How long a TLS handshake may take.
  package var handshakeMilliseconds = Limits.handshakeMilliseconds
  /// How long a link that is being closed may take to send what is queued.
  package var closingMilliseconds = Limits.closingMilliseconds

  package init() {}
}

/// All links of one node: the loop they live on, the TLS context they begin with, and how many there may be.
///
/// Unchecked: what changes is used on the loop's thread only, except for the context, which has a lock.
package final class LinkSet: @unchecked Sendable {
  package let loop: EventLoop
  let resolver = AddressResolver()
  /// Where a link's bytes stand for a moment between socket, session and assembler.
  var scratch = [UInt8](repeating: 0, count: 64 << 10)
  private let currentContext: Lock<TLSContext?>
  let bounds: LinkBounds
  private var all: [LinkID: Link] = [:]
  private var open: Set<LinkID> = []
  private var guests: Set<LinkID> = []
  /// Accepted links whose handshake is not done, oldest first.
  private var greeting: [LinkID] = []
  /// Links that ended and wait for the peer's end, oldest first.
  private var lingering: [LinkID] = []
  private var lastID: UInt64 = 0
  /// The most links at one time since memory was last given back.
  private var crowd = 0
  private var whenEmpty: [@Sendable () -> Void] = []

  /// - Parameter context: what links begin with; without one none is accepted or dialled.
  package init(loop: EventLoop, context: TLSContext?, bounds: LinkBounds = LinkBounds()) {
    self.loop = loop
    currentContext = Lock(context)
    self.bounds = bounds
  }

  /// What the next links begin with; those that are there keep theirs.
  package var context: TLSContext? {
    get { currentContext.withLock { $0 } }
    set { currentContext.withLock { $0 = newValue } }
  }

  /// Closes every link and waits until all are gone, a few seconds at most.
  package func closeAll(_ reason: String) async {
    await withCheckedContinuation { continuation in
      loop.submit {
        for link in self.all.values.sorted(by: { $0.id < $1.id }) { link.close(reason) }
        self.whenEmpty.append { continuation.resume() }
        self.answerIfEmpty()
      }
    }
  }

  /// A new link over a socket; nil, and the socket closed, when there is no context or TLS fails.
  func make(
    _ socket: Socket, application: LinkApplication?, address: SocketAddress, owner: any LinkOwner, dial: Dial?
  ) throws(LinkCloseReason) -> Link {
    loop.checkIsolated()
    do throws(TLSFault) {
      guard let context else { throw .failed("this node has no certificate yet") }
      lastID += 1
      let session = try TLSSession(context: context, dialling: application)
      let phase: LinkWire.Phase = dial == nil ? .handshaking : .connecting
      let link = Link(
        id: LinkID(number: lastID), links: self, owner: owner,
        wire: LinkWire(phase: phase, socket: socket, session: session, dial: dial), address: address,
        isDialled: dial != nil)
      all[link.id] = link
      crowd = max(crowd, all.count)
      return link
    } catch {
      socket.close()
      throw .tls(error)
    }
  }

  /// Takes in a connection that somebody made to us.
  func accept(_ socket: Socket, from address: SocketAddress, owner: any LinkOwner) {
    guard open.count < bounds.links else { return socket.close() }
    // A flood of strangers must not keep members out: the one that has dawdled longest makes room.
    if greeting.count >= bounds.strangers, let oldest = all[greeting[0]] { oldest.finish(.tooManyLinks) }
    do throws(LinkCloseReason) {
      let link = try make(socket, application: nil, address: address, owner: owner, dial: nil)
      greeting.append(link.id)
      link.start()
    } catch {
      return  // The socket is closed; a stranger is told nothing.
    }
  }

  /// Whether a link whose handshake is done may stay.
  func admits(_ link: Link, _ identity: LinkIdentity) -> Bool {
    greeting.removeAll { $0 == link.id }
    guard open.count < bounds.links else { return false }
    if identity.application == .pairing {
      guard guests.count < bounds.strangers else { return false }
      guests.insert(link.id)
    }
    if let device = identity.peer?.device { makeRoom(for: device) }
    open.insert(link.id)
    return true
  }

  /// One device, which may be one that was removed and has not said its hello, cannot take all the places.
  private func makeRoom(for device: DeviceID) {
    let theirs = open.filter { all[$0]?.identity?.peer?.device == device }.sorted()
    if theirs.count >= bounds.linksPerDevice, let oldest = all[theirs[0]] { oldest.finish(.tooManyLinks) }
  }

  /// The link counts no more, though its socket may linger.
  func ended(_ link: Link) {
    greeting.removeAll { $0 == link.id }
    open.remove(link.id)
    guests.remove(link.id)
  }

  /// The link ended, and its socket waits a moment for the peer's end; of too many the oldest goes.
  func lingers(_ link: Link) {
    lingering.append(link.id)
    if lingering.count > bounds.strangers, let oldest = all[lingering[0]] { oldest.closeSocket(.cutOff) }
  }

  /// The link's socket is closed.
  func forget(_ link: Link) {
    lingering.removeAll { $0 == link.id }
    all[link.id] = nil
    giveMemoryBack()
    answerIfEmpty()
  }

  /// How many links are a crowd, and how many are none any more.
  private static let (crowdedLinks, fewLinks) = (32, 16)

  /// After a crowd of strangers the allocator keeps what their sessions took, unless it is asked.
  private func giveMemoryBack() {
    guard crowd >= Self.crowdedLinks, all.count <= Self.fewLinks else { return }
    crowd = all.count
    malloc_trim(0)
  }

  private func answerIfEmpty() {
    guard all.isEmpty else { return }
    let waiting = whenEmpty
    whenEmpty = []
    for answer in waiting { answer() }
  }
}
