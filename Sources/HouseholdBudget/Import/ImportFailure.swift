/// Why nothing of a file can be imported: it changes nothing.
package struct ImportFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A stable word for programs.
  package enum Code: String, Sendable {
    /// Nothing is in the file.
    case empty
    /// The file is over the limit.
    case tooLarge
    /// The bytes are no text.
    case notText
    /// It is no file of a format that is known here, or not of the one that was asked for.
    case unknownFormat
    /// It begins as a file of its format and does not go on as one.
    case malformed
  }

  package let code: Code
  /// One sentence that names the file.
  package let sentence: String
  /// What to do next.
  package let remedy: String

  package init(_ code: Code, _ sentence: String, remedy: String) {
    self.code = code
    self.sentence = sentence
    self.remedy = remedy
  }

  package var description: String { sentence }
}
