import HouseholdRecords

/// Disks that fail and processes that die in the middle of a transaction.
extension RandomHousehold {
  /// Lets one of the device's next writes go wrong, or makes its disk well again.
  func armFault(_ device: SimulatedDevice) -> String {
    if device.disk.lasting != nil {
      device.disk.heal()
      return "the disk of \(device.name) is well again"
    }
    let fault = random.pick(SimulatedDisk.Fault.allCases)
    // A transaction is some four to twelve operations.
    let number = 1 + random.below(16)
    device.disk.arm(fault, atOperation: number)
    return "the disk of \(device.name): \(fault.rawValue) at operation \(number)"
  }
}
