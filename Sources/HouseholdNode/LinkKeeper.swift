internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdSync
internal import HouseholdTransport
internal import HouseholdTrust

/// Keeps a link to every other device: dials where it was last seen, where it says it is, and where we were told to.
///
/// On the replica's thread, like the driver. Unchecked for the same reason.
final class LinkKeeper: @unchecked Sendable {
  /// Someone to keep a link to.
  private struct Target {
    /// Known from the membership log, or as soon as a given address has answered.
    var device: DeviceID?
    /// Addresses that a person gave (`--peer`).
    var given: [SocketAddress]
    /// Addresses that it was heard at in the local network, the newest first, and when that last made us dial.
    var found: [SocketAddress] = []
    var foundAt: Tick?
    var pacing = CallPacing()
    var dial: Dial?
    /// Names the dial: one that was given up is answered, too.
    var dialNumber = 0
    /// What is being dialled now.
    var dialling: [SocketAddress] = []
    /// What came of the given addresses, as long as it is not known whose they are.
    var tried: [PeerContact.TriedAddress] = []
  }

  private let driver: SyncDriver
  private let dialer: LinkDialer
  private let owner: any LinkOwner
  private var targets: [Target]
  private var random = SecureRandom()
  private var isStopped = false
  private var lastReset = Tick(milliseconds: 0)
  private var dials = 0

  init(driver: SyncDriver, links: LinkSet, owner: any LinkOwner, given: [SocketAddress]) {
    self.driver = driver
    dialer = LinkDialer(links: links)
    self.owner = owner
    targets = given.map { Target(device: nil, given: [$0]) }
  }

  /// Dials whoever is due; called about once a second, and whenever something changed.
  func look() {
    guard !isStopped else { return }
    let now = EventLoop.now
    let membership = driver.replica.membershipNow
    let calls = hasToCall(membership)
    letGo { !calls || !membership.admits($0) }
    guard calls else {
      for target in targets { target.dial?.cancel() }
      return
    }
    addMembers(membership)
    for index in targets.indices where targets[index].dial == nil && targets[index].pacing.isDue(now) {
      if let device = targets[index].device, driver.isConnected(device) { continue }
      // What a call to another target tries already would only make a second link to the same node.
      let busy = Set(targets.flatMap(\.dialling))
      let addresses = addresses(of: targets[index]).filter { !busy.contains($0) }
      guard !addresses.isEmpty else { continue }
      dial(index, addresses)
    }
  }

  /// Calls devices no longer; addresses that a person gave stay, whoever is met there next.
  private func letGo(of isOver: (DeviceID) -> Bool) {
    for target in targets {
      guard let device = target.device, isOver(device) else { continue }
      target.dial?.cancel()
      targets += target.given.map { Target(device: nil, given: [$0], pacing: target.pacing) }
    }
    targets.removeAll { target in target.device.map(isOver) ?? false }
  }

  /// A device of the household that is new here becomes a target.
  private func addMembers(_ membership: MembershipState) {
    let known = Set(targets.compactMap(\.device))
    for device in membership.devices.keys.sorted()
    where device != driver.replica.identity.device && membership.admits(device) && !known.contains(device) {
      targets.append(Target(device: device, given: []))
    }
  }

  /// Whether there is anybody to call: a device that belongs no longer has nobody, but one that left by itself calls
  /// until one of the others has heard it.
  private func hasToCall(_ membership: MembershipState) -> Bool {
    let own = driver.replica.identity.device
    if membership.admits(own) { return true }
    return membership.devices[own]?.state == .left && !driver.contacts.values.contains { $0.knowsEnd == true }
  }

  private func addresses(of target: Target) -> [SocketAddress] {
    var list = target.given + target.found.filter { !target.given.contains($0) }
    for known in target.device.flatMap({ driver.contacts[$0]?.addresses }) ?? [] {
      do {
        let address = try SocketAddress(parsing: known.address)
        if !list.contains(address) { list.append(address) }
      } catch {
        driver.log.problem("a peer told an address that is none", ["error": "\(error)"])
      }
    }
    return list
  }

  private func dial(_ index: Int, _ addresses: [SocketAddress]) {
    targets[index].pacing.called(EventLoop.now, random: random.next())
    let device = targets[index].device
    dials += 1
    let number = dials
    targets[index].dialNumber = number
    targets[index].dialling = addresses
    targets[index].dial = dialer.dial(addresses, for: .household, of: device, owner: owner) { [driver, self] outcome in
      driver.loop.submit { self.dialled(number, outcome) }
    }
  }

