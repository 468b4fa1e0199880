internal import HouseholdRecords
internal import HouseholdReplica

/// What records must be like, written with key paths: `\.isFavorite == true && .contains(\.title, "milk")`.
///
/// Texts compare by their bytes, dates by time; null is neither less nor greater than anything.
public struct RecordPredicate<Record: HouseholdRecord>: Sendable {
  let condition: @Sendable (RecordShape<Record>) throws -> RecordCondition

  /// The text of the property holds this one, whatever the case of the letters a to z.
  public static func contains(_ path: any KeyPath<Record, String> & Sendable, _ text: String) -> Self {
    Self { .contains(field: try $0.field(path).name, text) }
  }

  /// The text of the property is there and holds this one, whatever the case of the letters a to z.
  public static func contains(_ path: any KeyPath<Record, String?> & Sendable, _ text: String) -> Self {
    Self { .contains(field: try $0.field(path).name, text) }
  }

  /// The property has one of these values.
  public static func any<Value: Encodable & Equatable & Sendable>(
    of values: [Value], _ path: any KeyPath<Record, Value> & Sendable
  ) -> Self {
    Self { shape in .any(try values.map { try Self.compare(path, .equal, $0).condition(shape) }) }
  }

  /// Every record.
  public static var all: Self { Self { _ in .all([]) } }

  static func compare<Value: Encodable & Equatable & Sendable>(
    _ path: any KeyPath<Record, Value> & Sendable, _ comparison: RecordCondition.Comparison, _ value: Value
  ) -> Self {
    Self { shape in
      let field = try shape.field(path)
      let bound = field.kind == .json ? .text(try FieldEncoder.json(value)) : try FieldEncoder.encode(value)
      return .compare(field: field.name, comparison, bound)
    }
  }

  /// Both hold.
  public static func && (a: Self, b: Self) -> Self {
    Self { .all([try a.condition($0), try b.condition($0)]) }
  }

  /// One of the two holds, or both.
  public static func || (a: Self, b: Self) -> Self {
    Self { .any([try a.condition($0), try b.condition($0)]) }
  }

  /// The predicate does not hold.
  public static prefix func ! (a: Self) -> Self { Self { .not(try a.condition($0)) } }
}

/// The property has this value; `nil` is a value.
public func == <Record: HouseholdRecord, Value: Encodable & Equatable & Sendable>(
  path: any KeyPath<Record, Value> & Sendable, value: Value
) -> RecordPredicate<Record> { .compare(path, .equal, value) }

/// The property has another value, or none.
public func != <Record: HouseholdRecord, Value: Encodable & Equatable & Sendable>(
  path: any KeyPath<Record, Value> & Sendable, value: Value
) -> RecordPredicate<Record> { .compare(path, .notEqual, value) }

/// The property is there and less.
public func < <Record: HouseholdRecord, Value: Encodable & Comparable & Sendable>(
  path: any KeyPath<Record, Value> & Sendable, value: Value
) -> RecordPredicate<Record> { .compare(path, .less, value) }

/// The property is there and less or equal.
public func <= <Record: HouseholdRecord, Value: Encodable & Comparable & Sendable>(
  path: any KeyPath<Record, Value> & Sendable, value: Value
) -> RecordPredicate<Record> { .compare(path, .lessOrEqual, value) }

/// The property is there and greater.
public func > <Record: HouseholdRecord, Value: Encodable & Comparable & Sendable>(
  path: any KeyPath<Record, Value> & Sendable, value: Value
) -> RecordPredicate<Record> { .compare(path, .greater, value) }

/// The property is there and greater or equal.
public func >= <Record: HouseholdRecord, Value: Encodable & Comparable & Sendable>(
  path: any KeyPath<Record, Value> & Sendable, value: Value
) -> RecordPredicate<Record> { .compare(path, .greaterOrEqual, value) }

/// The property is there and less.
public func < <Record: HouseholdRecord, Value: Encodable & Comparable & Sendable>(
  path: any KeyPath<Record, Value?> & Sendable, value: Value
) -> RecordPredicate<Record> { .compare(path, .less, value) }

/// The property is there and greater.
public func > <Record: HouseholdRecord, Value: Encodable & Comparable & Sendable>(
  path: any KeyPath<Record, Value?> & Sendable, value: Value
) -> RecordPredicate<Record> { .compare(path, .greater, value) }

/// One property to sort by; nulls come first, and the id breaks ties.
public struct RecordSorting<Record: HouseholdRecord>: Sendable {
  let order: @Sendable (RecordShape<Record>) throws -> RecordOrder

  /// From the least to the greatest.
  public static func ascending<Value: Equatable & Sendable>(_ path: any KeyPath<Record, Value> & Sendable) -> Self {
    Self { RecordOrder(field: try $0.field(path).name, isDescending: false) }
  }

  /// From the greatest to the least.
  public static func descending<Value: Equatable & Sendable>(_ path: any KeyPath<Record, Value> & Sendable) -> Self {
    Self { RecordOrder(field: try $0.field(path).name, isDescending: true) }
  }
}

/// A question with its key paths already turned into fields.
struct ResolvedQuery<Record: HouseholdRecord>: Sendable {
  let shape: RecordShape<Record>
  let condition: RecordCondition?
  let order: [RecordOrder]
  let limit: Int?

  init(
    _ shape: RecordShape<Record>, _ predicate: RecordPredicate<Record>?, _ sorting: [RecordSorting<Record>],
    _ limit: Int?
  ) throws {
    self.shape = shape
    condition = try predicate.map { try $0.condition(shape) }
    order = try sorting.map { try $0.order(shape) }
    self.limit = limit
  }

  /// One row as it lies in the file: the id, and the values by column.
  struct Row: Hashable, Sendable {
    var values: [FieldValue]

    var id: String { values[0].text ?? "" }
  }

  /// The rows now; with an id only that record's, if it meets the predicate.
  func rows(_ access: RecordAccess, id: String? = nil) throws -> [Row] {
    var rows: [Row] = []
    try forEach(access, id) { row in rows.append(Row(values: (0...shape.fields.count).map { row.value($0) })) }
    return rows
  }

  /// The records now, without holding the rows; with an id only that one, if it meets the predicate.
  func records(_ access: RecordAccess, id: String? = nil) throws -> [Record] {
    var decoder: RecordDecoder?
    defer { decoder?.end() }
    var records: [Record] = []
    try forEach(access, id) { row in
      // All rows of a question are read in one place, where it stands.
      let reading = decoder ?? shape.decoder(row)
      decoder = reading
      records.append(try reading.record(Record.self))
    }
    return records
  }

  private func forEach(_ access: RecordAccess, _ id: String?, _ body: (ShownRow) throws -> Void) throws {
    try access.forEach(
      shape.type, fields: shape.fields, id: id, matching: condition, order: order, limit: limit, body)
  }
}
