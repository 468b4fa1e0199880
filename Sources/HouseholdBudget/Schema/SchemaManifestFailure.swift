/// Why a text is no schema; one sentence that names what is wrong and where.
package struct SchemaManifestFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The physical line, from 1; nil when the schema did not come from a text.
  package let line: Int?
  /// The sentence, without the line.
  package let sentence: String

  package init(line: Int?, sentence: String) {
    self.line = line
    self.sentence = sentence
  }

  package var description: String {
    guard let line else { return sentence }
    return "Line \(line): \(sentence)"
  }

  /// What to do next.
  package var remedy: String { "Compare the file with `household schema show --json`." }
}
