internal import HouseholdNode
internal import HouseholdRecords
internal import HouseholdReplica

/// Names one record of any type.
public struct RecordID: Hashable, Sendable, CustomStringConvertible {
  private let key: RecordKey
  /// The name of the record type.
  public var type: String { key.type }
  /// The id of the record.
  public var id: String { key.id }

  init(_ key: RecordKey) { self.key = key }

  /// `type/id`, for logs.
  public var description: String { "\(type)/\(id)" }
}

/// How far an app has read the changes; store its text and go on with it after the next start.
///
/// It is good for one data directory. Of a record that changed it may tell twice; it never leaves one out.
public struct ChangeToken: Hashable, Sendable, Codable, CustomStringConvertible {
  let position: FeedPosition

  init(_ position: FeedPosition) { self.position = position }

  /// The token that `description` wrote; nil for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 6, parts[0] == "1", let hash = bytes(hex: String(parts[2])) else { return nil }
    let numbers = [parts[1], parts[3], parts[4], parts[5]].compactMap { Int64($0) }
    guard numbers.count == 4, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
    position = FeedPosition(
      position: numbers[0], hash: hash, rejected: numbers[1], rejectedPlaces: numbers[2], columns: numbers[3])
  }

  /// Reads its text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let token = ChangeToken(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is no change token.")
    }
    self = token
  }

  /// Writes its text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// The text to store; its form is no contract.
  public var description: String {
    "1.\(position.position).\(hexadecimal(position.hash)).\(position.rejected).\(position.rejectedPlaces)."
      + "\(position.columns)"
  }
}

/// What changed since a token.
public struct RecordChanges: Sendable {
  /// Records that are here and were made or changed, by type and id.
  public let changed: [RecordID]
  /// Records that are no longer here: deleted, or merged into a duplicate.
  public let deleted: [RecordID]
  /// Where to go on next time.
  public let token: ChangeToken
  /// Whether the lists are all: if not (after a restore, a snapshot, a decision about membership, an upgrade of the
  /// schema, and for a token of another directory), read all records again and go on with the new token.
  public let isComplete: Bool
}

/// Edits of this device that are on their way.
public struct PendingChanges: Sendable {
  /// Records with edits that the node has not taken up yet; without a node they stay here.
  public let unsealed: [RecordID]
  /// How many sealed changesets of this device some partner's device has not confirmed yet.
  public let unconfirmed: Int
}

extension HouseholdStore {
  /// Where the changes stand now: what is written later comes after it.
  public func currentToken() throws(HouseholdStoreError) -> ChangeToken {
    try locked { household in ChangeToken(try Household.guarded { try household.access.feedPosition() }) }
  }

  /// Which records changed since the token, whoever changed them; read them with ``fetch(_:id:)``.
  ///
  /// - Parameter token: from ``currentToken()`` or an earlier answer; nil answers with no lists and `isComplete` false,
  ///   so that one path of code serves the first start and every later one.
  public func changes(since token: ChangeToken?) throws(HouseholdStoreError) -> RecordChanges {
    try locked { household in try household.changes(since: token) }
  }

  /// The edits of this device that are on their way, now.
  public func pendingChanges() throws(HouseholdStoreError) -> PendingChanges {
    try locked { household in
      let unsealed = try Household.guarded { try household.access.unsealedRecords() }
      return PendingChanges(
        unsealed: unsealed.map(RecordID.init), unconfirmed: Int(try report().changes.unacknowledged))
    }
  }
}

extension RecordChanges {
  init(_ feed: Feed) {
    self.init(
      changed: feed.changes.filter(\.isHere).map { RecordID($0.key) },
      deleted: feed.changes.filter { !$0.isHere }.map { RecordID($0.key) }, token: ChangeToken(feed.next),
      isComplete: feed.isComplete)
  }
}
