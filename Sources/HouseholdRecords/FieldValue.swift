/// A value of one field, as SQLite stores it; null, empty text and zero are three things.
package enum FieldValue: Hashable, Sendable {
  case null
  /// `integer` and `boolean` (0 or 1) fields.
  case integer(Int64)
  /// `real` fields.
  case real(Double)
  /// `text`, `date`, `timestamp`, `json` and `reference` fields.
  case text(String)
  /// `bytes` fields.
  case bytes([UInt8])

  /// What a value is, as the byte that stands before it where it is encoded.
  package enum Kind: UInt8, Sendable { case null = 0, integer = 1, real = 2, text = 3, bytes = 4 }

  /// What it is.
  package var kind: Kind {
    switch self {
    case .null: .null
    case .integer: .integer
    case .real: .real
    case .text: .text
    case .bytes: .bytes
    }
  }

  /// Whether it is null.
  package var isNull: Bool { if case .null = self { true } else { false } }

  /// The text, if it is one.
  package var text: String? { if case .text(let text) = self { text } else { nil } }

  /// The integer, if it is one.
  package var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }

  /// About how many bytes the value takes in an encoded record.
  package var byteCount: Int {
    switch self {
    case .null: 1
    case .integer, .real: 9
    case .text(let text): text.utf8.count + 4
    case .bytes(let bytes): bytes.count + 4
    }
  }
}

extension FieldValue {
  /// Equal byte for byte: Swift's `==` for texts would take a composed and a decomposed "é" for the same.
  package static func == (a: Self, b: Self) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.integer(let x), .integer(let y)): x == y
    case (.real(let x), .real(let y)): x.bitPattern == y.bitPattern
    case (.text(let x), .text(let y)): x.hasSameBytes(as: y)
    case (.bytes(let x), .bytes(let y)): x == y
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let integer): hasher.combine(integer)
    case .real(let real): hasher.combine(real.bitPattern)
    case .text(let text): text.hashBytes(into: &hasher)
    case .bytes(let bytes): hasher.combine(bytes)
    }
  }
}

/// Names one record of a household.
package struct RecordKey: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The name of the record's type.
  package var type: String
  /// Any text up to `Limits.idBytes`.
  package var id: String

  package init(type: String, id: String) {
    self.type = type
    self.id = id
  }

  package var description: String { "\(type)/\(id)" }

  /// Ids are equal byte for byte, as SQLite compares them.
  package static func == (a: Self, b: Self) -> Bool {
    a.type == b.type && a.id.hasSameBytes(as: b.id)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(type)
    id.hashBytes(into: &hasher)
  }

  /// By type, then by the bytes of the id: SQLite's order.
  package static func < (a: Self, b: Self) -> Bool {
    a.type == b.type ? a.id.isBefore(b.id) : a.type < b.type
  }
}
