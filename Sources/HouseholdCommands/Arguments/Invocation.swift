package import HouseholdRecords

/// One call of a command: its words, sorted and checked, and the environment it runs in.
///
/// Asking for an option or operand that the command's description does not declare is a mistake of the program and
/// traps.
package struct Invocation: Sendable {
  /// The command that was called.
  package let command: CommandDescription
  /// All commands, for help and completions.
  package let table: CommandTable
  /// The environment variables.
  package let environment: [String: String]

  private let flags: Set<String>
  private let values: [String: [String]]
  private let operands: [String: [String]]

  init(
    command: CommandDescription, table: CommandTable, environment: [String: String], flags: Set<String>,
    values: [String: [String]], operands: [String: [String]]
  ) {
    self.command = command
    self.table = table
    self.environment = environment
    self.flags = flags
    self.values = values
    self.operands = operands
  }

  /// Whether a flag was given.
  package func flag(_ name: String) -> Bool {
    precondition(option(name).isFlag, "--\(name) is no flag.")
    return flags.contains(name)
  }

  /// The value of an option, nil if it was not given.
  package func value(_ name: String) -> String? { values(name).last }

  /// All values of a repeatable option, in order.
  package func values(_ name: String) -> [String] {
    precondition(!option(name).isFlag, "--\(name) has no value.")
    return values[name] ?? []
  }

  /// The value of an option of kind duration, in milliseconds.
  package func milliseconds(_ name: String) -> Int64? {
    precondition(option(name).kind == .duration, "--\(name) is no duration.")
    return value(name).flatMap(DurationWord.init)?.milliseconds
  }

  /// The value of an option of kind integer.
  package func integer(_ name: String) -> Int? { value(name).flatMap { Int($0) } }

  /// The value of an option of kind day.
  package func day(_ name: String) -> CalendarDay? { value(name).flatMap { CalendarDay($0) } }

  /// The word of an operand that takes exactly one.
  package func operand(_ name: String) -> String {
    guard let word = operands(name).first else { preconditionFailure("Operand \(name) may be missing.") }
    return word
  }

  /// The word of an operand that takes one or none.
  package func optionalOperand(_ name: String) -> String? { operands(name).first }

  /// All words of an operand.
  package func operands(_ name: String) -> [String] {
    guard let words = operands[name] else { preconditionFailure("\(command.name) has no operand \(name).") }
    return words
  }

  /// The words of an operand as fields with their values; each field at most once.
  package func fieldWords(_ name: String) throws(CommandError) -> [FieldWord] {
    var fields: [FieldWord] = []
    for word in operands(name) {
      let field = try FieldWord(word)
      guard !fields.contains(where: { $0.name == field.name }) else {
        throw .usage("the field \(quoted(field.name)) is named twice.", remedy: "Leave one out.", code: "repeatedField")
      }
      fields.append(field)
    }
    return fields
  }

  /// Whether results are printed as JSON.
  package var wantsJSON: Bool { flags.contains("json") }
  /// Whether only results and errors are printed.
  package var isQuiet: Bool { flags.contains("quiet") }
  /// Whether more is said about what is being done.
  package var isVerbose: Bool { flags.contains("verbose") }

  /// The data directory: `--data-dir`, else the environment's, else the one in the home directory.
  ///
  /// As the XDG base directory specification has it, a relative `$XDG_DATA_HOME` does not count.
  package func dataDirectory() throws(CommandError) -> String {
    if let named = values["data-dir"]?.last { return named }
    if let named = variable("HOUSEHOLD_DATA_DIR") { return named }
    if let base = variable("XDG_DATA_HOME"), base.hasPrefix("/") { return joined(base, "household") }
    if let home = variable("HOME") { return joined(home, ".local/share/household") }
    throw .usage(
      "no data directory is named, and $HOME is not set.", remedy: "Name one with --data-dir DIR.",
      code: "dataDirectoryMissing")
  }

  private func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

  private func joined(_ base: String, _ path: String) -> String {
    base.hasSuffix("/") ? base + path : "\(base)/\(path)"
  }

  private func option(_ name: String) -> CommandOption {
    guard let option = (command.options + CommandTable.globalOptions).first(where: { $0.name == name }) else {
      preconditionFailure("\(command.name) has no option --\(name).")
    }
    return option
  }
}
