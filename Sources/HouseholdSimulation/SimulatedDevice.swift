import Foundation
package import HouseholdRecords
package import HouseholdReplica
package import HouseholdSync
import HouseholdTrust

/// One device of a simulated household: the real replica in a file, the real engine, and a clock that may be wrong.
package final class SimulatedDevice {
  package let name: String
  package let index: Int
  package let member: MemberID
  let key: KeyPair
  private let folder: URL
  private var generation = 0
  private var copies = 0
  private var source = SeededRandom(seed: 0)
  package private(set) var replica: Replica
  /// A connection as any other program would have it.
  package private(set) var access: RecordAccess
  package internal(set) var engine: SyncEngine
  /// This device's clock minus true time, in milliseconds.
  package var clockOffset: Int64 = 0
  var openLinks: Set<LinkNumber> = []

  init(
    name: String, index: Int, member: MemberID, key: KeyPair, folder: URL, engine: SyncEngine,
    create: (_ path: String) throws -> Replica
  ) throws {
    self.name = name
    self.index = index
    self.member = member
    self.key = key
    self.folder = folder
    self.engine = engine
    let path = folder.appending(path: "\(name)-0.sqlite").path
    replica = try create(path)
    access = try Self.openAccess(path)
  }

  package var device: DeviceID { key.device }

  /// The file that is used now; another one after a kill or a restore.
  var fileName: String { "\(name)-\(generation)" }

  private var path: String { folder.appending(path: "\(name)-\(generation).sqlite").path }

  private static func openAccess(_ path: String) throws -> RecordAccess {
    let access = try RecordAccess(path: path, readOnly: false, cryptography: OpenSSLCryptography())
    // Where the outbox ended before an edit, see `edit`. It exists on this connection only.
    try access.execute("CREATE TEMP TABLE simulated(number INTEGER); INSERT INTO simulated VALUES (0)")
    return access
  }

  /// Closes and opens the file, as a clean restart does.
  func reopen() throws {
    access.close()
    replica.close()
    try open()
  }

  /// Goes on with the bytes that are on the disk now, as after signal 9: what was not committed is lost.
  func reopenKilled() throws {
    let old = path
    generation += 1
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: old + suffix) {
      try FileManager.default.copyItem(atPath: old + suffix, toPath: path + suffix)
    }
    access.close()
    replica.close()
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: old + suffix) {
      try FileManager.default.removeItem(atPath: old + suffix)
    }
    try open()
  }

  /// Copies the bytes that are on the disk now.
  func copyFile() throws -> String {
    copies += 1
    let copy = folder.appending(path: "\(name)-copy-\(copies).sqlite").path
    try Self.copyFile(from: path, to: copy)
    return copy
  }

  static func copyFile(from old: String, to new: String) throws {
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: old + suffix) {
      try FileManager.default.copyItem(atPath: old + suffix, toPath: new + suffix)
    }
  }

  /// Goes on with a copy in the place of the file.
  func putBack(_ copy: String) throws {
    access.close()
    replica.close()
    generation += 1
    try Self.copyFile(from: copy, to: path)
    try open()
  }

  /// Where the new ids of this device come from.
  func seed(_ seed: UInt64) {
    source = SeededRandom(seed: seed)
    replica.random = source
  }

  private func open() throws {
    replica = try Replica(path: path, cryptography: OpenSSLCryptography(), signer: key)
    source = SeededRandom(seed: source.next())
    replica.random = source
    access = try Self.openAccess(path)
  }

  /// Closes the file for good.
  func close() {
    access.close()
    replica.close()
  }

  /// Writes as any program would, in one transaction, at this device's simulated time.
  ///
  /// The capture triggers ask SQLite for the time, which is the real one: so the rows that the edit captured are given
  /// the simulated time before the transaction is committed.
  package func edit<Result>(at wall: Instant, _ body: (RecordAccess) throws -> Result) throws -> Result {
    try access.transaction {
      try access.execute("UPDATE simulated SET number = (SELECT coalesce(max(number), 0) FROM sync_outbox)")
      let result = try body(access)
      try access.execute(
        "UPDATE sync_outbox SET at = \(wall.milliseconds) WHERE number > (SELECT number FROM simulated)")
      return result
    }
  }

  /// The fields of a record by name; nil if it does not show.
  package func fields(_ key: RecordKey) throws -> [String: FieldValue]? {
    guard let type = access.schema.type(key.type) else { return nil }
    return try access.record(type, key.id).map { shown in
      Dictionary(uniqueKeysWithValues: zip(type.fields.map(\.name), shown.values))
    }
  }

  /// Everything that shows, in the order of the types' names and the ids.
  package func tables() throws -> [RecordKey: [FieldValue]] {
    var found: [RecordKey: [FieldValue]] = [:]
    for type in access.schema.types {
      try access.forEach(type) { found[$0.key] = $0.values }
    }
    return found
  }
}
