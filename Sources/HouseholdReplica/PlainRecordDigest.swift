internal import HouseholdRecords

/// The short way into the digest for a record that one changeset wrote, as most are: the same bytes as by its state,
/// without making the state. A digest reads every record, and nothing else happens meanwhile.
struct PlainRecordDigest {
  private let type: String
  /// The cells of fields in the order of their names; the alive cell, whose name is empty, comes before them.
  private let cells: [TypeTable.Cell]

  init(type: String, table: TypeTable?) {
    self.type = type
    cells = (table?.cells ?? []).sorted { $0.name < $1.name }
  }

  /// Writes a live record: each cell with its one write, but for cells that are null.
  func write(
    id: String, row: [FieldValue], life: UInt64, writtenBy name: ChangesetName, to writer: inout ByteWriter
  ) {
    var write = ByteWriter(capacity: 32)
    write.identifier(name.replica)
    write.varint(name.sequence)
    write.varint(life)
    writer.text(type)
    writer.text(id)
    writer.text(CellName.alive)
    writer.raw(write.bytes)
    for cell in cells where cell.fields.contains(where: { !row[$0].isNull }) {
      writer.text(cell.name)
      writer.raw(write.bytes)
      for field in cell.fields { writer.value(row[field]) }
    }
  }
}
