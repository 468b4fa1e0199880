internal import HouseholdRecords

/// Changing stored cells without making their state: for many records at once.
extension CellVersions {
  /// The same cells with their changesets named in another way: a file's positions, a page's indices.
  static func renumber(_ bytes: [UInt8], from: some WriterNames, to: some WriterNames) throws -> [UInt8] {
    var reader = ByteReader(bytes)
    var writer = ByteWriter(capacity: bytes.count)
    do {
      let cells = try reader.count(limit: Limits.fieldsPerType * 2)
      writer.varint(cells)
      for _ in 0..<cells {
        writer.text(try reader.text(limit: Limits.nameBytes))
        let writes = try reader.count(limit: Limits.vectorEntries)
        writer.varint(writes)
        for _ in 0..<writes {
          let header = try from.header(of: Int64(clamping: try reader.varint()))
          writer.varint(UInt64(try to.number(of: header.name)))
          writer.varint(try reader.varint())
          let flags = try reader.byte()
          writer.byte(flags)
          guard flags & Flag.hasValue != 0 else { continue }
          let values = try reader.count(limit: Limits.fieldsPerType)
          writer.varint(values)
          for _ in 0..<values { writer.value(try reader.value()) }
        }
      }
      try reader.finish()
    } catch let violation as DecodingViolation {
      throw Violation(violation, in: "a record's versions")
    }
    return writer.bytes
  }

  /// The same cells with these named besides, without a write, where they are not there: fields of a schema that grew
  /// are nothing that a record from before has written (D13).
  ///
  /// - Parameter unwritten: names of cells in ascending order.
  /// - Returns: the cells, and whether one of these has writes already, that were parked.
  static func naming(_ unwritten: [String], in cells: [UInt8]?) throws -> (cells: [UInt8], hasParked: Bool) {
    var parts: [(name: String, bytes: ArraySlice<UInt8>)] = []
    if let cells {
      do {
        parts = try split(cells)
      } catch {
        throw ReplicaError(.corrupt, "The versions of a record cannot be read.", cause: "\(error)")
      }
    }
    let known = Set(parts.map(\.name))
    for name in unwritten where !known.contains(name) { parts.append((name, [0])) }
    parts.sort { $0.name < $1.name }
    var writer = ByteWriter(capacity: (cells?.count ?? 0) + unwritten.count * 16)
    writer.varint(parts.count)
    for part in parts {
      writer.text(part.name)
      writer.raw(part.bytes)
    }
    return (writer.bytes, parts.contains { $0.bytes != [0] && unwritten.contains($0.name) })
  }

  /// The cells one by one, each with the bytes of its writes.
  private static func split(_ bytes: [UInt8]) throws(DecodingViolation) -> [(name: String, bytes: ArraySlice<UInt8>)] {
    var reader = ByteReader(bytes)
    var parts: [(name: String, bytes: ArraySlice<UInt8>)] = []
    for _ in 0..<(try reader.count(limit: Limits.fieldsPerType * 2)) {
      let name = try reader.text(limit: Limits.nameBytes)
      let begin = reader.position
      for _ in 0..<(try reader.count(limit: Limits.vectorEntries)) {
        _ = try reader.varint()
        _ = try reader.varint()
        guard try reader.byte() & Flag.hasValue != 0 else { continue }
        for _ in 0..<(try reader.count(limit: Limits.fieldsPerType)) { _ = try reader.value() }
      }
      parts.append((name, bytes[begin..<reader.position]))
    }
    try reader.finish()
    return parts
  }
}
