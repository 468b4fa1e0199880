import HouseholdBudget
import HouseholdKit
import HouseholdNode
import HouseholdRecords

/// `schema show` and `schema upgrade`: what kinds of records the household keeps.
struct SchemaCommand: Command {
  let description = CommandDescription(
    "schema", group: .records, summary: "Show the schema, or add types and fields to it for everyone.",
    discussion: """
      `upgrade` takes a file like the one that `show` prints. Types and fields that are new in it are added on every \
      device; what it leaves out stays, and what stands cannot be changed. Only an owner can do it. The node must run.
      """,
    operands: [
      Operand("show", kind: .choice(["show", "upgrade"]), help: "What to do."),
      Operand("FILE", .optional, kind: .file, help: "For upgrade: the new schema."),
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    if invocation.operand("show") == "show" {
      return try withHousehold(invocation, readOnly: true) { household in
        try output.write(Array(SchemaManifest.write(household.schema).utf8))
        return .done
      }
    }
    guard let file = invocation.optionalOperand("FILE") else {
      throw CommandError.usage("which file?", remedy: "Say household schema upgrade FILE.", code: "fileMissing")
    }
    return try upgrade(file, invocation, output)
  }

  private func upgrade(_ file: String, _ invocation: Invocation, _ output: Output) throws -> ExitCode {
    let directory = try invocation.directory()
    let before = try HouseholdStatus.membership(directory)
    let member = before.state.devices[before.device].flatMap { before.state.members[$0.member] }
    guard member?.role == .owner else {
      throw NodeError(
        .notAllowed, "Only an owner can change the schema.", remedy: "Ask an owner: household members shows them.")
    }
    let bytes = try InputFile(file).read(limit: Limits.entryBytes)
    do {
      _ = try SchemaManifest.read(bytes)
    } catch {
      throw CommandError(
        code: "badSchema", message: "The schema \(quoted(file)) cannot be used: \(error)", remedy: error.remedy)
    }
    let client = try ControlClient.require(directory)
    defer { client.hangUp() }
    _ = try client.ask(.upgradeSchema(manifest: String(decoding: bytes, as: UTF8.self)))
    let schema = try HouseholdStatus.membership(directory).state.schema
    let isNew = schema.version > before.state.schema.version
    try output.result(["schema": schema.name, "version": "\(schema.version)"]) {
      output.note(
        isNew
          ? "The schema \(quoted(schema.name)) has version \(schema.version) now; partners get it with the next contact."
          : "The household's schema has all of it already.")
    }
    return .done
  }
}
