import HouseholdRecords

/// Why a command did not do what it was asked to, for whoever must act: a code to match, a sentence, the next step.
package struct CommandError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A stable word in camel case, such as `unknownCommand`: part of the contract of `--json`.
  package var code: String
  /// One sentence: what happened.
  package var message: String
  /// The one next step.
  package var remedy: String
  /// What the process ends with.
  package var exitCode: ExitCode

  package init(code: String, message: String, remedy: String, exitCode: ExitCode = .failed) {
    self.code = code
    self.message = message
    self.remedy = remedy
    self.exitCode = exitCode
  }

  /// The message, for logs and failing tests.
  package var description: String { message }

  /// An error in the words themselves: exit code 64.
  package static func usage(_ message: String, remedy: String, code: String = "usage") -> Self {
    Self(code: code, message: message, remedy: remedy, exitCode: .usage)
  }

  /// A word that names nothing here, quoted back with the nearest one that does: exit code 64.
  ///
  /// - Parameters:
  ///   - kind: what the word should have been, such as `command` or `record type`.
  ///   - word: the word as it was typed.
  ///   - known: what it could have been.
  ///   - place: where it stood, such as ` of status`, put behind the quoted word.
  ///   - remedy: the next step; without it, the known words are listed.
  package static func unknown(
    _ kind: String, _ word: String, among known: [String], place: String = "", remedy: String? = nil
  ) -> Self {
    let near = nearestWord(to: word, among: known).map { "; did you mean \(quoted($0))?" } ?? "."
    return .usage(
      "unknown \(kind) \(quoted(word))\(place)\(near)",
      remedy: remedy ?? (known.isEmpty ? "There is none yet." : "Known here: \(known.joined(separator: ", "))."),
      code: "unknown" + capitalizedWords(kind))
  }
}

/// The word between quotes, with control characters shown: one line whatever was typed.
package func quoted(_ word: String) -> String { "\"\(escapingControls(word))\"" }

private func capitalizedWords(_ text: String) -> String {
  text.split(separator: " ").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
}
