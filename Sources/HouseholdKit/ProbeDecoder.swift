internal import FoundationEssentials
internal import HouseholdRecords

/// Makes samples of a Swift type to learn its properties: their names, their kinds, and which key path leads to which.
///
/// Every property gets its first sample value; the one that is `changed` gets its second. Comparing what a key path finds
/// in the samples tells which property it leads to, so nobody writes a mapping down.
struct ProbeDecoder: Decoder {
  /// One property: its name, what it is as a field, and its Swift type without `Optional`.
  typealias Property = (name: String, kind: PropertyKind, type: Any.Type)

  /// What was asked for, in order.
  final class Findings {
    var properties: [Property] = []
  }

  let findings: Findings
  let changed: String?
  /// Whether everything inside is to have its second value: of a nested type.
  var isSecond = false

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Container(probe: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw RecordDecoder.unsupported }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw RecordDecoder.unsupported }

  private struct Container<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let probe: ProbeDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
      let name = key.stringValue
      let sample = try ValueProbe.sample(of: T.self, isSecond: probe.isSecond || probe.changed == name)
      probe.findings.properties.append((name, sample.kind, T.self))
      return sample.value
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
}

/// Makes a sample of the type of one property.
private struct ValueProbe: Decoder {
  private final class Kind { var found = PropertyKind.json }

  private let kind: Kind
  private let isSecond: Bool
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  static func sample<T: Decodable>(of type: T.Type, isSecond: Bool) throws -> (value: T, kind: PropertyKind) {
    if let known = known(type, isSecond), let value = known.value as? T { return (value, known.kind) }
    if let value = enumerationCase(of: T.self, isSecond) as? T {
      let stored = try (value as? any Encodable).map { try FieldEncoder.encode($0) }
      return (value, stored?.integer == nil ? .text : .integer)
    }
    let probe = ValueProbe(kind: Kind(), isSecond: isSecond)
    do {
      let value = try T(from: probe)
      if let reference = T.self as? any ReferenceTarget.Type { return (value, .reference(reference.target)) }
      return (value, probe.kind.found)
    } catch {
      throw HouseholdStoreError(
        .schemaMismatch, "No sample of \(T.self) can be made; an enumeration must be CaseIterable: \(error)")
    }
  }

  private static func known<T>(_ type: T.Type, _ isSecond: Bool) -> (value: Any, kind: PropertyKind)? {
    if type == Date.self { return (Date(timeIntervalSince1970: isSecond ? 86_400 : 0), .timestamp) }
    if type == Data.self { return (Data(isSecond ? [1] : []), .bytes) }
    if type == [UInt8].self { return ((isSecond ? [1] : []) as [UInt8], .bytes) }
    if type == CalendarDate.self {
      return CalendarDate(year: isSecond ? 2001 : 2000, month: 1, day: 1).map { ($0, .date) }
    }
    if type == UUID.self {
      return UUID(uuidString: "00000000-0000-0000-0000-00000000000\(isSecond ? 1 : 0)").map { ($0, .text) }
    }
    return nil
  }

  private static func enumerationCase(of type: Any.Type, _ isSecond: Bool) -> Any? {
    func pick<T: CaseIterable>(_ type: T.Type) -> Any? {
      let cases = Array(type.allCases)
      return isSecond && cases.count > 1 ? cases[1] : cases.first
    }
    return (type as? any CaseIterable.Type).flatMap { pick($0) }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    ProbeDecoder(findings: ProbeDecoder.Findings(), changed: nil, isSecond: isSecond).container(keyedBy: type)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { EmptyList() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { Single(kind: kind, isSecond: isSecond) }

  private struct Single: SingleValueDecodingContainer {
    let kind: Kind
    let isSecond: Bool
    var codingPath: [any CodingKey] { [] }

    private func found<T>(_ found: PropertyKind, _ first: T, _ second: T) -> T {
      kind.found = found
      return isSecond ? second : first
    }

    func decodeNil() -> Bool { false }
    func decode(_ type: Bool.Type) throws -> Bool { found(.boolean, false, true) }
    func decode(_ type: String.Type) throws -> String { found(.text, "", "a") }
    func decode(_ type: Double.Type) throws -> Double { found(.real, 0, 1) }
    func decode(_ type: Float.Type) throws -> Float { found(.real, 0, 1) }
    func decode(_ type: Int.Type) throws -> Int { found(.integer, 0, 1) }
    func decode(_ type: Int8.Type) throws -> Int8 { found(.integer, 0, 1) }
    func decode(_ type: Int16.Type) throws -> Int16 { found(.integer, 0, 1) }
    func decode(_ type: Int32.Type) throws -> Int32 { found(.integer, 0, 1) }
    func decode(_ type: Int64.Type) throws -> Int64 { found(.integer, 0, 1) }
    func decode(_ type: UInt.Type) throws -> UInt { found(.integer, 0, 1) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { found(.integer, 0, 1) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { found(.integer, 0, 1) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { found(.integer, 0, 1) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { found(.integer, 0, 1) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
      let sample = try ValueProbe.sample(of: T.self, isSecond: isSecond)
      kind.found = sample.kind
      return sample.value
    }
  }

  /// A list without elements.
  private struct EmptyList: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }

    mutating func decodeNil() throws -> Bool { throw RecordDecoder.unsupported }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { throw RecordDecoder.unsupported }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested>
    { throw RecordDecoder.unsupported }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw RecordDecoder.unsupported }
    mutating func superDecoder() throws -> any Decoder { throw RecordDecoder.unsupported }
  }
}
