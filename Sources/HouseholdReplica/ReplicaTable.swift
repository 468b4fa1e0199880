internal import HouseholdRecords

/// The replicas that we heard of and their branches, with the three vectors (D1, D2, D4); kept in memory and in
/// `sync_replica`.
struct ReplicaTable {
  /// One replica, or one branch of it.
  struct Entry {
    /// What stands for it in this file.
    var number: Int64
    /// Its name: of the branches at a fork, the one with the smallest hash keeps the name.
    var id: ReplicaID
    var device: DeviceID
    var nonce: ReplicaNonce
    /// The membership heads of its first changeset.
    var begun: [EntryHash]
    var received: UInt64
    var applied: UInt64
    var base: UInt64
    /// The replica id in the bytes of its changesets.
    var root: ReplicaID
    /// The number of the branch that it left; nil for the one that bears the replica's own name.
    var parent: Int64?
    /// The seq of the last changeset before it.
    var fork: UInt64
    /// The hash of its first changeset; nil if there is none, or it is not known any more.
    var first: ChangesetHash?

    /// Whether the changeset of this seq is one of this branch, and stored here.
    func holds(_ sequence: UInt64) -> Bool { sequence > fork && sequence <= received }

    /// A seq as a vector counts it: nothing before the branch's first changeset.
    fileprivate func counted(_ sequence: UInt64) -> UInt64 { sequence > fork ? sequence : 0 }
  }

  private(set) var entries: [ReplicaID: Entry] = [:]
  private var ids: [Int64: ReplicaID] = [:]
  /// The replicas that have branches, by the id in the bytes of their changesets.
  private(set) var forked: Set<ReplicaID> = []

  /// Reads the table.
  init(_ connection: Connection) throws {
    let statement = try connection.statement(
      """
      SELECT number, id, device, nonce, received, applied, base, root, parent, fork, first, begun FROM sync_replica
      """)
    defer { statement.reset() }
    while try statement.step() {
      guard let id = ReplicaID(bytes: statement.bytes(1)), let device = DeviceID(bytes: statement.bytes(2)),
        let nonce = ReplicaNonce(bytes: statement.bytes(3)), let root = ReplicaID(bytes: statement.bytes(7))
      else { throw ReplicaError(.corrupt, "The table of replicas holds an id of a wrong length.") }
      remember(
        Entry(
          number: statement.integer(0), id: id, device: device, nonce: nonce,
          begun: try Self.heads(statement.bytes(11)),
          received: UInt64(statement.integer(4)), applied: UInt64(statement.integer(5)),
          base: UInt64(statement.integer(6)), root: root,
          parent: statement.isNull(8) ? nil : statement.integer(8), fork: UInt64(statement.integer(9)),
          first: statement.isNull(10) ? nil : ChangesetHash(bytes: statement.bytes(10))))
    }
  }

  private mutating func remember(_ entry: Entry) {
    entries[entry.id] = entry
    ids[entry.number] = entry.id
    if entry.parent != nil { forked.insert(entry.root) }
  }

  /// The entry of the replica.
  subscript(id: ReplicaID) -> Entry? { entries[id] }

  /// The entry with this number.
  subscript(number number: Int64) -> Entry? { ids[number].flatMap { entries[$0] } }

  private static func heads(_ bytes: [UInt8]) throws -> [EntryHash] {
    var reader = ByteReader(bytes)
    do {
      return try reader.heads()
    } catch {
      throw ReplicaError(.corrupt, "The table of replicas holds heads that cannot be read.", cause: "\(error)")
    }
  }

  /// All branches of the replica with this id in the bytes of its changesets, parents first.
  func tree(of root: ReplicaID) -> [Entry] {
    guard forked.contains(root) else { return entries[root].map { [$0] } ?? [] }
    return entries.values.filter { $0.root == root }.sorted { ($0.fork, $0.number) < ($1.fork, $1.number) }
  }

