package import HouseholdRecords

/// Receiving snapshots: pages are kept beside the live tables, and put in place in one transaction when all are there.
extension Replica {
  package var needsSnapshot: Bool {
    get throws { try facts.integer(.needsSnapshot) == 1 }
  }

  package func snapshotProgress() throws -> SnapshotProgress? {
    if let directAdoption { return directAdoption.progress }
    let statement = try connection.statement(
      "SELECT snapshot, cursor, is_last FROM sync_snapshot_page ORDER BY number DESC LIMIT 1")
    defer { statement.reset() }
    guard try statement.step(), let id = SnapshotID(bytes: statement.bytes(0)) else { return nil }
    return SnapshotProgress(id: id, cursor: statement.bytes(1), isComplete: statement.integer(2) != 0)
  }

  package func stage(_ page: SnapshotPage, of id: SnapshotID) throws {
    if try !adoptDirectly(page, of: id) { try keep(page, of: id) }
  }

  /// Keeps a page beside the live tables until all are there.
  func keep(_ page: SnapshotPage, of id: SnapshotID) throws {
    // A page that is lost in a power cut is asked for again: it need not be on the disk before it is counted.
    try connection.execute("PRAGMA synchronous = NORMAL")
    defer { restoreDurability() }
    try write {
      try connection.run("DELETE FROM sync_snapshot_page WHERE snapshot <> ?", .bytes(id.bytes))
      try connection.run(
        "INSERT INTO sync_snapshot_page(snapshot, cursor, is_last, content) VALUES (?, ?, ?, ?)",
        .bytes(id.bytes), .bytes(page.cursor), .integer(page.isLast ? 1 : 0), .bytes(page.content))
    }
  }

  private func restoreDurability() {
    do {
      try connection.execute("PRAGMA synchronous = FULL")
    } catch {
      preconditionFailure("SQLite cannot be set to durable commits: \(error)")
    }
  }

  package func adoptSnapshot(_ id: SnapshotID, from peer: DeviceID, token: ChangeToken, now: Instant) throws {
    if try !finishDirectly(id, from: peer, token: token, now: now) {
      try prepareResync()
      do {
        try write {
          _ = try sealInTransaction(now: now)
          try adoptPages(of: id)
          try finishAdoption(from: peer, token: token, now: now)
        }
      } catch let violation as Violation {
        // What contradicts itself is not kept: the next attempt starts from the first page.
        try write { try connection.run("DELETE FROM sync_snapshot_page") }
        throw violation
      }
    }
    hasForked = false
    isReadyForResync = false
    digestCache = nil
    connection.releaseMemoryAfterLargeWork()
  }

  /// Who has just joined has no records that a snapshot could replace.
  private func prepareResync() throws {
    guard try !needsSnapshot, !isReadyForResync else { return }
    try beforeResync()
    isReadyForResync = true
  }

  /// What follows from the records that have just been put in place.
  func finishAdoption(from peer: DeviceID, token: ChangeToken, now: Instant) throws {
    grafts = [:]
    // Of what came with the headers some is not in the records: it is judged as if it waited.
    for entry in replicas.sorted where entry.applied < entry.base {
      try connection.run(
        "UPDATE sync_changeset SET state = 0 WHERE state = 1 AND replica = ? AND seq > ?", .integer(entry.number),
        .integer(Int64(clamping: entry.applied)))
    }
    let joined = try Duplicates(connection, registry: registry, schema: membershipState.schema).groups.members
    try settleForks()
    try facts.set(.needsSnapshot, .integer(0))
    try readmit(since: nil)
    try settleContested()
    try setToken(token, of: peer)
    _ = try applyReady()
    try readDuplicatesAgain(Array(joined))
    _ = try sealInTransaction(now: now)
  }

  /// Takes out of the records what one side had displaced long ago: the write that took its place is displaced itself, and
  /// those that are left need not take the place of both.
  private func settleContested() throws {
    let places = contested.sorted()
    contested = []
    if !places.isEmpty { try recompute(places, without: Withdrawn()) }
  }

  private func adoptPages(of id: SnapshotID) throws {
    guard let progress = try snapshotProgress(), progress.id == id, progress.isComplete else {
      throw ReplicaError(.other, "The snapshot \(id) is not complete.")
    }
    var pages = AdoptedPages()
    var number: Int64 = 0
    while let next = try nextPage(after: number) {
      number = next.number
      try adopt(page: next.content, into: &pages)
      // At once, so that the records take the place of their pages in the file instead of making it longer.
      try connection.run("DELETE FROM sync_snapshot_page WHERE number = ?", .integer(number))
    }
    try pages.requireHeader()
  }

