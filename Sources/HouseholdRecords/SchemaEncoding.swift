/// A schema in canonical bytes, as it travels in the membership log.
package enum SchemaEncoding {
  /// The version of this encoding.
  static let version: UInt8 = 1

  /// The bytes of the schema.
  package static func encode(_ schema: Schema) -> [UInt8] {
    var writer = ByteWriter()
    writer.byte(version)
    writer.text(schema.name)
    writer.varint(schema.version)
    writer.list(schema.types) { writer, type in
      writer.text(type.name)
      writer.list(type.fields) { writer, field in
        writer.text(field.name)
        writer.text(field.type)
        writer.text(field.to ?? "")
      }
      writer.list(type.together) { writer, group in writer.texts(group) }
      writer.list(type.unique) { writer, rule in
        writer.texts(rule.by)
        writer.texts(rule.within)
      }
      writer.list(type.owns) { writer, set in
        writer.text(set.type)
        writer.text(set.by)
        writer.text(set.sum?.of ?? "")
        writer.text(set.sum?.equals ?? "")
      }
      writer.text(type.strategy)
      writer.list(type.strategies.sorted { $0.key.isBefore($1.key) }) { writer, entry in
        writer.text(entry.key)
        writer.text(entry.value)
      }
    }
    writer.list(schema.builtIn) { writer, record in
      writer.text(record.type)
      writer.text(record.id)
      writer.list(record.fields.sorted { $0.key.isBefore($1.key) }) { writer, entry in
        writer.text(entry.key)
        writer.value(entry.value)
      }
    }
    return writer.bytes
  }

  /// The schema that the bytes hold.
  package static func decode(_ bytes: [UInt8]) throws(DecodingViolation) -> Schema {
    var reader = ByteReader(bytes)
    let version = try reader.byte()
    guard version == Self.version else { throw .unknownKind(version) }
    let name = try reader.text(limit: Limits.nameBytes)
    let number = try reader.varint()
    var types: [RecordType] = []
    for _ in 0..<(try reader.count(limit: Limits.typesPerSchema)) { types.append(try type(from: &reader)) }
    var builtIn: [BuiltInRecord] = []
    for _ in 0..<(try reader.count(limit: 4096)) {
      var record = BuiltInRecord(
        type: try reader.text(limit: Limits.nameBytes), id: try reader.text(limit: Limits.idBytes), fields: [:])
      var last: String?
      for _ in 0..<(try reader.count(limit: Limits.fieldsPerType)) {
        let field = try nextName(after: &last, from: &reader)
        record.fields[field] = try reader.value()
      }
      builtIn.append(record)
    }
    try reader.finish()
    return Schema(name: name, version: number, types: types, builtIn: builtIn)
  }

  private static func type(from reader: inout ByteReader) throws(DecodingViolation) -> RecordType {
    var type = RecordType(name: try reader.text(limit: Limits.nameBytes), fields: [])
    for _ in 0..<(try reader.count(limit: Limits.fieldsPerType)) {
      var field = FieldDefinition(try reader.text(limit: Limits.nameBytes), .text)
      field.type = try reader.text(limit: Limits.nameBytes)
      let target = try reader.text(limit: Limits.nameBytes)
      field.to = target.isEmpty ? nil : target
      type.fields.append(field)
    }
    for _ in 0..<(try reader.count(limit: Limits.fieldsPerType)) { type.together.append(try texts(from: &reader)) }
    for _ in 0..<(try reader.count(limit: Limits.fieldsPerType)) {
      type.unique.append(UniqueRule(by: try texts(from: &reader), within: try texts(from: &reader)))
    }
    for _ in 0..<(try reader.count(limit: Limits.fieldsPerType)) {
      var set = OwnedSet(type: try reader.text(limit: Limits.nameBytes), by: try reader.text(limit: Limits.nameBytes))
      let sum = SetSum(
        of: try reader.text(limit: Limits.nameBytes), equals: try reader.text(limit: Limits.nameBytes))
      if !sum.of.isEmpty || !sum.equals.isEmpty { set.sum = sum }
      type.owns.append(set)
    }
    type.strategy = try reader.text(limit: Limits.nameBytes)
    var last: String?
    for _ in 0..<(try reader.count(limit: Limits.fieldsPerType)) {
      let field = try nextName(after: &last, from: &reader)
      type.strategies[field] = try reader.text(limit: Limits.nameBytes)
    }
    return type
  }

  /// A name that must come after the one before it: so there is one form, and no name stands twice (P3).
  ///
  /// Two names that Swift takes for equal and that are not the same bytes cannot be told apart here: refused, too.
  private static func nextName(
    after last: inout String?, from reader: inout ByteReader
  ) throws(DecodingViolation) -> String {
    let name = try reader.text(limit: Limits.nameBytes)
    if let last, !last.isBefore(name) || last == name { throw .malformed("names are not in order") }
    last = name
    return name
  }

  private static func texts(from reader: inout ByteReader) throws(DecodingViolation) -> [String] {
    var list: [String] = []
    for _ in 0..<(try reader.count(limit: Limits.fieldsPerType)) {
      list.append(try reader.text(limit: Limits.nameBytes))
    }
    return list
  }
}

extension ByteWriter {
  /// A list with its count in front.
  package mutating func list<Element>(_ elements: [Element], _ write: (inout ByteWriter, Element) -> Void) {
    varint(elements.count)
    for element in elements { write(&self, element) }
  }

  fileprivate mutating func texts(_ texts: [String]) { list(texts) { writer, text in writer.text(text) } }
}
