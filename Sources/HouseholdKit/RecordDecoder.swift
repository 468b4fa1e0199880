internal import FoundationEssentials
internal import HouseholdRecords
internal import HouseholdReplica

/// Reads rows into Swift values of one type, one after the other.
///
/// A type asks for its properties in the same order each time, so the next one is expected and compared before anything is
/// looked up. Not for more than one thread at a time.
final class RecordDecoder: Decoder {
  /// A property, and where it lies: the columns are in the order of the properties, and the id is column 0.
  struct Property: Sendable {
    var name: String
    var column: Int
    var kind: PropertyKind
  }

  /// Where the values come from.
  enum Source {
    /// The row at which a question stands.
    case row(ShownRow)
    /// The values by column.
    case values([FieldValue])
  }

  private let properties: [Property]
  private let positions: [String: Int]
  private var source: Source
  /// The position of the property that is expected next.
  private var expected = 0

  init(_ properties: [Property], positions: [String: Int]) {
    self.properties = properties
    self.positions = positions
    source = .values([])
  }

  /// Reads the next record.
  func record<Record: HouseholdRecord>(_ type: Record.Type, from source: Source) throws -> Record {
    self.source = source
    expected = 0
    return try Record(from: self)
  }

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

  // MARK: One property

  fileprivate var names: [String] { properties.map(\.name) }

  /// The property of this name; nil if the household has no such field.
  fileprivate func property(_ name: String) -> Property? {
    if expected < properties.count, properties[expected].name == name {
      expected += 1
      return properties[expected - 1]
    }
    guard let position = positions[name] else { return nil }
    expected = position + 1
    return properties[position]
  }

  /// Whether the household has such a field; what is expected next stays.
  fileprivate func has(_ name: String) -> Bool {
    expected < properties.count && properties[expected].name == name || positions[name] != nil
  }

  /// Whether the property is null or not there; what is expected next stays.
  fileprivate func isNull(_ name: String) -> Bool {
    let position = expected < properties.count && properties[expected].name == name ? expected : positions[name]
    return position.map { isNull(properties[$0]) } ?? true
  }

  fileprivate func isNull(_ property: Property) -> Bool {
    switch source {
    case .row(let row): row.isNull(property.column)
    case .values(let values): values[property.column].isNull
    }
  }

  fileprivate func value(_ property: Property) -> FieldValue {
    switch source {
    case .row(let row): row.value(property.column)
    case .values(let values): values[property.column]
    }
  }

  fileprivate func text(_ property: Property) throws -> String {
    if case .row(let row) = source, let text = row.text(property.column) { return text }
    return try converting(property, FieldConversion.text)
  }

  fileprivate func integer(_ property: Property) throws -> Int64 {
    if case .row(let row) = source, let integer = row.integer(property.column) { return integer }
    return try converting(property, FieldConversion.integer)
  }

  /// Runs the conversion and names the field in what it throws.
  fileprivate func converting<T>(_ property: Property, _ body: (FieldValue) throws -> T) throws -> T {
    do {
      return try body(value(property))
    } catch {
      throw failure(property.name, error)
    }
  }

  fileprivate func failure(_ name: String, _ error: any Error) -> HouseholdStoreError {
    let id: String? =
      switch source {
      case .row(let row): row.text(0)
      case .values(let values): values.first?.text
      }
    return HouseholdStoreError(
      .badValue,
      "The record \(id ?? "?") cannot be read: \(name): \((error as? HouseholdStoreError)?.message ?? "\(error)")",
      cause: error)
  }

  /// A value of any other type.
  fileprivate func decode<T: Decodable>(_ type: T.Type, _ property: Property) throws -> T {
    // Dates are frequent, so their texts are read without a detour; that the types are the same was just asked.
    if T.self == Date.self {
      let date = try converting(property, FieldConversion.date)
      return unsafeBitCast(date, to: T.self)
    }
    if T.self == CalendarDate.self {
      let text = try text(property)
      guard let date = CalendarDate(text) else {
        throw failure(property.name, HouseholdStoreError(.badValue, "'\(text)' is no date: write it YYYY-MM-DD."))
      }
      return unsafeBitCast(date, to: T.self)
    }
    return try converting(property) { value in
      property.kind == .json
        ? try JSONDecoder().decode(T.self, from: Data(try FieldConversion.text(value).utf8))
        : try ValueDecoder.decode(T.self, value)
    }
  }
}

/// The properties of one row.
private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let row: RecordDecoder
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { row.names.sorted().compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { row.has(key.stringValue) }
  func decodeNil(forKey key: Key) -> Bool { row.isNull(key.stringValue) }

  /// The property, which must be there.
  private func required(_ key: Key) throws -> RecordDecoder.Property {
    if let property = row.property(key.stringValue) { return property }
    throw row.failure(key.stringValue, HouseholdStoreError(.badValue, "The household has no such field."))
  }

  /// The property; nil if it is null or not there.
  private func present(_ key: Key) -> RecordDecoder.Property? {
    guard let property = row.property(key.stringValue), !row.isNull(property) else { return nil }
    return property
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String { try row.text(try required(key)) }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try row.integer(try required(key)) != 0 }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { Int(try row.integer(try required(key))) }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try row.converting(try required(key), FieldConversion.real)
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try row.decode(type, try required(key)) }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try present(key).map { try row.text($0) }
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try present(key).map { try row.integer($0) != 0 }
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try present(key).map { Int(try row.integer($0)) }
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try present(key).map { try row.converting($0, FieldConversion.real) }
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try present(key).map { try row.decode(type, $0) }
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
