internal import HouseholdRecords

/// Since when changesets have been here, by this device's own clock and nobody else's.
///
/// Nothing says when a changeset came. But the log is in the order in which they came, and those that this device sealed
/// carry the time of its clock: what lies before one of them was here by then.
struct LogAge {
  let connection: Connection
  let replicas: ReplicaTable
  let device: DeviceID

  /// The last position that surely was here at this time; 0 if there is none.
  func position(at time: Instant) throws -> Int64 {
    var found: Int64 = 0
    for entry in replicas.sorted where entry.device == device {
      found = max(found, try lastPosition(of: entry, editedBy: time))
    }
    return found
  }

  /// Times rise with the seqs but for a clock that was put back, so halving is enough.
  private func lastPosition(of entry: ReplicaTable.Entry, editedBy time: Instant) throws -> Int64 {
    let statement = try connection.statement(
      "SELECT position, edited_at FROM sync_changeset WHERE replica = ? AND seq = ?")
    var (low, high) = (entry.fork, entry.applied)
    var found: Int64 = 0
    while low < high {
      let middle = low + (high - low + 1) / 2
      try statement.bind([.integer(entry.number), .integer(Int64(clamping: middle))])
      defer { statement.reset() }
      // What a snapshot left out is older than what it brought.
      if try !statement.step() {
        low = middle
      } else if statement.integer(1) <= time.milliseconds {
        (low, found) = (middle, statement.integer(0))
      } else {
        high = middle - 1
      }
    }
    return found
  }

  /// What is applied here and lies at no later position.
  func vector(through position: Int64) throws -> VersionVector {
    var vector = VersionVector()
    for entry in replicas.sorted where entry.applied > entry.fork {
      let later = try connection.integer(
        "SELECT min(seq) FROM sync_changeset WHERE replica = ? AND seq > ? AND position > ?", .integer(entry.number),
        .integer(Int64(clamping: max(entry.base, entry.fork))), .integer(position))
      let through = min(entry.applied, later.map { UInt64($0) - 1 } ?? entry.applied)
      if through > entry.fork { vector[entry.id] = through }
    }
    return vector
  }
}

extension ChangesetLog {
  /// Whether any of these changesets of a replica says more than what its author had seen. Of one that came by snapshot
  /// that is not known, so it counts.
  func hasContents(
    of entry: ReplicaTable.Entry, after first: UInt64, through last: UInt64, replicas: ReplicaTable
  ) throws -> Bool {
    let first = max(first, entry.fork)
    guard last > first else { return false }
    for sequence in (first + 1)...last {
      let name = ChangesetName(replica: entry.id, sequence: sequence)
      guard let header = try header(of: name, replicas: replicas), let packed = try body(at: header.position),
        try Replica.unpack(packed).1.operations.isEmpty
      else { return true }
    }
    return false
  }
}
