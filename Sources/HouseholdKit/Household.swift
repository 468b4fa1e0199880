package import HouseholdNode
package import HouseholdRecords
package import HouseholdReplica
internal import HouseholdTrust

/// The records of a household on this device: reads and writes them beside a running node, or without one.
///
/// Writes are captured like any program's and synced by the node. Not for more than one thread at a time.
package final class Household {
  let access: RecordAccess
  let directory: DataDirectory
  private let isReadOnly: Bool
  private let clock: ClockedFileSystem?
  /// What kinds of records there are.
  package let schema: Schema

  /// A record as it shows.
  package struct Record: Hashable, Sendable {
    package var type: RecordType
    package var id: String
    /// In the order of the type's fields.
    package var values: [FieldValue]

    /// The fields by name.
    package var fields: [String: FieldValue] {
      Dictionary(uniqueKeysWithValues: zip(type.fields.map(\.name), values))
    }
  }

  /// Who did something, and when; without names for what is not sealed yet, which was written on this device.
  package struct Authorship: Hashable, Sendable {
    package var member: String?
    package var device: String?
    package var at: Instant
  }

  /// Opens the household in a data directory.
  ///
  /// - Parameter clock: a test's clock; nil for the machine's.
  package init(_ directory: DataDirectory, readOnly: Bool = false, clock: ClockedFileSystem? = nil) throws {
    try directory.requireHousehold()
    if !readOnly { try DiskFacts(directory).requireWritable(directory) }
    self.directory = directory
    self.clock = clock
    isReadOnly = readOnly
    access = try Self.guarded {
      try RecordAccess(
        path: directory.replica, readOnly: readOnly, cryptography: OpenSSLCryptography(), fileSystem: clock)
    }
    schema = access.schema
  }

  /// The time now.
  var now: Instant { clock?.now ?? SystemClock.now }

  /// Closes the file, and tells the node that something may have been written.
  package func close() {
    access.close()
    if !isReadOnly { tellNode() }
  }

  /// The node notices commits by itself; a word from us only makes it quicker, so its silence does not matter.
  private func tellNode() {
    do {
      guard let client = try ControlClient.connect(directory) else { return }
      defer { client.hangUp() }
      _ = try client.ask(.poke)
    } catch {
      return
    }
  }

  /// Calls `body` with each record of the type in order, without holding them all.
  package func forEach(
    _ type: RecordType, where conditions: [(field: String, value: FieldValue)] = [], order: String? = nil,
    limit: Int? = nil, _ body: (Record) throws -> Void
  ) throws {
    try Self.guarded {
      try access.forEach(type, where: conditions, order: order, limit: limit) { shown in
        try body(Record(type: type, id: shown.key.id, values: shown.values))
      }
    }
  }

  /// One record; nil if it is not there.
  package func record(_ type: RecordType, _ id: String) throws -> Record? {
    try Self.guarded { try access.record(type, id) }.map { Record(type: type, id: id, values: $0.values) }
  }

  /// How many records the type has.
  package func count(_ type: RecordType) throws -> Int64 { try Self.guarded { try access.count(type) } }

  /// Who made the record and who changed it last.
  package func provenance(_ type: RecordType, _ id: String) throws -> (created: Authorship, modified: Authorship)? {
    try Self.guarded { try access.provenance(type, id) }.map { pair in
      (
        created: Authorship(member: pair.created.member, device: pair.created.device, at: pair.created.at),
        modified: Authorship(member: pair.modified.member, device: pair.modified.device, at: pair.modified.at)
      )
    }
  }

  /// Sets the named fields, and makes the record if it is not there; returns whether it was made.
  @discardableResult
  package func put(_ type: RecordType, _ id: String, _ fields: [(name: String, value: FieldValue)]) throws -> Bool {
    try Self.guarded { try access.put(type, id, fields) }
  }

  /// Deletes records, all or none; returns the ids that were not there, in which case nothing was deleted.
  package func delete(_ type: RecordType, _ ids: [String]) throws -> [String] {
    try Self.guarded {
      try access.transaction {
        let missing = try ids.filter { try access.record(type, $0) == nil }
        guard missing.isEmpty else { return missing }
        for id in ids { _ = try access.delete(type, id) }
        return []
      }
    }
  }

  /// Runs the body in one transaction: others see all of it or nothing.
  package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try Self.guarded { try access.transaction(body) }
  }

  /// Runs the body in one transaction whose writes are generated: whatever a person wrote goes before them.
  package func generating<Result>(_ body: () throws -> Result) throws -> Result {
    try Self.guarded { try access.generating(body) }
  }

  /// Whether anything was ever heard of this id, dead or alive.
  package func isKnown(_ type: RecordType, _ id: String) throws -> Bool {
    try Self.guarded { try access.isKnown(type, id) }
  }

  /// A new id for a record.
  package static func newID() -> String { hexadecimal(SecureRandom.bytes(16)) }

  /// SHA-256 of the bytes.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] { OpenSSLCryptography().sha256(bytes) }

  /// Turns what the store says into what whoever acts needs.
  static func guarded<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as ReplicaError {
      throw HouseholdError(error)
    }
  }
}

