import HouseholdBudget
import HouseholdKit
import HouseholdRecords

/// What a dry run shows: a line for each payment that would be added or changed.
enum ImportTable {
  static func table(_ plan: ImportPlan) -> TableOutput {
    var table = TableOutput([.text("WHAT"), .text("DATE"), .number("AMOUNT"), .text(""), .text("PAYEE"), .text("NOTE")])
    for (word, records) in [("add", plan.records), ("change", plan.updates)] {
      for record in records where record.type == "transaction" {
        let currency = record.fields["currency"]?.text
        let amount = record.fields["amount_minor"]?.integer.map { Currency.text($0, currency) }
        table.add([
          word, record.fields["date"]?.text ?? "", amount ?? "", currency ?? "", record.fields["payee"]?.text ?? "",
          String((record.fields["note"]?.text ?? "").prefix(40)),
        ])
      }
    }
    return table
  }
}

extension ImportContext {
  /// What an import must know about a household, read in the transaction in which it writes.
  init(of household: Household, generation: Household.Generation) throws {
    let schema = household.schema
    self.init(
      schema: schema,
      presence: { key in
        guard let type = schema.type(key.type) else { return .absent }
        return switch try generation.presence(type, key.id) {
        case .absent: .absent
        case .live: .live
        case .deleted: .deleted
        }
      },
      record: { key in
        try schema.type(key.type).flatMap { try household.record($0, key.id) }?.fields
      },
      wasEdited: { key, fields in
        guard let type = schema.type(key.type) else { return false }
        return try generation.wasEdited(type, key.id, fields)
      }, sha256: Household.sha256)
    if let type = schema.type("account") {
      try household.forEach(type) { record in
        let fields = record.fields
        accounts.append(.init(id: record.id, name: fields["name"]?.text, currency: fields["currency"]?.text))
      }
    }
    for (name, path) in [("category_group", \ImportContext.groups), ("category", \ImportContext.categories)] {
      guard let type = schema.type(name) else { continue }
      try household.forEach(type) { record in
        let fields = record.fields
        self[keyPath: path].append(.init(id: record.id, name: fields["name"]?.text, group: fields["group"]?.text))
      }
    }
    if let type = schema.type("alias") {
      try household.forEach(type) { record in
        let fields = record.fields
        guard let pattern = fields["pattern"]?.text, let category = fields["category"]?.text else { return }
        aliases.append(.init(id: record.id, pattern: pattern, category: category))
      }
    }
  }
}
