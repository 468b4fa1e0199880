import Glibc

/// Asks the person at the terminal, before something that cannot be taken back.
package enum Question {
  /// Whether the answer is yes; without a terminal it is a usage error that names what to say instead.
  ///
  /// - Parameters:
  ///   - text: the question, without its `[y/N]`.
  ///   - instead: the option that answers it beforehand, such as `--yes`.
  package static func confirm(_ text: String, instead: String, output: Output) throws(CommandError) -> Bool {
    guard isatty(0) == 1 else {
      throw .usage(
        "this needs an answer, and there is no terminal to ask.", remedy: "Say it beforehand with \(instead).",
        code: "answerMissing")
    }
    output.draw("\(text) [y/N] ")
    return ["y", "yes"].contains((readLine() ?? "").lowercased())
  }
}
