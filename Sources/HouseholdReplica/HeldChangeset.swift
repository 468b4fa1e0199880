internal import HouseholdRecords

/// A changeset whose deletions wait for somebody's decision, as people see it.
package struct HeldChangeset: Hashable, Sendable {
  /// What it is called in commands.
  package var name: String
  /// Who wrote it, where and when.
  package var author: Authorship
  /// How many records it deletes here, by type.
  package var deletions: [String: Int]
  /// How many later changesets wait behind it.
  package var waiting: Int64

  /// The beginning of the replica id and the seq: short enough to be typed, and one of a kind in a household.
  static func shownName(_ name: ChangesetName) -> String {
    "\(hexadecimal(name.replica.bytes.prefix(4)))-\(name.sequence)"
  }
}

extension Replica {
  /// The held changesets, oldest first.
  package func heldChangesets() throws -> [HeldChangeset] {
    let headers = try held.compactMap { try log.header(of: $0, replicas: replicas) }.sorted {
      $0.position < $1.position
    }
    return try headers.map { first in
      var deletions: [String: Int] = [:]
      var header = first
      while true {
        for key in try body(of: header).deletions where try state(of: key)?.isAlive == true {
          deletions[key.type, default: 0] += 1
        }
        let next = ChangesetName(replica: header.name.replica, sequence: header.name.sequence + 1)
        guard goesOn(header), let following = try log.header(of: next, replicas: replicas) else { break }
        header = following
      }
      let entry = replicas[first.name.replica]
      let device = entry.flatMap { membershipState.devices[$0.device] }
      let received = entry?.received ?? 0
      return HeldChangeset(
        name: HeldChangeset.shownName(first.name),
        author: Authorship(
          member: device.flatMap { membershipState.members[$0.member]?.name }, device: device?.name,
          at: first.editedAt),
        deletions: deletions, waiting: Int64(received) - Int64(header.name.sequence))
    }
  }
}