  /// Adds a replica that is new here, with nothing received.
  ///
  /// - Parameter begun: the membership heads of its first changeset.
  mutating func add(
    _ id: ReplicaID, origin: ReplicaOrigin, begun: [EntryHash], on connection: Connection
  ) throws -> Entry {
    if let known = entries[id] { return known }
    return try insert(
      Entry(
        number: 0, id: id, device: origin.device, nonce: origin.nonce, begun: begun, received: 0, applied: 0, base: 0,
        root: id,
        parent: nil, fork: 0, first: nil), on: connection)
  }

  /// Adds an entry that is new here; its number is set here.
  mutating func insert(_ entry: Entry, on connection: Connection) throws -> Entry {
    guard entries.count < Limits.vectorEntries else {
      throw Violation(.overLimit, "The household has more than \(Limits.vectorEntries) replicas.")
    }
    var heads = ByteWriter()
    heads.heads(entry.begun)
    var entry = entry
    try connection.run(
      """
      INSERT INTO sync_replica(id, device, nonce, begun, received, applied, base, root, parent, fork, first)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .bytes(entry.id.bytes), .bytes(entry.device.bytes), .bytes(entry.nonce.bytes), .bytes(heads.bytes),
      .integer(Int64(entry.received)), .integer(Int64(entry.applied)), .integer(Int64(entry.base)),
      .bytes(entry.root.bytes), entry.parent.map(FieldValue.integer) ?? .null, .integer(Int64(entry.fork)),
      entry.first.map { .bytes($0.bytes) } ?? .null)
    guard let number = try connection.integer("SELECT number FROM sync_replica WHERE id = ?", .bytes(entry.id.bytes))
    else { throw ReplicaError(.other, "A replica that was just stored is not there.") }
    entry.number = number
    remember(entry)
    return entry
  }

  /// Changes one entry, here and in the file; its name stays.
  mutating func update(_ id: ReplicaID, on connection: Connection, _ change: (inout Entry) -> Void) throws {
    guard var entry = entries[id] else { throw ReplicaError(.other, "The replica \(id) is not known here.") }
    let before = entry
    change(&entry)
    entries[id] = entry
    try connection.run(
      "UPDATE sync_replica SET received = ?, applied = ?, base = ? WHERE number = ?",
      .integer(Int64(entry.received)), .integer(Int64(entry.applied)), .integer(Int64(entry.base)),
      .integer(entry.number))
    guard entry.first != before.first || entry.parent != before.parent || entry.begun != before.begun else { return }
    var heads = ByteWriter()
    heads.heads(entry.begun)
    try connection.run(
      "UPDATE sync_replica SET first = ?, parent = ?, begun = ? WHERE number = ?",
      entry.first.map { .bytes($0.bytes) } ?? .null, entry.parent.map(FieldValue.integer) ?? .null,
      .bytes(heads.bytes), .integer(entry.number))
  }

  /// The three vectors.
  var vectors: StoreVectors {
    StoreVectors(
      received: VersionVector(entries.mapValues { $0.counted($0.received) }),
      applied: VersionVector(entries.mapValues { $0.counted($0.applied) }),
      base: VersionVector(entries.mapValues { $0.counted($0.base) }))
  }

  /// All entries in ascending order of the id.
  var sorted: [Entry] { entries.values.sorted { $0.id < $1.id } }
}

extension ReplicaTable {
  /// The changeset that a dependency names, whatever it is called here; nil if it is not here.
  func resolve(_ dependency: Dependency, in log: ChangesetLog) throws -> ChangesetName? {
    let entry = self[dependency.replica]
    if let entry, entry.holds(dependency.sequence) {
      let name = ChangesetName(replica: entry.id, sequence: dependency.sequence)
      // One that is counted and not known one by one any more is taken by its name.
      guard let header = try log.header(of: name, replicas: self) else { return name }
      if header.hash.prefix == dependency.hashPrefix || dependency.hashPrefix == 0 { return name }
    }
    // Where nothing has branches and the name is known, there is nothing else to look at.
    guard entry == nil || !forked.isEmpty else { return nil }
    for other in sorted where other.holds(dependency.sequence) && other.id != dependency.replica {
      let name = ChangesetName(replica: other.id, sequence: dependency.sequence)
      if try log.header(of: name, replicas: self)?.hash.prefix == dependency.hashPrefix { return name }
    }
    return nil
  }
}
