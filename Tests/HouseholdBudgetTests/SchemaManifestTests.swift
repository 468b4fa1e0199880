import HouseholdBudget
import HouseholdRecords
import Testing

@Suite struct SchemaManifestTests {
  private func sentence(_ text: String) -> String {
    do throws(SchemaManifestFailure) {
      _ = try SchemaManifest.read(Array(text.utf8))
      return "no failure"
    } catch { return "\(error)" }
  }

  private func manifest(_ types: String, more: String = "") -> String {
    "{\"format\": \"household-schema/1\", \"name\": \"x\", \"version\": 1,\n\"types\": [\(types)]\(more)}"
  }

  @Test func `the budget schema is sound and reads back equal`() throws {
    try SchemaCheck.check(BudgetSchema.schema)

    let text = SchemaManifest.write(BudgetSchema.schema)

    #expect(try SchemaManifest.read(Array(text.utf8)) == BudgetSchema.schema)
    #expect(try SchemaManifest.write(SchemaManifest.read(Array(text.utf8))) == text)
  }

  @Test func `the budget schema has the contract's types and references`() {
    let schema = BudgetSchema.schema

    #expect(
      schema.types.map(\.name) == [
        "account", "category_group", "category", "transaction", "split", "budget", "alias", "recurring", "note",
      ])
    let references = schema.types.flatMap { type in
      type.fields.compactMap { field in field.to.map { "\(type.name).\(field.name) \($0)" } }
    }
    #expect(
      Set(references) == [
        "category.group category_group", "budget.category category", "alias.category category",
        "transaction.category category", "transaction.account account", "transaction.recurring recurring",
        "split.parent transaction", "split.category category", "recurring.category category",
        "recurring.account account",
      ])
    let sum = SetSum(of: "amount_minor", equals: "amount_minor")
    #expect(schema.type("transaction")?.owns == [OwnedSet(type: "split", by: "parent", sum: sum)])
  }

  @Test func `the built-in ids never change and sort before all others`() {
    #expect(
      BudgetSchema.schema.builtIn.map(\.id) == [
        "!built-in/group/income", "!built-in/group/living", "!built-in/category/uncategorised",
      ])
    for record in BudgetSchema.schema.builtIn {
      #expect(record.id < "0" && record.id < "A" && record.id < "a" && record.id < "-")
    }
  }

  @Test func `an unknown key is quoted with its line and the nearest known one`() {
    let text = manifest("{\"name\": \"a\",\n\"feilds\": []}")

    #expect(sentence(text) == "Line 3: “feilds” is not known here (did you mean “fields”?).")
  }

  @Test(arguments: [
    ("[1]", "not a list"), ("{", "ends too early"), ("{\"format\": \"x\"}", "household-schema/1"),
    ("{\"format\": \"household-schema/1\", \"format\": \"x\"}", "twice"),
  ])
  func `what is no manifest is refused with a sentence`(text: String, part: String) {
    #expect(sentence(text).contains(part), "\(sentence(text))")
  }

  @Test(arguments: [
    (
      "{\"name\": \"a\", \"fields\": [{\"name\": \"f\", \"type\": \"txt\"}]}",
      "“txt” is no type of a field (did you mean “text”?)"
    ),
    ("{\"name\": 1, \"fields\": []}", "“name” must be text, not a number"),
    ("{\"name\": \"a\"}", "“fields” is missing"),
    ("{\"name\": \"a\", \"fields\": []}", "has 0 fields"),
    ("{\"name\": \"sync_a\", \"fields\": [{\"name\": \"f\", \"type\": \"text\"}]}", "engine's own"),
    ("{\"name\": \"a b\", \"fields\": [{\"name\": \"f\", \"type\": \"text\"}]}", "is no name for a type"),
    ("{\"name\": \"a\", \"fields\": [{\"name\": \"ID\", \"type\": \"text\"}]}", "every record has an id"),
    (
      "{\"name\": \"a\", \"fields\": [{\"name\": \"f\", \"type\": \"text\"}, {\"name\": \"F\", \"type\": \"text\"}]}",
      "the field “F” twice"
    ),
    ("{\"name\": \"a\", \"fields\": [{\"name\": \"f\", \"type\": \"reference\"}]}", "does not say `to` which type"),
    (
      "{\"name\": \"a\", \"fields\": [{\"name\": \"f\", \"type\": \"reference\", \"to\": \"b\"}]}",
      "names the type “b”, which is not there"
    ),
    ("{\"name\": \"a\", \"fields\": [{\"name\": \"amount\", \"type\": \"real\"}]}", "integer of minor units"),
    (
      "{\"name\": \"a\", \"fields\": [{\"name\": \"f\", \"type\": \"text\"}], \"unique\": [{\"by\": [\"g\"]}]}",
      "has no field “g”"
    ),
    (
      "{\"name\": \"a\", \"fields\": [{\"name\": \"f\", \"type\": \"text\"}], \"strategies\": {\"f\": \"max\"}}",
      "needs a single number"
    ),
    (
      "{\"name\": \"a\", \"fields\": [{\"name\": \"f\", \"type\": \"text\"}], \"strategy\": \"ownerwins\"}",
      "did you mean “ownerWins”?"
    ),
  ])
  func `a wrong type is refused with a sentence`(type: String, part: String) {
    #expect(sentence(manifest(type)).contains(part), "\(sentence(manifest(type)))")
  }

  @Test func `a built-in record of the wrong kind or twice is refused`() {
    let type = "{\"name\": \"a\", \"fields\": [{\"name\": \"d\", \"type\": \"date\"}]}"
    let record = { (day: String) in "{\"type\": \"a\", \"id\": \"1\", \"fields\": {\"d\": \(day)}}" }

    #expect(sentence(manifest(type, more: ", \"builtIn\": [\(record("\"2026-02-30\""))]")).contains("“2026-02-30”"))
    #expect(sentence(manifest(type, more: ", \"builtIn\": [\(record("null")), \(record("null"))]")).contains("twice"))
  }
}
