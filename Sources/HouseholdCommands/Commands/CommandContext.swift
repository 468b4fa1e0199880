import HouseholdKit
package import HouseholdNode
import HouseholdRecords

extension Invocation {
  /// The data directory as a value.
  package func directory() throws(CommandError) -> DataDirectory { DataDirectory(try dataDirectory()) }
}

extension CommandError {
  /// What a lower room says, as an error of a command.
  init(_ error: NodeError) {
    let exitCode: ExitCode =
      switch error.code {
      case .nodeNotRunning: .nodeNotRunning
      case .nodeRunning, .network, .databaseLocked, .busy: .tryAgain
      case .notAllowed: .notAllowed
      case .sharingOff, .noHousehold, .householdExists, .dataDirectory, .diskFull, .keys, .notFound, .badArgument,
        .pairing, .store:
        .failed
      }
    self.init(code: error.code.rawValue, message: error.message, remedy: error.remedy, exitCode: exitCode)
  }

  init(_ error: HouseholdError) {
    self.init(
      code: error.code, message: error.message, remedy: error.remedy,
      exitCode: error.isTemporary ? .tryAgain : error.isNotAllowed ? .notAllowed : .failed)
  }
}

/// Opens the household for a command, and closes it whatever happens.
func withHousehold<Result>(
  _ invocation: Invocation, readOnly: Bool, _ body: (Household) throws -> Result
) throws -> Result {
  let household = try Household(invocation.directory(), readOnly: readOnly)
  defer { household.close() }
  return try body(household)
}

/// Throws if this device was put back to an older state and has not synced since, and there are others to sync with.
///
/// The file does not know what was deleted meanwhile: what imports and series write would bring it back.
func requireCaughtUp(_ invocation: Invocation, to act: String) throws {
  let directory = try invocation.directory()
  guard try HouseholdBackup.awaitsCatchUp(directory), try HouseholdStatus.hasOthers(directory) else { return }
  throw CommandError(
    code: "awaitsCatchUp", message: "This device was put back to an older state and has not synced since.",
    remedy: "Start the node, wait for a sync with another device, and \(act) then.", exitCode: .tryAgain)
}

extension Household {
  /// The type of this name, or the error that quotes it.
  func requireType(_ name: String) throws(CommandError) -> RecordType {
    guard let type = schema.type(name) else {
      throw CommandError.unknown("record type", name, among: schema.types.map(\.name))
    }
    return type
  }
}

extension RecordType {
  /// The field of this name, or the error that quotes it.
  func requireField(_ name: String) throws(CommandError) -> FieldDefinition {
    guard let field = field(name) else {
      throw CommandError.unknown("field", name, among: fields.map(\.name), place: " of \(self.name)")
    }
    return field
  }
}
