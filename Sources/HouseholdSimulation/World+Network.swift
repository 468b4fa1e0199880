import HouseholdRecords
import HouseholdReplica
package import HouseholdSync

/// Links, and what travels on them.
extension World {
  /// Opens a link; nil if the two cannot reach each other.
  @discardableResult
  package func connect(_ a: SimulatedDevice, _ b: SimulatedDevice) -> LinkNumber? {
    guard network.canReach(a.index, b.index) else { return nil }
    let link = network.open(a.index, b.index)
    trace.add("link \(link) \(a.name)-\(b.name)")
    for (end, other) in [(a, b), (b, a)] {
      end.openLinks.insert(link)
      handle(
        end,
        .linkOpened(LinkOpening(link: link, device: other.device, member: other.member, weDialled: end === a)))
    }
    return link
  }

  /// Cuts a link: what is under way is lost, both ends hear of it.
  func cut(_ link: LinkNumber) {
    guard let wire = network.cut(link) else { return }
    trace.add("cut \(link)")
    for end in wire.ends { endLink(link, at: devices[end]) }
  }

  private func endLink(_ link: LinkNumber, at device: SimulatedDevice) {
    if device.openLinks.remove(link) != nil { handle(device, .linkClosed(link)) }
  }

  /// Cuts the two off from each other until they are healed.
  func partition(_ a: SimulatedDevice, _ b: SimulatedDevice) {
    network.partition(a.index, b.index)
    for link in network.links(between: a.index, and: b.index) { cut(link) }
  }

  /// Delivers one parcel, picked by the seed; false if nothing is under way.
  func deliverOne() -> Bool {
    let waiting = network.waiting
    guard !waiting.isEmpty else { return false }
    let choice = waiting.count == 1 ? waiting[0] : random.pick(waiting)
    deliver(choice.link, end: choice.end)
    return true
  }

  /// Delivers the next parcel for this end of the link.
  func deliver(_ link: LinkNumber, end: Int) {
    guard let wire = network[link], let parcel = network.take(link, end: end) else { return }
    let device = devices[wire.ends[end]]
    switch parcel {
    case .message(let type, let flags, var payload):
      tamper?(type, &payload)
      if device.openLinks.contains(link) {
        handle(device, .messageReceived(link, type: type, flags: flags, payload: payload))
      }
    case .end:
      endLink(link, at: device)
      _ = network.cut(link)
    }
  }

  /// Delivers until nothing is under way; a fault if that never happens.
  func settle(limit: Int = 20_000) {
    for _ in 0..<limit where !deliverOne() { return }
    faults.append("traffic does not stop")
  }

  /// Lets time pass, delivering everything in between.
  func pass(seconds: Int, inStepsOf step: Int = 1) {
    for _ in stride(from: 0, to: seconds, by: step) {
      advance(milliseconds: Int64(step) * 1000)
      for device in devices where !network.frozen.contains(device.index) { handle(device, .tick) }
      settle()
    }
  }

  /// Opens a link between the two unless there is one, delivers until it is quiet, and closes it again.
  package func sync(_ a: SimulatedDevice, _ b: SimulatedDevice) throws {
    for device in devices { try seal(device) }
    let isLinked = !network.links(between: a.index, and: b.index).isEmpty
    let link = isLinked ? nil : connect(a, b)
    settle()
    if let link { cut(link) }
  }

  /// Joins every pair that can reach each other and has no link, and of which one would dial the other: a device that
  /// belongs, as far as it knows, dials those that belong.
  package func connectAll() {
    for a in devices {
      for b in devices
      where a.index < b.index && a.device != b.device && network.links(between: a.index, and: b.index).isEmpty
        && (dials(a, b) || dials(b, a))
      {
        connect(a, b)
      }
    }
  }

  private func dials(_ a: SimulatedDevice, _ b: SimulatedDevice) -> Bool {
    a.belongs && a.replica.membershipNow.admits(b.device)
  }

  /// Cuts all links.
  package func disconnectAll() { for link in network.links { cut(link) } }

  /// Heals everything and lets time pass until all have everything of each other.
  ///
  /// - Parameter keepingLinks: whether sessions that work go on, with all that was said in them; else all begin anew.
  package func heal(keepingLinks: Bool = false) throws {
    for device in devices { device.disk.heal() }
    network.healAll()
    network.frozen = []
    network.away = []
    for link in network.links where !keepingLinks || network[link]?.isDeaf.contains(true) == true { cut(link) }
    for device in devices { try seal(device) }
    // Who finds out that a replica has branches ends its sessions, and nodes dial again.
    for round in 0..<20 {
      let before = network.openedCount
      connectAll()
      // What was just sealed goes over the links that were kept, too, before it is judged.
      if network.openedCount == before, round > 0 { return }
      settle()
      pass(seconds: 6, inStepsOf: 3)
    }
    faults.append("sessions begin anew without end")
  }
}