  /// Puts the contents of one page in place; pages come in order.
  func adopt(page bytes: [UInt8], into pages: inout AdoptedPages) throws {
    let unpacked: [UInt8]
    let content: SnapshotEncoding.Opened
    do {
      unpacked = try Compression.unpack(bytes, limit: SnapshotEncoding.pageLimit)
      content = try SnapshotEncoding.open(unpacked)
    } catch {
      throw Violation(error, in: "a snapshot page")
    }
    try pages.check(content)
    switch content {
    case .header(let header):
      (grafts, contested) = ([:], [])
      try adopt(header)
    case .rows(let reader): try adopt(reader, of: unpacked)
    }
  }

  private func nextPage(after number: Int64) throws -> (number: Int64, content: [UInt8])? {
    let statement = try connection.statement(
      "SELECT number, content FROM sync_snapshot_page WHERE number > ? ORDER BY number LIMIT 1")
    try statement.bind(1, number)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return (statement.integer(0), statement.bytes(1))
  }

  /// Makes the replicas of the snapshot known, each with its last changeset's header.
  private func adopt(_ header: SnapshotHeader) throws {
    guard header.household == identity.household else {
      throw Violation(.badSnapshot, "The snapshot is of another household.")
    }
    for replica in header.replicas {
      guard
        cryptography.replicaID(device: replica.origin.device, nonce: replica.origin.nonce) == replica.root,
        membershipLog.publicKey(of: replica.origin.device) != nil
      else { throw Violation(.badSnapshot, "The snapshot names a replica that does not belong to its device.") }
    }
    let roots = Set(header.replicas.map(\.root)).filter { replicas[$0] != nil }
    let before = roots.map(reach(of:))
    for tree in Dictionary(grouping: header.replicas, by: \.root).sorted(by: { $0.key < $1.key }) {
      try adoptTree(tree.value.sorted { ($0.branch?.fork ?? 0, $0.depth) < ($1.branch?.fork ?? 0, $1.depth) })
    }
    // Before the records, whose writes are compared by what their authors had seen.
    for replica in header.replicas { try count(replica) }
    // What is here was compared when less was known of these branches.
    for (root, before) in zip(roots, before) where reach(of: root) != before {
      if replicas.forked.contains(root) {
        seenEarly.insert(root)
      } else if admission.limits[root] != nil {
        cameBounded[root] = (before[root] ?? 0) + 1
      }
    }
  }

  /// How far each branch of a replica has been received.
  private func reach(of root: ReplicaID) -> [ReplicaID: UInt64] {
    Dictionary(uniqueKeysWithValues: replicas.tree(of: root).map { ($0.id, $0.received) })
  }

  /// The header as it is known here, under whatever name; it is stored if it is new.
  func know(_ header: ChangesetHeader) throws -> ChangesetHeader {
    var header = header
    if let last = grafts[header.name.replica] { header.name = try graftedName(of: header, on: last) }
    if let known = try log.header(of: header.name, replicas: replicas) {
      guard known.hash == header.hash else {
        throw Violation(.badSnapshot, "The snapshot has another changeset \(header.name) than is known here.")
      }
      return known
    }
    guard let entry = replicas[header.name.replica] else {
      throw Violation(.badSnapshot, "A snapshot's record was written by a replica that it does not name.")
    }
    return try log.append(header, replica: entry.number, state: .applied, body: nil)
  }

  /// Counts what the snapshot tells of a replica as received, and what its records hold as applied, and no longer held
  /// one by one.
  private func count(_ replica: SnapshotHeader.Replica) throws {
    let name = try know(replica.last).name
    var (branch, reached, applied) = (replicas[name.replica], name.sequence, replica.applied)
    // What a branch in the base left is in the base too, though the log here holds it: nobody could place the branch.
    var isStem = false
    while let entry = branch {
      try replicas.update(entry.id, on: connection) { entry in
        entry.base = max(entry.base, isStem || entry.received < reached ? reached : applied)
        isStem = entry.base > entry.fork
        entry.received = max(entry.received, reached)
        entry.applied = max(entry.applied, applied)
      }
      // What waited, was held or did not count here is in the snapshot's records.
      try connection.run(
        "UPDATE sync_changeset SET state = 1 WHERE state <> 1 AND replica = ? AND seq <= ?",
        .integer(entry.number), .integer(Int64(clamping: applied)))
      reached = min(reached, entry.fork)
      // A branch of which nothing is applied says nothing of what it left.
      applied = applied > entry.fork ? min(applied, entry.fork) : 0
      branch = entry.parent.flatMap { replicas[number: $0] }
    }
    held = try readHeld()
  }
}

/// What has been put in place of a snapshot: its first page comes once, before all others.
struct AdoptedPages {
  private var hasHeader = false

  mutating func check(_ content: SnapshotEncoding.Opened) throws {
    switch content {
    case .header:
      guard !hasHeader else { throw Violation(.badSnapshot, "A snapshot has two first pages.") }
      hasHeader = true
    case .rows:
      guard hasHeader else { throw Violation(.badSnapshot, "A snapshot does not begin with its first page.") }
    }
  }

  func requireHeader() throws {
    guard hasHeader else { throw Violation(.badSnapshot, "A snapshot has no first page.") }
  }
}
