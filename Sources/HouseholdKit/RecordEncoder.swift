internal import FoundationEssentials
internal import HouseholdRecords

/// Turns a Swift value into the fields of a record.
struct RecordEncoder: Encoder {
  /// What is being filled.
  private final class Row {
    let kinds: [String: PropertyKind]
    var values: [String: FieldValue] = [:]

    init(kinds: [String: PropertyKind]) { self.kinds = kinds }
  }

  private let row: Row
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The values of the properties by their names; a property that is nil is not among them.
  static func encode<Record: HouseholdRecord>(
    _ record: Record, kinds: [String: PropertyKind]
  ) throws -> [String: FieldValue] {
    let encoder = RecordEncoder(row: Row(kinds: kinds))
    try record.encode(to: encoder)
    return encoder.row.values
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Container(row: row))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer() }
  func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer() }

  private struct Container<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let row: Row
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) throws {}

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
      let name = key.stringValue
      if name == "id" { return }
      row.values[name] =
        row.kinds[name] == .json ? .text(try FieldEncoder.json(value)) : try FieldEncoder.encode(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(RefusingKeys()) }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { RefusingContainer() }
    mutating func superEncoder() -> any Encoder { RecordEncoder(row: Row(kinds: [:])) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { RecordEncoder(row: Row(kinds: [:])) }
  }
}

/// Turns one Swift value into the value of a field.
struct FieldEncoder: Encoder {
  private final class Slot { var value: FieldValue = .null }

  private let slot: Slot
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The value of a field that is not JSON.
  static func encode<T: Encodable>(_ value: T) throws -> FieldValue {
    switch value {
    case let date as Date: return .text(try FieldConversion.text(date))
    case let data as Data: return .bytes([UInt8](data))
    case let bytes as [UInt8]: return .bytes(bytes)
    default:
      let encoder = FieldEncoder(slot: Slot())
      try value.encode(to: encoder)
      return encoder.slot.value
    }
  }

  /// The text of a JSON field, its keys sorted so that equal values are equal texts.
  static func json<T: Encodable>(_ value: T) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(RefusingKeys())
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer() }
  func singleValueContainer() -> any SingleValueEncodingContainer { Container(slot: slot) }

  private struct Container: SingleValueEncodingContainer {
    let slot: Slot
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil() throws { slot.value = .null }
    mutating func encode(_ value: Bool) throws { slot.value = .integer(value ? 1 : 0) }
    mutating func encode(_ value: String) throws { slot.value = .text(value) }
    mutating func encode(_ value: Double) throws { slot.value = .real(value) }
    mutating func encode(_ value: Float) throws { slot.value = .real(Double(value)) }
    mutating func encode(_ value: Int) throws { slot.value = try FieldConversion.value(value) }
    mutating func encode(_ value: Int8) throws { slot.value = try FieldConversion.value(value) }
    mutating func encode(_ value: Int16) throws { slot.value = try FieldConversion.value(value) }
    mutating func encode(_ value: Int32) throws { slot.value = try FieldConversion.value(value) }
    mutating func encode(_ value: Int64) throws { slot.value = try FieldConversion.value(value) }
    mutating func encode(_ value: UInt) throws { slot.value = try FieldConversion.value(value) }
    mutating func encode(_ value: UInt8) throws { slot.value = try FieldConversion.value(value) }
    mutating func encode(_ value: UInt16) throws { slot.value = try FieldConversion.value(value) }
    mutating func encode(_ value: UInt32) throws { slot.value = try FieldConversion.value(value) }
    mutating func encode(_ value: UInt64) throws { slot.value = try FieldConversion.value(value) }
    mutating func encode<T: Encodable>(_ value: T) throws { slot.value = try FieldEncoder.encode(value) }
  }
}

/// Stands where a record's `encode(to:)` asks for what a row has no place for.
private struct RefusingContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
  var codingPath: [any CodingKey] { [] }
  var count: Int { 0 }

  mutating func encodeNil() throws { throw Self.refusal }
  mutating func encode<T: Encodable>(_ value: T) throws { throw Self.refusal }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(RefusingKeys())
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  mutating func superEncoder() -> any Encoder { RefusingEncoder() }

  static var refusal: HouseholdStoreError {
    HouseholdStoreError(.schemaMismatch, "A record's encode(to:) must fill one keyed container, not nested ones.")
  }
}

private struct RefusingKeys<Key: CodingKey>: KeyedEncodingContainerProtocol {
  var codingPath: [any CodingKey] { [] }

  mutating func encodeNil(forKey key: Key) throws { throw RefusingContainer.refusal }
  mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw RefusingContainer.refusal }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(RefusingKeys<Nested>()) }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { RefusingContainer() }
  mutating func superEncoder() -> any Encoder { RefusingEncoder() }
  mutating func superEncoder(forKey key: Key) -> any Encoder { RefusingEncoder() }
}

private struct RefusingEncoder: Encoder {
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(RefusingKeys())
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer() }
  func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer() }
}
