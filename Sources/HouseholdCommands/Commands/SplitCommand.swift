import HouseholdBudget
import HouseholdKit
import HouseholdRecords

/// `split`: gives a payment its parts in one go.
struct SplitCommand: Command {
  let description = CommandDescription(
    "split", group: .records, summary: "Divide a transaction among categories.",
    discussion: """
      household split ID Food=12.50 Home=rest: the parts take the place of those that were there, and together they are \
      the whole amount. Amounts are in major units of the transaction's currency; one without a sign goes the way of the \
      transaction. CATEGORY is a name or an id.
      """,
    operands: [
      Operand("ID", help: "The transaction's id."),
      Operand("CATEGORY=AMOUNT", .any, help: "A part; rest for what is left."),
    ],
    options: [.flag("clear", help: "Take the parts away; the transaction is one again.")])

  private struct Shown: Encodable {
    struct Part: Encodable {
      var id: String
      var category: String
      var amount_minor: Int64
    }
    var id: String
    var splits: [Part]
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let (id, words) = (invocation.operand("ID"), invocation.operands("CATEGORY=AMOUNT"))
    guard words.isEmpty == invocation.flag("clear") else {
      throw CommandError.usage(
        words.isEmpty ? "no part is named." : "--clear and parts are two things.",
        remedy: "Name parts such as Food=12.50, or use --clear.")
    }
    try withHousehold(invocation, readOnly: false) { household in
      let (transactions, splits) = (try household.requireType("transaction"), try household.requireType("split"))
      let parts = try household.transaction {
        guard let fields = try household.record(transactions, id)?.fields else {
          throw CommandError(
            code: "notFound", message: "There is no transaction \(quoted(id)).",
            remedy: "List them: household list transaction")
        }
        let plan = try plan(words, fields)
        let categories = try CategoryNames(household)
        var old: [String] = []
        try household.forEach(splits, where: [("parent", .text(id))]) { old.append($0.id) }
        _ = try household.delete(splits, old)
        return try plan.map { part in
          let category = try categories.id(part.category)
          let own = Household.newID()
          try household.put(
            splits, own,
            [("parent", .text(id)), ("category", .text(category)), ("amount_minor", .integer(part.amountMinor))])
          return Shown.Part(id: own, category: category, amount_minor: part.amountMinor)
        }
      }
      try output.result(Shown(id: id, splits: parts)) { for part in parts { try output.line(part.id) } }
    }
    return .done
  }

  private func plan(_ words: [String], _ fields: [String: FieldValue]) throws(CommandError) -> [SplitPlan.Part] {
    if words.isEmpty { return [] }
    guard let amount = fields["amount_minor"]?.integer else {
      throw CommandError(
        code: "noAmount", message: "The transaction has no amount.", remedy: "Give it one first: household put")
    }
    do throws(SplitPlan.Failure) {
      return try SplitPlan(words, amount: amount, currency: fields["currency"]?.text).parts
    } catch {
      let remedy = "Let the last part be what is left, such as Home=rest."
      guard error.isUsage else {
        throw CommandError(code: "partsDiffer", message: "\(error).", remedy: remedy)
      }
      throw .usage("\(error).", remedy: remedy)
    }
  }
}

/// The categories of a household by name and id.
private struct CategoryNames {
  private var byName: [String: String] = [:]
  private var ids: Set<RecordKey> = []
  private var names: [String] = []
  private let type: RecordType

  init(_ household: Household) throws {
    type = try household.requireType("category")
    try household.forEach(type) { record in
      ids.insert(RecordKey(type: type.name, id: record.id))
      guard let name = record.fields["name"]?.text else { return }
      names.append(name)
      // Of several with one name the smallest id counts, as in an import; they come by id.
      byName[Folding.key(name), default: record.id] = byName[Folding.key(name)] ?? record.id
    }
  }

  func id(_ word: String) throws(CommandError) -> String {
    if let id = byName[Folding.key(word)] { return id }
    guard ids.contains(RecordKey(type: type.name, id: word)) else {
      throw CommandError.unknown(
        "category", word, among: names, remedy: "Make it first: household put category name=\(word)")
    }
    return word
  }
}
