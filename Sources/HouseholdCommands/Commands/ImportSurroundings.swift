import HouseholdBudget
import HouseholdKit
import HouseholdRecords

extension ImportContext {
  /// What an import must know about a household, read in the transaction in which it writes.
  init(of household: Household, generation: Household.Generation) throws {
    let schema = household.schema
    let types = Dictionary(uniqueKeysWithValues: schema.types.map { ($0.name, $0) })
    self.init(
      schema: schema,
      presence: { key in
        guard let type = types[key.type] else { return .absent }
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
      let former = try generation.former(type)
      try household.forEach(type) { record in
        let fields = record.fields
        accounts.append(
          .init(
            id: record.id, name: fields["name"]?.text, currency: fields["currency"]?.text,
            former: former[RecordKey(type: type.name, id: record.id)] ?? []))
      }
    }
    for (name, path) in [("category_group", \ImportContext.groups), ("category", \ImportContext.categories)] {
      guard let type = schema.type(name) else { continue }
      try household.forEach(type) { record in
        let fields = record.fields
        self[keyPath: path].append(.init(id: record.id, name: fields["name"]?.text, group: fields["group"]?.text))
      }
    }
    transferLegs = { try TransferLeg.open(in: household) }
    if let type = schema.type("alias") {
      try household.forEach(type) { record in
        let fields = record.fields
        guard let pattern = fields["pattern"]?.text, let category = fields["category"]?.text else { return }
        aliases.append(.init(id: record.id, pattern: pattern, category: category))
      }
    }
  }
}

extension TransferLeg {
  /// The payments of a household that may be one end of a transfer: on an account and without a category.
  fileprivate static func open(in household: Household) throws -> [TransferLeg] {
    var records = BudgetRecords()
    for name in ["account", "split"] {
      guard let type = household.schema.type(name) else { continue }
      try household.forEach(type) { records.add(name, id: $0.id, fields: $0.fields) }
    }
    guard let type = household.schema.type("transaction") else { return [] }
    for category in [FieldValue.null, .text(BudgetSchema.BuiltIn.uncategorised)] {
      try household.forEach(type, where: [("category", category)]) {
        records.add(type.name, id: $0.id, fields: $0.fields)
      }
    }
    return records.transferLegs
  }
}

/// What is remembered of the files of an account, on this device.
enum ImportMemory {
  static func choices(ofAccount id: String, _ household: Household) throws -> ImportChoices {
    try household.memory(of: key(id)).flatMap(ImportChoices.init(parsing:)) ?? ImportChoices()
  }

  /// Remembers what an import taught, if that is something new.
  static func keep(_ plan: ImportPlan, instead known: ImportChoices, _ household: Household) throws {
    guard let account = plan.account, plan.lesson != known || plan.lesson.isEmpty else { return }
    try household.remember(plan.lesson.isEmpty ? nil : plan.lesson.text, of: key(account))
  }

  private static func key(_ account: String) -> RecordKey { RecordKey(type: "account", id: account) }
}
