import HouseholdRecords
package import HouseholdReplica
import HouseholdSync

/// What a node does in the course of months, as its daily rounds and `compact` do it.
extension World {
  /// Collects what may go, and tells the engine.
  package func compact(
    _ device: SimulatedDevice, keepMilliseconds: Int64 = CompactionRule.keptMilliseconds
  ) throws -> Compaction {
    let done = try device.replica.compact(keepMilliseconds: keepMilliseconds, now: wall(device))
    trace.add("compact \(device.name): \(done.changesets) changesets, \(done.emptied.values.reduce(0, +)) records")
    handle(device, .localChanges)
    return done
  }

  /// Wakes the device if the others take it for asleep, writes down who sleeps, confirms what it has applied if that is
  /// due, and forgets what was displaced for all.
  package func makeRound(_ device: SimulatedDevice) throws {
    if try survive(device, { try device.replica.wake(now: wall(device)) }) == true {
      trace.add("wake \(device.name)")
      handle(device, .membershipChanged)
    }
    try declareSleepers(by: device)
    if try survive(device, { try device.replica.confirm(now: wall(device)) }) == true {
      trace.add("confirm \(device.name)")
      handle(device, .localChanges)
    }
    try survive(device) { try device.replica.forgetDisplaced() }
  }

  /// An owner's device writes down who was not heard of for long, if the clock of another device that it is connected to
  /// bears out its own.
  func declareSleepers(by owner: SimulatedDevice) throws {
    guard owner.replica.membershipNow.isOwner(owner.device) else { return }
    let peers = owner.engine.peers.filter(\.isInUse)
    let there = Set(peers.map(\.device)).union(owner.engine.relayed.keys)
    let silent = try survive(owner) { try owner.replica.silentDevices(now: wall(owner)) } ?? []
    for device in silent where !there.contains(device) {
      guard peers.contains(where: { $0.clockOffsetMilliseconds.magnitude < Self.agreeingMilliseconds }) else {
        continue
      }
      guard try survive(owner, { try owner.replica.declareDormant(device, now: wall(owner)) }) != nil else { continue }
      trace.add("\(name(of: device)) sleeps, says \(owner.name)")
      handle(owner, .membershipChanged)
    }
  }

  /// How far two clocks may differ for one to bear the other out: a day.
  private static let agreeingMilliseconds: UInt64 = 86_400_000

  /// Writes down that one sleeps, as an owner's device does.
  package func declareDormant(_ sleeper: SimulatedDevice, by owner: SimulatedDevice) throws {
    try owner.replica.declareDormant(sleeper.device, now: wall(owner))
    trace.add("\(sleeper.name) sleeps")
    handle(owner, .membershipChanged)
  }

  /// Takes a device away, where nobody reaches it.
  func takeAway(_ device: SimulatedDevice) {
    network.away.insert(device.index)
    for link in network.links(of: device.index) { cut(link) }
  }
}
