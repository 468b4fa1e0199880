/// A fault of the store: what kind, what to do about it, and what SQLite said.
package struct ReplicaError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds that call for different next steps.
  package enum Code: String, Sendable {
    /// Another program holds the file locked for longer than we wait.
    case databaseLocked
    /// No space is left on the disk.
    case diskFull
    /// The file system or the file does not let us write.
    case readOnlyFileSystem
    /// The file is damaged.
    case corrupt
    /// The disk does not read or write.
    case inputOutput
    /// The file is not in its place.
    case replicaMissing
    /// The file is no replica.
    case notAReplica
    /// The file was written by a newer program, whose layout is not known here.
    case newerVersion
    /// A writer's value is not allowed.
    case badValue
    /// No such type, field or record.
    case notFound
    /// This device has no right to write.
    case notAllowed
    /// Something that should not happen; the cause tells more.
    case other
  }

  package var code: Code
  /// What happened and, where there is one, the next step.
  package var message: String
  /// What SQLite said, for the log.
  package var cause: String

  package init(_ code: Code, _ message: String, cause: String = "") {
    self.code = code
    self.message = message
    self.cause = cause
  }

  package var description: String { cause.isEmpty ? message : "\(message) (\(cause))" }
}
