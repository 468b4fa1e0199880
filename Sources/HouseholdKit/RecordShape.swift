internal import HouseholdRecords
internal import HouseholdReplica

/// What a Swift type is as a record type of a household: its properties, and where each lies in a row.
struct RecordShape<Record: HouseholdRecord>: Sendable {
  /// The record type of the household.
  let type: RecordType
  /// Where each property lies in the row, and what it is.
  let columns: [String: (index: Int, kind: PropertyKind)]
  /// The properties as a question asks for them, the id among them as column 0.
  private let properties: RecordDecoder.Properties
  /// The fields that the properties are, in their order.
  let fields: [String]
  private let kinds: [String: PropertyKind]
  private let base: Record
  /// For each property a sample in which it alone differs from the base.
  private let variants: [(property: ProbeDecoder.Property, sample: Record)]

  /// Learns the Swift type and checks it against the household's schema.
  init(_ record: Record.Type, in schema: Schema) throws {
    let learned = try Self.learn()
    guard let type = schema.type(Record.recordType) else {
      throw HouseholdStoreError(
        .schemaMismatch,
        "The household keeps no records of the type \(Record.recordType) (\(Record.self)); an owner adds it with "
          + "`household schema upgrade FILE`.")
    }
    var columns: [String: (index: Int, kind: PropertyKind)] = [:]
    for property in learned.properties where property.name != "id" {
      let names = [property.name, FieldName.snakeCase(property.name)]
      guard let index = type.fields.firstIndex(where: { names.contains($0.name) }) else {
        throw HouseholdStoreError(
          .schemaMismatch,
          "\(Record.self).\(property.name) has no field in the household's type \(type.name): an owner adds "
            + "\(names[1]) (\(property.kind.field)) with `household schema upgrade FILE`.")
      }
      let field = type.fields[index]
      guard property.kind.fits(field) else {
        let target = field.to.map { " to \($0)" } ?? ""
        throw HouseholdStoreError(
          .schemaMismatch,
          "\(Record.self).\(property.name) is \(property.kind.name), and the household's field \(type.name)."
            + "\(field.name) is \(field.type)\(target): change the property's type.")
      }
      columns[property.name] = (index, property.kind)
    }
    self.type = type
    self.columns = columns
    var fields: [String] = []
    var properties = RecordDecoder.Properties()
    for property in learned.properties {
      guard let place = columns[property.name] else {
        properties.append("id", RecordDecoder.Place(column: 0, isJSON: false))
        continue
      }
      fields.append(type.fields[place.index].name)
      properties.append(
        property.name, RecordDecoder.Place(column: fields.count, isJSON: place.kind == .json))
    }
    self.fields = fields
    self.properties = properties
    kinds = columns.mapValues(\.kind)
    base = learned.base
    variants = try learned.properties.map { ($0, try Self.sample(changing: $0.name).0) }
  }

  /// The record type that a household gets for this Swift type.
  static func recordType() throws -> RecordType {
    let fields = try learn().properties.filter { $0.name != "id" }.map { property in
      var target: String?
      if case .reference(let name) = property.kind { target = name }
      return FieldDefinition(FieldName.snakeCase(property.name), property.kind.field, to: target)
    }
    return RecordType(name: Record.recordType, fields: fields, strategy: Record.conflictStrategy.rawValue)
  }

  private static func learn() throws -> (base: Record, properties: [ProbeDecoder.Property]) {
    let (base, properties) = try sample(changing: nil)
    guard properties.contains(where: { $0.name == "id" && $0.kind == .text }) else {
      throw HouseholdStoreError(.schemaMismatch, "\(Record.self) needs a stored property `id: String`.")
    }
    return (base, properties)
  }

  private static func sample(changing name: String?) throws -> (Record, [ProbeDecoder.Property]) {
    let findings = ProbeDecoder.Findings()
    do {
      return (try Record(from: ProbeDecoder(findings: findings, changed: name)), findings.properties)
    } catch let error as HouseholdStoreError {
      throw HouseholdStoreError(.schemaMismatch, "\(Record.self) cannot be a record: \(error.message)", cause: error)
    }
  }

  /// The field that a key path leads to.
  func field<Value: Equatable>(_ path: KeyPath<Record, Value>) throws -> (name: String, kind: PropertyKind) {
    // Only a stored property has an offset: one that is computed from others would be taken for them.
    let isStored = MemoryLayout<Record>.offset(of: path) != nil
    for (property, sample) in variants where isStored && sample[keyPath: path] != base[keyPath: path] {
      // What lies inside a property differs with it, and is of another type.
      guard Value.self == property.type || Value.self == Self.optional(property.type) else { break }
      if property.name == "id" { return ("id", .text) }
      if let column = columns[property.name] { return (type.fields[column.index].name, column.kind) }
    }
    throw HouseholdStoreError(
      .schemaMismatch, "\(path) does not lead to a stored property of \(Record.self) that can be searched.")
  }

  private static func optional(_ type: Any.Type) -> Any.Type {
    func wrapped<Wrapped>(_ type: Wrapped.Type) -> Any.Type { Wrapped?.self }
    return _openExistential(type, do: wrapped)
  }

  /// What reads rows of this shape's fields, or with `row` nil their values.
  func decoder(_ row: ShownRow?) -> RecordDecoder { RecordDecoder(properties, row: row) }

  /// All fields of a record that are properties, in the order of the type's fields.
  func values(of record: Record) throws -> [(name: String, value: FieldValue)] {
    let values = try RecordEncoder.encode(record, kinds: kinds)
    return columns.sorted { $0.value.index < $1.value.index }.map { name, column in
      (type.fields[column.index].name, values[name] ?? .null)
    }
  }
}
