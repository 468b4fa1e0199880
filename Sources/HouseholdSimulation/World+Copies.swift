import HouseholdRecords
import HouseholdReplica

/// Copies of a device's disk: put back later, or started beside it (D4).
extension World {
  /// Copies the device's disk as it is now.
  package func copy(_ device: SimulatedDevice) -> SimulatedDisk {
    trace.add("copy \(device.name)")
    return device.disk.copied()
  }

  /// Puts a copy back in the device's place.
  ///
  /// - Parameter isNoticed: whether something outside of the file tells the device that it is an older one.
  package func restore(_ device: SimulatedDevice, to copy: SimulatedDisk, isNoticed: Bool) throws {
    trace.add("restore \(device.name)\(isNoticed ? ", which notices" : "")")
    device.engine = makeEngine()
    device.openLinks = []
    for link in network.links(of: device.index) { cut(link) }
    try device.putBack(copy)
    if isNoticed { try device.replica.mint(.restored, now: wall(device)) }
  }

  /// Starts a second node on a copy that was made before.
  package func start(twinOf device: SimulatedDevice, on copy: SimulatedDisk) throws -> SimulatedDevice {
    try add(twinOf: device, disk: copy.copied())
  }

  /// Starts a second node on a copy of the device's disk.
  @discardableResult
  package func clone(_ device: SimulatedDevice, isNoticed: Bool) throws -> SimulatedDevice {
    let twin = try add(twinOf: device, disk: device.disk.copied())
    trace.add("clone \(device.name) as \(twin.name)")
    if isNoticed { try twin.replica.mint(.restored, now: wall(twin)) }
    return twin
  }
}
