package import HouseholdRecords

/// Receiving: what a peer sends is checked, stored, and applied as soon as everything it depends on is applied.
extension Replica {
  package func receive(
    _ changesets: [PackedChangeset], from peer: DeviceID, token: ChangeToken?, now: Instant
  ) throws -> Reception {
    lastNow = now
    return try write {
      // Local edits first: they were made without having seen what comes now (faults 28).
      let sealed = try sealInTransaction(now: now)
      var fresh: [Int64: Changeset] = [:]
      var (stored, reached) = (0, VersionVector())
      for packed in changesets {
        let (signed, changeset) = try Self.unpack(packed)
        let hash: ChangesetHash = cryptography.hashed(signed.bytes)
        switch try place(of: changeset, hash: hash) {
        case .here(let name): reached.count(name)
        case .beyond: break
        case .after(let place):
          let header = try store(packed, signed, changeset, hash, at: place, now: now)
          fresh[header.position] = changeset
          reached.count(header.name)
          stored += 1
        }
      }
      let applied = stored > 0 ? try applyReady(fresh: fresh) : 0
      if applied < stored { try boundWaiting() }
      if let token { try setToken(token, of: peer) }
      try settleForks()
      defer { hasForked = false }
      let found = try sealInTransaction(now: now)
      return Reception(
        stored: stored, applied: applied, vectors: replicas.vectors, sealed: sealed || found, reached: reached,
        forked: hasForked)
    }
  }

  /// Refuses a batch after which more would wait than is allowed (R8).
  private func boundWaiting() throws {
    // What waits behind a held changeset waits for a person, however long that takes.
    guard held.isEmpty else { return }
    let waiting = try connection.integer("SELECT count(*) FROM sync_changeset WHERE state = 0") ?? 0
    guard waiting <= Limits.waitingChangesets else {
      throw Violation(.overLimit, "More than \(Limits.waitingChangesets) changesets wait for what they depend on.")
    }
  }

  /// Checks and stores one changeset that is new here.
  private func store(
    _ packed: PackedChangeset, _ signed: SignedChangeset, _ changeset: Changeset, _ hash: ChangesetHash,
    at place: Place, now: Instant
  ) throws -> ChangesetHeader {
    let previous = place.previous
    try check(signed, by: place.entry.device, name: changeset.name)
    let heads = changeset.membershipHeads ?? previous?.membershipHeads ?? []
    guard heads.allSatisfy({ membershipLog.entry($0) != nil }) else {
      throw Violation(.badChangeset, "Changeset \(changeset.name) names a membership entry that is not known here.")
    }
    try checkOperations(changeset)
    if let previous { try checkHeads(heads, follow: previous.membershipHeads, of: changeset.name) }
    try noteForgotten(changeset, of: place.entry)
    let entry = place.isFork ? try branch(at: place, first: hash, heads: heads) : place.entry
    let name = ChangesetName(replica: entry.id, sequence: changeset.name.sequence)
    let header = try log.append(
      ChangesetHeader(
        position: 0, name: name, hash: hash, stamp: changeset.stamp, editedAt: changeset.editedAt,
        schemaVersion: changeset.schemaVersion, continues: changeset.continues,
        dependencies: (previous?.dependencies ?? Dependencies()).applying(changeset.dependencyChanges),
        membershipHeads: heads), replica: entry.number,
      state: try admit(changeset, as: name, heads: heads, of: entry) ? .waiting : .rejected, body: packed)
    try replicas.update(name.replica, on: connection) { $0.received = name.sequence }
    try remember(changeset.stamp, now: now)
    if isAdmitted(name) { try noteApprovals(in: changeset) }
    // On which branch it lies is known only now, and so what of that branch those had seen who had seen it.
    if replicas.forked.contains(entry.root) {
      if try !isAdmitted(name) || isLate(header) { seenEarly.insert(entry.root) }
    } else if admission.limits[entry.id] != nil {
      cameBounded[entry.id] = min(cameBounded[entry.id] ?? .max, name.sequence)
    }
    return header
  }

  /// The author's bytes and what they say; throws ``Violation`` if they cannot be read.
  package static func unpack(_ packed: PackedChangeset) throws -> (SignedChangeset, Changeset) {
    do {
      let signed = SignedChangeset(bytes: try Compression.unpack(packed.bytes, limit: Limits.changesetBytes))
      return (signed, try signed.decoded())
    } catch {
      throw Violation(error, in: "a changeset")
    }
  }

  /// The replica of a changeset; changeset 1 brings a new one, bound to its device.
  func replicaEntry(of changeset: Changeset) throws -> ReplicaTable.Entry {
    if let known = replicas[changeset.name.replica] { return known }
    guard let origin = changeset.origin else {
      throw Violation(.badChangeset, "Changeset \(changeset.name) is of a replica whose first one is not here.")
    }
    guard cryptography.replicaID(device: origin.device, nonce: origin.nonce) == changeset.name.replica else {
      throw Violation(.badChangeset, "The replica \(changeset.name.replica) does not belong to the device it names.")
    }
    guard membershipLog.publicKey(of: origin.device) != nil else {
      throw Violation(.badChangeset, "Changeset \(changeset.name) is by a device that was never admitted.")
    }
    return try replicas.add(
      changeset.name.replica, origin: origin, begun: changeset.membershipHeads ?? [], on: connection)
  }

  private func check(_ signed: SignedChangeset, by device: DeviceID, name: ChangesetName) throws {
    guard let key = membershipLog.publicKey(of: device) else {
      throw Violation(.badChangeset, "Changeset \(name) is by a device that was never admitted.")
    }
    guard cryptography.isValid(signature: signed.signature, message: signed.message, publicKey: key)
    else { throw Violation(.badChangeset, "The signature of changeset \(name) is wrong.") }
  }

