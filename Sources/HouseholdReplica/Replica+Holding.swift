package import HouseholdRecords

/// What one member deleted of others' records within a moment, by type.
struct DeletionTally {
  var counts: [String: Int] = [:]
  /// When the last of it came.
  var last: Instant

  /// After such a pause the count begins anew: batches of one catch-up follow each other more quickly.
  static let pauseMilliseconds: Int64 = 5000
}

/// The brake on mass deletions: what crosses the line is stored, confirmed and forwarded, but not applied until somebody
/// decides; whatever depends on it waits with it (design 2.10, D1).
extension Replica {
  /// The changesets that were held when the file was last written.
  func readHeld() throws -> Set<ChangesetName> {
    let statement = try connection.statement("SELECT replica, seq FROM sync_changeset WHERE state = 2")
    defer { statement.reset() }
    var names: Set<ChangesetName> = []
    while try statement.step() {
      guard let entry = replicas[number: statement.integer(0)] else { continue }
      names.insert(ChangesetName(replica: entry.id, sequence: UInt64(statement.integer(1))))
    }
    return names
  }

  /// Holds the chain if its deletions cross the line; returns whether it did.
  ///
  /// - Parameter chain: changesets that are applied together, ready to be.
  func brake(_ chain: [ChangesetHeader], by device: DeviceID, fresh: [Int64: Changeset]) throws -> Bool {
    guard let first = chain.first, let author = membershipState.devices[device]?.member, author != identity.member
    else { return false }
    var counts: [String: Int] = [:]
    for header in chain {
      guard let changeset = try fresh[header.position] ?? contents(of: header) else { continue }
      for key in changeset.deletions where try isLive(key, createdByOtherThan: author) {
        counts[key.type, default: 0] += 1
      }
    }
    if counts.isEmpty { return false }
    var tally = tallies[author] ?? DeletionTally(last: lastNow)
    if lastNow.milliseconds(since: tally.last) > DeletionTally.pauseMilliseconds { tally.counts = [:] }
    let before = tally.counts
    tally.counts.merge(counts, uniquingKeysWith: +)
    tally.last = lastNow
    let crosses = try DeletionBrake.holds(tally.counts) { type in
      try liveCount(of: type) + Int64(before[type] ?? 0)
    }
    if try crosses && !isApproved(first.hash) {
      try log.mark(first.position, .held)
      held.insert(first.name)
      return true
    }
    tallies[author] = tally
    return false
  }

  private func isLive(_ key: RecordKey, createdByOtherThan author: MemberID) throws -> Bool {
    guard let type = registry.known(key.type),
      let stored = try StoredRecord.read(type: type, id: key.id, on: connection), stored.isAlive
    else { return false }
    let creator = replicas[try header(of: stored.writer).name.replica].flatMap { membershipState.devices[$0.device] }
    return creator?.member != author
  }

  private func liveCount(of type: String) throws -> Int64 {
    guard let number = registry.known(type), registry[number] != nil else { return 0 }
    return try connection.integer("SELECT count(*) FROM \(SchemaTables.quoted(type))") ?? 0
  }

  // MARK: Approvals

  /// The internal type whose records say that somebody approved a changeset: their id is its hash.
  static let approvalType = "sync_approval"

  /// Reads approvals as soon as they are stored: they depend on what they approve, so they cannot be applied first.
  func noteApprovals(in changeset: Changeset) throws {
    for operation in changeset.operations where operation.kind == .insert {
      guard changeset.shapes[operation.shape].type == Self.approvalType, let hash = Self.hash(operation.id) else {
        continue
      }
      try approve(hash)
    }
  }

  private static func hash(_ hexadecimal: String) -> ChangesetHash? {
    bytes(hex: hexadecimal).flatMap(ChangesetHash.init(bytes:))
  }

  private func isApproved(_ hash: ChangesetHash) throws -> Bool {
    try connection.integer("SELECT 1 FROM sync_approval WHERE hash = ?", .bytes(hash.bytes)) != nil
  }

  /// Lets the changeset go on if it is held here; it may still come.
  private func approve(_ hash: ChangesetHash) throws {
    try connection.run("INSERT OR IGNORE INTO sync_approval(hash) VALUES (?)", .bytes(hash.bytes))
    for name in held.sorted() {
      guard let header = try log.header(of: name, replicas: replicas), header.hash == hash else { continue }
      try log.mark(header.position, .waiting)
      held.remove(name)
    }
  }

  // MARK: Decisions

  /// Carries out what people decided about held changesets; returns whether there was anything.
  ///
  /// A rejection is an approval with which the deleted records are brought back by new writes in the same transaction: so
  /// the set of changesets stays the same everywhere (D1).
  func carryOutDecisions(now: Instant) throws -> Bool {
    let decisions = try outbox.takeDecisions()
    for (text, decision) in decisions {
      guard let hash = Self.hash(text), let chain = try heldChain(hash) else { continue }
      // The right may be gone since: then it is still to be decided.
      if decision == .rejected && !membershipState.mayWrite(identity.device) { continue }
      // Each once: a transaction may delete a record, make it again and delete it.
      var deleted: Set<RecordKey> = []
      if decision == .rejected {
        for header in chain {
          for key in try body(of: header).deletions where try state(of: key)?.isAlive == true { deleted.insert(key) }
        }
      }
      try approve(hash)
      _ = try applyReady()
      try sealApproval(of: hash, now: now)
      try bringBack(deleted, now: now)
    }
    return !decisions.isEmpty
  }

