public import FoundationEssentials
public import HouseholdKit
internal import HouseholdNode
internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdSync

/// Time, the network, and what travels on it.
extension TestHousehold {
  // MARK: Time

  /// True time; it stands still but for ``advance(by:)``.
  public var now: Date { Date(timeIntervalSince1970: Double(clock.now.milliseconds) / 1000) }

  /// Lets time go on: what takes its time on the network arrives when it is due, and nodes do what they do by the clock.
  public func advance(by duration: Duration) throws(HouseholdStoreError) {
    try locked {
      let end = clock.now.advanced(byMilliseconds: duration.milliseconds)
      // Long enough for a long time to be short, short enough for a conversation to go on.
      let step = max(5000, duration.milliseconds / 20)
      try settleAll()
      while clock.now < end {
        let next = min(end, clock.now.advanced(byMilliseconds: step))
        let due = network.nextDue.map { min(next, max(clock.now, $0)) } ?? next
        clock.advance(milliseconds: due.milliseconds(since: clock.now))
        for device in allDevices where device.isRunning { try handle(device, .tick) }
        try settleAll()
      }
    }
  }

  /// Sets a device's clock wrong: its time minus true time.
  public func setClock(of device: TestDevice, aheadBy duration: Duration) {
    device.clock.offsetMilliseconds = duration.milliseconds
  }

  // MARK: The network

  /// Cuts two devices off from each other; what was on its way is lost and is sent again once they are connected.
  public func disconnect(_ a: TestDevice, _ b: TestDevice) throws(HouseholdStoreError) {
    try locked {
      network.disconnect(a.index, b.index)
      for link in network.links(of: a.index, and: b.index) { try cut(link) }
    }
  }

  /// Cuts a device off from all others.
  public func disconnect(_ device: TestDevice) throws(HouseholdStoreError) {
    for other in devices where other !== device { try disconnect(device, other) }
  }

  /// Lets two devices reach each other again; they sync at the next ``settle()``.
  public func connect(_ a: TestDevice, _ b: TestDevice) {
    lock.withLock { network.connect(a.index, b.index) }
  }

  /// Lets a device reach all others again.
  public func connect(_ device: TestDevice) {
    for other in devices where other !== device { connect(device, other) }
  }

  /// From now on a message between the two takes this long, each way.
  public func delay(_ a: TestDevice, _ b: TestDevice, by duration: Duration) {
    lock.withLock { network.delay(a.index, b.index, milliseconds: duration.milliseconds) }
  }

  // MARK: Nodes

  /// The device's node stops: it reads and writes, and nothing syncs.
  public func stopNode(of device: TestDevice) throws(HouseholdStoreError) {
    try locked {
      guard device.isRunning else { return }
      try handle(device, .shutDown)
      for link in network.links(of: device.index) { try cut(link) }
      device.isRunning = false
      device.openLinks = []
    }
  }

  /// The device's node starts again; it syncs at the next ``settle()``.
  public func startNode(of device: TestDevice) {
    lock.withLock {
      guard !device.isRunning else { return }
      device.engine = TestDevice.makeEngine()
      device.isRunning = true
    }
  }

  /// Lets everything travel and arrive that can at this time: afterwards all devices that reach each other have the
  /// same records.
  public func settle() throws(HouseholdStoreError) { try locked { try settleAll() } }

  // MARK: What the stores ask

  func facts(_ index: Int) throws -> LiveFacts? {
    try lock.withLock {
      let device = allDevices[index]
      return device.isRunning ? try device.facts() : nil
    }
  }

  func look(_ index: Int) throws -> Bool {
    try lock.withLock {
      guard allDevices[index].isRunning else { return false }
      try settleAll()
      return true
    }
  }

  // MARK: The work

  /// More messages than any household of a test sends at one time.
  private static let mostParcels = 1_000_000

  private func settleAll() throws {
    var wasActive = true
    // Two rounds: who learns of a new device, or adopts a snapshot, has more to say on links that come then.
    for _ in 0..<4 where wasActive {
      wasActive = false
      for device in allDevices where device.isRunning {
        guard try device.replica.seal(now: device.clock.now) else { continue }
        wasActive = true
        try handle(device, .localChanges)
      }
      if try openLinks() { wasActive = true }
      for _ in 0..<Self.mostParcels {
        guard let parcel = network.takeDue(at: clock.now) else { break }
        wasActive = true
        try deliver(parcel)
      }
    }
  }

  /// Opens a link between any two that can reach and admit each other and have none; whether there was any.
  private func openLinks() throws -> Bool {
    var opened = false
    for a in allDevices where a.isRunning {
      for b in allDevices[(a.index + 1)...] where b.isRunning && network.canReach(a.index, b.index) {
        let areAdmitted =
          a.replica.membershipNow.admits(b.device) && b.replica.membershipNow.admits(a.device)
          && a.replica.membershipNow.admits(a.device) && b.replica.membershipNow.admits(b.device)
        guard areAdmitted, network.links(of: a.index, and: b.index).isEmpty else { continue }
        opened = true
        let link = network.open(a.index, b.index)
        for (end, other) in [(a, b), (b, a)] {
          end.openLinks.insert(link)
          try handle(
            end,
            .linkOpened(
              LinkOpening(link: link, device: other.device, member: other.memberID, weDialled: end === a)))
        }
      }
    }
    return opened
  }

  private func deliver(_ parcel: TestNetwork.Parcel) throws {
    let device = allDevices[parcel.receiver]
    switch parcel.content {
    case .message(let type, let flags, let payload):
      guard device.openLinks.contains(parcel.link) else { return }
      try handle(device, .messageReceived(parcel.link, type: type, flags: flags, payload: payload))
    case .end:
      network.cut(parcel.link)
      if device.openLinks.remove(parcel.link) != nil { try handle(device, .linkClosed(parcel.link)) }
    }
  }

  private func cut(_ link: LinkNumber) throws {
    let ends = allDevices.filter { $0.openLinks.contains(link) }
    network.cut(link)
    for end in ends {
      end.openLinks.remove(link)
      if end.isRunning { try handle(end, .linkClosed(link)) }
      for other in ends where other !== end { try end.lost(other.device) }
    }
  }

  /// Gives an event to a device's engine and does what it wants.
  func handle(_ device: TestDevice, _ event: Event) throws {
    guard device.isRunning else { return }
    for effect in device.engine.handle(event, store: device.replica, wall: device.clock.now, tick: clock.tick) {
      switch effect {
      case .report(let report): try device.note(report)
      case .send(let link, let type, let flags, let payload):
        network.send(
          .message(type: type, flags: flags, payload: payload), on: link, from: device.index, at: clock.now)
      case .close(let link, _):
        device.openLinks.remove(link)
        network.send(.end, on: link, from: device.index, at: clock.now)
      }
    }
  }
}

extension Duration {
  /// In whole milliseconds.
  var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
