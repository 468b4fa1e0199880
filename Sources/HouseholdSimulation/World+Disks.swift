import HouseholdReplica

/// Disks that fail: what becomes of a device whose disk, or whose process, is struck in the middle of a call.
extension World {
  /// Does something with the device's store; nil if its disk failed because it was told to.
  ///
  /// A fault that nobody asked for is thrown on; a device that died is opened again from what is on its disk.
  package func survive<Result>(_ device: SimulatedDevice, _ body: () throws -> Result) throws -> Result? {
    do {
      let result = try body()
      return bury(device) ? nil : result
    } catch let error as ReplicaError where device.disk.hasStruck && ![.badValue, .notAllowed].contains(error.code) {
      trace.add("\(device.name): \(error.message)")
      if ![.inputOutput, .diskFull, .notFound].contains(error.code) {
        faults.append("\(device.name) takes a fault of the disk for something else: \(error)")
      }
      _ = bury(device)
      return nil
    }
  }

  /// Opens a device again whose process has died; false if it lives.
  ///
  /// What it has said it would keep until now must be there.
  func bury(_ device: SimulatedDevice) -> Bool {
    do {
      guard device.disk.isDead else {
        if device.disk.isArmed { try device.noteWhatIsPromised() }
        return false
      }
      try kill(device)
    } catch let broken as PromiseBroken {
      faults.append(broken.description)
    } catch let error as ReplicaError where device.disk.hasStruck && !device.disk.isDead {
      trace.add("\(device.name): \(error.message)")
    } catch {
      faults.append("\(device.name) cannot go on after it died: \(error)")
    }
    return true
  }

  /// Opens a replica that lies on a disk, for whoever the device is; throws if it is none.
  package func open(_ disk: SimulatedDisk) throws {
    let system = SimulatedFileSystem(disk)
    let replica = try Replica(
      path: system.path(SimulatedDevice.file), cryptography: cryptography, signer: nil)
    replica.close()
  }
}
