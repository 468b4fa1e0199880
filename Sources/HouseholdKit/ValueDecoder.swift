internal import FoundationEssentials
internal import HouseholdRecords

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
