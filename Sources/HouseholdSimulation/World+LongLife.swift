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

  /// Wakes the device if the others take it for asleep, and confirms what it has applied if that is due.
  package func makeRound(_ device: SimulatedDevice) throws {
    if try device.replica.wake(now: wall(device)) {
      trace.add("wake \(device.name)")
      handle(device, .membershipChanged)
    }
    if try device.replica.confirm(now: wall(device)) {
      trace.add("confirm \(device.name)")
      handle(device, .localChanges)
    }
  }

  /// Writes down that one sleeps, as an owner's device does.
  package func declareDormant(_ sleeper: SimulatedDevice, by owner: SimulatedDevice) throws {
    try owner.replica.declareDormant(sleeper.device, now: wall(owner))
    trace.add("\(sleeper.name) sleeps")
    handle(owner, .membershipChanged)
  }
}
