package import HouseholdRecords

/// What a node tells the node at the other end of a link about a third device of the household, for its status.
package struct Presence: Hashable, Sendable {
  package var device: DeviceID
  /// Whether the teller has a link in use to it.
  package var isLinked: Bool
  /// What the device has confirmed of the changesets of whoever is told.
  package var confirmed: VersionVector

  package init(device: DeviceID, isLinked: Bool, confirmed: VersionVector) {
    self.device = device
    self.isLinked = isLinked
    self.confirmed = confirmed
  }
}

extension ByteWriter {
  mutating func presences(_ list: [Presence]) {
    varint(list.count)
    for item in list {
      identifier(item.device)
      flags([item.isLinked])
      vector(item.confirmed)
    }
  }
}

extension ByteReader {
  mutating func presences() throws(DecodingViolation) -> [Presence] {
    var list: [Presence] = []
    for _ in 0..<(try count(limit: Limits.presences)) {
      let device: DeviceID = try identifier256()
      if let last = list.last, last.device >= device { throw .malformed("devices are not in ascending order") }
      list.append(Presence(device: device, isLinked: try flags(1)[0], confirmed: try vectorPart()))
    }
    return list
  }
}
