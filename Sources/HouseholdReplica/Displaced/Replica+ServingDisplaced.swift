internal import HouseholdRecords

/// Where the reading of a snapshot goes on: the same at every device that serves it.
enum SnapshotCursor {
  /// After this record; the types and ids are in ascending order.
  case record(type: String, id: String)
  /// After this displaced write, or before all of them; they come after all records.
  case displaced(DisplacedPlace?)

  /// Names a displaced write.
  struct DisplacedPlace {
    var type: String
    var id: String
    var cell: String
    var writer: ChangesetName
    var life: UInt64
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .record(let type, let id):
      writer.text(type)
      writer.text(id)
    case .displaced(nil):
      writer.text("")
      writer.text("")
      writer.byte(0)
    case .displaced(let place?):
      writer.text(place.type)
      writer.text(place.id)
      writer.byte(1)
      writer.text(place.cell)
      writer.identifier(place.writer.replica)
      writer.varint(place.writer.sequence)
      writer.varint(place.life)
    }
    return writer.bytes
  }

  init(bytes: [UInt8]) throws {
    var reader = ByteReader(bytes)
    do {
      let (type, id) = (try reader.text(limit: Limits.nameBytes), try reader.text(limit: Limits.idBytes))
      guard reader.remaining > 0 else {
        self = .record(type: type, id: id)
        return
      }
      guard try reader.byte() != 0 else {
        self = .displaced(nil)
        return
      }
      self = .displaced(
        DisplacedPlace(
          type: type, id: id, cell: try reader.text(limit: Limits.nameBytes),
          writer: ChangesetName(replica: try reader.identifier128(), sequence: try reader.varint()),
          life: try reader.varint()))
      try reader.finish()
    } catch {
      throw Violation(error, in: "a snapshot cursor")
    }
  }
}

/// A displaced write on a page of a snapshot.
struct SnapshotDisplaced: Hashable {
  /// Index into the page's shapes.
  var shape: Int
  var id: String
  var cell: String
  /// Indices into the page's headers: who wrote it, and whose write took its place.
  var writer: Int
  var displacer: Int
  var life: UInt64
  /// See ``DisplacedContent``.
  var content: [UInt8]

  var bytes: [UInt8] {
    var out = ByteWriter()
    out.varint(shape)
    out.text(id)
    out.text(cell)
    out.varint(writer)
    out.varint(displacer)
    out.varint(life)
    out.data(content)
    return out.bytes
  }

  init(shape: Int, id: String, cell: String, writer: Int, displacer: Int, life: UInt64, content: [UInt8]) {
    (self.shape, self.id, self.cell, self.writer, self.displacer) = (shape, id, cell, writer, displacer)
    (self.life, self.content) = (life, content)
  }

  init(bytes: [UInt8]) throws(DecodingViolation) {
    var reader = ByteReader(bytes)
    shape = Int(clamping: try reader.varint())
    id = try reader.text(limit: Limits.idBytes)
    cell = try reader.text(limit: Limits.nameBytes)
    writer = Int(clamping: try reader.varint())
    displacer = Int(clamping: try reader.varint())
    life = try reader.varint()
    content = try reader.data(limit: Limits.changesetBytes)
    try reader.finish()
    _ = try DisplacedContent.decode(content)
  }
}

/// The last pages of a snapshot: what was displaced and may be needed again (D3).
extension Replica {
  /// Whether a snapshot has displaced writes after its records.
  func hasDisplaced(_ reader: Connection) throws -> Bool {
    try reader.integer("SELECT 1 FROM sync_displaced LIMIT 1") != nil
  }

  /// The page of displaced writes after this one.
  func displacedPage(_ served: ServedSnapshot, after start: SnapshotCursor.DisplacedPlace?) throws -> SnapshotPage {
    let headers = pageHeaders()
    var page = SnapshotRows(headers: [], shapes: [], rows: [])
    let none = SnapshotRowWriter(headers: headers)
    var (size, last) = (0, start)
    for (name, number) in try registryNames(in: served.reader) where !name.isBefore(start?.type ?? "") {
      page.shapes.append(Shape(type: name, fields: []))
      let statement = try served.reader.statement(
        """
        SELECT d.id, d.cell, r.id, c.seq, d.life, d.writer, d.displacer, d.content FROM sync_displaced d
        CROSS JOIN sync_changeset c ON c.position = d.writer CROSS JOIN sync_replica r ON r.number = c.replica
        WHERE d.type = ?1 AND d.id >= ?2 ORDER BY d.id, d.cell, r.id, c.seq, d.life
        """)
      let first = start.flatMap { name.hasSameBytes(as: $0.type) ? $0.id : nil }
      try statement.bind([.integer(number), .text(first ?? "")])
      defer { statement.reset() }
      while try statement.step() {
        guard let replica = ReplicaID(bytes: statement.bytes(2)) else { continue }
        let here = SnapshotCursor.DisplacedPlace(
          type: name, id: statement.text(0), cell: statement.text(1),
          writer: ChangesetName(replica: replica, sequence: UInt64(statement.integer(3))),
          life: UInt64(statement.integer(4)))
        if let start, !here.isAfter(start) { continue }
        if size >= Limits.batchTargetBytes || headers.byteCount >= Limits.pageHeaderBytes {
          return finish(&page, none, cursor: .displaced(last), isLast: false)
        }
        let row = SnapshotDisplaced(
          shape: page.shapes.count - 1, id: here.id, cell: here.cell,
          writer: try headers.index(ofPosition: statement.integer(5), header),
          displacer: try headers.index(ofPosition: statement.integer(6), header), life: here.life,
          content: statement.bytes(7))
        page.displaced.append(row.bytes)
        size += row.content.count + here.id.utf8.count + here.cell.utf8.count + 16
        last = here
      }
    }
    return finish(&page, none, cursor: .displaced(last), isLast: true)
  }

  /// Keeps the displaced writes of a page. What the log here holds one by one needs not be set aside, and this device's
  /// snapshots do not name it.
  ///
  /// - Parameters:
  ///   - page: the displaced writes, as they lie there.
  ///   - known: the headers of the page as they are here.
  ///   - numbers: the types of the page's shapes.
  func adoptDisplaced(_ page: [[UInt8]], known: [ChangesetHeader], numbers: [Int64]) throws {
    for bytes in page {
      let row: SnapshotDisplaced
      do {
        row = try SnapshotDisplaced(bytes: bytes)
      } catch {
        throw Violation(error, in: "a snapshot's displaced write")
      }
      guard row.shape < numbers.count, row.writer < known.count, row.displacer < known.count else {
        throw Violation(.badSnapshot, "A displaced write names what is not on its page.")
      }
      let (writer, displacer) = (known[row.writer], known[row.displacer])
      if writer.position == displacer.position, !isInBase(writer.name) { continue }
      try keepDisplaced(
        row.content, cell: row.cell, of: RecordPlace(type: numbers[row.shape], id: row.id), writer: writer.position,
        life: row.life, displacer: displacer.position)
    }
  }
}

extension SnapshotCursor.DisplacedPlace {
  fileprivate func isAfter(_ other: Self) -> Bool {
    guard type.hasSameBytes(as: other.type) else { return true }
    if !id.hasSameBytes(as: other.id) { return other.id.isBefore(id) }
    if !cell.hasSameBytes(as: other.cell) { return other.cell.isBefore(cell) }
    return (other.writer, other.life) < (writer, life)
  }
}
