import Foundation
import HouseholdNode
import HouseholdRecords
import HouseholdTrust
import Testing

/// Disks, files, permissions, keys and certificates of ben's device.
enum FaultsOfFiles {
  static let disk: [Fault] = [
    Fault(
      name: "another program holds the replica locked", told: "ben", verdict: "degraded", reason: "databaseLocked",
      remedy: "Close the program that holds", edit: .held, isQuick: true
    ) { stage in
      let holder = try LockHolder(stage.ben)
      return {
        let put = try stage.ben.run("put", "note", "n2", "title=mine")
        holder.letGo()
        #expect(put.code == 75)
      }
    },
    Fault(
      name: "the disk is full", told: "ben", verdict: "broken", reason: "diskFull", remedy: "Free some space",
      edit: .held, isQuick: true
    ) { try fullDisk($0) },
    Fault(
      name: "the partner's disk is full", verdict: "pending", reason: "storeFailedThere",
      remedy: "Ask them to look at it", edit: .held
    ) { try fullDisk($0) },
    Fault(
      name: "the file system is read-only", told: "ben", verdict: "broken", reason: "readOnlyFileSystem",
      remedy: "Make it writable again", clears: "when the node is started again", edit: .held
    ) { stage in
      try stage.ben.stop()
      let path = try #require(stage.disk?.path)
      try Tool.must("mount", "-o", "remount,ro", path)
      try stage.ben.spawn(peers: [stage.ana])
      return {
        try Tool.must("mount", "-o", "remount,rw", path)
        try stage.ben.start(peers: [stage.ana])
      }
    },
  ]

  private static func fullDisk(_ stage: FaultStage) throws -> FaultEnd {
    let disk = try #require(stage.disk)
    try disk.fill()
    let rows = (0..<60).map {
      "INSERT OR REPLACE INTO note(id, title, text) VALUES('big-\($0)', 't', printf('%.4000c', 'x'));"
    }
    _ = try stage.ana.sqlite("BEGIN;" + rows.joined() + "COMMIT;")
    return { try disk.free() }
  }

  static let files: [Fault] = [
    Fault(
      name: "the replica's file may not be written", told: "ben", verdict: "broken", reason: "notWritable",
      remedy: "Give it back to this user"
    ) { stage in
      let file = stage.ben.directory + "/replica.sqlite"
      try Tool.must("chattr", "+i", file)
      return { try Tool.must("chattr", "-i", file) }
    },
    Fault(
      name: "the data directory is moved away", told: "ben", verdict: "error", reason: "noHousehold",
      remedy: "Make one with `household init`", clears: "by itself within 30 s; then the node ends", edit: .held,
      isQuick: true
    ) { stage in
      let path = stage.ben.directory
      try FileManager.default.moveItem(atPath: path, toPath: path + "-away")
      return { try FileManager.default.moveItem(atPath: path + "-away", toPath: path) }
    },
    Fault(
      name: "the replica's file is moved away", told: "ben", verdict: "broken", reason: "replicaMissing",
      remedy: "Put replica.sqlite back", clears: "by itself within 30 s; then the node ends", edit: .held
    ) { stage in
      let path = stage.ben.directory + "/replica.sqlite"
      try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
      return { try FileManager.default.moveItem(atPath: path + ".away", toPath: path) }
    },
    Fault(
      name: "the data directory is deleted under the node", told: "kim", verdict: "error", reason: "noHousehold",
      remedy: "Make one with `household init`", clears: "when the device is paired again; the node ends"
    ) { stage in
      let kim = try stage.addKim()
      try FileManager.default.removeItem(atPath: kim.directory)
      try stage.ana.put("note", "after-kim", "title=x")
      try eventually("kim's node ends", seconds: 10) {
        let code = try stage.ana.status().code
        #expect(code != 0, "ana says inSync while kim has no directory")
        return !kim.isRunning
      }
      return { try stage.loseKim() }
    },
    Fault(
      name: "pages of the replica are damaged", told: "ben", verdict: "broken", reason: "corrupt",
      remedy: "Keep the file", clears: "when the file is whole again"
    ) { stage in
      let path = stage.ben.directory + "/replica.sqlite"
      _ = try stage.ben.sqlite("PRAGMA wal_checkpoint(TRUNCATE)")
      let whole = try Data(contentsOf: URL(filePath: path))
      let handle = try #require(FileHandle(forUpdatingAtPath: path))
      try handle.seek(toOffset: 4096)
      try handle.write(contentsOf: Data(repeating: 0xA5, count: whole.count - 4096))
      return {
        try handle.seek(toOffset: 0)
        try handle.write(contentsOf: whole)
        try handle.close()
      }
    },
  ]

  static let keys: [Fault] = [
    Fault(
      name: "the device's key is gone", told: "ben", verdict: "broken", reason: "keys", remedy: "Restore the folder",
      edit: .arrives, isQuick: true
    ) { stage in
      let key = stage.ben.directory + "/share/device.key"
      try FileManager.default.moveItem(atPath: key, toPath: key + ".away")
      return { try FileManager.default.moveItem(atPath: key + ".away", toPath: key) }
    },
    Fault(
      name: "others may read the device's key", told: "ben", verdict: "degraded", reason: "keyMode",
      remedy: "Close it: chmod 600", edit: .arrives, isQuick: true
    ) { try opened("/share/device.key", 0o644, 0o600, $0) },
    Fault(
      name: "others may look into the data directory", told: "ben", verdict: "degraded", reason: "directoryMode",
      remedy: "Close it: chmod 700", edit: .arrives
    ) { try opened("", 0o755, 0o700, $0) },
    Fault(
      name: "the certificate ends soon, and no owner's node runs", told: "ben", verdict: "degraded",
      reason: "certificateNearEnd", remedy: "Leave the node running while an owner's",
      clears: "when an owner's node runs",
      edit: .held, isQuick: true
    ) { try certified(endsIn: 10, $0) },
    Fault(
      name: "the certificate has ended, and no owner's node runs", told: "ben", verdict: "degraded",
      reason: "certificateExpired", remedy: "Check the clock of this device", clears: "when an owner's node runs",
      edit: .held
    ) { try certified(endsIn: -10, $0) },
  ]

  private static func opened(_ file: String, _ open: Int, _ closed: Int, _ stage: FaultStage) throws -> FaultEnd {
    let path = stage.ben.directory + file
    try FileManager.default.setAttributes([.posixPermissions: open], ofItemAtPath: path)
    return { try FileManager.default.setAttributes([.posixPermissions: closed], ofItemAtPath: path) }
  }

  /// Gives ben's key another certificate, and lets his node start with it while ana's is away; she renews it later.
  private static func certified(endsIn days: Int64, _ stage: FaultStage) throws -> FaultEnd {
    let keys = try NodeKeys(DataDirectory(stage.ben.directory))
    let authority = try #require(try NodeKeys(DataDirectory(stage.ana.directory)).authority)
    let day: Int64 = 86_400_000
    let left = keys.device.notAfter.milliseconds(since: SystemClock.now)
    let issued = SystemClock.now.advanced(byMilliseconds: days * day - left)
    let path = DataDirectory(stage.ben.directory).deviceCertificate
    let address = stage.ana.address
    try stage.ben.stop()
    try stage.ana.stop()
    try authority.issue(publicKey: keys.device.publicKey, member: keys.device.member, now: issued).save(to: path)
    try stage.ben.start(peers: [stage.ana])
    return { try stage.ana.start(listen: address) }
  }
}
