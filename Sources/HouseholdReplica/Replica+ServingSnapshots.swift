package import HouseholdRecords

/// A snapshot that is being served: a reader that sees the file as it was when the snapshot began.
struct ServedSnapshot {
  var offer: SnapshotOffer
  let reader: Connection
  /// The tables as they were then: the reader knows no others.
  let registry: TypeRegistry
  /// How many links read it.
  var uses: Int
}

/// The headers that a page names, each with its index; the other way round when a page is read.
final class PageHeaders: WriterNames {
  private(set) var list: [ChangesetHeader]
  /// About how many bytes they take.
  private(set) var byteCount = 0
  private var indices: [ChangesetName: Int] = [:]
  /// The same by where the changesets lie in the file that is read.
  private var indicesByPosition: [Int64: Int] = [:]
  private let lookUp: (ChangesetName) throws -> ChangesetHeader

  init(_ list: [ChangesetHeader] = [], lookUp: @escaping (ChangesetName) throws -> ChangesetHeader) {
    self.list = list
    self.lookUp = lookUp
  }

  /// The index of a header, which joins the page if it is new there.
  func index(of header: ChangesetHeader) -> Int {
    if let known = indices[header.name] { return known }
    indices[header.name] = list.count
    list.append(header)
    byteCount += SnapshotRoom.headerBytes(dependencies: header.dependencies.entries.count)
    return list.count - 1
  }

  /// The index of the header at a position of the log; it joins the page if it is new there.
  func index(ofPosition position: Int64, _ header: (Int64) throws -> ChangesetHeader) rethrows -> Int {
    if let known = indicesByPosition[position] { return known }
    let index = index(of: try header(position))
    indicesByPosition[position] = index
    return index
  }

  func number(of name: ChangesetName) throws -> Int64 { Int64(index(of: try lookUp(name))) }

  /// A page says nothing of it: whoever reads it asks the membership log.
  func isByOwner(_ header: ChangesetHeader) -> Bool { false }

  func header(of number: Int64) throws -> ChangesetHeader {
    guard list.indices.contains(Int(clamping: number)) else {
      throw Violation(.badSnapshot, "A snapshot's record names a changeset that is not there.")
    }
    return list[Int(number)]
  }
}

/// Serving snapshots: the records as they are now, page by page in the order of type and id, so that a page follows
/// from the id of the last record before it and from nothing else.
extension Replica {
  package func openSnapshot(resuming id: SnapshotID?) throws -> SnapshotOffer? {
    if try needsSnapshot { return nil }
    if let id, var open = servedSnapshots[id] {
      open.uses += 1
      servedSnapshots[id] = open
      open.offer.resumes = true
      return open.offer
    }
    try forgetDisplaced()
    let reader = try Connection(path: path, mode: .readOnly)
    try readSealedState(with: reader)
    // What is received and not applied is not in the snapshot: the log goes on before it.
    let waiting = try connection.integer(
      """
      SELECT min(position) FROM (
        SELECT min(position) AS position FROM sync_changeset WHERE state = 0
        UNION ALL SELECT min(position) FROM sync_changeset WHERE state = 2
        UNION ALL SELECT min(position) FROM sync_changeset INDEXED BY sync_changeset_rejected WHERE state >= 3)
      """)
    let applied = replicas.vectors.applied
    var held = applied
    held.merge(replicas.vectors.base)
    var offer = SnapshotOffer(
      id: try snapshotID(applied: applied, held: held),
      position: LogPosition(rawValue: UInt64((waiting ?? log.nextPosition) - 1)),
      applied: applied, held: held, resumes: false)
    offer.resumes = offer.id == id
    if servedSnapshots[offer.id] != nil {
      servedSnapshots[offer.id]?.uses += 1
    } else {
      servedSnapshots[offer.id] = ServedSnapshot(offer: offer, reader: reader, registry: registry, uses: 1)
    }
    return offer
  }

  /// Begins a read transaction in which no captured edit is unsealed: the tables show only what is in changesets.
  private func readSealedState(with reader: Connection) throws {
    for _ in 0..<100 {
      try seal(now: lastNow)
      try reader.execute("BEGIN")
      if try reader.integer("SELECT 1 FROM sync_outbox LIMIT 1") == nil { return }
      try reader.execute("ROLLBACK")
    }
    throw ReplicaError(.databaseLocked, "Another program writes without a pause; the snapshot has to wait.")
  }

  /// Equal for equal contents, whoever serves them: two copies of one device may have other changesets under one name.
  private func snapshotID(applied: VersionVector, held: VersionVector) throws -> SnapshotID {
    var writer = ByteWriter()
    writer.text("household-snapshot/2")
    writer.identifier(identity.household)
    writer.varint(membershipState.schema.version)
    for vector in [applied, held] {
      writer.vector(vector)
      for entry in vector.sorted {
        writer.identifier(try hash(of: ChangesetName(replica: entry.replica, sequence: entry.sequence)) ?? .zero)
      }
    }
    writer.heads(membershipState.heads)
    return cryptography.hashed(writer.bytes)
  }

  package func closeSnapshot(_ id: SnapshotID) {
    guard var served = servedSnapshots[id] else { return }
    served.uses -= 1
    if served.uses > 0 {
      servedSnapshots[id] = served
    } else {
      served.reader.close()
      servedSnapshots[id] = nil
      connection.releaseMemoryAfterLargeWork()
    }
  }

