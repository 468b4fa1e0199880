internal import HouseholdRecords

/// Reads the records of a snapshot's page one after another.
///
/// It is a value: a copy goes on from where it was made.
struct SnapshotPageReader {
  /// What comes before a record's values; the id's bytes lie in the page.
  struct Head {
    var shape: Int
    var id: Range<Int>
    var flags: UInt8
    var life: UInt64
    var writer: Int
    var modified: Int
  }

  /// The page, without its records.
  private(set) var page: SnapshotRows
  /// How many records are not read yet.
  private(set) var remaining: Int
  private var reader: ByteReader

  /// - Parameter reader: stands behind what tells the kind of the page.
  init(_ reader: ByteReader) throws(DecodingViolation) {
    var reader = reader
    page = SnapshotRows(headers: [], shapes: [], rows: [])
    for _ in 0..<(try reader.count(limit: 1 << 20)) {
      page.headers.append(try SnapshotEncoding.changesetHeader(from: &reader))
    }
    for _ in 0..<(try reader.count(limit: Limits.typesPerSchema)) {
      var shape = Shape(type: try reader.text(limit: Limits.nameBytes), fields: [])
      for _ in 0..<(try reader.count(limit: Limits.fieldsPerType)) {
        shape.fields.append(try reader.text(limit: Limits.nameBytes))
      }
      page.shapes.append(shape)
    }
    remaining = try reader.count(limit: Limits.operationsPerChangeset)
    self.reader = reader
  }

  /// The next record.
  mutating func row() throws(DecodingViolation) -> SnapshotRow {
    let head = try head()
    var row = SnapshotRow(
      shape: head.shape, id: reader.text(at: head.id), flags: head.flags, life: head.life, writer: head.writer,
      modified: head.modified, row: [], cells: nil)
    if head.flags & SnapshotRow.Flag.row != 0 {
      let fields = page.shapes[head.shape].fields
      row.row.reserveCapacity(fields.count)
      for _ in fields { row.row.append(try reader.value()) }
    }
    row.cells = try cells(of: head)
    return row
  }

  /// The next record up to its values, which have to be read then with ``value(_:)`` and ``cells(of:)``.
  mutating func head() throws(DecodingViolation) -> Head {
    remaining -= 1
    let shape = try reader.varint()
    guard shape < UInt64(page.shapes.count) else { throw .malformed("a row names a shape that is not there") }
    let id = try reader.textRange(limit: Limits.idBytes)
    let flags = try reader.byte()
    let life = try reader.varint()
    let (writer, modified) = (try reader.varint(), try reader.varint())
    guard writer < UInt64(page.headers.count), modified < UInt64(page.headers.count) else {
      throw .malformed("a row names a changeset that is not there")
    }
    return Head(shape: Int(shape), id: id, flags: flags, life: life, writer: Int(writer), modified: Int(modified))
  }

  /// The shape of the next record, which is not read yet.
  func shapeOfNext() throws(DecodingViolation) -> Int {
    var ahead = self
    return try ahead.head().shape
  }

  /// A value as it lies in the page.
  enum ValueInPlace {
    case null
    case integer(Int64)
    case real(Double)
    case text(Range<Int>)
    case bytes(Range<Int>)
  }

  /// The next value of a record, if its kind is wanted; nil for one that is not.
  mutating func value(_ isWanted: (FieldValue.Kind) -> Bool) throws(DecodingViolation) -> ValueInPlace? {
    let kind = try reader.valueKind()
    guard isWanted(kind) else { return nil }
    switch kind {
    case .null: return .null
    case .integer: return .integer(try reader.signed())
    case .real: return .real(Double(bitPattern: try reader.fixed()))
    case .text: return .text(try reader.textRange(limit: Limits.textBytes))
    case .bytes: return .bytes(try reader.dataRange(limit: Limits.recordBytes))
    }
  }

  /// The cells of a record, after its values.
  mutating func cells(of head: Head) throws(DecodingViolation) -> [UInt8]? {
    guard head.flags & SnapshotRow.Flag.cells != 0 else { return nil }
    return try reader.data(limit: Limits.changesetBytes)
  }

  /// What comes after the last record; nothing may follow on that.
  mutating func displaced() throws(DecodingViolation) -> [[UInt8]] {
    var list: [[UInt8]] = []
    for _ in 0..<(try reader.count(limit: 1 << 20)) {
      list.append(try reader.data(limit: Limits.changesetBytes))
    }
    try reader.finish()
    return list
  }
}
