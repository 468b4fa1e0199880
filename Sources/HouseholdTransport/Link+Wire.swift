import Glibc
import HouseholdRecords

/// What the loop's thread knows of a link.
struct LinkWire {
  /// How far a link has come.
  enum Phase: Equatable {
    case connecting
    case handshaking
    case open
    /// Nothing is read any more; what is queued and the TLS goodbye still go out.
    case closing
    /// Everything is said; the peer's end is awaited, so that our last words are not lost.
    case lingering
    case closed
  }

  var phase: Phase
  let socket: Socket
  let session: TLSSession
  var assembler = FrameAssembler()
  /// Encrypted bytes on their way, and how many of them went.
  var output: [UInt8] = []
  var written = 0
  /// Payload that was delivered and not yet consumed.
  var unconsumedBytes = 0
  /// How much of it there may be before nothing more is read.
  var unconsumedLimit = Limits.unconsumedBytes
  var isPaused = false
  var isReadSubmitted = false
  var wasOpen = false
  var deadline: TimerID?
  /// The dial that the link belongs to, until its handshake is judged.
  var dial: Dial?

  /// How much one link reads before the others have their turn, in bytes.
  static let turnBytes = 256 << 10
}

/// Everything here runs on the loop's thread.
extension Link {
  /// Begins to watch the socket, with a deadline for what comes first.
  func start() {
    let isConnecting = wire.phase == .connecting
    do throws(SocketFault) {
      try links.loop.watch(wire.socket.descriptor) { self.ready($0) }
    } catch {
      return finish(.socket(error))
    }
    setDeadline(isConnecting ? links.bounds.connectMilliseconds : links.bounds.handshakeMilliseconds) { link in
      link.finish(isConnecting ? .connectTimedOut : .handshakeTimedOut)
    }
    if !isConnecting { progress() }
  }

  private func setDeadline(_ milliseconds: Int64, _ body: @escaping @Sendable (Link) -> Void) {
    if let deadline = wire.deadline { links.loop.cancel(deadline) }
    wire.deadline = links.loop.schedule(afterMilliseconds: milliseconds) { [weak self] in
      if let self { body(self) }
    }
  }

  private func ready(_ readiness: EventLoop.Readiness) {
    if wire.phase == .connecting {
      guard readiness.intersects(.writing) else { return }
      let error = wire.socket.pendingError
      guard error == 0 else { return finish(.socket(SocketFault(operation: "connect", errno: error))) }
      beginHandshake()
    }
    if readiness.intersects(.reading) { readSocket() }
    if readiness.intersects(.writing) { flush() }
  }

  /// The TCP connection is there.
  func beginHandshake() {
    wire.phase = .handshaking
    wire.socket.tune()
    setDeadline(links.bounds.handshakeMilliseconds) { $0.finish(.handshakeTimedOut) }
    progress()
  }

  // MARK: Reading

  private func readSocket() {
    var budget = LinkWire.turnBytes
    while wire.phase != .closed, wire.phase != .connecting, !(wire.phase == .open && wire.isPaused) {
      guard budget > 0 else { return readLater() }
      switch wire.socket.read(into: &links.scratch) {
      case .blocked: return
      case .ended: return ended()
      case .failed(let number): return finish(.socket(SocketFault(operation: "read from the peer", errno: number)))
      case .bytes(let count):
        budget -= count
        outbox.withLock { $0.traffic.bytesReceived += UInt64(count) }
        guard wire.phase == .handshaking || wire.phase == .open else { continue }
        do throws(TLSFault) {
          try wire.session.receive(links.scratch[..<count])
        } catch {
          return finish(.tls(error))
        }
        progress()
      }
    }
  }

  private func readLater() {
    guard !wire.isReadSubmitted else { return }
    wire.isReadSubmitted = true
    links.loop.submit {
      self.wire.isReadSubmitted = false
      self.readSocket()
    }
  }

