internal import HouseholdNode
internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTrust

/// An edit of one record that does not show, and why. Nothing is lost: it is stored, and the reason says what helps.
public struct FailedChange: Hashable, Sendable {
  /// Why it does not show.
  public enum Reason: String, Sendable {
    /// Its author had no right to write when it was made: an owner can adopt it.
    case notAllowed
    /// A field cannot hold the value: it shows as empty until it is written anew.
    case badValue
  }

  /// The record in question.
  public let record: RecordID
  /// Why it does not show.
  public let reason: Reason
  /// The fields in question; empty for a deletion.
  public let fields: [String]
  /// The name of the member who made it, if known.
  public let member: String?
  /// Whether this device made it.
  public let isOwn: Bool
  /// One sentence, with the next step.
  public let message: String
}

extension HouseholdStore {
  /// The edits that do not show, each with its reason, oldest first.
  ///
  /// A write that this device may not make, or whose value does not fit, is refused at once and is not among them: these
  /// are edits that were fine where they were made.
  public func failedChanges() throws(HouseholdStoreError) -> [FailedChange] {
    try locked { household in
      // A connection of its own: who may write is learned when one is opened.
      let current = try Household(household.directory, readOnly: true)
      defer { current.close() }
      let rejected = try current.rejected().flatMap { change in
        change.edits.map { edit in
          FailedChange(
            record: RecordID(RecordKey(type: edit.type, id: edit.id)), reason: .notAllowed,
            fields: edit.fields.map(\.name), member: change.author.member, isOwn: change.isOwn,
            message: change.isOwn
              ? "It was written after this device had lost the right to; an owner can adopt it: household rejected"
              : "Its author had no right to write it; an owner can adopt it: household rejected")
        }
      }
      let own = AccountStatus(try report())
      return try rejected
        + current.quarantined().map { record in
          FailedChange(
            record: RecordID(RecordKey(type: record.type, id: record.id)), reason: .badValue,
            fields: record.fields.map(\.name), member: record.author.member,
            isOwn: (record.author.member, record.author.device) == (own.member, own.device),
            message: "A field cannot hold what was written; write it anew, on any device.")
        }
    }
  }
}