  /// Brings back what a rejected changeset has deleted, owners before the rows of their sets.
  ///
  /// A row stays deleted whose owner was deleted otherwise: its set comes back with that. Nothing that cannot come back may
  /// keep the decision from being carried out, or no edit would be sealed any more.
  private func bringBack(_ deleted: Set<RecordKey>, now: Instant) throws {
    let isOwned = { (key: RecordKey) in self.registry.known(key.type).flatMap { self.registry[$0]?.owner } != nil }
    for key in deleted.filter({ !isOwned($0) }).sorted() + deleted.filter(isOwned).sorted() {
      // Two of them may have had one row in their sets: what came back with the first is seen by the second.
      if let number = registry.known(key.type), try !isSealed(key, number: number) { _ = try sealCaptured(now: now) }
      guard try isGone(key) else { continue }
      do {
        try bringBack(key, now: now)
      } catch let refused as ReplicaError where [.badValue, .notFound].contains(refused.code) {
        continue
      }
    }
  }

  /// Whether the record is dead and does not show; a row of a set shows where another set has it, too.
  private func isGone(_ key: RecordKey) throws -> Bool {
    guard try state(of: key)?.isAlive == false else { return false }
    let table = registry.known(key.type).flatMap { registry[$0] }
    return try table?.row(key.id, on: connection) == nil
  }

  /// The changesets that are applied together with a held one; nil if it is not held.
  private func heldChain(_ hash: ChangesetHash) throws -> [ChangesetHeader]? {
    for name in held.sorted() {
      guard var header = try log.header(of: name, replicas: replicas), header.hash == hash else { continue }
      var chain = [header]
      while goesOn(header) {
        let next = ChangesetName(replica: name.replica, sequence: header.name.sequence + 1)
        guard let following = try log.header(of: next, replicas: replicas) else { break }
        chain.append(following)
        header = following
      }
      return chain
    }
    return nil
  }

  /// Tells the others; on a device that may not write the decision stays its own.
  private func sealApproval(of hash: ChangesetHash, now: Instant) throws {
    guard membershipState.members[identity.member]?.role != .readOnly else { return }
    let number = try registry.number(of: Self.approvalType, on: connection)
    let table = TypeTable(number: number, type: RecordType(name: Self.approvalType, fields: []))
    let id = hexadecimal(hash.bytes)
    let life = try (StoredRecord.read(type: number, id: id, on: connection)?.life ?? 0) + 1
    let edit = EditReader.Edit(
      kind: .insert, table: table, id: id, isWeak: false, life: life, fields: [], values: [], rowBefore: nil,
      isNew: life == 1)
    let header = try appendOwn([edit], editedAt: now, continues: false, overwritten: nil, now: now)
    changesInChangeset = 0
    try merge(
      Operation(kind: .insert, isWeak: false, shape: 0, id: id, life: life, values: []), fields: [], of: number,
      header: header)
  }

  // MARK: For others

  package func withheld() throws -> [Withheld] {
    try held.sorted().map { Withheld(replica: $0.replica, first: $0.sequence, reason: .held) } + withheldAsRejected()
  }

  /// Leaves a decision about a held changeset for the node; `shown` is the name that ``HeldChangeset`` shows.
  package func decide(_ shown: String, approving: Bool, now: Instant) throws {
    try write {
      // Who rejects brings the deleted records back, and that is to write.
      if !approving { try requireRightToWrite() }
      try outbox.decide(approving ? .approved : .rejected, about: try undecided(shown), now: now)
    }
  }

  /// Throws unless there is a held changeset of this name that nobody has decided about.
  package func requireUndecided(_ shown: String) throws { _ = try undecided(shown) }

  private func undecided(_ shown: String) throws -> ChangesetHash {
    let headers = try held.compactMap { try log.header(of: $0, replicas: replicas) }
    guard let header = headers.first(where: { HeldChangeset.shownName($0.name) == shown }) else {
      throw ReplicaError(.notFound, "There is no held change \(shown).")
    }
    let isDecided = try connection.integer(
      "SELECT 1 FROM sync_outbox WHERE kind >= ? AND id = ?", .integer(Outbox.Decision.firstKind),
      .text(hexadecimal(header.hash.bytes)))
    guard isDecided == nil else {
      throw ReplicaError(.badValue, "The held change \(shown) is decided; the node carries it out.")
    }
    return header.hash
  }
}

extension Changeset {
  /// The records that are gone after this changeset, as far as it says.
  var deletions: [RecordKey] {
    func keys(_ kind: Operation.Kind) -> [RecordKey] {
      operations.filter { $0.kind == kind }.map { RecordKey(type: shapes[$0.shape].type, id: $0.id) }
    }
    let gone = keys(.delete)
    if gone.isEmpty { return [] }
    let again = Set(keys(.insert))
    return gone.filter { !again.contains($0) }
  }
}
