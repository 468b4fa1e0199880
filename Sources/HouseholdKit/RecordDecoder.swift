internal import FoundationEssentials
internal import HouseholdRecords
internal import HouseholdReplica

/// Reads rows into Swift values of one type, one after the other.
///
/// A type asks for its properties in the same order each time, so the next one is expected and compared before anything is
/// looked up; and what is the same for all rows is made once. A loop written by hand does nothing of all this, and a fetch
/// may cost at most twice as much: so what runs for every property is kept free of copies. Not for more than one thread at
/// a time, and `end` must be called.
final class RecordDecoder: Decoder {
  /// The properties of a type, and where each lies: the columns are in their order, and the id is column 0.
  struct Properties: Sendable {
    var names: [String] = []
    var places: [Place] = []
    var positions: [String: Int] = [:]

    mutating func append(_ name: String, _ place: Place) {
      positions[name] = names.count
      names.append(name)
      places.append(place)
    }
  }

  /// Where a property lies.
  struct Place: Sendable {
    var column: Int
    var isJSON: Bool
  }

  private let names: [String]
  private let places: [Place]
  private let positions: [String: Int]
  /// The row at which a question stands; nil when values are read.
  private let row: ShownRow?
  /// The values by column, when there is no row.
  private var values: [FieldValue] = []
  /// The position of the property that is expected next.
  private var expected = 0
  /// The container of all rows, and for which keys it is.
  private var container: (keys: Any.Type, holder: AnyObject)?

  /// - Parameter row: what all records are read from; nil to read values.
  init(_ properties: Properties, row: ShownRow?) {
    names = properties.names
    places = properties.places
    positions = properties.positions
    self.row = row
  }

  /// Reads the record of the row at which the question stands now.
  func record<Record: HouseholdRecord>(_ type: Record.Type) throws -> Record {
    expected = 0
    return try Record(from: self)
  }

  /// Reads the record of these values, by column.
  func record<Record: HouseholdRecord>(_ type: Record.Type, _ values: [FieldValue]) throws -> Record {
    self.values = values
    expected = 0
    return try Record(from: self)
  }

  /// Lets go of the container, which holds this decoder.
  func end() { container = nil }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// A container that is kept.
  private final class Holder<Key: CodingKey> {
    let container: KeyedDecodingContainer<Key>

    init(_ container: KeyedDecodingContainer<Key>) { self.container = container }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    if let container, container.keys == type { return unsafeDowncast(container.holder, to: Holder<Key>.self).container }
    let made = KeyedDecodingContainer(RowContainer<Key>(row: self))
    container = (type, Holder(made))
    return made
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.unsupported }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.unsupported }

  static var unsupported: HouseholdStoreError {
    HouseholdStoreError(.schemaMismatch, "A record's init(from:) must ask for one keyed container, not nested ones.")
  }

  // MARK: One property, by its position

  fileprivate var allNames: [String] { names.sorted() }

  /// The position of the property of this name; nil if the household has no such field.
  fileprivate func position(_ name: String) -> Int? {
    if expected < names.count, names[expected] == name {
      expected += 1
      return expected - 1
    }
    guard let position = positions[name] else { return nil }
    expected = position + 1
    return position
  }

  /// The same, and what is expected next stays.
  fileprivate func glance(_ name: String) -> Int? {
    expected < names.count && names[expected] == name ? expected : positions[name]
  }

  fileprivate func isNull(_ position: Int) -> Bool {
    if let row { return row.isNull(places[position].column) }
    return values[places[position].column].isNull
  }

  fileprivate func value(_ position: Int) -> FieldValue {
    if let row { return row.value(places[position].column) }
    return values[places[position].column]
  }

  fileprivate func text(_ position: Int) throws -> String {
    if let row, let text = row.text(places[position].column) { return text }
    return try converting(position, FieldConversion.text)
  }

  fileprivate func integer(_ position: Int) throws -> Int64 {
    if let row, let integer = row.integer(places[position].column) { return integer }
    return try converting(position, FieldConversion.integer)
  }

  private func date(_ position: Int) throws -> Date {
    if let row, let instant = row.instant(places[position].column) {
      return Date(timeIntervalSince1970: Double(instant.milliseconds) / 1000)
    }
    return try converting(position, FieldConversion.date)
  }

  /// Runs the conversion and names the field in what it throws.
  fileprivate func converting<T>(_ position: Int, _ body: (FieldValue) throws -> T) throws -> T {
    do {
      return try body(value(position))
    } catch {
      throw failure(names[position], error)
    }
  }

  fileprivate func failure(_ name: String, _ error: any Error) -> HouseholdStoreError {
    let id = row.map { $0.text(0) } ?? values.first?.text
    return HouseholdStoreError(
      .badValue,
      "The record \(id ?? "?") cannot be read: \(name): \((error as? HouseholdStoreError)?.message ?? "\(error)")",
      cause: error)
  }

  /// A value of any other type.
  fileprivate func decode<T: Decodable>(_ type: T.Type, _ position: Int) throws -> T {
    // Dates are frequent, so their texts are read without a detour; that the types are the same was just asked.
    if T.self == Date.self { return unsafeBitCast(try date(position), to: T.self) }
    if T.self == CalendarDate.self {
      let text = try text(position)
      guard let date = CalendarDate(text) else {
        throw failure(
          names[position], HouseholdStoreError(.badValue, "'\(text)' is no date: write it YYYY-MM-DD."))
      }
      return unsafeBitCast(date, to: T.self)
    }
    let isJSON = places[position].isJSON
    return try converting(position) { value in
      isJSON
        ? try JSONDecoder().decode(T.self, from: Data(try FieldConversion.text(value).utf8))
        : try ValueDecoder.decode(T.self, value)
    }
  }
}

/// The properties of the row at hand.
private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let row: RecordDecoder
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { row.allNames.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { row.glance(key.stringValue) != nil }

  func decodeNil(forKey key: Key) -> Bool {
    guard let position = row.glance(key.stringValue) else { return true }
    return row.isNull(position)
  }

  /// The position of the property, which must be there.
  private func required(_ key: Key) throws -> Int {
    if let position = row.position(key.stringValue) { return position }
    throw row.failure(key.stringValue, HouseholdStoreError(.badValue, "The household has no such field."))
  }

  /// The position of the property; nil if it is null or not there.
  private func present(_ key: Key) -> Int? {
    guard let position = row.position(key.stringValue), !row.isNull(position) else { return nil }
    return position
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String { try row.text(try required(key)) }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try row.integer(try required(key)) != 0 }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { Int(try row.integer(try required(key))) }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try row.converting(try required(key), FieldConversion.real)
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try row.decode(type, try required(key)) }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    guard let position = present(key) else { return nil }
    return try row.text(position)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    guard let position = present(key) else { return nil }
    return try row.integer(position) != 0
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    guard let position = present(key) else { return nil }
    return Int(try row.integer(position))
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    guard let position = present(key) else { return nil }
    return try row.converting(position, FieldConversion.real)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    guard let position = present(key) else { return nil }
    return try row.decode(type, position)
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
