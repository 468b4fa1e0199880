internal import HouseholdRecords

/// The replicas that we heard of, with the three vectors (D1, D2); kept in memory and in `sync_replica`.
struct ReplicaTable {
  /// One replica.
  struct Entry {
    /// What stands for it in this file.
    var number: Int64
    var id: ReplicaID
    var device: DeviceID
    var nonce: ReplicaNonce
    /// The membership heads of its first changeset.
    var begun: [EntryHash]
    var received: UInt64
    var applied: UInt64
    var base: UInt64
  }

  private(set) var entries: [ReplicaID: Entry] = [:]
  private var ids: [Int64: ReplicaID] = [:]

  /// Reads the table.
  init(_ connection: Connection) throws {
    let statement = try connection.statement(
      "SELECT number, id, device, nonce, received, applied, base, begun FROM sync_replica")
    defer { statement.reset() }
    while try statement.step() {
      guard let id = ReplicaID(bytes: statement.bytes(1)), let device = DeviceID(bytes: statement.bytes(2)),
        let nonce = ReplicaNonce(bytes: statement.bytes(3))
      else { throw ReplicaError(.corrupt, "The table of replicas holds an id of a wrong length.") }
      remember(
        Entry(
          number: statement.integer(0), id: id, device: device, nonce: nonce, begun: try Self.heads(statement.bytes(7)),
          received: UInt64(statement.integer(4)), applied: UInt64(statement.integer(5)),
          base: UInt64(statement.integer(6))))
    }
  }

  private mutating func remember(_ entry: Entry) {
    entries[entry.id] = entry
    ids[entry.number] = entry.id
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

  /// Adds a replica that is new here, with nothing received.
  ///
  /// - Parameter begun: the membership heads of its first changeset.
  mutating func add(
    _ id: ReplicaID, origin: ReplicaOrigin, begun: [EntryHash], on connection: Connection
  ) throws -> Entry {
    if let known = entries[id] { return known }
    guard entries.count < Limits.vectorEntries else {
      throw Violation(.overLimit, "The household has more than \(Limits.vectorEntries) replicas.")
    }
    var heads = ByteWriter()
    heads.heads(begun)
    try connection.run(
      "INSERT INTO sync_replica(id, device, nonce, begun, received, applied, base) VALUES (?, ?, ?, ?, 0, 0, 0)",
      .bytes(id.bytes), .bytes(origin.device.bytes), .bytes(origin.nonce.bytes), .bytes(heads.bytes))
    guard let number = try connection.integer("SELECT number FROM sync_replica WHERE id = ?", .bytes(id.bytes)) else {
      throw ReplicaError(.other, "A replica that was just stored is not there.")
    }
    let entry = Entry(
      number: number, id: id, device: origin.device, nonce: origin.nonce, begun: begun, received: 0, applied: 0,
      base: 0)
    remember(entry)
    return entry
  }

  /// Changes one entry, here and in the file.
  mutating func update(_ id: ReplicaID, on connection: Connection, _ change: (inout Entry) -> Void) throws {
    guard var entry = entries[id] else { throw ReplicaError(.other, "The replica \(id) is not known here.") }
    change(&entry)
    entries[id] = entry
    try connection.run(
      "UPDATE sync_replica SET received = ?, applied = ?, base = ? WHERE number = ?",
      .integer(Int64(entry.received)), .integer(Int64(entry.applied)), .integer(Int64(entry.base)),
      .integer(entry.number))
  }

  /// The three vectors.
  var vectors: StoreVectors {
    StoreVectors(
      received: VersionVector(entries.mapValues(\.received)), applied: VersionVector(entries.mapValues(\.applied)),
      base: VersionVector(entries.mapValues(\.base)))
  }

  /// All entries in ascending order of the id.
  var sorted: [Entry] { entries.values.sorted { $0.id < $1.id } }
}