  /// One operation per record, but for a deletion that a new life follows: what merge relies on.
  private func checkOperations(_ changeset: Changeset) throws {
    var seen: [RecordKey: Operation.Kind] = [:]
    var sets: Set<RecordKey> = []
    for operation in changeset.operations {
      let key = RecordKey(type: changeset.shapes[operation.shape].type, id: operation.id)
      if operation.kind == .set {
        let set = RecordKey(
          type: changeset.shapes[operation.shape].type + " " + (changeset.shapes[operation.shape].fields.first ?? ""),
          id: operation.id)
        guard sets.insert(set).inserted else {
          throw Violation(.badChangeset, "Changeset \(changeset.name) writes a set twice.")
        }
        continue
      }
      let earlier = seen.updateValue(operation.kind, forKey: key)
      guard earlier == nil || earlier == .delete && operation.kind == .insert else {
        throw Violation(.badChangeset, "Changeset \(changeset.name) writes a record twice.")
      }
    }
    for dependency in changeset.dependencyChanges where dependency.replica == changeset.name.replica {
      throw Violation(.badChangeset, "Changeset \(changeset.name) depends on its own replica by name.")
    }
  }

  // MARK: Applying what is ready

  /// Applies every stored changeset whose predecessor and dependencies are applied; returns how many.
  ///
  /// Changesets of one local transaction are applied together or not at all. Nothing is applied early, and nothing is
  /// refused for coming early (D2).
  func applyReady(fresh: [Int64: Changeset] = [:]) throws -> Int {
    var applied = 0
    var hasSetAside = false
    var late: Set<RecordPlace> = []
    var progress = true
    while progress {
      progress = false
      for entry in replicas.sorted where entry.applied < entry.received {
        while let chain = try nextChain(of: entry.id) {
          if try brake(chain.headers, by: entry.device, fresh: fresh) { break }
          for header in chain.headers {
            if let changeset = try fresh[header.position] ?? contents(of: header) {
              try apply(changeset, header: header)
              if try isLate(header) { late.formUnion(try places(writtenBy: changeset)) }
            } else {
              hasSetAside = true
            }
            try log.markApplied(header.position)
            applied += 1
          }
          try replicas.update(entry.id, on: connection) { $0.applied = chain.last }
          progress = true
        }
      }
    }
    if hasSetAside { try reinstate() }
    if !late.isEmpty { try recompute(late.sorted(), without: Withdrawn()) }
    return applied
  }

  /// Whether something that is applied already has seen the changeset, which did not count then: what displaced its
  /// writes may be displaced itself, and is looked for beside the records (D6).
  private func isLate(_ header: ChangesetHeader) throws -> Bool {
    try replicas.entries.values.contains { entry in
      guard entry.applied > entry.fork, entry.id != header.name.replica else { return false }
      return try covers(ChangesetName(replica: entry.id, sequence: entry.applied), header.name)
    }
  }

  /// Changesets that are applied together, with the seq of the last one.
  private struct Chain {
    var headers: [ChangesetHeader] = []
    var last: UInt64
  }

  /// The next changesets of a replica that make one whole transaction, if they may be applied now.
  private func nextChain(of id: ReplicaID) throws -> Chain? {
    guard let entry = replicas[id], isStemApplied(entry) else { return nil }
    var chain = Chain(last: entry.applied)
    while chain.last < entry.received {
      chain.last += 1
      let name = ChangesetName(replica: id, sequence: chain.last)
      guard let header = try log.header(of: name, replicas: replicas) else {
        // It came by snapshot, and nothing is kept that it wrote.
        if chain.last <= entry.base && isAdmitted(name) { return chain }
        return nil
      }
      guard try isReady(header), !held.contains(header.name) else { return nil }
      chain.headers.append(header)
      if !goesOn(header) { return chain }
    }
    return nil
  }

  /// Whether what follows of the same local transaction is applied together with the changeset.
  ///
  /// Where two branches go on from it, both have begun with it: it is applied first, and then each of them that counts.
  func goesOn(_ header: ChangesetHeader) -> Bool {
    guard header.continues, let entry = replicas[header.name.replica] else { return header.continues }
    guard replicas.forked.contains(entry.root) else { return true }
    return !replicas.tree(of: entry.root).contains {
      $0.parent == entry.number && $0.fork == header.name.sequence && entry.received > header.name.sequence
    }
  }

  /// A branch goes on from what it shares with others.
  private func isStemApplied(_ entry: ReplicaTable.Entry) -> Bool {
    guard let parent = entry.parent.flatMap({ replicas[number: $0] }) else { return true }
    return max(parent.applied, parent.fork) >= entry.fork && isStemApplied(parent)
  }

  private func isReady(_ header: ChangesetHeader) throws -> Bool {
    guard isAdmitted(header.name) else { return false }
    return try header.dependencies.entries.values.allSatisfy(isMet)
  }

  func body(of header: ChangesetHeader) throws -> Changeset {
    guard let packed = try log.body(at: header.position) else {
      throw ReplicaError(.corrupt, "The changeset \(header.name) waits in the log without its contents.")
    }
    return try Self.unpack(packed).1
  }

  /// What the changeset says; nil if it came by snapshot, and what it wrote is set aside.
  func contents(of header: ChangesetHeader) throws -> Changeset? {
    if isInBase(header.name), try log.body(at: header.position) == nil { return nil }
    return try body(of: header)
  }

  /// Whether the changeset goes to others by snapshot, and not from the log.
  func isInBase(_ name: ChangesetName) -> Bool { name.sequence <= replicas[name.replica]?.base ?? 0 }
}
