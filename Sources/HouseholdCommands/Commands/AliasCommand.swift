import HouseholdBudget
import HouseholdKit
import HouseholdRecords

/// `alias suggest`: learns from the categories that people chose.
struct AliasCommand: Command {
  let description = CommandDescription(
    "alias", group: .files, summary: "Suggest categories for payees from what was chosen so far.",
    discussion: """
      An alias says that payments whose payee or note holds a pattern belong to a category; import asks them. A pattern \
      is compared without regard to case, and * in it stands for anything. This lists payees that nearly always have one \
      category and no alias yet; --add makes the aliases.
      """,
    operands: [Operand("suggest", kind: .choice(["suggest"]), help: "List what could be an alias.")],
    options: [.flag("add", help: "Make the suggested aliases.")])

  private struct Shown: Encodable {
    struct Row: Encodable {
      var pattern: String
      var category: String
      var name: String
      var count: Int
      var of: Int
    }
    var suggestions: [Row]
    var added: Int
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let isAdding = invocation.flag("add")
    let rows = try withHousehold(invocation, readOnly: !isAdding) { household in
      let type = try household.requireType("alias")
      let records = try BudgetRecords(of: household)
      var aliases: [AliasPatterns.Alias] = []
      try household.forEach(type) { record in
        let fields = record.fields
        guard let pattern = fields["pattern"]?.text, let category = fields["category"]?.text else { return }
        aliases.append(.init(id: record.id, pattern: pattern, category: category))
      }
      let suggestions = AliasSuggestions.make(records, aliases: AliasPatterns(aliases))
      if isAdding {
        try household.transaction {
          for suggestion in suggestions {
            try household.put(
              type, Household.newID(),
              [("pattern", .text(suggestion.pattern)), ("category", .text(suggestion.category))])
          }
        }
      }
      return suggestions.map { suggestion in
        Shown.Row(
          pattern: suggestion.pattern, category: suggestion.category,
          name: records.categoryKey(suggestion.category), count: suggestion.count, of: suggestion.of)
      }
    }
    try output.result(Shown(suggestions: rows, added: isAdding ? rows.count : 0)) {
      var table = TableOutput([.text("PATTERN"), .text("CATEGORY"), .number("COUNT"), .number("OF")])
      for row in rows { table.add([row.pattern, row.name, String(row.count), String(row.of)]) }
      if rows.isEmpty { try output.line("Nothing to suggest.") } else { try output.table(table) }
      if isAdding, !rows.isEmpty { try output.line("made \(rows.count) aliases") }
    }
    return .done
  }
}
