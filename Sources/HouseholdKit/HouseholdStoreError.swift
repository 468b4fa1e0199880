internal import HouseholdNode
internal import HouseholdRecords
internal import HouseholdReplica

/// Why something could not be done, for whoever must act.
public struct HouseholdStoreError: Error, Sendable, CustomStringConvertible {
  /// The kinds that call for different next steps. More may be added: switch over them with a default.
  public enum Code: String, Sendable {
    /// There is no household in the directory.
    case noHousehold
    /// There is one already.
    case householdExists
    /// A Swift type cannot be a record, or the household's schema does not have its fields.
    case schemaMismatch
    /// A record cannot be read into its Swift type, or a Swift value does not fit its field.
    case badValue
    /// A record is there already.
    case recordExists
    /// Somebody else has changed what is about to be written over since it was shown.
    case changedMeanwhile
    /// No such record, conflict or file.
    case notFound
    /// The household does not let this device write: its role is read-only, or it belongs no longer.
    case notAllowed
    /// Another program holds the file locked; it may work later.
    case locked
    /// A node runs on the directory already, so this program cannot run one.
    case nodeRunning
    /// The node is needed and does not run.
    case nodeNotRunning
    /// A partner cannot be reached now, or has not answered in time; it may work later.
    case partnerUnreachable
    /// The store is closed.
    case closed
    /// The disk, the file or the keys; the cause tells more.
    case storage
  }

  /// The kind, to match.
  public let code: Code
  /// One sentence, with the next step where there is one.
  public let message: String
  /// What lies beneath, for the log.
  public let cause: (any Error)?

  package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }

  /// The message.
  public var description: String { message }

  /// Runs the body and turns what the layers beneath throw into this.
  package static func translating<Result>(_ body: () throws -> Result) throws(HouseholdStoreError) -> Result {
    do { return try body() } catch { throw HouseholdStoreError(error) }
  }

  /// What an error of a layer beneath means for an app.
  init(_ error: any Error) {
    switch error {
    case let error as HouseholdStoreError: self = error
    case let error as HouseholdError:
      self.init(
        Self.code(ofStore: error.code), [error.message, error.remedy].filter { !$0.isEmpty }.joined(separator: " "),
        cause: error)
    case let error as ReplicaError: self.init(Self.code(ofStore: error.code.rawValue), error.message, cause: error)
    case let error as NodeError: self.init(Self.code(of: error.code), error.description, cause: error)
    default: self.init(.storage, "The household cannot be read or written: \(error)", cause: error)
    }
  }

  private static func code(ofStore word: String) -> Code {
    switch ReplicaError.Code(rawValue: word) {
    case .databaseLocked: .locked
    case .badValue: .badValue
    case .notFound: .notFound
    case .notAllowed: .notAllowed
    default: .storage
    }
  }

  private static func code(of code: NodeError.Code) -> Code {
    switch code {
    case .noHousehold: .noHousehold
    case .householdExists: .householdExists
    case .nodeNotRunning, .sharingOff: .nodeNotRunning
    case .notAllowed: .notAllowed
    case .notFound: .notFound
    case .badArgument: .badValue
    case .network, .pairing: .partnerUnreachable
    case .busy, .databaseLocked: .locked
    case .nodeRunning: .nodeRunning
    case .dataDirectory, .diskFull, .keys, .store: .storage
    }
  }
}
