import HouseholdBudget
import HouseholdRecords
import Testing

@Suite struct ExportTests {
  private func tricky() -> SampleHousehold {
    var household = SampleHousehold()
    func add(_ type: String, _ id: String, _ fields: [String: FieldValue]) {
      let names = BudgetSchema.schema.type(type)?.fields.map(\.name) ?? []
      let nulls = Dictionary(uniqueKeysWithValues: names.map { ($0, FieldValue.null) })
      household.records[RecordKey(type: type, id: id)] = nulls.merging(fields) { $1 }
    }
    for (key, fields) in household.records { add(key.type, key.id, fields) }
    add("account", "joint", ["name": .text("Joint"), "currency": .text("EUR")])
    add("category", "tax-in", ["name": .text("Tax"), "group": .text(BudgetSchema.BuiltIn.income)])
    add("category", "tax-out", ["name": .text("Tax"), "group": .text(BudgetSchema.BuiltIn.living)])
    add("category", "food", ["name": .text("Food: out"), "group": .text(BudgetSchema.BuiltIn.living)])
    let texts: [FieldValue] = [
      .text("=1+1"), .text("Smith, \"Bob\""), .text("line1\nline2\r\n\r"), .text("👨‍👩‍👧 寿司 עברית"), .text(""), .null,
      .text("null"), .text(" blank "), .text("\u{1}\u{7F}\u{2028}\\"), .text("Cafe\u{301}"), .text("Caf\u{E9}"),
    ]
    let amounts = [Int64.max, .min, 0]
    let categories = ["tax-in", "tax-out", "food", "nowhere"]
    for (index, text) in texts.enumerated() {
      add(
        "transaction", "t\(index)\"é\n",
        [
          "date": index == 3 ? .null : .text("2026-03-\(10 + index)"), "payee": text, "note": text,
          "amount_minor": .integer(amounts[index % 3]), "currency": .text("EUR"),
          "category": index == 5 ? .null : .text(categories[index % 4]), "account": .text("joint"),
          "cleared": index == 2 ? .null : .integer(Int64(index % 2)),
        ])
    }
    add("split", "s1", ["parent": .text("t1"), "amount_minor": .integer(-5), "category": .text("food")])
    add("note", "n1", ["title": .text("null"), "text": .text(""), "created_at": .text("2026-03-01T09:30:00.250Z")])
    return household
  }

  @Test func `JSON reads back to the same records, and is the same bytes again`() throws {
    let household = tricky()
    let text = JSONExport.text(household.byType, schema: BudgetSchema.schema)

    var other = SampleHousehold()
    other.records = [:]
    let plan = try other.bring(text.utf8, name: "all.json")

    #expect(plan.format == .json && plan.skipped == [])
    #expect(Set(other.records.keys) == Set(household.records.keys))
    for (key, fields) in household.records { #expect(other.records[key] == fields, "\(key)") }
    #expect(JSONExport.text(other.byType, schema: BudgetSchema.schema).utf8.elementsEqual(text.utf8))
    #expect(try other.bring(text.utf8).added == 0)
  }

  @Test func `CSV reads back to the same transactions`() throws {
    let household = tricky()
    let text = CSVExport.text(household.byType, schema: BudgetSchema.schema)

    var other = household
    for key in household.records.keys where key.type == "transaction" { other.records[key] = nil }
    let plan = try other.bring(text.utf8)

    #expect(plan.skipped == [] && plan.added == 11)
    for (key, fields) in household.records where fields["category"] != .text("nowhere") {
      #expect(other.records[key] == fields, "\(key)")
    }
  }

  @Test func `a wrong record of JSON is named with its line and the others are taken`() throws {
    var household = SampleHousehold()
    let text = """
      {"format": "household-records/1", "types": {
      "note": [{"id": "a", "title": "x"},
      {"id": "b", "titel": "x"},
      {"title": "x"},
      {"id": "a"}],
      "transaction": [{"id": "t", "amount_minor": 9223372036854775808},
      {"id": "u", "amount_minor": 1.5}, {"id": "v", "date": "2026-02-30"}, {"id": "w", "cleared": true}],
      "car": [{"id": "c"}]}}
      """
    let plan = try household.bring(text.utf8)

    #expect(plan.skipped.map(\.line) == [3, 4, 5, 6, 7, 7, 8])
    #expect(plan.skipped[0].reason.contains("“titel” (did you mean “title”?)"))
    #expect(plan.added == 2 && plan.found == 9)
  }
}
