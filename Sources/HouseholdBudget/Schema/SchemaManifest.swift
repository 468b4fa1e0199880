package import HouseholdRecords

/// A schema as people write it: JSON of the format `household-schema/1`.
package enum SchemaManifest {
  /// The schema that the text holds, checked whole.
  package static func read(_ bytes: [UInt8]) throws(SchemaManifestFailure) -> Schema {
    let tree: JSONTree
    do throws(JSONTreeFailure) {
      tree = try JSONTree.read(bytes)
    } catch {
      throw SchemaManifestFailure(line: error.line, sentence: "This is no JSON: \(error.reason).")
    }
    let schema = try schema(ManifestObject(tree, keys: ["format", "name", "version", "types", "builtIn"]))
    try SchemaCheck.check(schema)
    return schema
  }

  /// The schema as canonical JSON: equal schemas give equal bytes, and ``read(_:)`` gives the schema back.
  package static func write(_ schema: Schema) -> String {
    var text = "{\n  \"format\": \(JSONSpelling.text(schema.format)),\n  \"name\": \(JSONSpelling.text(schema.name)),\n"
    text += "  \"version\": \(schema.version),\n  \"types\": "
    text += block(schema.types.map(type), indent: "  ")
    text += ",\n  \"builtIn\": "
    text += block(schema.builtIn.map { builtIn($0, schema: schema) }, indent: "  ")
    return text + "\n}\n"
  }

  // MARK: Writing

  private static func block(_ lines: [String], indent: String) -> String {
    guard !lines.isEmpty else { return "[]" }
    return "[\n" + lines.map { "\(indent)  \($0)" }.joined(separator: ",\n") + "\n\(indent)]"
  }

  private static func type(_ type: RecordType) -> String {
    let fields = type.fields.map { field in
      let target = field.to.map { ", \"to\": \(JSONSpelling.text($0))" } ?? ""
      return "{\"name\": \(JSONSpelling.text(field.name)), \"type\": \(JSONSpelling.text(field.type))\(target)}"
    }
    let unique = type.unique.map {
      "{\"by\": \(JSONSpelling.list($0.by)), \"within\": \(JSONSpelling.list($0.within))}"
    }
    let owns = type.owns.map { set in
      let sum = set.sum.map {
        ", \"sum\": {\"of\": \(JSONSpelling.text($0.of)), \"equals\": \(JSONSpelling.text($0.equals))}"
      }
      return "{\"type\": \(JSONSpelling.text(set.type)), \"by\": \(JSONSpelling.text(set.by))\(sum ?? "")}"
    }
    let strategies = type.strategies.sorted { $0.key < $1.key }.map {
      "\(JSONSpelling.text($0.key)): \(JSONSpelling.text($0.value))"
    }
    let parts = [
      "\"name\": \(JSONSpelling.text(type.name))",
      "\"fields\": \(block(fields, indent: "      "))",
      "\"together\": [\(type.together.map(JSONSpelling.list).joined(separator: ", "))]",
      "\"unique\": [\(unique.joined(separator: ", "))]",
      "\"owns\": [\(owns.joined(separator: ", "))]",
      "\"strategy\": \(JSONSpelling.text(type.strategy))",
      "\"strategies\": {\(strategies.joined(separator: ", "))}",
    ]
    return "{\n      " + parts.joined(separator: ",\n      ") + "\n    }"
  }

  private static func builtIn(_ record: BuiltInRecord, schema: Schema) -> String {
    let type = schema.type(record.type)
    let fields = record.fields.sorted { $0.key < $1.key }.map { name, value in
      "\(JSONSpelling.text(name)): \(JSONSpelling.value(value, of: type?.field(name)?.kind))"
    }
    return "{\"type\": \(JSONSpelling.text(record.type)), \"id\": \(JSONSpelling.text(record.id)), "
      + "\"fields\": {\(fields.joined(separator: ", "))}}"
  }

  // MARK: Reading

  private static func schema(_ manifest: ManifestObject) throws(SchemaManifestFailure) -> Schema {
    let format = try manifest.required("format").text()
    guard format == Schema.format else {
      throw manifest.failure("The format is \(quoted(format)); only \(quoted(Schema.format)) is known here.")
    }
    let name = try manifest.required("name").text()
    let version = try manifest.required("version").count()
    var types: [RecordType] = []
    for entry in try manifest.required("types").list() {
      types.append(try type(ManifestObject(entry.tree, keys: typeKeys)))
    }
    let withoutBuiltIn = Schema(name: name, version: version, types: types)
    var builtIn: [BuiltInRecord] = []
    for entry in try manifest.optional("builtIn")?.list() ?? [] {
      builtIn.append(try record(ManifestObject(entry.tree, keys: ["type", "id", "fields"]), schema: withoutBuiltIn))
    }
    return Schema(name: name, version: version, types: types, builtIn: builtIn)
  }

  private static let typeKeys = ["name", "fields", "together", "unique", "owns", "strategy", "strategies"]

  private static func type(_ manifest: ManifestObject) throws(SchemaManifestFailure) -> RecordType {
    var type = RecordType(name: try manifest.required("name").text(), fields: [])
    for entry in try manifest.required("fields").list() {
      type.fields.append(try field(ManifestObject(entry.tree, keys: ["name", "type", "to"])))
    }
    for entry in try manifest.optional("together")?.list() ?? [] { type.together.append(try entry.texts()) }
    for entry in try manifest.optional("unique")?.list() ?? [] {
      let rule = try ManifestObject(entry.tree, keys: ["by", "within"])
      type.unique.append(
        UniqueRule(by: try rule.required("by").texts(), within: try rule.optional("within")?.texts() ?? []))
    }
    for entry in try manifest.optional("owns")?.list() ?? [] {
      let set = try ManifestObject(entry.tree, keys: ["type", "by", "sum"])
      var sum: SetSum?
      if let rule = set.optional("sum") {
        let rule = try ManifestObject(rule.tree, keys: ["of", "equals"])
        sum = SetSum(of: try rule.required("of").text(), equals: try rule.required("equals").text())
      }
      type.owns.append(OwnedSet(type: try set.required("type").text(), by: try set.required("by").text(), sum: sum))
    }
    type.strategy = try manifest.optional("strategy")?.text() ?? type.strategy
    for member in try manifest.optional("strategies")?.members() ?? [] {
      type.strategies[member.name] = try ManifestValue(member.value, key: member.name).text()
    }
    return type
  }

  private static func field(_ manifest: ManifestObject) throws(SchemaManifestFailure) -> FieldDefinition {
    let word = try manifest.required("type").text()
    guard let kind = FieldType(rawValue: word) else {
      let hint = nearest(to: word, among: FieldType.allCases.map(\.rawValue))
      throw manifest.failure("\(quoted(word)) is no type of a field\(hint).")
    }
    return FieldDefinition(
      try manifest.required("name").text(), kind, to: try manifest.optional("to")?.text())
  }

  private static func record(
    _ manifest: ManifestObject, schema: Schema
  ) throws(SchemaManifestFailure) -> BuiltInRecord {
    var record = BuiltInRecord(
      type: try manifest.required("type").text(), id: try manifest.required("id").text(), fields: [:])
    guard let type = schema.type(record.type) else {
      let hint = nearest(to: record.type, among: schema.types.map(\.name))
      throw manifest.failure("The built-in record is of the unknown type \(quoted(record.type))\(hint).")
    }
    for member in try manifest.required("fields").members() {
      guard let field = type.field(member.name) else {
        let hint = nearest(to: member.name, among: type.fields.map(\.name))
        throw manifest.failure("The type \(quoted(type.name)) has no field \(quoted(member.name))\(hint).")
      }
      do throws(FieldMisfit) {
        record.fields[member.name] = try FieldReading.value(member.value, for: field)
      } catch {
        throw SchemaManifestFailure(line: member.value.line, sentence: "In a built-in record, \(error.reason).")
      }
    }
    return record
  }
}
