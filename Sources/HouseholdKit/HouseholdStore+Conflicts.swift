public import FoundationEssentials
internal import HouseholdRecords

/// An edit that lost against a concurrent one. It is kept until somebody decides, and blocks nothing.
public struct RecordConflict: Hashable, Sendable, Identifiable {
  /// One of the two edits.
  public struct Side: Hashable, Sendable {
    /// The values of the fields that win or lose together, as a JSON object; nil: the edit deleted the record.
    public let fields: String?
    /// The name of the member who made it, if known.
    public let member: String?
    /// The name of the device on which it was made, if known.
    public let device: String?
    /// When it was made, by that device's clock.
    public let at: Date?
  }

  /// Names the conflict, the same on every device.
  public let id: String
  /// The record in question.
  public let record: RecordID
  /// The field, or the first of the fields that win or lose together.
  public let field: String
  /// The edit that shows.
  public let kept: Side
  /// The edit that does not.
  public let lost: Side
}

/// Which side of a conflict is taken, for everyone.
public enum ConflictDecision: Sendable {
  /// What this member wrote.
  case mine
  /// What the other wrote.
  case theirs
  /// Another text.
  case text(String)
  /// Another integer; 0 and 1 for a boolean.
  case integer(Int64)
  /// Nothing.
  case null
}

extension HouseholdStore {
  /// The conflicts that nobody has decided, oldest first.
  public func conflicts() throws(HouseholdStoreError) -> [RecordConflict] {
    try locked { try $0.conflicts(includingClosed: false).map(RecordConflict.init) }
  }

  /// Decides a conflict by a new edit, which closes it on every device.
  public func resolve(_ conflict: RecordConflict, taking decision: ConflictDecision) throws(HouseholdStoreError) {
    let choice: Household.Choice =
      switch decision {
      case .mine: .mine
      case .theirs: .theirs
      case .text(let text): .value(.text(text))
      case .integer(let integer): .value(.integer(integer))
      case .null: .value(.null)
      }
    try locked { try $0.resolve(conflict.id, choice) }
  }
}

extension RecordConflict {
  init(_ edit: Household.LostEdit) {
    self.init(
      id: edit.conflict, record: RecordID(RecordKey(type: edit.type, id: edit.id)), field: edit.field,
      kept: Side(edit.kept), lost: Side(edit.lost))
  }
}

extension RecordConflict.Side {
  init(_ side: Household.LostEdit.Side) {
    self.init(
      fields: side.object, member: side.author?.member, device: side.author?.device,
      at: side.author.map { Date(timeIntervalSince1970: Double($0.at.milliseconds) / 1000) })
  }
}
