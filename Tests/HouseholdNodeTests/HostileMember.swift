import Foundation
import HouseholdNode
import HouseholdRecords
import HouseholdReplica
import HouseholdSync
import HouseholdTransport
import HouseholdTrust
import Testing

/// A member's device whose program does what it likes: it has real keys and a real place in the household.
final class HostileMember {
  let directory: DataDirectory
  let keys: NodeKeys
  let replica: Replica
  private let loop: EventLoop
  private let links: LinkSet
  private let target: SocketAddress

  /// - Parameter home: has joined; its node never runs.
  init(_ home: Home, against target: Home) throws {
    directory = DataDirectory(home.directory)
    keys = try NodeKeys(directory)
    replica = try Replica(path: directory.replica, cryptography: OpenSSLCryptography(), signer: keys.key)
    loop = try EventLoop()
    links = LinkSet(loop: loop, context: try keys.context())
    self.target = try SocketAddress(parsing: target.address)
  }

  deinit {
    replica.close()
    loop.stop()
  }

  /// A conversation of one link, in which this end says what it wants.
  ///
  /// - Parameter certificate: shown instead of this device's own; for the same key.
  func dial(showing certificate: [UInt8]? = nil) async throws -> HostileLink {
    let heard = Heard()
    if let certificate {
      links.context = try TLSContext(
        identity: TLSIdentity(certificate: certificate, privateKey: keys.key.privateKey()), applications: [],
        verification: AnyHost())
    }
    let outcome = await LinkDialer(links: links).dial([target], for: .household, owner: heard)
    return HostileLink(link: try #require(outcome.link), heard: heard, member: self)
  }

  /// Takes calls on loopback; who called is heard of with each link.
  func listen(_ owner: any LinkOwner) throws -> LinkListener {
    try LinkListener(SocketAddress(host: "127.0.0.1", port: 0), links: links, owner: owner)
  }

  /// What an honest hello of this device says.
  func hello(reachableAt addresses: [String] = []) throws -> Hello {
    var random = SecureRandom()
    var log = MembershipLog(household: replica.identity.household)
    _ = try log.add(replica.membershipEntries(except: []), cryptography: OpenSSLCryptography())
    return Hello(
      household: replica.identity.household, device: replica.identity.device, replica: replica.replica,
      bootNonce: .random(from: &random), membershipHeads: log.heads,
      schemaVersion: try replica.membership().schema.version, wall: SystemClock.now, programVersion: "hostile",
      addresses: addresses)
  }
}

/// Accepts every host: who dials here is the stranger.
struct AnyHost: PeerVerification {
  func device(of certificate: [UInt8]) throws(PeerRefusal) -> VerifiedDevice {
    VerifiedDevice(
      device: DeviceID(bytes: [UInt8](repeating: 0, count: 32))!,
      member: MemberID(bytes: [UInt8](repeating: 0, count: 16))!)
  }
}

/// Keeps what comes in on a link for a test that looks at it.
final class Heard: LinkOwner, @unchecked Sendable {
  private let guardian = NSLock()
  private var messages: [InboundMessage] = []
  private var reason: String?

  func linkOpened(_ link: Link, identity: LinkIdentity) {}

  func linkReceived(_ link: Link, message: InboundMessage) {
    link.consumed(message.payload.count)
    guardian.withLock { messages.append(message) }
  }

  func linkClosed(_ link: Link, reason: LinkCloseReason) { guardian.withLock { self.reason = reason.description } }

  /// Everything that came.
  var raw: [InboundMessage] { guardian.withLock { messages } }

  var closed: String? { guardian.withLock { reason } }

  func all(_ kind: Message.Kind) -> [Message] {
    guardian.withLock { messages }.filter { $0.type == kind.rawValue }.compactMap { message in
      do { return try MessageCodec.decode(kind, message.payload) } catch { return nil }
    }
  }
}

/// A message as a hostile member makes it.
struct Saying {
  var type: UInt8
  var flags: FrameFlags = []
  var payload: [UInt8]

  init(type: UInt8, flags: FrameFlags = [], payload: [UInt8]) {
    self.type = type
    self.flags = flags
    self.payload = payload
  }

  init(_ message: Message) {
    self.init(type: message.kind.rawValue, payload: MessageCodec.encode(message))
  }
}

/// Says the same to every call that comes, whatever it is, and counts them.
final class Answering: LinkOwner, @unchecked Sendable {
  private let guardian = NSLock()
  private var begun: [ContinuousClock.Instant] = []
  private var heard: [Goodbye] = []
  private let messages: [Saying]
  private let breaksOff: Bool

  /// - Parameter breaksOff: whether each call ends after that.
  init(_ messages: [Saying], breaksOff: Bool = false) {
    self.messages = messages
    self.breaksOff = breaksOff
  }

  var calls: Int { times.count }

  /// When the calls came.
  var times: [ContinuousClock.Instant] { guardian.withLock { begun } }

  /// What callers said last.
  var goodbyes: [Goodbye] { guardian.withLock { heard } }

  func linkOpened(_ link: Link, identity: LinkIdentity) {
    guardian.withLock { begun.append(.now) }
    for message in messages { link.send(type: message.type, flags: message.flags, payload: message.payload) }
    if breaksOff { link.close("that was all") }
  }

  func linkReceived(_ link: Link, message: InboundMessage) {
    link.consumed(message.payload.count)
    guard message.type == Message.Kind.goodbye.rawValue else { return }
    do {
      guard case .goodbye(let goodbye) = try MessageCodec.decode(.goodbye, message.payload) else { return }
      guardian.withLock { heard.append(goodbye) }
    } catch {
      Issue.record("a goodbye cannot be read: \(error)")
    }
  }

  func linkClosed(_ link: Link, reason: LinkCloseReason) {}
}

/// One link of a hostile member.
struct HostileLink {
  let link: Link
  let heard: Heard
  let member: HostileMember

  func say(_ message: Message) { link.send(type: message.kind.rawValue, payload: MessageCodec.encode(message)) }

  /// Greets honestly, and waits until the link is in use.
  func getInUse() throws {
    let hello = try member.hello()
    say(.hello(hello))
    try eventually("the node greets") { !heard.all(.hello).isEmpty }
    guard case .hello(let theirs) = heard.all(.hello)[0] else { return }
    if theirs.membershipHeads != hello.membershipHeads {
      say(.membershipHave(try member.replica.membershipHashes()))
      try eventually("the node tells the membership") { !heard.all(.membership).isEmpty }
      for case .membership(let part) in heard.all(.membership) { _ = try member.replica.addMembership(part.entries) }
      say(.membership(MembershipPart(entries: [], more: false)))
    }
    if hello.device < theirs.device { say(.use) }
    try eventually("the node says what it has") { !heard.all(.have).isEmpty }
    say(.have(Holdings(received: [], base: [], digest: nil)))
    try eventually("the node subscribes") { !heard.all(.subscribe).isEmpty }
  }

  /// The number of the node's subscription.
  var subscription: UInt64 {
    for case .subscribe(let subscription) in heard.all(.subscribe) { return subscription.number }
    return 0
  }

  func batch(_ changesets: [[UInt8]]) -> Message {
    .batch(
      Batch(
        subscription: subscription, more: false, token: nil, answers: nil,
        changesets: changesets.map { PackedChangeset(bytes: [0] + $0) }))
  }

  /// The sentence of the node's goodbye.
  var goodbye: String? {
    for case .goodbye(let goodbye) in heard.all(.goodbye) { return goodbye.sentence }
    return nil
  }
}
