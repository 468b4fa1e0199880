internal import HouseholdRecords

/// The first page of a snapshot: which replicas it counts, and up to where (D3).
struct SnapshotHeader: Hashable {
  /// One replica and the last of its changesets that the snapshot holds.
  struct Replica: Hashable {
    var origin: ReplicaOrigin
    /// The membership heads of its first changeset.
    var begun: [EntryHash]
    /// The last one that is told of.
    var last: ChangesetHeader
    /// Up to which seq the records hold them; what the later ones wrote is told as set aside.
    var applied: UInt64
    /// The replica id in the bytes of its changesets: another one than its name for a branch (D4).
    var root: ReplicaID
    /// The headers just before the last one, as many as are known without a gap, ascending.
    var recent: [ChangesetHeader] = []
    /// For a branch: which one it left, after which seq, and the hash of its first changeset.
    var branch: Branch?

    /// Replicas come before their branches.
    var depth: Int { branch == nil ? 0 : 1 }

    struct Branch: Hashable {
      var parent: ReplicaID
      var fork: UInt64
      var first: ChangesetHash
    }
  }

  var household: HouseholdID
  var schemaVersion: UInt64
  /// In ascending order of the replica's id.
  var replicas: [Replica]
  /// What each device has confirmed; empty until compaction needs it.
  var confirmations: [Confirmation] = []

  /// What a device has confirmed.
  struct Confirmation: Hashable {
    var device: DeviceID
    var vector: VersionVector
  }
}

/// One record of a snapshot.
struct SnapshotRow: Hashable {
  enum Flag {
    static let weak: UInt8 = 1
    static let alive: UInt8 = 2
    static let cells: UInt8 = 4
    static let row: UInt8 = 8
    static let quarantined: UInt8 = 16
    static let conflict: UInt8 = 32
    static let sets: UInt8 = 64
  }

  /// Index into the page's shapes.
  var shape: Int
  var id: String
  var flags: UInt8
  var life: UInt64
  /// Indices into the page's headers.
  var writer: Int
  var modified: Int
  /// The row that the type's table shows, if it shows one.
  var row: [FieldValue]
  /// Cells that other changesets wrote, encoded like ``CellVersions`` with indices into the page's headers.
  var cells: [UInt8]?
}

/// A page of records with all headers that they name: it can be read by itself.
struct SnapshotRows: Hashable {
  var headers: [ChangesetHeader]
  var shapes: [Shape]
  var rows: [SnapshotRow]
  /// Writes that were displaced and must not be forgotten yet, see ``SnapshotDisplaced``.
  var displaced: [[UInt8]] = []
}

/// The content of a page.
enum SnapshotContent: Hashable {
  case header(SnapshotHeader)
  case rows(SnapshotRows)
}

/// Turns snapshot pages into bytes and back.
enum SnapshotEncoding {
  private static let version: UInt8 = 1
  /// The most bytes of one page, unpacked: one largest record and a page.
  static let pageLimit = Limits.messageBytes

  static func encode(_ content: SnapshotContent) -> [UInt8] {
    var writer = ByteWriter(capacity: Limits.batchTargetBytes + 4096)
    writer.byte(version)
    switch content {
    case .header(let header):
      writer.byte(0)
      writer.identifier(header.household)
      writer.varint(header.schemaVersion)
      writer.list(header.replicas) { writer, replica in
        writer.identifier(replica.origin.device)
        writer.identifier(replica.origin.nonce)
        writer.heads(replica.begun)
        write(replica.last, to: &writer)
        writer.varint(replica.applied)
        writer.identifier(replica.root)
        writer.list(replica.recent) { writer, header in write(header, to: &writer) }
        writer.byte(replica.branch == nil ? 0 : 1)
        guard let branch = replica.branch else { return }
        writer.identifier(branch.parent)
        writer.varint(branch.fork)
        writer.identifier(branch.first)
      }
      writer.list(header.confirmations) { writer, confirmation in
        writer.identifier(confirmation.device)
        writer.vector(confirmation.vector)
      }
    case .rows(let page):
      var rows = ByteWriter()
      for row in page.rows { write(row, to: &rows) }
      return encode(page, rows: rows, count: page.rows.count)
    }
    return writer.bytes
  }

  /// A page of records that were encoded one by one as they were read.
  ///
  /// - Parameter page: all but its records.
  static func encode(_ page: SnapshotRows, rows: ByteWriter, count: Int) -> [UInt8] {
    var writer = ByteWriter(capacity: rows.count + 64 * page.headers.count + 4096)
    writer.byte(version)
    writer.byte(1)
    writer.list(page.headers) { writer, header in write(header, to: &writer) }
    writer.list(page.shapes) { writer, shape in
      writer.text(shape.type)
      writer.list(shape.fields) { writer, field in writer.text(field) }
    }
    writer.varint(count)
    writer.raw(rows.bytes)
    writer.list(page.displaced) { writer, bytes in writer.data(bytes) }
    return writer.bytes
  }

