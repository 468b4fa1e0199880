internal import HouseholdRecords

/// Encodes the records of a snapshot's page straight from the rows of the statement that reads them.
///
/// Nothing is made of a value on its way from the file into the page.
struct SnapshotRowWriter {
  /// The headers that the page names.
  let headers: PageHeaders
  private(set) var bytes = ByteWriter(capacity: Limits.batchTargetBytes + 4096)
  private(set) var count = 0
  /// About how many bytes the records take: decides where a page ends, so it is the same at every device.
  private(set) var byteCount = 0
  /// Where the id of the last record lies.
  private var lastRange = 0..<0
  /// The id of the last record.
  var lastID: String { String(decoding: bytes.bytes[lastRange], as: UTF8.self) }

  init(headers: PageHeaders) { self.headers = headers }

  /// Adds the row that the statement of ``Replica/rowsSQL(_:)`` stands at.
  mutating func write(_ statement: Statement, table: TypeTable?, shape: Int, replica: Replica) throws {
    let storedFlags = statement.integer(3)
    let isAlive = statement.integer(5) != 0
    let showsRow = isAlive && storedFlags & StoredRecord.mergedFlag == 0 && table != nil
    let hasCells = !statement.isNull(6)
    var flags: UInt8 = isAlive ? SnapshotRow.Flag.alive : 0
    if storedFlags & StoredRecord.weakFlag != 0 { flags |= SnapshotRow.Flag.weak }
    if storedFlags & StoredRecord.quarantinedFlag != 0 { flags |= SnapshotRow.Flag.quarantined }
    if storedFlags & StoredRecord.conflictFlag != 0 { flags |= SnapshotRow.Flag.conflict }
    if storedFlags & StoredRecord.setsFlag != 0 { flags |= SnapshotRow.Flag.sets }
    if showsRow { flags |= SnapshotRow.Flag.row }
    if hasCells { flags |= SnapshotRow.Flag.cells }
    // The headers join the page in this order.
    let cells = hasCells ? try CellVersions.renumber(statement.bytes(6), from: replica, to: headers) : nil
    bytes.varint(shape)
    let idCount = statement.writeText(0, to: &bytes)
    lastRange = bytes.count - idCount..<bytes.count
    byteCount += idCount + 12
    bytes.byte(flags)
    bytes.varint(UInt64(statement.integer(4)))
    bytes.varint(try headers.index(ofPosition: statement.integer(1), replica.header))
    bytes.varint(try headers.index(ofPosition: statement.integer(2), replica.header))
    if showsRow, let table {
      for column in 0..<Int32(table.fieldNames.count) { byteCount += statement.write(column + 7, to: &bytes) }
    }
    if let cells {
      bytes.data(cells)
      byteCount += cells.count
    }
    count += 1
  }
}
