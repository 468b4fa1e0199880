/// `help [COMMAND]`: the same as `--help`.
struct HelpCommand: Command {
  let description = CommandDescription(
    "help", group: .program, summary: "Print help about the program or about one command.",
    operands: [Operand("COMMAND", .optional, help: "The command to say more about.")],
    options: [.flag("man", help: "Print the manual page, with all commands, for man to read.")])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    if invocation.flag("man") {
      let page = ManPage(of: invocation.table, version: CommandLineTool.version).text
      try output.result(["man": page]) { try output.write(Array(page.utf8)) }
      return .done
    }
    let command = try invocation.optionalOperand("COMMAND").map { name throws(CommandError) in
      guard let command = invocation.table.command(named: name) else {
        throw CommandError.unknown("command", name, among: invocation.table.commands.map(\.name))
      }
      return command
    }
    try Self.show(command, of: invocation.table, output: output)
    return .done
  }

  /// Prints help about a command, or about the program.
  static func show(_ command: CommandDescription?, of table: CommandTable, output: Output) throws {
    let help = HelpText(width: output.width)
    let text = command.map(help.details) ?? help.overview(of: table)
    try output.result(["help": text]) { try output.line(text) }
  }
}