/// Why something about the records could not be done.
package struct HouseholdError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A stable word in camel case.
  package var code: String
  /// One sentence.
  package var message: String
  /// The next step.
  package var remedy: String
  /// Whether it may work later: another program holds the file locked.
  package var isTemporary: Bool
  /// Whether this device has no right to do it.
  package var isNotAllowed: Bool

  init(_ error: ReplicaError) {
    code = error.code.rawValue
    message = error.message
    remedy = error.remedy
    isTemporary = error.code == .databaseLocked
    isNotAllowed = error.code == .notAllowed
  }

  package var description: String { message }
}

/// Sync health of a household, with the node running or not.
package enum HouseholdStatus {
  /// What the file and, if it runs, the node say now; throws where the replica cannot be read.
  ///
  /// - Parameter computesDigest: whether the digest is computed here if the node has not done it since the last change.
  package static func report(
    _ directory: DataDirectory, computesDigest: Bool = false, now: Instant
  ) throws -> StatusReport {
    try Household.guarded {
      try look(directory, node: NodeAnswer.ask, computesDigest: computesDigest, now: now).report
    }
  }

  /// The same with a verdict also where the replica cannot be read.
  package static func verdict(
    _ directory: DataDirectory, computesDigest: Bool = false, now: Instant
  ) throws -> StatusReport {
    do {
      if let loss = directory.lostReplica { throw loss }
      return try look(directory, node: NodeAnswer.ask, computesDigest: computesDigest, now: now).report
    } catch let fault as ReplicaError {
      return StatusJudge.report(
        unreadable: fault, node: NodeAnswer.ask(directory), disk: DiskFacts(directory), now: now)
    }
  }

  /// What the file and the node say now, judged and as it is.
  ///
  /// - Parameters:
  ///   - node: asks the node.
  ///   - judgesFiles: whether keys, certificates and permissions are looked at; a test's clock is none for their dates.
  static func look(
    _ directory: DataDirectory, node: (DataDirectory) throws -> NodeAnswer, judgesFiles: Bool = true,
    computesDigest: Bool = false, now: Instant
  ) throws -> (report: StatusReport, facts: StatusFacts, live: LiveFacts?) {
    try directory.requireHousehold()
    var facts = try StatusFacts.read(path: directory.replica, cryptography: OpenSSLCryptography(), now: now)
    if computesDigest && facts.digest == nil { facts.digest = computedDigest(directory) }
    let answer = try node(directory)
    let files = judgesFiles ? OwnFiles.check(directory, facts, now: now) : []
    let report = StatusJudge.report(
      facts, node: answer, disk: DiskFacts(directory), ownFiles: files, now: now)
    return (report, facts, answer.facts)
  }

  /// The digest by reading every record; none where the replica cannot be opened, which status tells in other words.
  package static func computedDigest(_ directory: DataDirectory) -> [UInt8]? {
    do {
      let replica = try Replica(path: directory.replica, cryptography: OpenSSLCryptography(), signer: nil)
      defer { replica.close() }
      return try replica.digestOfSealedState()?.bytes
    } catch {
      return nil
    }
  }

  /// Whether there is another active device in the household.
  package static func hasOthers(_ directory: DataDirectory) throws -> Bool {
    let (state, device, _) = try membership(directory)
    return state.devices.values.contains { $0.id != device && state.admits($0.id) }
  }

  /// Who belongs to the household, as the file says.
  package static func membership(
    _ directory: DataDirectory
  ) throws -> (state: MembershipState, device: DeviceID, lastSeen: [DeviceID: Instant]) {
    try directory.requireHousehold()
    let facts = try Household.guarded {
      try StatusFacts.read(path: directory.replica, cryptography: OpenSSLCryptography())
    }
    return (facts.membership, facts.identity.device, facts.peers.compactMapValues(\.lastSeen))
  }
}
