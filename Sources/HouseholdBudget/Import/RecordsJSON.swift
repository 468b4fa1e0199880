import HouseholdRecords

/// Reads what `JSONExport` writes: records of any types, under their own ids.
enum RecordsJSON {
  /// The name of the format.
  static let format = "household-records/1"

  static func read(_ bytes: [UInt8], name: String, into builder: inout PlanBuilder) throws {
    let tree: JSONTree
    do throws(JSONTreeFailure) {
      tree = try JSONTree.read(bytes)
    } catch {
      throw ImportFailure(
        .malformed, "The file \(name) is no JSON on line \(error.line): \(error.reason).",
        remedy: "Export it again with `household export --format json`.")
    }
    guard case .string(Self.format) = tree["format"]?.value, case .object(let types) = tree["types"]?.value else {
      throw ImportFailure(
        .unknownFormat, "The file \(name) is JSON, but not of the format “\(Self.format)” with its “types”.",
        remedy: "Import what `household export --format json` writes.")
    }
    for member in types {
      guard case .array(let records) = member.value.value else {
        throw ImportFailure(
          .malformed, "In the file \(name), line \(member.value.line), \(quoted(member.name)) is no list of records.",
          remedy: "Export it again with `household export --format json`.")
      }
      let type = builder.context.schema.type(member.name)
      try builder.read(each: records) { try read($0, of: type, named: member.name, into: &$1) }
    }
  }

  private static func read(
    _ tree: JSONTree, of type: RecordType?, named typeName: String, into builder: inout PlanBuilder
  ) throws {
    guard let type else {
      let hint = nearest(to: typeName, among: builder.context.schema.types.map(\.name))
      return builder.skip(line: tree.line, "the type \(quoted(typeName)) is not known here\(hint)")
    }
    let record: ImportedRecord
    do throws(FieldMisfit) {
      record = try self.record(tree, of: type)
    } catch {
      return builder.skip(line: tree.line, error.reason)
    }
    guard try builder.isNew(RecordKey(type: record.type, id: record.id), line: tree.line) else { return }
    try builder.add(record)
  }

  private static func record(_ tree: JSONTree, of type: RecordType) throws(FieldMisfit) -> ImportedRecord {
    guard case .object(let members) = tree.value else {
      throw FieldMisfit(reason: "a record is an object, not \(tree.kind)")
    }
    guard case .string(let id) = tree["id"]?.value else { throw FieldMisfit(reason: "the record has no “id”") }
    try RowID.check(id)
    var fields: [String: FieldValue] = [:]
    for member in members where member.name != "id" {
      guard let field = type.field(member.name) else {
        let hint = nearest(to: member.name, among: type.fields.map(\.name))
        throw FieldMisfit(reason: "the type \(quoted(type.name)) has no field \(quoted(member.name))\(hint)")
      }
      fields[member.name] = try FieldReading.value(member.value, for: field)
    }
    let byteCount = fields.reduce(id.utf8.count) { $0 + $1.key.utf8.count + $1.value.byteCount }
    guard byteCount <= Limits.recordBytes else {
      throw FieldMisfit(reason: "the record is larger than \(Limits.recordBytes) bytes")
    }
    return ImportedRecord(type: type.name, id: id, fields: fields, isWeak: false)
  }
}

/// What may be the id of a record.
enum RowID {
  static func check(_ id: String) throws(FieldMisfit) {
    guard (1...Limits.idBytes).contains(id.utf8.count), !id.utf8.contains(0) else {
      throw FieldMisfit(reason: "the id must have 1 to \(Limits.idBytes) bytes and no NUL")
    }
  }
}
