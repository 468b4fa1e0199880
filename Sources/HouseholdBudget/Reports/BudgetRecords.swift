package import HouseholdRecords

/// The records of a household that reports and plain files speak of, with what they need of them.
package struct BudgetRecords: Sendable {
  /// A payment with an amount.
  package struct Transaction: Hashable, Sendable {
    package var id: String
    package var day: CalendarDay?
    package var amount: Int64
    package var currency: String?
    package var payee: String?
    package var note: String?
    package var category: String?
    package var account: String?
    package var member: String?
    package var cleared: Bool?
  }

  /// A part of a payment.
  package struct Part: Hashable, Sendable {
    package var category: String?
    package var amount: Int128
  }

  /// A name and, for a category, its group.
  package struct Named: Hashable, Sendable {
    package var name: String?
    package var group: String?
  }

  package private(set) var transactions: [Transaction] = []
  private var splits: [RecordKey: [Part]] = [:]
  private var categories: [RecordKey: Named] = [:]
  private var groups: [RecordKey: Named] = [:]
  private var accounts: [RecordKey: Named] = [:]
  /// How many categories have a name, folded.
  private var nameCounts: [String: Int] = [:]

  /// The types that are read.
  package static let types = ["category_group", "category", "account", "transaction", "split"]

  package init() {}

  /// Takes a record of one of the types; others, and transactions without an amount, are left out.
  package mutating func add(_ type: String, id: String, fields: [String: FieldValue]) {
    let key = RecordKey(type: type, id: id)
    let text = { (name: String) in fields[name]?.text }
    switch type {
    case "category":
      categories[key] = Named(name: text("name"), group: text("group"))
      nameCounts[Folding.key(text("name") ?? ""), default: 0] += 1
    case "category_group": groups[key] = Named(name: text("name"))
    case "account": accounts[key] = Named(name: text("name"))
    case "split":
      guard let parent = text("parent") else { return }
      splits[RecordKey(type: "transaction", id: parent), default: []].append(
        Part(category: text("category"), amount: Int128(fields["amount_minor"]?.integer ?? 0)))
    case "transaction":
      guard let amount = fields["amount_minor"]?.integer else { return }
      transactions.append(
        Transaction(
          id: id, day: text("date").flatMap { CalendarDay($0) }, amount: amount, currency: text("currency"),
          payee: text("payee"), note: text("note"), category: text("category"), account: text("account"),
          member: text("member"), cleared: fields["cleared"]?.integer.map { $0 != 0 }))
    default: return
    }
  }

  /// What a transaction is made of: its splits and what they leave, or itself.
  package func parts(of transaction: Transaction) -> [Part] {
    let own = splits[RecordKey(type: "transaction", id: transaction.id)] ?? []
    let rest = Int128(transaction.amount) - own.reduce(Int128(0)) { $0 + $1.amount }
    return own.isEmpty || rest != 0 ? own + [Part(category: transaction.category, amount: rest)] : own
  }

  /// Whether a transaction has parts of its own.
  func hasSplits(_ transaction: Transaction) -> Bool {
    splits[RecordKey(type: "transaction", id: transaction.id)] != nil
  }

  /// Whether an account is here.
  func hasAccount(_ id: String) -> Bool { accounts[RecordKey(type: "account", id: id)] != nil }

  /// The name of a category as a key: with its group where another has the same name, the id where it is not here.
  package func categoryKey(_ id: String?) -> String {
    guard let id else { return categories[Self.uncategorised]?.name ?? "Uncategorised" }
    guard let category = categories[RecordKey(type: "category", id: id)] else { return id }
    let name = category.name ?? ""
    guard let group = category.group, nameCounts[Folding.key(name)] != 1 else { return name.isEmpty ? id : name }
    return "\(groupName(group)):\(name)"
  }

  /// Whether what is in the category comes in, by its group.
  package func isIncome(_ id: String?) -> Bool {
    guard let id else { return false }
    return categories[RecordKey(type: "category", id: id)]?.group == BudgetSchema.BuiltIn.income
  }

  /// The name of a category and of its group; the id for one that is not here.
  package func path(ofCategory id: String?) -> (group: String?, name: String) {
    guard let id else { return (nil, categoryKey(nil)) }
    guard let category = categories[RecordKey(type: "category", id: id)] else { return (nil, id) }
    return (category.group.map(groupName), category.name ?? id)
  }

  /// The name of an account; the id for one that is not here.
  package func accountName(_ id: String) -> String { accounts[RecordKey(type: "account", id: id)]?.name ?? id }

  private func groupName(_ id: String) -> String { groups[RecordKey(type: "category_group", id: id)]?.name ?? id }

  private static let uncategorised = RecordKey(type: "category", id: BudgetSchema.BuiltIn.uncategorised)
}
