/// A rule that a peer broke: the link closes with it, and nothing of what broke it is kept.
package struct Violation: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of rule.
  package enum Code: String, Sendable {
    /// Bytes that are not what they claim to be.
    case malformed
    /// A changeset whose chain, signature or author is wrong.
    case badChangeset
    /// A changeset that follows on one that is not here: the peer knows a branch that we do not (D4).
    case otherBranch
    /// A membership entry whose signature, author or place is wrong.
    case badMembership
    /// More of something than is allowed.
    case overLimit
    /// A message that has no place now.
    case unexpectedMessage
    /// Another household, or a device that the membership log does not admit.
    case notAdmitted
    /// A snapshot that contradicts itself.
    case badSnapshot
    /// A snapshot with other fields than are known here: one side does not know an entry yet, or knew none when the snapshot
    /// was made. It is made anew, and nobody is blamed (D13).
    case otherSchema
  }

  /// Whether it happens among honest peers, too: the session starts anew, and nobody is told of a fault.
  package var isHonest: Bool { code == .otherBranch || code == .otherSchema }

  package var code: Code
  /// One sentence for whoever reads the status; holds no record contents.
  package var sentence: String

  package init(_ code: Code, _ sentence: String) {
    self.code = code
    self.sentence = sentence
  }

  /// What the decoder said, as a peer's fault.
  package init(_ decoding: DecodingViolation, in thing: String) {
    self.init(
      decoding == .overLimit ? .overLimit : .malformed, "The peer sent \(thing) that is not valid (\(decoding)).")
  }

  package var description: String { "\(code.rawValue): \(sentence)" }
}
