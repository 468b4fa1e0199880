/// Every command of the program, and the options that all of them take.
package struct CommandTable: Sendable {
  /// The commands in the order in which help lists them within their group.
  package let commands: [CommandDescription]

  /// The table of these commands; names and letters must not clash.
  package init(_ commands: [CommandDescription]) {
    self.commands = commands
    precondition(Set(commands.map(\.name)).count == commands.count, "Two commands have one name.")
    for command in commands {
      let options = command.options + Self.globalOptions
      let letters = options.compactMap(\.short)
      precondition(Set(options.map(\.name)).count == options.count, "Two options of \(command.name) have one name.")
      precondition(Set(letters).count == letters.count, "Two options of \(command.name) have one letter.")
      precondition(
        command.operands.filter { $0.count == .any || $0.count == .oneOrMore }.count <= 1,
        "Only one operand of \(command.name) can take any number of words.")
    }
  }

  /// The command of this name.
  package func command(named name: String) -> CommandDescription? { commands.first { $0.name == name } }

  /// The options that may stand before or after the command word.
  package static let globalOptions: [CommandOption] = [
    .value(
      "data-dir", "DIR", kind: .directory,
      help: "Use this data directory instead of $HOUSEHOLD_DATA_DIR or ~/.local/share/household."),
    .flag("json", help: "Print one JSON document."),
    .flag("quiet", short: "q", help: "Print results and errors only."),
    .flag("verbose", short: "v", help: "Say more about what is being done."),
    .flag("help", short: "h", help: "Print help and exit."),
    .flag("version", help: "Print the version and exit."),
  ]
}