  private static func write(_ header: ChangesetHeader, to writer: inout ByteWriter) {
    writer.identifier(header.name.replica)
    writer.varint(header.name.sequence)
    writer.identifier(header.hash)
    writer.varint(header.stamp.rawValue)
    writer.signed(header.editedAt.milliseconds)
    writer.varint(header.schemaVersion)
    writer.byte(header.continues ? 1 : 0)
    writer.dependencies(header.dependencies.sorted)
    writer.heads(header.membershipHeads)
  }

  private static func write(_ row: SnapshotRow, to writer: inout ByteWriter) {
    writer.varint(row.shape)
    writer.text(row.id)
    writer.byte(row.flags)
    writer.varint(row.life)
    writer.varint(row.writer)
    writer.varint(row.modified)
    if row.flags & SnapshotRow.Flag.row != 0 { for value in row.row { writer.value(value) } }
    if let cells = row.cells { writer.data(cells) }
  }

  static func decode(_ bytes: [UInt8]) throws(DecodingViolation) -> SnapshotContent {
    switch try open(bytes) {
    case .header(let header): return .header(header)
    case .rows(var reader):
      var page = reader.page
      page.rows.reserveCapacity(min(reader.remaining, 16_384))
      while reader.remaining > 0 { page.rows.append(try reader.row()) }
      page.displaced = try reader.displaced()
      return .rows(page)
    }
  }

  /// A page whose records are still to be read.
  enum Opened {
    case header(SnapshotHeader)
    case rows(SnapshotPageReader)
  }

  /// Reads all of a first page, and of a page of records what comes before them.
  static func open(_ bytes: [UInt8]) throws(DecodingViolation) -> Opened {
    var reader = ByteReader(bytes)
    let version = try reader.byte()
    guard version == Self.version else { throw .unknownKind(version) }
    switch try reader.byte() {
    case 0:
      let header = try header(from: &reader)
      try reader.finish()
      return .header(header)
    case 1: return .rows(try SnapshotPageReader(reader))
    case let kind: throw .unknownKind(kind)
    }
  }

  private static func header(from reader: inout ByteReader) throws(DecodingViolation) -> SnapshotHeader {
    var header = SnapshotHeader(
      household: try reader.identifier256(), schemaVersion: try reader.varint(), replicas: [])
    for _ in 0..<(try reader.count(limit: Limits.vectorEntries)) {
      let origin = ReplicaOrigin(device: try reader.identifier256(), nonce: try reader.identifier128())
      let begun = try reader.heads()
      var replica = SnapshotHeader.Replica(
        origin: origin, begun: begun, last: try changesetHeader(from: &reader), applied: try reader.varint(),
        root: try reader.identifier128())
      guard replica.applied <= replica.last.name.sequence else { throw .malformed("more is applied than there is") }
      for _ in 0..<(try reader.count(limit: Limits.recentHeaders)) {
        replica.recent.append(try changesetHeader(from: &reader))
      }
      if try yesOrNo(from: &reader) {
        replica.branch = SnapshotHeader.Replica.Branch(
          parent: try reader.identifier128(), fork: try reader.varint(), first: try reader.identifier256())
      }
      header.replicas.append(replica)
    }
    for _ in 0..<(try reader.count(limit: Limits.vectorEntries)) {
      header.confirmations.append(
        SnapshotHeader.Confirmation(device: try reader.identifier256(), vector: try reader.vector()))
    }
    return header
  }

  /// One byte, 0 or 1: everything has one form (P3).
  private static func yesOrNo(from reader: inout ByteReader) throws(DecodingViolation) -> Bool {
    let byte = try reader.byte()
    guard byte <= 1 else { throw .malformed("a flag is neither 0 nor 1") }
    return byte == 1
  }

  static func changesetHeader(from reader: inout ByteReader) throws(DecodingViolation) -> ChangesetHeader {
    let name = ChangesetName(replica: try reader.identifier128(), sequence: try reader.sequence())
    let hash: ChangesetHash = try reader.identifier256()
    let stamp = Stamp(rawValue: try reader.varint())
    let editedAt = Instant(milliseconds: try reader.signed())
    let schemaVersion = try reader.varint()
    let continues = try yesOrNo(from: &reader)
    return ChangesetHeader(
      position: 0, name: name, hash: hash, stamp: stamp, editedAt: editedAt, schemaVersion: schemaVersion,
      continues: continues, dependencies: Dependencies(try reader.dependencies()),
      membershipHeads: try reader.heads())
  }
}