  private func dialled(_ number: Int, _ outcome: DialOutcome) {
    guard let index = targets.firstIndex(where: { $0.dialNumber == number }) else { return }
    targets[index].dial = nil
    targets[index].dialling = []
    let found = outcome.link?.identity?.peer?.device
    let stranger = targets[index].device == nil ? found.flatMap(whyNotCalled) : nil
    let now = SystemClock.now.milliseconds
    guard let device = targets[index].device ?? found, stranger == nil else {
      targets[index].tried = outcome.attempts.prefix(Limits.addressesPerDevice).map {
        PeerContact.TriedAddress(
          address: $0.address.description, lastTried: now, error: $0.succeeded ? stranger : $0.error)
      }
      // Edits here make no other device of it; a change of who belongs may.
      if stranger != nil { targets[index].pacing.rest(EventLoop.now, milliseconds: SyncTiming.retryAfterViolation) }
      return
    }
    if targets[index].device == nil { adopt(device, at: index) }
    driver.change(device) { contact in
      for attempt in outcome.attempts {
        let text = attempt.address.description
        if !contact.addresses.contains(where: { $0.address == text }) {
          contact.addresses.append(PeerContact.TriedAddress(address: text))
        }
        contact.tried(text, at: now, error: attempt.error)
      }
      contact.addresses = Array(contact.addresses.prefix(Limits.addressesPerDevice))
      if outcome.link == nil, let error = outcome.attempts.last?.error { contact.lastError = error }
    }
    // Addresses are given anew, so whoever has this one now may be missing too.
    for attempt in outcome.attempts { if let other = attempt.answeredBy { self.found(other, at: attempt.address) } }
  }

  /// Why a device that was met is nobody to keep a link to; nil for one that is, or may turn out to be.
  private func whyNotCalled(_ device: DeviceID) -> String? {
    let membership = driver.replica.membershipNow
    if device == driver.replica.identity.device { return "This device itself, or a copy of it, answers there." }
    if membership.devices[device] == nil || membership.admits(device) { return nil }
    return "A device that belongs to the household no longer answers there."
  }

  /// Given addresses at which no device of the household was ever met, with what came of trying them.
  var unanswered: [PeerContact.TriedAddress] { targets.filter { $0.device == nil }.flatMap(\.tried) }

  /// A given address has answered: from now on it belongs to that device.
  private func adopt(_ device: DeviceID, at index: Int) {
    targets[index].device = device
    for other in targets.indices.reversed() where other != index && targets[other].device == device {
      targets[index].given += targets[other].given.filter { !targets[index].given.contains($0) }
      targets[index].pacing.join(targets[other].pacing)
      targets[other].dial?.cancel()
      targets.remove(at: other)
    }
  }

  /// A session with the device got into use.
  func gotIntoUse(_ device: DeviceID) {
    for index in targets.indices where targets[index].device == device {
      targets[index].pacing.gotIntoUse(EventLoop.now)
    }
  }

  /// A link ended; it is dialled again after a moment.
  func disconnected(_ device: DeviceID) {
    for index in targets.indices where targets[index].device == device {
      targets[index].pacing.ended(EventLoop.now, random: random.next())
    }
  }

  /// A session ended with a goodbye that says when to come back, or that it makes sense at once.
  func rest(from device: DeviceID, milliseconds: UInt64) {
    for index in targets.indices where targets[index].device == device {
      targets[index].pacing.rest(EventLoop.now, milliseconds: milliseconds)
    }
  }

  /// Who belongs has changed, so what a goodbye said may be true no longer.
  func endRests() {
    for index in targets.indices { targets[index].pacing.endRest() }
  }

  /// The device was heard or met at this address: it is dialled there at once, but for calls that follow on each other.
  func found(_ device: DeviceID, at address: SocketAddress) {
    guard !isStopped, !driver.isConnected(device), let index = targets.firstIndex(where: { $0.device == device })
    else { return }
    let now = EventLoop.now
    let known = targets[index].found
    targets[index].found = Array(([address] + known.filter { $0 != address }).prefix(Limits.foundAddresses))
    // Anybody can play a beacon again; it must not keep us dialling.
    let pause = known.contains(address) ? Self.knownPause : Self.newPause
    if let last = targets[index].foundAt, now < last.advanced(byMilliseconds: pause) { return }
    targets[index].foundAt = now
    targets[index].pacing.hurry(now)
    look()
  }

  /// How long after a beacon made us dial another one does, in milliseconds: of a known address, and of a new one.
  private static let knownPause: Int64 = 8_000
  private static let newPause: Int64 = 1_000

  /// There is something to tell: whoever is away is tried again soon, at most once a second.
  func tryAgainSoon() {
    let now = EventLoop.now
    guard now >= lastReset.advanced(byMilliseconds: 1000) else { return }
    lastReset = now
    for index in targets.indices { targets[index].pacing.hurry(now) }
    look()
  }

  /// Dials nobody any more.
  func stop() {
    isStopped = true
    for target in targets { target.dial?.cancel() }
  }
}
