package import HouseholdRecords

/// Whether a schema makes sense as a whole: names, references, groups, rules and built-in records.
package enum SchemaCheck {
  /// Throws one sentence about the first thing that is wrong.
  package static func check(_ schema: Schema) throws(SchemaManifestFailure) {
    try require(schema.format == Schema.format, "The format is \(quoted(schema.format)), not \(Schema.format).")
    try require(
      (1...Limits.nameBytes).contains(schema.name.utf8.count) && !schema.name.utf8.contains { $0 < 0x20 },
      "The schema's name must have 1 to \(Limits.nameBytes) bytes on one line.")
    try require(
      (1...UInt64(Int64.max)).contains(schema.version), "The version must be a whole number from 1 that fits 64 bits.")
    try require(!schema.types.isEmpty, "A schema has at least one type.")
    try require(schema.types.count <= Limits.typesPerSchema, "A schema has at most \(Limits.typesPerSchema) types.")
    var names: Set<String> = []
    for type in schema.types {
      try checkName(type.name, of: "type")
      try require(
        !["sync_", "sqlite_"].contains { type.name.lowercased().hasPrefix($0) },
        "The type \(quoted(type.name)) begins with a word that is kept for the engine's own tables.")
      try require(names.insert(type.name.lowercased()).inserted, "The type \(quoted(type.name)) stands there twice.")
    }
    for type in schema.types { try check(type, in: schema) }
    var owned: Set<String> = []
    for set in schema.types.flatMap(\.owns) {
      try require(owned.insert(set.type).inserted, "The type \(quoted(set.type)) is owned twice.")
    }
    try checkBuiltIn(schema)
  }

  private static func check(_ type: RecordType, in schema: Schema) throws(SchemaManifestFailure) {
    let place = "type \(quoted(type.name))"
    try require(
      (1...Limits.fieldsPerType).contains(type.fields.count),
      "The \(place) has \(type.fields.count) fields; 1 to \(Limits.fieldsPerType) are possible.")
    var names: Set<String> = []
    for field in type.fields {
      try checkName(field.name, of: "field")
      try require(
        field.name.lowercased() != "id", "The \(place) has a field \(quoted(field.name)); every record has an id.")
      try require(
        names.insert(field.name.lowercased()).inserted, "The \(place) has the field \(quoted(field.name)) twice.")
      try check(field, place: place, in: schema)
    }
    try checkTogether(type, place: place)
    for rule in type.unique {
      try require(!rule.by.isEmpty, "A unique rule of the \(place) has an empty `by`.")
      for name in rule.by + rule.within { try requireField(name, of: type) }
      try require(
        Set(rule.by + rule.within).count == rule.by.count + rule.within.count,
        "A unique rule of the \(place) names a field twice.")
    }
    for set in type.owns {
      guard let owned = schema.type(set.type) else { throw unknownType(set.type, in: schema, place: place) }
      try requireField(set.by, of: owned)
      try require(
        owned.field(set.by)?.to == type.name,
        "The \(place) owns \(quoted(set.type)) by \(quoted(set.by)), which is no reference to it.")
      try require(set.type != type.name, "The \(place) owns itself.")
      try require(owned.owns.isEmpty, "The \(place) owns \(quoted(set.type)), which owns others itself.")
      try require(
        type.field(set.type) == nil, "The \(place) has a field of the name of its set \(quoted(set.type)).")
      guard let sum = set.sum else { continue }
      for (name, of) in [(sum.of, owned), (sum.equals, type)] {
        try requireField(name, of: of)
        try require(
          of.field(name)?.kind == .integer,
          "The sum of \(quoted(set.type)) needs whole numbers; \(quoted(name)) is none.")
      }
    }
    try checkStrategies(type, place: place)
  }

  private static func check(
    _ field: FieldDefinition, place: String, in schema: Schema
  ) throws(SchemaManifestFailure) {
    guard let kind = field.kind else {
      throw failure("The field \(quoted(field.name)) of the \(place) has the unknown type \(quoted(field.type)).")
    }
    if kind == .reference {
      guard let target = field.to else {
        throw failure("The reference \(quoted(field.name)) of the \(place) does not say `to` which type.")
      }
      guard schema.type(target) != nil else { throw unknownType(target, in: schema, place: place) }
    } else {
      try require(field.to == nil, "The field \(quoted(field.name)) of the \(place) has a `to` and is no reference.")
    }
    let words = field.name.lowercased().split(separator: "_").map(String.init)
    try require(
      kind != .real || moneyWords.isDisjoint(with: words),
      "The field \(quoted(field.name)) of the \(place) is money by its name; make it an integer of minor units.")
  }

  /// Words of a field's name that say money (design 1.2).
  private static let moneyWords: Set<String> = [
    "amount", "balance", "cents", "cost", "costs", "fee", "minor", "money", "price", "salary", "sum", "total",
  ]

  private static func checkTogether(_ type: RecordType, place: String) throws(SchemaManifestFailure) {
    var grouped: Set<String> = []
    for group in type.together {
      try require(group.count > 1, "A group of fields in `together` of the \(place) has fewer than two.")
      for name in group {
        try requireField(name, of: type)
        try require(grouped.insert(name).inserted, "The field \(quoted(name)) of the \(place) is in `together` twice.")
      }
    }
  }

  private static func checkStrategies(_ type: RecordType, place: String) throws(SchemaManifestFailure) {
    let ofTypes = ["merge", "lastWriterWins", "ownerWins", "ask"]
    let ofFields = ["merge", "ownerWins", "ask", "max", "min"]
    try require(
      ofTypes.contains(type.strategy),
      "\(quoted(type.strategy)) is no strategy of a type\(nearest(to: type.strategy, among: ofTypes)).")
    for (name, strategy) in type.strategies.sorted(by: { $0.key < $1.key }) {
      try requireField(name, of: type)
      try require(
        ofFields.contains(strategy),
        "\(quoted(strategy)) is no strategy of a field\(nearest(to: strategy, among: ofFields)).")
      guard strategy == "max" || strategy == "min" else { continue }
      let ordered: [FieldType] = [.integer, .real, .date, .timestamp]
      try require(
        type.field(name)?.kind.map(ordered.contains) ?? false && type.cellFields(of: name).count == 1,
        "The strategy \(strategy) of the \(place) needs a single number, date or timestamp; \(quoted(name)) is none.")
    }
  }

  private static func checkBuiltIn(_ schema: Schema) throws(SchemaManifestFailure) {
    var keys: Set<RecordKey> = []
    for record in schema.builtIn {
      guard let type = schema.type(record.type) else {
        throw unknownType(record.type, in: schema, place: "built-in list")
      }
      try require(
        (1...Limits.idBytes).contains(record.id.utf8.count) && !record.id.utf8.contains(0),
        "A built-in record's id must have 1 to \(Limits.idBytes) bytes and no NUL.")
      try require(
        keys.insert(RecordKey(type: record.type, id: record.id)).inserted,
        "The built-in record \(quoted(record.id)) stands there twice.")
      for name in record.fields.keys.sorted() { try requireField(name, of: type) }
    }
  }

  private static func checkName(_ name: String, of thing: String) throws(SchemaManifestFailure) {
    let letters = { (byte: UInt8) in (0x61...0x7A).contains(byte | 0x20) }
    let isFit =
      (1...Limits.nameBytes).contains(name.utf8.count) && letters(name.utf8.first ?? 0)
      && name.utf8.allSatisfy { letters($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_") }
    try require(
      isFit,
      "\(quoted(name)) is no name for a \(thing): a letter from a to z, then letters, digits and _, at most "
        + "\(Limits.nameBytes).")
  }

  private static func requireField(_ name: String, of type: RecordType) throws(SchemaManifestFailure) {
    guard type.field(name) == nil else { return }
    let hint = nearest(to: name, among: type.fields.map(\.name))
    throw failure("The type \(quoted(type.name)) has no field \(quoted(name))\(hint).")
  }

  private static func unknownType(_ name: String, in schema: Schema, place: String) -> SchemaManifestFailure {
    let hint = nearest(to: name, among: schema.types.map(\.name))
    return failure("The \(place) names the type \(quoted(name)), which is not there\(hint).")
  }

  private static func require(_ isMet: Bool, _ sentence: String) throws(SchemaManifestFailure) {
    guard isMet else { throw failure(sentence) }
  }

  private static func failure(_ sentence: String) -> SchemaManifestFailure {
    SchemaManifestFailure(line: nil, sentence: sentence)
  }
}
