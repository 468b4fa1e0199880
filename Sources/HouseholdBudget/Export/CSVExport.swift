package import HouseholdRecords

/// The transactions as CSV under the schema's own names, which imports back to the same transactions.
///
/// Accounts and categories stand by name, else by id; a category whose name is not its own alone stands as
/// `Group:Name`. Null is an empty cell, empty text is `""`. By date, then by id.
package enum CSVExport {
  /// The text of these records, by type; types other than transaction, account, category and group are not looked at.
  package static func text(_ records: [String: [ExportedRecord]], schema: Schema) -> String {
    guard let type = schema.type("transaction") else { return "" }
    let names = ["account": accountNames(records), "category": categoryNames(records)]
    let writer = CSVWriter()
    var text = writer.line(["id"] + type.fields.map(\.name))
    for record in inOrder(records["transaction"] ?? []).sorted(by: isEarlier) {
      let cells = type.fields.map { cell($0, of: record, names: names) }
      text += writer.lineKeepingNulls([record.id] + cells)
    }
    return text
  }

  /// By date, null first; the sort is stable, so equal dates stay by id.
  private static func isEarlier(_ a: ExportedRecord, _ b: ExportedRecord) -> Bool {
    (a.fields["date"]?.text ?? "").utf8.lexicographicallyPrecedes((b.fields["date"]?.text ?? "").utf8)
  }

  private static func cell(
    _ field: FieldDefinition, of record: ExportedRecord, names: [String: [RecordKey: String]]
  ) -> String? {
    switch record.fields[field.name] ?? .null {
    case .null: nil
    case .integer(let integer): String(integer)
    case .real(let real): "\(real)"
    case .bytes(let bytes): hexadecimal(bytes)
    case .text(let text):
      field.to.flatMap { type in names[type]?[RecordKey(type: type, id: text)] } ?? text
    }
  }

  /// Names that stand for one account each: those that another has too, or that are blank, are left out.
  private static func accountNames(_ records: [String: [ExportedRecord]]) -> [RecordKey: String] {
    var owners: [String: [(id: String, name: String)]] = [:]
    for record in records["account"] ?? [] {
      guard let name = record.fields["name"]?.text else { continue }
      owners[Folding.key(name), default: []].append((record.id, name))
    }
    var names: [RecordKey: String] = [:]
    for (key, owners) in owners where owners.count == 1 && !key.isEmpty {
      names[RecordKey(type: "account", id: owners[0].id)] = owners[0].name
    }
    return names
  }

  private static func categoryNames(_ records: [String: [ExportedRecord]]) -> [RecordKey: String] {
    var groups: [RecordKey: String] = [:]
    for record in records["category_group"] ?? [] {
      groups[RecordKey(type: "category_group", id: record.id)] = record.fields["name"]?.text
    }
    let categories = records["category"] ?? []
    var counts: [String: Int] = [:]
    for category in categories { counts[Folding.key(category.fields["name"]?.text ?? ""), default: 0] += 1 }
    var names: [RecordKey: String] = [:]
    for category in categories {
      guard let name = category.fields["name"]?.text, !Folding.key(name).isEmpty else { continue }
      let key = RecordKey(type: "category", id: category.id)
      if counts[Folding.key(name)] == 1 {
        names[key] = name
      } else if let id = category.fields["group"]?.text, let group = groups[RecordKey(type: "category_group", id: id)] {
        names[key] = "\(group):\(name)"
      }
    }
    return names
  }
}
