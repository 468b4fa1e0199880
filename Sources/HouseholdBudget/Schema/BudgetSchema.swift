package import HouseholdRecords

/// The schema that every budget household starts with (design 1.4 and 1.5).
package enum BudgetSchema {
  /// The name that `init --schema` takes.
  package static let name = "budget"

  /// Nine types and three built-in records; what is here never changes, upgrades only add.
  package static let schema = Schema(
    name: name, version: 1,
    types: [
      account, categoryGroup, category, transaction, split, budget, alias, recurring, note,
    ],
    builtIn: builtIn)

  /// Ids that are the same in every household for ever, so that two fresh ones agree.
  ///
  /// They begin with `!`, which sorts before every letter and digit: in a merge of equal names they survive.
  package enum BuiltIn {
    /// The group of what comes in.
    package static let income = "!built-in/group/income"
    /// The group of what goes out.
    package static let living = "!built-in/group/living"
    /// The category of what has none.
    package static let uncategorised = "!built-in/category/uncategorised"
  }

  private static let account = RecordType(
    name: "account",
    fields: [text("name"), text("currency"), text("holder")],
    unique: [UniqueRule(by: ["name"])])

  private static let categoryGroup = RecordType(
    name: "category_group",
    fields: [text("name"), integer("sort"), boolean("is_system")],
    unique: [UniqueRule(by: ["name"])])

  private static let category = RecordType(
    name: "category",
    fields: [
      text("name"), reference("group", to: "category_group"), integer("sort"), text("color"), text("note"),
      boolean("hidden"), boolean("is_system"),
    ],
    unique: [UniqueRule(by: ["name"], within: ["group"])])

  private static let transaction = RecordType(
    name: "transaction",
    fields: [
      date("date"), integer("amount_minor"), text("currency"), text("payee"), reference("category", to: "category"),
      reference("account", to: "account"), text("member"), text("note"), boolean("cleared"), text("import_id"),
      reference("recurring", to: "recurring"),
    ],
    together: [["amount_minor", "currency"]],
    owns: [OwnedSet(type: "split", by: "parent", sum: SetSum(of: "amount_minor", equals: "amount_minor"))])

  private static let split = RecordType(
    name: "split",
    fields: [
      reference("parent", to: "transaction"), reference("category", to: "category"), integer("amount_minor"),
      text("note"),
    ])

  private static let budget = RecordType(
    name: "budget",
    fields: [
      text("month"), reference("category", to: "category"), integer("amount_minor"), text("currency"),
    ],
    together: [["amount_minor", "currency"]],
    unique: [UniqueRule(by: ["month", "category"])])

  private static let alias = RecordType(
    name: "alias",
    fields: [text("pattern"), reference("category", to: "category")],
    unique: [UniqueRule(by: ["pattern"])])

  private static let recurring = RecordType(
    name: "recurring",
    fields: [
      text("every"), integer("day"), date("start"), date("end"), integer("amount_minor"), text("currency"),
      text("payee"), reference("category", to: "category"), reference("account", to: "account"), boolean("auto_post"),
    ],
    together: [["amount_minor", "currency"]])

  private static let note = RecordType(
    name: "note",
    fields: [
      text("title"), text("text"), text("about"), boolean("is_favorite"), timestamp("created_at"),
      timestamp("modified_at"),
    ])

  private static let builtIn = [
    BuiltInRecord(
      type: "category_group", id: BuiltIn.income,
      fields: ["name": .text("Income"), "sort": .integer(0), "is_system": .integer(1)]),
    BuiltInRecord(
      type: "category_group", id: BuiltIn.living,
      fields: ["name": .text("Living"), "sort": .integer(1), "is_system": .integer(1)]),
    BuiltInRecord(
      type: "category", id: BuiltIn.uncategorised,
      fields: [
        "name": .text("Uncategorised"), "group": .text(BuiltIn.living), "sort": .integer(0), "hidden": .integer(0),
        "is_system": .integer(1),
      ]),
  ]

  private static func text(_ name: String) -> FieldDefinition { FieldDefinition(name, .text) }
  private static func integer(_ name: String) -> FieldDefinition { FieldDefinition(name, .integer) }
  private static func boolean(_ name: String) -> FieldDefinition { FieldDefinition(name, .boolean) }
  private static func date(_ name: String) -> FieldDefinition { FieldDefinition(name, .date) }
  private static func timestamp(_ name: String) -> FieldDefinition { FieldDefinition(name, .timestamp) }
  private static func reference(_ name: String, to type: String) -> FieldDefinition {
    FieldDefinition(name, .reference, to: type)
  }
}
