package import HouseholdRecords

/// One device's SQLite file of records: captures local edits, seals them, stores what peers send, and merges.
///
/// All of it runs on its owner's thread, and each call that writes is one transaction that is durable when it returns
/// (WAL with `synchronous=FULL`), but for what is remembered of a peer that would say it again. What it keeps in memory is
/// only what the file says; after a failed transaction it is what it was before.
package final class Replica {
  let connection: Connection
  let facts: Facts
  let log: ChangesetLog
  var outbox: Outbox
  let cryptography: any Cryptography
  let signer: (any DeviceSigner)?
  /// Whether this device's key is here, so that something can be sealed.
  var canSeal: Bool { signer != nil }
  /// Where the file lies.
  package let path: String
  /// Whose replica it is.
  package let identity: ReplicaIdentity
  /// The replica id under which this device seals now.
  package internal(set) var replica: ReplicaID
  /// The numbering of the log positions.
  package internal(set) var incarnation: Incarnation
  var replicas: ReplicaTable
  var registry: TypeRegistry
  var membershipLog: MembershipLog
  var membershipState: MembershipState
  /// Up to where each replica counts.
  var admission: Admission
  var servedSnapshots: [SnapshotID: ServedSnapshot] = [:]
  /// The clock as it was last told; only for sealing that a reader asks for.
  package var lastNow = Instant(milliseconds: 0)
  /// Whether an edit of a record that nobody contests goes the short way (``PlainEdit``), and records with which nothing
  /// is the matter are stored many at a time (``ManyRows``, ``NewRecords``); tests compare it with the long way.
  package var takesShortWay = true
  var digestCache: StoreDigest?
  /// The digest that is being computed in slices.
  var digestWalk: DigestWalk?
  /// Changesets whose deletions wait for approval.
  var held: Set<ChangesetName> = []
  /// What each member deleted just now.
  var tallies: [MemberID: DeletionTally] = [:]
  /// Which records are one thing, and what of that is to be looked at.
  var duplicates: Duplicates
  /// How many changes of the changeset at hand were written into the history: part of a change's name.
  var changesInChangeset = 0
  /// Whether a replica turned out to have branches, in the transaction at hand.
  var hasForked = false
  /// The replicas of which the present transaction found new branches, by the ids in the bytes of their changesets.
  var forkedRoots: Set<ReplicaID> = []
  /// The replicas with branches of which the present transaction brought what others that are applied may have seen.
  var seenEarly: Set<ReplicaID> = []
  /// The replicas without branches, bounded by an entry, of which the present transaction brought changesets: the first seq.
  var cameBounded: [ReplicaID: UInt64] = [:]
  /// Whether a changeset came, in the transaction at hand, that may be the last one that counts of its author.
  var hasReachedLast = false
  package internal(set) var forkCount = 0
  /// While a snapshot is put in place: the branches that have another name here, each with its last changeset.
  var grafts: [ReplicaID: ChangesetName] = [:]
  /// While a snapshot is put in place: the records in which it has writes beside others that are here, or parts of cells.
  var contested: Set<RecordPlace> = []
  /// A snapshot that is being put in place as it comes.
  var directAdoption: DirectAdoption?
  /// Called before a snapshot is merged with the records that are here; what it throws keeps them as they are.
  package var beforeResync: () throws -> Void = {}
  /// Whether it was called for a snapshot that could not be put in place: the next attempt finds what it has left.
  var isReadyForResync = false
  /// Where new replica ids come from.
  package var random: any RandomNumberGenerator = SystemRandomNumberGenerator()
  /// The number of the file's schema for which the tables were looked at (``mendTables(now:)``).
  var checkedSchema: Int64?
  /// Whether texts that are none are sealed as they are read: right after they were to have been read as text.
  var takesMalformedTexts = false
  /// What went wrong last with the file, for status.
  private var lastFault: ReplicaError?

  /// Opens the replica in this file.
  ///
  /// - Parameters:
  ///   - signer: the key of this device; without one nothing can be sealed.
  package init(path: String, cryptography: any Cryptography, signer: (any DeviceSigner)?) throws {
    self.path = path
    self.cryptography = cryptography
    self.signer = signer
    connection = try Connection(path: path, mode: .readWrite)
    try Self.prepare(connection)
    facts = Facts(connection)
    identity = ReplicaIdentity(
      household: try facts.identifier256(.household), member: try facts.identifier128(.member),
      device: try facts.identifier256(.device))
    replica = try facts.identifier128(.replica)
    incarnation = try facts.identifier128(.incarnation)
    outbox = Outbox(connection: connection)
    log = try ChangesetLog(connection)
    replicas = try ReplicaTable(connection)
    membershipLog = try Self.loadMembership(connection, household: identity.household, cryptography: cryptography)
    let (state, rights) = MembershipEvaluation.evaluate(membershipLog)
    (membershipState, admission) = (state, Admission(rights: rights))
    registry = try TypeRegistry(schema: membershipState.schema, connection: connection)
    duplicates = try Duplicates(connection, registry: registry, schema: membershipState.schema)
    admission.limits = try storedLimits()
    held = try readHeld()
    checkedSchema = try facts.integer(.tables)
    try renewTriggers()
  }

  /// Settings of the engine's connection: durable commits, and triggers off so that sync is never captured.
  private static func prepare(_ connection: Connection) throws {
    try EngineTables.require(on: connection)
    let version = try connection.integer("PRAGMA user_version") ?? 0
    // A program may have put another mode into the file, in which who reads keeps others from writing.
    guard try connection.text("PRAGMA journal_mode = WAL") == "wal" else {
      throw ReplicaError(
        .other, "\(connection.path) cannot have a write-ahead log where it lies; move it to another disk.")
    }
    try connection.execute(
      """
      PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000;
      PRAGMA journal_size_limit = 67108864
      """)
    connection.tidyLogByHand()
    try connection.setTriggers(false)
    for migration in EngineTables.migrations.dropFirst(Int(version)) {
      try connection.transaction { try connection.execute(migration) }
    }
  }

  /// Makes an empty replica in a new file.
  ///
  /// - Parameters:
  ///   - entries: the membership log to begin with.
  ///   - nonce: new random bits: they name this incarnation of the replica (D4).
  ///   - incarnation: new random bits: they name the numbering of the log.
  ///   - needsSnapshot: whether the household's records have yet to come from a peer.
  package static func create(
    path: String, identity: ReplicaIdentity, entries: [[UInt8]], nonce: ReplicaNonce, incarnation: Incarnation,
    needsSnapshot: Bool, cryptography: any Cryptography, signer: (any DeviceSigner)?
  ) throws -> Replica {
    let connection = try Connection(path: path, mode: .readWriteCreate)
    guard try connection.integer("SELECT count(*) FROM sqlite_master") == 0 else {
      throw ReplicaError(.notAReplica, "\(path) exists and holds tables already.")
    }
    try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    try connection.transaction {
      try connection.execute("PRAGMA application_id = \(EngineTables.applicationID)")
      for migration in EngineTables.migrations { try connection.execute(migration) }
      let facts = Facts(connection)
      let replica = cryptography.replicaID(device: identity.device, nonce: nonce)
      try facts.set(.household, .bytes(identity.household.bytes))
      try facts.set(.member, .bytes(identity.member.bytes))
      try facts.set(.device, .bytes(identity.device.bytes))
      try facts.set(.replica, .bytes(replica.bytes))
      try facts.set(.nonce, .bytes(nonce.bytes))
      try facts.set(.incarnation, .bytes(incarnation.bytes))
      try facts.set(.needsSnapshot, .integer(needsSnapshot ? 1 : 0))
      try facts.set(.triggers, .integer(TriggerWords.number))
    }
    connection.close()
    let replica = try Replica(path: path, cryptography: cryptography, signer: signer)
    _ = try replica.addMembership(entries)
    return replica
  }

  /// Copies a replica as of one moment into a new file, also while a node works with it.
  package static func copy(_ path: String, to target: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    defer { connection.close() }
    try connection.run("VACUUM INTO ?", .text(target))
  }

  /// Closes the file; nothing may be called afterwards.
  package func close() {
    // What came of a snapshot is asked for again.
    _ = directAdoption?.cancel()
    directAdoption = nil
    servedSnapshots = [:]
    connection.close()
  }

  /// The fault that was told with this text.
  package func fault(saying text: String) -> ReplicaError {
    lastFault.flatMap { $0.description == text ? $0 : nil } ?? ReplicaError(.other, text)
  }

  /// Gives the memory back that holds what was read of the file.
  package func releaseMemory() { connection.releaseMemory() }

  /// Forgets what was read of the file: a page that was damaged when it was read may be whole by now.
  package func readAnew() { connection.releaseMemory() }

  /// How often something was committed here.
  package var commits: Int { connection.commits }

  /// How many pages the write-ahead log holds, as far as is known here.
  package var logPages: Int { directAdoption == nil ? connection.logPages : 0 }

  /// Moves what the write-ahead log holds to its place in the file.
  package func tidyLog() throws { try connection.tidyLog() }

  /// Whether the file is where it was opened.
  package var isInPlace: Bool { !connection.hasMoved }

  /// The device's key.
  func requireSigner() throws -> any DeviceSigner {
    guard let signer else { throw ReplicaError(.other, "This device's key is not there, so nothing can be sealed.") }
    return signer
  }

  /// What is kept in memory of the file, all of it values, so that keeping a copy costs next to nothing.
  private struct Remembered {
    var replica: ReplicaID
    var incarnation: Incarnation
    var replicas: ReplicaTable
    var registry: TypeRegistry
    var membershipLog: MembershipLog
    var membershipState: MembershipState
    var admission: Admission
    var duplicates: Duplicates
    var held: Set<ChangesetName>
    var tallies: [MemberID: DeletionTally]
    var nextPosition: Int64
    var checkedSchema: Int64?
  }

  /// Runs the body in one transaction; when it fails, what is in memory is again what it was before.
  ///
  /// It is put back and not read anew: a disk that does not write may not read either, and then the memory would count
  /// what no file holds, and peers would be told.
  ///
  /// Nothing is written into a file that is not in its place any more: it would be acknowledged, and nobody would find it.
  ///
  /// - Parameter durably: whether it is on the disk when this returns; if not, it is with the next one that is.
  func write<Result>(durably: Bool = true, _ body: () throws -> Result) throws -> Result {
    guard isInPlace else {
      let fault = ReplicaError(.replicaMissing, "The replica's file was moved away, deleted or replaced.")
      lastFault = fault
      throw fault
    }
    try setDirectAdoptionAside()
    do {
      return try writeOnce(durably: durably, body)
    } catch is MalformedText.Found where !connection.isInTransaction {
      // Nothing of it has happened.
      try writeOnce(durably: true) { try readMalformedTexts() }
      takesMalformedTexts = true
      defer { takesMalformedTexts = false }
      return try writeOnce(durably: durably, body)
    }
  }

  private func writeOnce<Result>(durably: Bool, _ body: () throws -> Result) throws -> Result {
    let before = remembered
    do {
      return try durably ? connection.transaction(body) : connection.transactionInPassing(body)
    } catch {
      if let fault = error as? ReplicaError { lastFault = fault }
      putBack(before)
      throw error
    }
  }

  private var remembered: Remembered {
    Remembered(
      replica: replica, incarnation: incarnation, replicas: replicas, registry: registry,
      membershipLog: membershipLog, membershipState: membershipState, admission: admission, duplicates: duplicates,
      held: held, tallies: tallies, nextPosition: log.nextPosition, checkedSchema: checkedSchema)
  }

  /// Takes over what another view of this file, which has written to it, keeps in memory.
  func take(from view: Replica) throws {
    forkCount += view.forkCount
    random = view.random
    putBack(view.remembered)
  }

  private func putBack(_ before: Remembered) {
    replica = before.replica
    incarnation = before.incarnation
    replicas = before.replicas
    registry = before.registry
    membershipLog = before.membershipLog
    membershipState = before.membershipState
    log.forget(from: before.nextPosition)
    admission = before.admission
    duplicates = before.duplicates
    held = before.held
    tallies = before.tallies
    checkedSchema = before.checkedSchema
    (hasForked, forkedRoots, seenEarly, cameBounded) = (false, [], [], [:])
    hasReachedLast = false
    grafts = [:]
    contested = []
    digestCache = nil
  }
}

extension Replica: Coverage {
  /// Whether the author of `later` had applied `earlier`: the same replica's order, or the dependencies.
  package func covers(_ later: ChangesetName, _ earlier: ChangesetName) throws -> Bool {
    if later.replica == earlier.replica { return later.sequence > earlier.sequence }
    guard let header = try log.header(of: later, replicas: replicas) else { return false }
    if let entry = replicas[earlier.replica] {
      if replicas.forked.contains(entry.root) {
        return try isOnPath(earlier, to: later) || coversInTree(header, earlier)
      }
      // Nobody waits for what does not count, so the author may have seen a branch that is not here.
      if admission.limits[entry.id] != nil { return try covers(header, earlier, ofBounded: entry) }
    }
    return header.dependencies.sequence(of: earlier.replica) >= earlier.sequence
  }
}

extension Replica: LoggedNames {
  var writeRights: WriteRights { admission.rights }
}
