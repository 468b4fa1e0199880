import HouseholdBudget
import HouseholdKit

/// `schema show`: the whole schema as JSON.
struct SchemaCommand: Command {
  let description = CommandDescription(
    "schema", group: .records, summary: "Show the schema.",
    discussion: "`schema upgrade FILE` is not built yet.",
    operands: [
      Operand("show", kind: .choice(["show", "upgrade"]), help: "What to do."),
      Operand("FILE", .optional, kind: .file, help: "For upgrade: the new schema."),
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    guard invocation.operand("show") == "show" else {
      throw CommandError(
        code: "notBuiltYet", message: "Upgrading the schema is not built yet.",
        remedy: "Give the schema when the household is made: household init --schema FILE")
    }
    return try withHousehold(invocation, readOnly: true) { household in
      try output.write(Array(SchemaManifest.write(household.schema).utf8))
      return .done
    }
  }
}
