/// One command: it collects words, asks, renders.
package protocol Command: Sendable {
  /// What it is called, takes and does.
  var description: CommandDescription { get }

  /// Does it. A result goes to `output`; why it could not be done is a thrown `CommandError`.
  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode
}
