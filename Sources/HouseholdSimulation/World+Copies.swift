import HouseholdRecords
import HouseholdReplica

/// Copies of a device's file: put back later, or started beside it (D4).
extension World {
  /// Copies the device's file as it is on the disk now.
  package func copy(_ device: SimulatedDevice) throws -> String {
    trace.add("copy \(device.name)")
    return try device.copyFile()
  }

  /// Puts a copy back in the device's place.
  ///
  /// - Parameter isNoticed: whether something outside of the file tells the device that it is an older one.
  package func restore(_ device: SimulatedDevice, to copy: String, isNoticed: Bool) throws {
    trace.add("restore \(device.name)\(isNoticed ? ", which notices" : "")")
    device.engine = makeEngine()
    device.openLinks = []
    for link in network.links(of: device.index) { cut(link) }
    try device.putBack(copy)
    if isNoticed { try device.replica.mint(.restored, now: wall(device)) }
  }

  /// Starts a second node on a copy of the device's file.
  @discardableResult
  package func clone(_ device: SimulatedDevice, isNoticed: Bool) throws -> SimulatedDevice {
    let copy = try device.copyFile()
    let twin = try add(twinOf: device, file: copy)
    trace.add("clone \(device.name) as \(twin.name)")
    if isNoticed { try twin.replica.mint(.restored, now: wall(twin)) }
    return twin
  }
}
