/// A command of the contract that does not work yet: it says so instead of being unknown.
struct LaterCommand: Command {
  let description: CommandDescription

  init(_ name: String, group: CommandGroup, _ summary: String) {
    description = CommandDescription(
      name, group: group, summary: summary + " Not built yet.",
      operands: [Operand("WORDS", .any, help: "Not read yet.")])
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    throw CommandError(
      code: "notBuiltYet", message: "household \(description.name) is not built yet.",
      remedy: "CHANGELOG.md tells what works.")
  }

  /// All of them.
  static let all: [LaterCommand] = [
    LaterCommand("compact", group: .sync, "Collect what every device has confirmed.")
  ]
}
