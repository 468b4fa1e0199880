/// The rows of an owned set, as they are written: the value of one cell of their owner (D10).
///
/// The owner's id is not in them: it is the record that the cell belongs to. One set has exactly one form, whatever the
/// schema of its author: rows in ascending order of their ids, fields in ascending order of their names, and only
/// fields that are not null in some row.
package struct OwnedRows: Hashable, Sendable {
  /// One record of the set.
  package struct Row: Hashable, Sendable {
    package var id: String
    /// One for each of the set's fields.
    package var values: [FieldValue]

    /// Ids are equal byte for byte.
    package static func == (a: Self, b: Self) -> Bool { a.id.hasSameBytes(as: b.id) && a.values == b.values }

    package func hash(into hasher: inout Hasher) {
      id.hashBytes(into: &hasher)
      hasher.combine(values)
    }
  }

  /// The names of the fields that some row has.
  package let fields: [String]
  package let rows: [Row]

  /// The set without rows.
  package static let none = Self([])

  /// The set of these rows; of two with one id the first counts.
  package init(_ rows: [(id: String, values: [String: FieldValue])]) {
    var kept: [(id: String, values: [String: FieldValue])] = []
    for row in rows.sorted(by: { $0.id.isBefore($1.id) }) where kept.last?.id.hasSameBytes(as: row.id) != true {
      kept.append(row)
    }
    // A field that only a left out row has is none of the set's.
    var names: Set<String> = []
    for row in kept { for (name, value) in row.values where !value.isNull { names.insert(name) } }
    let fields = names.sorted { $0.isBefore($1) }
    self.fields = fields
    self.rows = kept.map { row in Row(id: row.id, values: fields.map { row.values[$0] ?? .null }) }
  }

  /// Whether the set has no rows.
  package var isEmpty: Bool { rows.isEmpty }

  /// The row of this id.
  package func row(_ id: String) -> Row? { rows.first { $0.id.hasSameBytes(as: id) } }

  /// The value of a field in a row; null for a field that no row has.
  package func value(of field: String, in row: Row) -> FieldValue {
    fields.firstIndex(of: field).map { row.values[$0] } ?? .null
  }

  /// About how many bytes the set takes when it is written.
  package var byteCount: Int {
    rows.reduce(fields.reduce(8) { $0 + $1.utf8.count + 2 }) { sum, row in
      row.values.reduce(sum + row.id.utf8.count + 2) { $0 + $1.byteCount }
    }
  }

  // MARK: Encoding

  /// The set as the value of a cell: null without rows.
  package var cellValue: FieldValue {
    if isEmpty { return .null }
    var writer = ByteWriter(capacity: byteCount)
    writer.rows(self)
    return .bytes(writer.bytes)
  }

  /// The set that a cell's value holds.
  package init(cellValue: FieldValue?) throws(DecodingViolation) {
    guard case .bytes(let bytes)? = cellValue else {
      self = .none
      return
    }
    var reader = ByteReader(bytes)
    self = try reader.rows()
    try reader.finish()
  }

  fileprivate init(fields: [String], rows: [Row]) {
    self.fields = fields
    self.rows = rows
  }
}

extension ByteWriter {
  /// The rows of a set: the names of its fields, then each row's id and values.
  package mutating func rows(_ set: OwnedRows) {
    list(set.fields) { writer, field in writer.text(field) }
    list(set.rows) { writer, row in
      writer.text(row.id)
      for value in row.values { writer.value(value) }
    }
  }
}

extension ByteReader {
  /// The rows of a set; whatever is not in its one form is refused.
  package mutating func rows() throws(DecodingViolation) -> OwnedRows {
    let start = position
    var fields: [String] = []
    for _ in 0..<(try count(limit: Limits.fieldsPerType)) {
      let field = try text(limit: Limits.nameBytes)
      if let last = fields.last, !last.isBefore(field) { throw .notSorted }
      fields.append(field)
    }
    var rows: [OwnedRows.Row] = []
    var isUsed = Array(repeating: false, count: fields.count)
    for _ in 0..<(try count(limit: Limits.rowsPerSetAccepted)) {
      let id = try text(limit: Limits.idBytes)
      if let last = rows.last?.id, !last.isBefore(id) { throw .notSorted }
      var values: [FieldValue] = []
      values.reserveCapacity(fields.count)
      for index in fields.indices {
        values.append(try value())
        if !values[index].isNull { isUsed[index] = true }
      }
      rows.append(OwnedRows.Row(id: id, values: values))
      // What is kept must be readable again: a cell's value is no larger than a record.
      guard position - start <= Limits.recordBytes else { throw .overLimit }
    }
    guard isUsed.allSatisfy(\.self) else { throw .malformed("a set names a field that none of its rows has") }
    return OwnedRows(fields: fields, rows: rows)
  }
}
