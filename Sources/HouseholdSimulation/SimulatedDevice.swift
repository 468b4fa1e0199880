package import HouseholdRecords
package import HouseholdReplica
package import HouseholdSync

/// One device of a simulated household: the real replica on a simulated disk, the real engine, and a clock that may be
/// wrong.
package final class SimulatedDevice {
  package let name: String
  package let index: Int
  package let member: MemberID
  let key: SimulatedKey
  private let cryptography: SimulatedCryptography
  private var system: SimulatedFileSystem
  /// Counts the files that took each other's place: another one after a death or a restore.
  private var generation = 0
  /// How often it was restarted cleanly.
  private var restarts = 0
  private var source = SeededRandom(seed: 0)
  package private(set) var replica: Replica
  /// A connection as any other program would have it, with the membership that it was opened under.
  private var opened: (access: RecordAccess, heads: [EntryHash])?
  package internal(set) var engine: SyncEngine
  /// This device's clock minus true time, in milliseconds.
  package var clockOffset: Int64 = 0
  var openLinks: Set<LinkNumber> = []
  /// How many edits it seals in one go; nil for as many as a real one.
  private let rowsSealedAtOnce: Int?
  /// What the device promised to keep, see ``noteWhatIsPromised()``.
  private var promised = Promise()

  init(
    name: String, index: Int, member: MemberID, key: SimulatedKey, cryptography: SimulatedCryptography,
    disk: SimulatedDisk, engine: SyncEngine, rowsSealedAtOnce: Int?, create: (_ path: String) throws -> Replica
  ) throws {
    self.name = name
    self.index = index
    self.member = member
    self.key = key
    self.cryptography = cryptography
    self.engine = engine
    self.rowsSealedAtOnce = rowsSealedAtOnce
    system = SimulatedFileSystem(disk)
    let path = system.path(Self.file)
    replica = try create(path)
    if let rowsSealedAtOnce { replica.rowsSealedAtOnce = rowsSealedAtOnce }
  }

  /// A connection as any other program would have it; a program that runs for longer reads the membership again when it
  /// has changed.
  package var access: RecordAccess {
    get throws {
      let heads = replica.membershipNow.heads
      if let opened, opened.heads == heads { return opened.access }
      let access: RecordAccess
      if let opened {
        access = opened.access
        try access.readMembershipAnew(cryptography: cryptography)
      } else {
        access = try RecordAccess(path: system.path(Self.file), readOnly: false, cryptography: cryptography)
      }
      opened = (access, heads)
      return access
    }
  }

  /// Whether the device belongs to the household, as far as it knows.
  package var belongs: Bool { replica.membershipNow.admits(device) }

  /// The replica's file on the simulated disk.
  package static let file = "replica.sqlite"

  package var device: DeviceID { key.device }

  package var disk: SimulatedDisk { system.disk }

  /// The file that is used now.
  var fileName: String { "\(name)-\(generation)" }

  /// Closes and opens the file, as a clean restart does; every other time another program goes on with it meanwhile.
  ///
  /// - Parameter body: what happens to the disk while nothing runs; nil for nothing.
  func reopen(_ body: (() -> Void)?) throws {
    restarts += 1
    if restarts.isMultiple(of: 2) || body != nil { closeProgram() }
    replica.close()
    body?()
    try open()
  }

  /// Goes on with the bytes that are on the disk now, as after signal 9: what was not committed is lost.
  ///
  /// Throws if something is lost that was promised.
  func reopenKilled() throws {
    let next = SimulatedFileSystem(disk.afterDeath())
    close()
    system = next
    generation += 1
    try open()
    // By hash: what a changeset is called changes when a branch is heard of (D4).
    if let lost = try promised.received.first(where: { try !replica.has($0) }) {
      throw PromiseBroken("\(name) lost the changeset \(lost) that it had stored (R2)")
    }
    let kept = try whatIsKept()
    if kept.sealed == promised.sealed && kept.unsealed < promised.unsealed {
      throw PromiseBroken("\(name) lost an edit that was committed (R2)")
    }
  }

  /// Goes on with a copy in the place of what is on the disk; what was promised since is gone.
  func putBack(_ copy: SimulatedDisk) throws {
    close()
    system = SimulatedFileSystem(copy.copied())
    generation += 1
    try open()
    try noteWhatIsPromised()
  }

  /// Where the new ids of this device come from.
  func seed(_ seed: UInt64) {
    source = SeededRandom(seed: seed)
    replica.random = source
  }

  private func open() throws {
    let path = system.path(Self.file)
    replica = try Replica(path: path, cryptography: cryptography, signer: key)
    if let rowsSealedAtOnce { replica.rowsSealedAtOnce = rowsSealedAtOnce }
    source = SeededRandom(seed: source.next())
    replica.random = source
  }

  /// Closes the file for good.
  func close() {
    closeProgram()
    replica.close()
  }

  private func closeProgram() {
    opened?.access.close()
    opened = nil
  }

  /// Remembers what must be there after a death at any later moment: called whenever a call came back.
  func noteWhatIsPromised() throws { promised = try whatIsKept() }

  private func whatIsKept() throws -> Promise {
    Promise(
      unsealed: try replica.unsealedRecords(), received: try replica.receivedDependencies(),
      sealed: ChangesetName(replica: replica.replica, sequence: try replica.vectors().received[replica.replica]))
  }

  /// What a device has, and may not lose by dying.
  private struct Promise {
    var unsealed: Int64 = 0
    var received: [Dependency] = []
    /// Its own last changeset.
    var sealed: ChangesetName?
  }

  /// Writes as any program would, in one transaction, at this device's simulated time.
  package func edit<Result>(at wall: Instant, _ body: (RecordAccess) throws -> Result) throws -> Result {
    disk.wall = wall
    // Another program would wait for its turn, and in one thread nobody gives it.
    try replica.setDirectAdoptionAside()
    let access = try access
    return try access.transaction { try body(access) }
  }

  /// The fields of a record by name; nil if it does not show.
  package func fields(_ key: RecordKey) throws -> [String: FieldValue]? {
    let access = try access
    guard let type = access.schema.type(key.type) else { return nil }
    return try access.record(type, key.id).map { shown in
      Dictionary(uniqueKeysWithValues: zip(type.fields.map(\.name), shown.values))
    }
  }

  /// Everything that shows, in the order of the types' names and the ids.
  package func tables() throws -> [RecordKey: [FieldValue]] {
    var found: [RecordKey: [FieldValue]] = [:]
    let access = try access
    for type in access.schema.types {
      try access.forEach(type) { found[$0.key] = $0.values }
    }
    return found
  }
}

/// A device did not keep what it had said it would.
struct PromiseBroken: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
