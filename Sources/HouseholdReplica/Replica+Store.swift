package import HouseholdRecords

/// The replica as the protocol sees it.
extension Replica: RecordStore {
  package var household: HouseholdID { identity.household }
  package var device: DeviceID { identity.device }

  package func vectors() throws -> StoreVectors { replicas.vectors }

  package func receivedDependencies() throws -> [Dependency] {
    try replicas.sorted.compactMap { entry in
      guard entry.received > entry.fork else { return nil }
      let name = ChangesetName(replica: entry.id, sequence: entry.received)
      guard let header = try log.header(of: name, replicas: replicas) else {
        throw ReplicaError(.corrupt, "The changeset \(name) is counted and not known here.")
      }
      return Dependency(replica: entry.id, sequence: entry.received, hashPrefix: header.hash.prefix)
    }
  }

  package func dependencies(on vector: VersionVector) throws -> [Dependency] {
    try vector.sorted.compactMap { entry in
      let name = ChangesetName(replica: entry.replica, sequence: entry.sequence)
      return try hash(of: name).map {
        Dependency(replica: entry.replica, sequence: entry.sequence, hashPrefix: $0.prefix)
      }
    }
  }

  package func logEnd() throws -> LogPosition { LogPosition(rawValue: UInt64(log.nextPosition - 1)) }

  package func log(after position: LogPosition, skipping known: VersionVector, limitBytes: Int) throws -> LogSlice {
    try log.slice(
      after: position, skipping: known, limitBytes: limitBytes, replicas: replicas, own: identity.device)
  }

  package func changesets(
    of replica: ReplicaID, from first: UInt64, through last: UInt64, limitBytes: Int
  ) throws -> [LoggedChangeset] {
    guard let entry = replicas[replica] else { return [] }
    return try log.changesets(
      of: entry, from: first, through: last, limitBytes: limitBytes, own: identity.device)
  }
}
