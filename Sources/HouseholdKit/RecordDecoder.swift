internal import FoundationEssentials
internal import HouseholdRecords

/// Reads a row into a Swift value: the values by the property's name.
struct RecordDecoder: Decoder {
  /// Where each property lies in the row, and what it is; the id is not among them.
  let columns: [String: (index: Int, kind: PropertyKind)]
  let id: String
  let values: [FieldValue]

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RowContainer(row: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.unsupported }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.unsupported }

  static var unsupported: HouseholdStoreError {
    HouseholdStoreError(.schemaMismatch, "A record's init(from:) must ask for one keyed container, not nested ones.")
  }

  /// The value of a property; nil if the household has no such field.
  func value(_ key: String) -> FieldValue? {
    if key == "id" { return .text(id) }
    return columns[key].map { values[$0.index] }
  }

  /// Runs the conversion and names the field in what it throws.
  func converting<T>(_ key: String, _ body: (FieldValue) throws -> T) throws -> T {
    do {
      return try body(value(key) ?? .null)
    } catch {
      throw HouseholdStoreError(
        .badValue, "The record \(id) cannot be read: \(key): \((error as? HouseholdStoreError)?.message ?? "\(error)")",
        cause: error)
    }
  }
}

/// The properties of one row.
private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let row: RecordDecoder
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { (["id"] + row.columns.keys.sorted()).compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { row.value(key.stringValue) != nil }
  func decodeNil(forKey key: Key) -> Bool { row.value(key.stringValue)?.isNull ?? true }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try row.converting(key.stringValue, FieldConversion.text)
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try row.converting(key.stringValue, FieldConversion.boolean)
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try row.converting(key.stringValue, FieldConversion.integer)
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try row.converting(key.stringValue, FieldConversion.real)
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    let isJSON = row.columns[key.stringValue]?.kind == .json
    return try row.converting(key.stringValue) { value in
      isJSON
        ? try JSONDecoder().decode(T.self, from: Data(try FieldConversion.text(value).utf8))
        : try ValueDecoder.decode(T.self, value)
    }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { throw RecordDecoder.unsupported }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw RecordDecoder.unsupported
  }

  func superDecoder() throws -> any Decoder { throw RecordDecoder.unsupported }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw RecordDecoder.unsupported }
}

/// Reads one field into a Swift value.
struct ValueDecoder: Decoder, SingleValueDecodingContainer {
  let value: FieldValue

  /// The value as this type.
  static func decode<T: Decodable>(_ type: T.Type, _ value: FieldValue) throws -> T {
    let known: Any? =
      if T.self == Date.self {
        try FieldConversion.date(value)
      } else if T.self == Data.self {
        Data(try FieldConversion.bytes(value))
      } else if T.self == [UInt8].self {
        try FieldConversion.bytes(value)
      } else {
        nil
      }
    if let known = known as? T { return known }
    return try T(from: ValueDecoder(value: value))
  }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw RecordDecoder.unsupported
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw RecordDecoder.unsupported }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { value.isNull }
  func decode(_ type: Bool.Type) throws -> Bool { try FieldConversion.boolean(value) }
  func decode(_ type: String.Type) throws -> String { try FieldConversion.text(value) }
  func decode(_ type: Double.Type) throws -> Double { try FieldConversion.real(value) }
  func decode(_ type: Float.Type) throws -> Float { Float(try FieldConversion.real(value)) }
  func decode(_ type: Int.Type) throws -> Int { try FieldConversion.integer(value) }
  func decode(_ type: Int8.Type) throws -> Int8 { try FieldConversion.integer(value) }
  func decode(_ type: Int16.Type) throws -> Int16 { try FieldConversion.integer(value) }
  func decode(_ type: Int32.Type) throws -> Int32 { try FieldConversion.integer(value) }
  func decode(_ type: Int64.Type) throws -> Int64 { try FieldConversion.integer(value) }
  func decode(_ type: UInt.Type) throws -> UInt { try FieldConversion.integer(value) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try FieldConversion.integer(value) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try FieldConversion.integer(value) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try FieldConversion.integer(value) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try FieldConversion.integer(value) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try Self.decode(T.self, value) }
}
