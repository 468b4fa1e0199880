/// Completion scripts for three shells, written from the command table.
package enum CompletionShell: String, CaseIterable, Sendable {
  case bash, zsh, fish

  /// The script that teaches this shell the program's commands, options and closed sets of values.
  package func script(for table: CommandTable) -> String {
    switch self {
    case .bash: BashCompletions(table: table).script
    case .zsh: ZshCompletions(table: table).script
    case .fish: FishCompletions(table: table).script
    }
  }
}

/// Where a value's completions come from.
enum CompletionSource {
  case words([String])
  case files
  case directories
  case none

  init(_ kind: WordKind) {
    switch kind {
    case .choice(let values): self = .words(values)
    case .file: self = .files
    case .directory: self = .directories
    case .text, .duration, .integer, .day, .month, .address, .fieldWord: self = .none
    }
  }
}

/// The words of a shell between single quotes.
func shellQuoted(_ text: String) -> String {
  "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}

private struct BashCompletions {
  let table: CommandTable

  var script: String {
    """
    # bash completion for household; source it, or put it into ~/.local/share/bash-completion/completions/household
    _household() {
      local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command='' index
      if [[ $word == '=' ]]; then
        word=''
      elif [[ $previous == '=' ]]; then
        previous=${COMP_WORDS[COMP_CWORD-2]}
      fi
      for ((index = 1; index < COMP_CWORD; index++)); do
        case ${COMP_WORDS[index]} in
          --data-dir) ((index++)) ;;
          -*|=) ;;
          *) command=${COMP_WORDS[index]}; break ;;
        esac
      done
      COMPREPLY=()
      case "$command $previous" in
    \(valueCases)
      esac
      if [[ $word == -* ]]; then
        case $command in
    \(optionCases)
        esac
      elif [[ -z $command ]]; then
        COMPREPLY=($(compgen -W \(shellQuoted(table.commands.map(\.name).joined(separator: " "))) -- "$word"))
      else
        case $command in
    \(operandCases)
        esac
      fi
    }
    complete -F _household household
    """
  }

  private var valueCases: String {
    var lines = CommandTable.globalOptions.filter { !$0.isFlag }.map { line("*\" --\($0.name)\"", $0.kind, 4) }
    for command in table.commands {
      lines += command.options.filter { !$0.isFlag }.map { line("\"\(command.name) --\($0.name)\"", $0.kind, 4) }
    }
    return lines.joined(separator: "\n")
  }

  private var optionCases: String {
    let global = CommandTable.globalOptions.map { "--\($0.name)" }
    return (table.commands.map { ($0.name, $0.options.map { "--\($0.name)" } + global) } + [("*", global)])
      .map { "      \($0)) COMPREPLY=($(compgen -W \(shellQuoted($1.joined(separator: " "))) -- \"$word\")) ;;" }
      .joined(separator: "\n")
  }

  private var operandCases: String {
    var lines: [String] = []
    for command in table.commands {
      var words: [String] = []
      var hasFiles = false
      for operand in command.operands {
        switch CompletionSource(operand.kind) {
        case .words(let values): words += values
        case .files, .directories: hasFiles = true
        case .none: break
        }
      }
      if words.isEmpty, !hasFiles { continue }
      let generate = (words.isEmpty ? "" : "-W \(shellQuoted(words.joined(separator: " "))) ") + (hasFiles ? "-f " : "")
      lines.append("      \(command.name)) COMPREPLY=($(compgen \(generate)-- \"$word\")) ;;")
    }
    return (lines + ["      *) ;;"]).joined(separator: "\n")
  }

  private func line(_ pattern: String, _ kind: WordKind, _ indent: Int) -> String {
    let blank = String(repeating: " ", count: indent)
    switch CompletionSource(kind) {
    case .words(let words):
      let list = shellQuoted(words.joined(separator: " "))
      return "\(blank)\(pattern)) COMPREPLY=($(compgen -W \(list) -- \"$word\")); return ;;"
    case .files: return "\(blank)\(pattern)) COMPREPLY=($(compgen -f -- \"$word\")); return ;;"
    case .directories: return "\(blank)\(pattern)) COMPREPLY=($(compgen -d -- \"$word\")); return ;;"
    case .none: return "\(blank)\(pattern)) return ;;"
    }
  }
}

private struct FishCompletions {
  let table: CommandTable

  var script: String {
    var lines = [
      "# fish completion for household; put it into ~/.config/fish/completions/household.fish",
      "complete -c household -f",
    ]
    lines += CommandTable.globalOptions.map { "complete -c household" + option($0) }
    for command in table.commands {
      lines.append(
        "complete -c household -n __fish_use_subcommand -a \(command.name) -d \(fishQuoted(command.summary))")
      let condition = " -n '__fish_seen_subcommand_from \(command.name)'"
      lines += command.options.map { "complete -c household\(condition)" + option($0) }
      for operand in command.operands {
        switch CompletionSource(operand.kind) {
        case .words(let words):
          lines.append("complete -c household\(condition) -a \(fishQuoted(words.joined(separator: " ")))")
        case .files, .directories: lines.append("complete -c household\(condition) -F")
        case .none: break
        }
      }
    }
    return lines.joined(separator: "\n")
  }

  private func option(_ option: CommandOption) -> String {
    var text = (option.short.map { " -s \($0)" } ?? "") + " -l \(option.name)"
    if !option.isFlag {
      switch CompletionSource(option.kind) {
      case .words(let words): text += " -x -a \(fishQuoted(words.joined(separator: " ")))"
      case .files: text += " -r -F"
      case .directories: text += " -x -a '(__fish_complete_directories)'"
      case .none: text += " -x"
      }
    }
    return text + " -d \(fishQuoted(option.help))"
  }

  /// Between single quotes fish knows two escapes: a backslash and a quote.
  private func fishQuoted(_ text: String) -> String {
    "'" + text.flatMap { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) } + "'"
  }
}

