/// The manual page, rendered from the command table like help and completions; roff with the `man` macros.
package struct ManPage: Sendable {
  /// The whole page.
  package let text: String

  /// The page of these commands in this version.
  package init(of table: CommandTable, version: String) {
    var lines = [
      #".\" Made by "household help --man"."#,
      ".TH HOUSEHOLD 1 \"\" \"household \(Self.escaped(version))\" \"User Commands\"", ".SH NAME",
      #"household \- sync for the people who share a home, with no server in the middle"#, ".SH SYNOPSIS",
      ".B household", #".I COMMAND"#, "[OPTIONS] [WORDS]", ".SH DESCRIPTION",
      Self.text(
        """
        Every device of a household holds all its records in one SQLite file, and the devices exchange changes among \
        themselves. The node, household node, does that; all other commands work beside it or without it.
        """), ".SH COMMANDS",
    ]
    for group in CommandGroup.allCases {
      let commands = table.commands.filter { $0.group == group }
      if commands.isEmpty { continue }
      lines.append(".SS \(Self.escaped(group.rawValue))")
      for command in commands { lines += Self.command(command) }
    }
    lines.append(".SH OPTIONS OF EVERY COMMAND")
    for option in CommandTable.globalOptions { lines += Self.option(option) }
    lines += Self.ends
    text = lines.joined(separator: "\n") + "\n"
  }

  private static func command(_ command: CommandDescription) -> [String] {
    var lines = [".TP", ".B \(escaped(command.usageLine))", text(command.summary)]
    for paragraph in command.discussion.split(separator: "\n\n") { lines += [".IP", text(String(paragraph))] }
    guard !command.operands.isEmpty || !command.options.isEmpty else { return lines }
    lines.append(".RS")
    for operand in command.operands {
      var help = operand.help
      if case .choice(let values) = operand.kind { help += " One of: \(values.joined(separator: ", "))." }
      lines += [".TP", ".I \(escaped(operand.name))", text(help)]
    }
    for option in command.options { lines += Self.option(option) }
    return lines + [".RE"]
  }

  private static func option(_ option: CommandOption) -> [String] {
    let isRepeatable = option.isRepeatable && !option.isFlag
    return [".TP", ".B \(escaped(option.synopsis))", text(option.help + (isRepeatable ? " Repeatable." : ""))]
  }

  private static let ends: [String] = [
    ".SH EXIT STATUS", "0 done; 1 failed; 64 wrong usage; 69 the node is needed and not running; 75 try again later;",
    "77 not allowed.", ".I status", "has its own: 0 in sync, 1 pending, 2 degraded, 3 broken.", ".SH FILES", ".TP",
    ".I ~/.local/share/household", "The data directory, unless --data-dir or $HOUSEHOLD_DATA_DIR says.".roff, ".TP",
    ".I ~/.config/household/settings", "What a node is told; see the command".roff, ".BR settings .",
    ".SH SEE ALSO", ".BR sqlite3 (1),", ".BR systemd.service (5)",
  ]

  /// Running text: one line, which no macro can begin.
  private static func text(_ text: String) -> String {
    escaped(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
  }

  private static func escaped(_ text: String) -> String { text.roff }
}

extension String {
  /// The text as roff reads it: hyphens as they are typed, and no letter that commands.
  fileprivate var roff: String {
    var result = ""
    for character in self {
      switch character {
      case "\\": result += #"\e"#
      case "-": result += #"\-"#
      case "'": result += #"\(aq"#
      case "`": result += #"\(ga"#
      case "\"": result += #"\(dq"#
      case "~": result += #"\(ti"#
      case "^": result += #"\(ha"#
      default: result.append(character)
      }
    }
    return result.first == "." ? #"\&"# + result : result
  }
}
