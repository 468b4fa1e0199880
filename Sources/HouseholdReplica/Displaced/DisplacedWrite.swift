internal import HouseholdRecords

/// A write that another one has taken the place of, and that is still needed in case the other one turns out not to
/// count (D3).
struct DisplacedWrite: Hashable {
  var cell: String
  var write: Write
}

/// How the value of a displaced write is stored, and sent in a snapshot; who wrote it stands beside it.
enum DisplacedContent {
  private enum Flag {
    static let weak: UInt8 = 1
    static let fields: UInt8 = 2
    static let alive: UInt8 = 4
    static let rows: UInt8 = 8
  }

  static func encode(_ write: Write) -> [UInt8] {
    var lead: UInt8 = write.isWeak ? Flag.weak : 0
    switch write.value {
    case .alive(let isAlive): if isAlive { lead |= Flag.alive }
    case .fields: lead |= Flag.fields
    case .rows: lead |= Flag.rows
    }
    var writer = ByteWriter()
    writer.byte(lead)
    if lead & (Flag.fields | Flag.rows) != 0 {
      let values = write.value.values
      writer.varint(values.count)
      for value in values { writer.value(value) }
    }
    return writer.bytes
  }

  static func decode(_ bytes: [UInt8]) throws(DecodingViolation) -> (value: CellValue, isWeak: Bool) {
    var reader = ByteReader(bytes)
    let lead = try reader.byte()
    let isWeak = lead & Flag.weak != 0
    let value: CellValue
    switch lead & ~Flag.weak {
    case 0: value = .alive(false)
    case Flag.alive: value = .alive(true)
    case Flag.fields: value = .fields(try values(from: &reader))
    case Flag.rows: value = .rows(try OwnedRows(cellValue: try values(from: &reader).first))
    case let kind: throw .unknownKind(kind)
    }
    try reader.finish()
    return (value, isWeak)
  }

  private static func values(from reader: inout ByteReader) throws(DecodingViolation) -> [FieldValue] {
    var values: [FieldValue] = []
    for _ in 0..<(try reader.count(limit: Limits.fieldsPerType)) { values.append(try reader.value()) }
    return values
  }
}
