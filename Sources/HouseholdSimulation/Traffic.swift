import HouseholdRecords
import HouseholdReplica
import HouseholdSync

/// What crossed the network: each changeset, and how often it was sent to each device.
struct Traffic {
  /// By receiving device.
  private var crossings: [Int: [ChangesetName: Int]] = [:]
  /// By link.
  private var crossingsOfLinks: [LinkNumber: [PackedChangeset: Int]] = [:]
  /// The first changeset that crossed a link more than once, either way (R9).
  private(set) var repeated: (link: LinkNumber, name: ChangesetName)?
  /// Changesets sent since the beginning.
  private(set) var changesets = 0
  /// Messages that carry data, other than keep-alives.
  private(set) var messages = 0

  /// Counts a message that was sent to this device.
  mutating func count(type: UInt8, payload: [UInt8], on link: LinkNumber, to device: Int) {
    guard let kind = Message.Kind(rawValue: type) else { return }
    if kind != .ping && kind != .pong { messages += 1 }
    guard kind == .batch else { return }
    for (name, packed) in Self.changesets(in: payload) {
      changesets += 1
      crossings[device, default: [:]][name, default: 0] += 1
      crossingsOfLinks[link, default: [:]][packed, default: 0] += 1
      if crossingsOfLinks[link]?[packed] != 1 && repeated == nil { repeated = (link, name) }
    }
  }

  /// The changesets in a batch, and what their authors call them.
  static func changesets(in payload: [UInt8]) -> [(name: ChangesetName, packed: PackedChangeset)] {
    do {
      guard case .batch(let batch) = try MessageCodec.decode(.batch, payload) else { return [] }
      return try batch.changesets.map { (try Replica.unpack($0).1.name, $0) }
    } catch {
      preconditionFailure("An engine of ours sent a batch that cannot be read: \(error)")
    }
  }

  /// The changeset that was sent most often to one device.
  var most: (device: Int, name: ChangesetName, count: Int)? {
    var most: (device: Int, name: ChangesetName, count: Int)?
    for device in crossings.keys.sorted() {
      for (name, count) in (crossings[device] ?? [:]).sorted(by: { $0.key < $1.key }) where count > most?.count ?? 0 {
        most = (device, name, count)
      }
    }
    return most
  }
}