private struct ZshCompletions {
  let table: CommandTable

  var script: String {
    let commands = table.commands.map {
      "    \(shellQuoted("\($0.name.replacingColons):\($0.summary)"))"
    }
    return """
      #compdef household
      # zsh completion for household; put it as _household into a directory of $fpath
      _household() {
        local state line
        typeset -A opt_args
        local -a commands=(
      \(commands.joined(separator: "\n"))
        )
        _arguments -C \\
      \(CommandTable.globalOptions.map { "    \(shellQuoted(option($0))) \\" }.joined(separator: "\n"))
          '1: :->command' '*:: :->words'
        case $state in
          command) _describe command commands ;;
          words)
            case $line[1] in
      \(table.commands.map(arguments).joined(separator: "\n"))
            esac ;;
        esac
      }
      if [[ $funcstack[1] == _household ]]; then _household "$@"; else compdef _household household; fi
      """
  }

  private func arguments(of command: CommandDescription) -> String {
    var specifications = (command.options + CommandTable.globalOptions).map(option)
    for operand in command.operands {
      let place =
        switch operand.count {
        case .one: ":"
        case .optional: "::"
        case .any, .oneOrMore: "*:"
        }
      specifications.append("\(place)\(operand.name.replacingColons):\(action(operand.kind))")
    }
    let lines = specifications.map { "          \(shellQuoted($0))" }
    return "        \(command.name)) _arguments \\\n\(lines.joined(separator: " \\\n")) ;;"
  }

  private func option(_ option: CommandOption) -> String {
    let help = option.help.flatMap { "[]:\\".contains($0) ? "\\\($0)" : String($0) }
    let repeated = option.isRepeatable && !option.isFlag ? "*" : ""
    let value = option.placeholder.map { ":\($0.replacingColons):\(action(option.kind))" } ?? ""
    return "\(repeated)--\(option.name)\(option.isFlag ? "" : "=")[\(String(help))]\(value)"
  }

  private func action(_ kind: WordKind) -> String {
    switch CompletionSource(kind) {
    case .words(let words): "(\(words.joined(separator: " ")))"
    case .files: "_files"
    case .directories: "_files -/"
    case .none: " "
    }
  }
}

extension String {
  /// The text with what zsh reads as a separator escaped.
  fileprivate var replacingColons: String { String(flatMap { $0 == ":" ? "\\:" : String($0) }) }
}
