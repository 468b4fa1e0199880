/// `completions bash|zsh|fish`: prints a completion script.
struct CompletionsCommand: Command {
  let description = CommandDescription(
    "completions", group: .program, summary: "Print a completion script for a shell.",
    discussion: """
      For bash: household completions bash > ~/.local/share/bash-completion/completions/household

      For zsh: household completions zsh > a file named _household in a directory of $fpath

      For fish: household completions fish > ~/.config/fish/completions/household.fish
      """,
    operands: [
      Operand("SHELL", kind: .choice(CompletionShell.allCases.map(\.rawValue)), help: "The shell that will read it.")
    ])

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    guard let shell = CompletionShell(rawValue: invocation.operand("SHELL")) else {
      preconditionFailure("The parser lets only known shells through.")
    }
    let script = shell.script(for: invocation.table)
    try output.result(["shell": shell.rawValue, "script": script]) { try output.line(script) }
    return .done
  }
}