  private func ended() {
    switch wire.phase {
    case .lingering, .closing: closeSocket(.cutOff)
    case .handshaking, .open: finish(.cutOff)
    case .connecting, .closed: break  // Nothing is read in these.
    }
  }

  /// Goes on with the handshake, then with reading, as far as what came allows.
  private func progress() {
    do throws(LinkCloseReason) {
      if wire.phase == .handshaking { try shakeHands() }
      while wire.phase == .open {
        switch try readSession() {
        case .bytes(let count): try deliver(links.scratch[..<count])
        case .wantsMore: return flush()
        case .closed: return finish(.closedByPeer)
        }
      }
    } catch {
      finish(error)
    }
  }

  private func readSession() throws(LinkCloseReason) -> TLSSession.ReadOutcome {
    do throws(TLSFault) { return try wire.session.read(into: &links.scratch) } catch { throw .tls(error) }
  }

  private func shakeHands() throws(LinkCloseReason) {
    let identity: LinkIdentity
    do throws(TLSFault) {
      guard try wire.session.handshake() else { return flush() }
      let application = wire.session.application ?? .pairing
      identity = LinkIdentity(
        application: application, peer: wire.session.peer, publicKey: wire.session.peerPublicKey,
        certificate: wire.session.peerCertificate,
        exporter: application == .pairing ? try wire.session.pairingExporter() : [], address: address,
        isDialled: isDialled)
    } catch {
      throw .tls(error)
    }
    outbox.withLock { $0.identity = identity }
    let dial = wire.dial
    do throws(LinkCloseReason) {
      try dial?.judge(identity)
    } catch {
      wire.session.close()
      throw error
    }
    guard links.admits(self, identity) else { throw .tooManyLinks }
    if identity.application == .pairing, !isDialled {
      // Whoever dials for this is a stranger still.
      wire.assembler = FrameAssembler(limit: Limits.guestMessageBytes)
      wire.unconsumedLimit = Limits.guestMessageBytes
    }
    wire.dial = nil
    if let deadline = wire.deadline { links.loop.cancel(deadline) }
    wire.phase = .open
    wire.wasOpen = true
    flush()
    owner.linkOpened(self, identity: identity)
    dial?.finish(with: self)
  }

  private func deliver(_ bytes: ArraySlice<UInt8>) throws(LinkCloseReason) {
    let messages: [InboundMessage]
    do throws(FrameViolation) { messages = try wire.assembler.receive(bytes) } catch { throw .violation(error) }
    for message in messages {
      guard wire.phase == .open, outbox.withLock({ $0.ending == nil }) else { return }
      wire.unconsumedBytes += message.payload.count
      if wire.unconsumedBytes > wire.unconsumedLimit { wire.isPaused = true }
      owner.linkReceived(self, message: message)
    }
  }

  func consumedOnLoop(_ bytes: Int) {
    wire.unconsumedBytes -= bytes
    precondition(wire.unconsumedBytes >= 0, "an owner consumed more than was delivered to it")
    guard wire.isPaused, wire.unconsumedBytes <= wire.unconsumedLimit / 2 else { return }
    wire.isPaused = false
    readSocket()
  }

  // MARK: Writing

  /// Encrypts and writes what is queued, as far as the system takes it.
  func flush() {
    if let reason = hastyEnding() { return finish(reason) }
    while wire.phase != .closed, wire.phase != .connecting {
      guard writeOutput() else { return }
      guard wire.phase == .open || wire.phase == .closing else { return }
      if let piece = outbox.withLock({ $0.takePiece() }) {
        do throws(TLSFault) { try wire.session.write(piece) } catch { return closeSocket(.tls(error)) }
      } else if let reason = endingReason() {
        return finish(reason)
      } else {
        return
      }
      if wire.phase == .open, endingReason() != nil { beginClosing() }
    }
  }

  /// What `close` or a full queue said, if anything.
  private func endingReason() -> LinkCloseReason? {
    switch outbox.withLock({ $0.ending }) {
    case .flushing(let reason), .now(let reason): reason
    case nil: nil
    }
  }

