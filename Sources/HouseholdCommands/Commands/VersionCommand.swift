/// `version`: the same as `--version`.
struct VersionCommand: Command {
  let description = CommandDescription("version", group: .program, summary: "Print the version.")

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    try Self.show(output: output)
    return .done
  }

  /// Prints the version.
  static func show(output: Output) throws {
    try output.result(["version": CommandLineTool.version]) { try output.line("household \(CommandLineTool.version)") }
  }
}
