import Foundation
import HouseholdRecords
import HouseholdReplica
import Testing

struct BackupSecrecyTests {
  @Test func `a backup is its owner's alone from its first byte, whatever the umask`() throws {
    let household = try TestHousehold("ana")
    let file = household.folder.appending(path: "backup.sqlite").path
    // Whoever is killed before the end leaves the file as it was made, with what had not been taken out of it yet.
    try ReplicaBackup.write(
      of: household["ana"].path, to: file, now: Instant(milliseconds: 1_772_442_000_000))

    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let taken = household.folder.appending(path: "taken").path
    try Data("mine".utf8).write(to: URL(filePath: taken))
    #expect(throws: ReplicaError.self) {
      try ReplicaBackup.write(of: household["ana"].path, to: taken, now: Instant(milliseconds: 1_772_442_000_000))
    }
    #expect(try Data(contentsOf: URL(filePath: taken)) == Data("mine".utf8))
  }
}
