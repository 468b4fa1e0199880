import HouseholdBudget
import HouseholdRecords
import Testing

/// Every day there is.
let allDays = CalendarDay(year: 1, month: 1, day: 1)!...CalendarDay(year: 9999, month: 12, day: 31)!

/// A household in memory: what an import found, and what its plan made of it.
struct SampleHousehold {
  var records: [RecordKey: [String: FieldValue]] = [:]
  var deleted: Set<RecordKey> = []
  /// Fields that were changed since their record was made.
  var edited: [RecordKey: Set<String>] = [:]

  /// For each account that shows, those that are one thing with it.
  var former: [String: [String]] = [:]

  init() {
    for record in BudgetSchema.schema.builtIn {
      records[RecordKey(type: record.type, id: record.id)] = record.fields
    }
  }

  mutating func bring(
    _ bytes: some Sequence<UInt8>, name: String = "file.csv", _ options: ImportOptions = ImportOptions()
  ) throws -> ImportPlan {
    let plan = try ImportPlan.make(bytes: Array(bytes), fileName: name, options: options, context: context)
    for record in plan.records {
      let key = RecordKey(type: record.type, id: record.id)
      #expect(records.updateValue(record.fields, forKey: key) == nil && !deleted.contains(key), "\(key)")
    }
    for record in plan.updates {
      let key = RecordKey(type: record.type, id: record.id)
      try #require(records[key] != nil, "\(key) is not here to be changed")
      records[key]?.merge(record.fields) { $1 }
      edited[key, default: []].formUnion(record.fields.keys)
    }
    #expect(plan.found == plan.added + plan.known + plan.skipped.count)
    return plan
  }

  func rows(_ type: String) -> [ExportedRecord] {
    records.filter { $0.key.type == type }.sorted { $0.key < $1.key }
      .map { ExportedRecord(id: $0.key.id, fields: $0.value) }
  }

  var byType: [String: [ExportedRecord]] {
    Dictionary(uniqueKeysWithValues: BudgetSchema.schema.types.map { ($0.name, rows($0.name)) })
  }

  /// What reports and journals read.
  var budgetRecords: BudgetRecords {
    var all = BudgetRecords()
    for type in BudgetRecords.types {
      for record in rows(type) { all.add(type, id: record.id, fields: record.fields) }
    }
    return all
  }

  /// Makes two accounts one thing, of which the second shows.
  mutating func merge(_ account: String, into survivor: String) {
    let key = RecordKey(type: "account", id: account)
    records[key] = nil
    deleted.insert(key)
    former[survivor, default: []].append(account)
  }

  /// A record written by hand.
  mutating func put(_ type: String, _ id: String, _ fields: [String: FieldValue]) {
    records[RecordKey(type: type, id: id), default: [:]].merge(fields) { $1 }
    edited[RecordKey(type: type, id: id), default: []].formUnion(fields.keys)
  }

  var sum: Int64 { rows("transaction").reduce(0) { $0 + ($1.fields["amount_minor"]?.integer ?? 0) } }

  var context: ImportContext {
    let (records, deleted, edited) = (records, deleted, edited)
    var context = ImportContext(
      schema: BudgetSchema.schema,
      accounts: rows("account").map {
        ImportContext.Account(
          id: $0.id, name: $0.fields["name"]?.text, currency: $0.fields["currency"]?.text, former: former[$0.id] ?? [])
      },
      groups: rows("category_group").map { ImportContext.Category(id: $0.id, name: $0.fields["name"]?.text) },
      categories: rows("category").map {
        ImportContext.Category(id: $0.id, name: $0.fields["name"]?.text, group: $0.fields["group"]?.text)
      },
      aliases: rows("alias").compactMap { alias in
        guard let pattern = alias.fields["pattern"]?.text, let category = alias.fields["category"]?.text else {
          return nil
        }
        return AliasPatterns.Alias(id: alias.id, pattern: pattern, category: category)
      },
      presence: { deleted.contains($0) ? .deleted : records[$0] == nil ? .absent : .live },
      record: { records[$0] }, wasEdited: { !(edited[$0] ?? []).isDisjoint(with: $1) }, sha256: sha256)
    let all = budgetRecords
    context.transferLegs = { all.transferLegs }
    return context
  }
}
