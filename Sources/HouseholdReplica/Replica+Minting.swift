package import HouseholdRecords

/// Why a device goes on under a new replica id.
package enum MintReason: String, Sendable {
  /// The file is an older one, or lies elsewhere, or others have more of it than itself.
  case restored
  /// Another copy of this device's directory writes.
  case cloned
}

/// Minting: a device that may have sealed more than it knows of goes on under a new replica id (design 2.8). It costs
/// an entry of the vectors, and what was sealed under the old id comes back from the peers like anybody's.
extension Replica {
  /// Goes on under a new replica id, and remembers why for status.
  package func mint(_ reason: MintReason, now: Instant) throws {
    lastNow = now
    try write { try mintInTransaction(reason) }
  }

  func mintInTransaction(_ reason: MintReason) throws {
    try mintReplica()
    // Peers may hold tokens for positions of the log that was lost, or of the other copy's.
    incarnation = .random(from: &random)
    try facts.set(.incarnation, .bytes(incarnation.bytes))
    // What was sealed until now under the old id, and is not known here, was lost by the restore.
    try facts.set(.watchedSince, .integer(lastNow.milliseconds))
    try facts.set(.awaitsCatchUp, .integer(1))
    try note(reason)
  }

  /// Goes on sealing under a new replica id.
  func mintReplica() throws {
    let nonce = ReplicaNonce.random(from: &random)
    replica = cryptography.replicaID(device: identity.device, nonce: nonce)
    try facts.set(.replica, .bytes(replica.bytes))
    try facts.set(.nonce, .bytes(nonce.bytes))
  }

  /// Remembers for status what was found.
  func note(_ reason: MintReason) throws {
    try facts.set(reason == .cloned ? .clonedAt : .restoredAt, .integer(lastNow.milliseconds))
  }

  /// Mints if a peer has more of our own replica than we: this device was put back to an older state.
  func mintIfBehind(_ holdings: [Dependency], _ located: LocatedHoldings) throws {
    let isBehind = located.unplaced.contains { $0.replica == replica }
    guard isBehind || holdings.contains(where: { $0.replica == replica }) && replicas[replica] == nil else { return }
    try write { try mintInTransaction(.restored) }
  }

  /// Takes note of a changeset of this device that it does not remember, and mints if it goes on our own replica.
  ///
  /// One that was sealed before the last look at the witness is what a restore lost; a later one is a clone's.
  func noteForgotten(_ changeset: Changeset, of entry: ReplicaTable.Entry) throws {
    guard entry.device == identity.device else { return }
    let looked = try facts.integer(.watchedSince) ?? Int64.max
    let reason: MintReason = changeset.editedAt.milliseconds > looked ? .cloned : .restored
    if entry.root == replica { try mintInTransaction(reason) } else { try note(reason) }
  }

  /// Remembers since when the witness holds: what this device seals from now on, it will know of.
  package func watch(since now: Instant) throws {
    try write { try facts.set(.watchedSince, .integer(now.milliseconds)) }
  }

  /// Whether a node ever ran on this replica.
  package func isWatched() throws -> Bool { try facts.integer(.watchedSince) != nil }

  /// What the witness keeps outside of the data directory: the replica under which we seal, and its last changeset.
  package func lastSealed() throws -> (replica: ReplicaID, sequence: UInt64, hash: ChangesetHash) {
    let sequence = replicas[replica]?.received ?? 0
    return (replica, sequence, try hash(of: ChangesetName(replica: replica, sequence: sequence)) ?? .zero)
  }

  /// The hash of a changeset that is known here.
  package func hash(of name: ChangesetName) throws -> ChangesetHash? {
    try log.header(of: name, replicas: replicas)?.hash
  }
}