  package func snapshotPage(_ id: SnapshotID, after cursor: [UInt8]) throws -> SnapshotPage {
    guard let served = servedSnapshots[id] else {
      throw ReplicaError(.other, "The snapshot \(id) is not being served.")
    }
    if cursor.isEmpty {
      let content = try snapshotHeader(served.offer)
      return SnapshotPage(
        cursor: SnapshotCursor.record(type: "", id: "").bytes, isLast: false,
        content: Compression.pack(SnapshotEncoding.encode(.header(content))))
    }
    switch try SnapshotCursor(bytes: cursor) {
    case .record(let type, let id): return try rowsPage(served, afterType: type, id: id)
    case .displaced(let last): return try displacedPage(served, after: last)
    }
  }

  private func snapshotHeader(_ offer: SnapshotOffer) throws -> SnapshotHeader {
    var header = SnapshotHeader(
      household: identity.household, schemaVersion: membershipState.schema.version, replicas: [])
    let limit = SnapshotRoom.recentHeaders(replicas: offer.held.entries.count)
    for entry in offer.held.sorted {
      let name = ChangesetName(replica: entry.replica, sequence: entry.sequence)
      guard let known = replicas[entry.replica], let last = try log.header(of: name, replicas: replicas) else {
        throw ReplicaError(.corrupt, "The changeset \(name) is counted and not known here.")
      }
      var replica = SnapshotHeader.Replica(
        origin: ReplicaOrigin(device: known.device, nonce: known.nonce), begun: known.begun, last: last,
        applied: offer.applied[entry.replica], root: known.root)
      if let parent = known.parent.flatMap({ replicas[number: $0] }), let first = known.first {
        replica.branch = SnapshotHeader.Replica.Branch(parent: parent.id, fork: known.fork, first: first)
      }
      replica.recent = try recentHeaders(before: last, in: known, limit: limit)
      header.replicas.append(replica)
    }
    return header
  }

  private func recentHeaders(
    before last: ChangesetHeader, in entry: ReplicaTable.Entry, limit: Int
  ) throws -> [ChangesetHeader] {
    var found: [ChangesetHeader] = []
    var sequence = last.name.sequence
    while found.count < limit, sequence > entry.fork + 1 {
      sequence -= 1
      let name = ChangesetName(replica: entry.id, sequence: sequence)
      guard let header = try log.header(of: name, replicas: replicas) else { break }
      found.append(header)
    }
    return found.reversed()
  }

  /// The headers of a new page.
  func pageHeaders() -> PageHeaders {
    PageHeaders { [self] name in
      guard let header = try log.header(of: name, replicas: replicas) else {
        throw ReplicaError(.corrupt, "The changeset \(name) wrote a record and is not known here.")
      }
      return header
    }
  }

  private func rowsPage(_ served: ServedSnapshot, afterType: String, id: String) throws -> SnapshotPage {
    let headers = pageHeaders()
    var page = SnapshotRows(headers: [], shapes: [], rows: [])
    var rows = SnapshotRowWriter(headers: headers)
    var last = afterType
    for (name, number) in try registryNames(in: served.reader) where name >= afterType {
      let table = served.registry[number]
      let shape = page.shapes.count
      page.shapes.append(Shape(type: name, fields: table?.fieldNames ?? []))
      let statement = try served.reader.statement(Self.rowsSQL(table))
      try statement.bind(1, number)
      try statement.bind(2, name == afterType ? id : "")
      try statement.bind(3, name == afterType ? 1 : 0)
      defer { statement.reset() }
      while try statement.step() {
        if rows.byteCount >= Limits.batchTargetBytes || headers.byteCount >= Limits.pageHeaderBytes {
          return finish(&page, rows, cursor: .record(type: last, id: rows.lastID), isLast: false)
        }
        last = name
        try rows.write(statement, table: table, shape: shape, replica: self)
      }
    }
    if try hasDisplaced(served.reader) {
      return finish(&page, rows, cursor: .displaced(nil), isLast: false)
    }
    let lastID = rows.count == 0 ? id : rows.lastID
    return finish(&page, rows, cursor: .record(type: last, id: lastID), isLast: true)
  }

  func finish(
    _ page: inout SnapshotRows, _ rows: SnapshotRowWriter, cursor: SnapshotCursor, isLast: Bool
  ) -> SnapshotPage {
    page.headers = rows.headers.list
    let bytes = SnapshotEncoding.encode(page, rows: rows.bytes, count: rows.count)
    return SnapshotPage(cursor: cursor.bytes, isLast: isLast, content: Compression.pack(bytes))
  }

  func registryNames(in reader: Connection) throws -> [(name: String, number: Int64)] {
    let statement = try reader.statement("SELECT name, number FROM sync_type ORDER BY name")
    defer { statement.reset() }
    var names: [(name: String, number: Int64)] = []
    while try statement.step() { names.append((statement.text(0), statement.integer(1))) }
    return names
  }

  /// Reads the records of one type with what their table shows, in the order of the ids, after an id.
  static func rowsSQL(_ table: TypeTable?) -> String {
    let columns = (table?.fieldNames ?? []).map { ", t." + SchemaTables.quoted($0) }.joined()
    let join = table.map { "LEFT JOIN \(SchemaTables.quoted($0.type.name)) t ON t.id = r.id" } ?? ""
    return """
      SELECT r.id, r.writer, r.modified, r.flags, r.life, r.alive, r.cells\(columns)
      FROM sync_record r \(join)
      WHERE r.type = ?1 AND (r.id > ?2 OR ?3 = 0 AND r.id >= ?2) ORDER BY r.id
      """
  }
}
