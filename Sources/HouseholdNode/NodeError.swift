/// Why something about a household could not be done, for whoever must act.
package struct NodeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of failures; each has an exit code in the commands.
  package enum Code: String, Sendable {
    /// There is no household in the data directory.
    case noHousehold
    /// There is one already.
    case householdExists
    /// The directory or a file in it cannot be used.
    case dataDirectory
    /// No space is left on the disk.
    case diskFull
    /// Another node runs on the same data directory.
    case nodeRunning
    /// Sharing is switched off on this device.
    case sharingOff
    /// The node is needed and does not run.
    case nodeNotRunning
    /// A key or certificate is missing or wrong.
    case keys
    /// The role does not allow it.
    case notAllowed
    /// No such member, device, type, record or invitation.
    case notFound
    /// The words do not make sense.
    case badArgument
    /// A network address cannot be used or reached.
    case network
    /// A pairing came to nothing.
    case pairing
    /// Another `init` or `join` is at work on the same data directory.
    case busy
    /// Another program holds the replica locked.
    case databaseLocked
    /// The store failed.
    case store
  }

  package var code: Code
  /// One sentence.
  package var message: String
  /// The next step.
  package var remedy: String

  package init(_ code: Code, _ message: String, remedy: String = "") {
    self.code = code
    self.message = message
    self.remedy = remedy
  }

  /// No space was left for what the sentence says.
  static func diskFull(_ message: String) -> Self {
    NodeError(.diskFull, message, remedy: "Free some space, and try again.")
  }

  package var description: String { remedy.isEmpty ? message : "\(message) \(remedy)" }
}
