/// Help as text, rendered from the command table and wrapped at a width.
package struct HelpText: Sendable {
  private let width: Int

  /// Help for a terminal of this many columns; under 40 nothing can be laid out, over 100 nobody reads.
  package init(width: Int) { self.width = min(max(width, 40), 100) }

  /// What the program is, its commands by group, the global options.
  package func overview(of table: CommandTable) -> String {
    var lines = ["Usage: household COMMAND [OPTIONS] [WORDS]", ""]
    lines += wrapped("Sync for the people who share a home: every device holds everything, no server in the middle.")
    for group in CommandGroup.allCases {
      let commands = table.commands.filter { $0.group == group }
      if commands.isEmpty { continue }
      lines += ["", "\(group.rawValue):"]
      lines += entries(commands.map { ($0.name, $0.summary) })
    }
    lines += ["", "Options of every command:"]
    lines += entries(CommandTable.globalOptions.map(entry))
    lines += ["", "\"household COMMAND --help\" says more about one command."]
    return lines.joined(separator: "\n")
  }

  /// What one command does, takes and can be told.
  package func details(of command: CommandDescription) -> String {
    var lines = wrapped("Usage: \(command.usageLine)", hangingBy: 7) + [""] + wrapped(command.summary)
    for paragraph in paragraphs(command.discussion) { lines += [""] + wrapped(paragraph) }
    if !command.operands.isEmpty {
      lines += ["", "Words:"]
      lines += entries(command.operands.map { ($0.name, withChoices($0.help, $0.kind)) })
    }
    if !command.options.isEmpty {
      lines += ["", "Options:"]
      lines += entries(command.options.map(entry))
    }
    lines += ["", "Options of every command:"]
    lines += entries(CommandTable.globalOptions.map(entry))
    return lines.joined(separator: "\n")
  }

  private func entry(_ option: CommandOption) -> (String, String) {
    let indent = option.short == nil ? "    " : ""
    return (
      indent + option.synopsis, option.isFlag || !option.isRepeatable ? option.help : "\(option.help) Repeatable."
    )
  }

  private func withChoices(_ help: String, _ kind: WordKind) -> String {
    guard case .choice(let values) = kind else { return help }
    return "\(help) One of: \(values.joined(separator: ", "))."
  }

  /// Two columns; a name too long for the first has its text on the next line.
  private func entries(_ entries: [(name: String, help: String)]) -> [String] {
    let column = min(entries.map { displayWidth($0.name) }.max() ?? 0, 26) + 4
    return entries.flatMap { entry in
      let help = wrapped(entry.help, indentedBy: column)
      let name = "  \(entry.name)"
      guard displayWidth(name) + 2 <= column, let first = help.first else { return [name] + help }
      return [name + first.dropFirst(displayWidth(name))] + help.dropFirst()
    }
  }

  private func wrapped(_ text: String, indentedBy indent: Int = 0, hangingBy hanging: Int = 0) -> [String] {
    var lines: [String] = []
    var line = String(repeating: " ", count: indent)
    var isEmpty = true
    for word in text.split(whereSeparator: \.isWhitespace) {
      if !isEmpty, displayWidth(line) + 1 + displayWidth(String(word)) > width {
        lines.append(line)
        line = String(repeating: " ", count: indent + hanging)
        isEmpty = true
      }
      line += (isEmpty ? "" : " ") + word
      isEmpty = false
    }
    return isEmpty ? lines : lines + [line]
  }

  private func paragraphs(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).split { $0.allSatisfy(\.isWhitespace) }
      .map { $0.joined(separator: " ") }
  }
}

extension CommandDescription {
  /// The command as it is typed, such as `household get [OPTIONS] TYPE ID`.
  package var usageLine: String {
    (["household", name] + (options.isEmpty ? [] : ["[OPTIONS]"]) + operands.map(\.synopsis)).joined(separator: " ")
  }
}