  /// The reason to end without sending what is queued: a full queue, or a link that was never open.
  private func hastyEnding() -> LinkCloseReason? {
    switch outbox.withLock({ $0.ending }) {
    case .now(let reason): reason
    case .flushing(let reason): wire.phase == .connecting || wire.phase == .handshaking ? reason : nil
    case nil: nil
    }
  }

  private func beginClosing() {
    wire.phase = .closing
    setDeadline(links.bounds.closingMilliseconds) { link in link.closeSocket(.cutOff) }
    readLater()
  }

  /// Writes encrypted bytes; true once none are left.
  private func writeOutput() -> Bool {
    wire.session.takeOutput(into: &wire.output)
    while wire.written < wire.output.count {
      switch wire.socket.write(wire.output, from: wire.written) {
      case .bytes(let count):
        wire.written += count
        outbox.withLock { $0.traffic.bytesSent += UInt64(count) }
      case .blocked:
        if wire.phase == .open, endingReason() != nil { beginClosing() }
        return false
      case .failed(let number):
        lostPeer(number)
        return false
      case .ended: return false
      }
    }
    wire.written = 0
    wire.output = []
    return true
  }

  /// A write failed. What the peer said before it went, such as why it refused us, is read first.
  private func lostPeer(_ number: Int32) {
    wire.output = []
    wire.written = 0
    guard wire.phase == .open || wire.phase == .handshaking, !wire.isPaused else {
      return closeSocket(.socket(SocketFault(operation: "write to the peer", errno: number)))
    }
    links.loop.submit {
      self.readSocket()
      self.closeSocket(.socket(SocketFault(operation: "write to the peer", errno: number)))
    }
  }

  // MARK: Ending

  /// Ends the link: the last words, such as an alert or the TLS goodbye, go out as far as the system takes them.
  func finish(_ reason: LinkCloseReason) {
    guard wire.phase != .closed, wire.phase != .lingering else { return }
    let wasConnecting = wire.phase == .connecting
    let reason = endingReason() ?? reason
    if wire.wasOpen {
      sayLastWords(reason)
      wire.session.close()
    }
    outbox.withLock { $0.end(.now(reason)) }
    wire.phase = .lingering
    let isFlushed = !wasConnecting && writeOutput()
    guard wire.phase == .lingering else { return }
    guard isFlushed else { return closeSocket(reason) }
    wire.socket.shutDownWriting()
    report(reason)
    setDeadline(Limits.lingerMilliseconds) { link in link.closeSocket(reason) }
    links.lingers(self)
    readLater()
  }

  private func sayLastWords(_ reason: LinkCloseReason) {
    guard let words = owner.lastWords(on: self, reason: reason) else { return }
    var bytes: [UInt8] = []
    Frame.append(type: words.type, flags: [], payload: words.payload, to: &bytes)
    do throws(TLSFault) {
      try wire.session.write(bytes)
    } catch {
      return  // The link ends for another reason, which is the one that is told.
    }
  }

  /// Ends the link at once.
  func closeSocket(_ reason: LinkCloseReason) {
    guard wire.phase != .closed else { return }
    let reason = endingReason() ?? reason
    outbox.withLock { $0.end(.now(reason)) }
    wire.phase = .closed
    if let deadline = wire.deadline { links.loop.cancel(deadline) }
    links.loop.unwatch(wire.socket.descriptor)
    wire.socket.close()
    wire.output = []
    report(reason)
    links.forget(self)
  }

  /// Tells whoever waits for the link that it ended; only the first time counts.
  private func report(_ reason: LinkCloseReason) {
    links.ended(self)
    if let dial = wire.dial {
      wire.dial = nil
      dial.failed(self, reason)
    }
    guard wire.wasOpen else { return }
    wire.wasOpen = false
    owner.linkClosed(self, reason: reason)
  }
}
