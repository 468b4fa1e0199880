/// The store as the protocol sees it: a small port, so that the engine is pure and the simulator runs the real one.
///
/// All calls are synchronous and each that writes is one transaction, durable when it returns (R1, R2). A peer's fault
/// is thrown as ``Violation``, with nothing kept; any other error is a fault of this machine (disk, lock).
package protocol RecordStore: AnyObject {
  /// The household that the replica belongs to.
  var household: HouseholdID { get }
  /// This device.
  var device: DeviceID { get }
  /// The replica id under which this device seals now.
  var replica: ReplicaID { get }
  /// The numbering of this log; a new one means that all tokens start over.
  var incarnation: Incarnation { get }

  // MARK: What is here

  /// The vectors as of now.
  func vectors() throws -> StoreVectors
  /// For every replica in the received vector the beginning of the hash of that changeset.
  func receivedDependencies() throws -> [Dependency]
  /// The same for any changesets that are stored here; those of which the hash is not known are left out.
  func dependencies(on vector: VersionVector) throws -> [Dependency]
  /// The position after the newest changeset.
  func logEnd() throws -> LogPosition
  /// Changesets stored after `position`, in this log's order, leaving out what `known` counts.
  ///
  /// Stops after about `limitBytes`; always makes progress. Only what is durable is returned.
  func log(after position: LogPosition, skipping known: VersionVector, limitBytes: Int) throws -> LogSlice
  /// Changesets of one replica by seq, for a peer that asked; stops after about `limitBytes`, or at a gap.
  func changesets(of replica: ReplicaID, from first: UInt64, through last: UInt64, limitBytes: Int) throws
    -> [LoggedChangeset]
  /// A digest of all records at the applied vector, if one is at hand without much work (R5).
  func digest() throws -> StoreDigest?

  // MARK: Receiving

  /// Stores what a peer sent: local edits are sealed first, then changesets, vectors and token are written together.
  ///
  /// - Parameter token: where reading this peer goes on; nil leaves it as it is.
  func receive(_ changesets: [PackedChangeset], from peer: DeviceID, token: ChangeToken?, now: Instant) throws
    -> Reception

  // MARK: Branches

  /// Finds out what of a peer's holdings is here, under whatever name (D4).
  func locate(_ holdings: [Dependency]) throws -> LocatedHoldings
  /// The names of all branches of the replica that this name belongs to, as they are known here; itself if it has none.
  func branches(of replica: ReplicaID) throws -> [ReplicaID]
  /// How many branches were found since the store was opened.
  var forkCount: Int { get }
  /// Evenly spaced changesets of a branch with seqs between the two, the last one included; at most `limit`.
  func points(of replica: ReplicaID, after low: UInt64, before high: UInt64, limit: Int) throws -> [Dependency]

  /// Whether this device began the replica.
  func isOwn(_ replica: ReplicaID) -> Bool
  /// What is stored here and kept from the records, ascending by replica; its authors are told.
  func withheld() throws -> [Withheld]

  // MARK: Membership

  /// The membership log as it is evaluated now.
  func membership() throws -> MembershipState
  /// The hashes of all entries.
  func membershipHashes() throws -> [EntryHash]
  /// The bytes of all entries but those named, in an order in which each comes after what it names.
  func membershipEntries(except known: Set<EntryHash>) throws -> [[UInt8]]
  /// The hashes of what tells a device that it belongs no longer, of what it lacks; see `MembershipLog.news`.
  func membershipNews(ending device: DeviceID, known: Set<EntryHash>) throws -> Set<EntryHash>
  /// Adds entries; known ones are skipped. Returns whether any was new.
  func addMembership(_ entries: [[UInt8]]) throws -> Bool

  // MARK: Peers

  /// What is remembered of a peer.
  func peer(_ device: DeviceID) throws -> PeerRecord
  /// Remembers that the peer has confirmed these changesets.
  ///
  /// - Parameter now: when it was here; nil if another device says so of one that is away.
  func acknowledge(_ vector: VersionVector, by device: DeviceID, at now: Instant?) throws
  /// The replicas under which the device seals, or sealed, as far as is known here.
  func replicas(of device: DeviceID) throws -> Set<ReplicaID>

  // MARK: Snapshots, serving

  /// Begins a snapshot at the state of now, or goes on with the one of this id if that is still possible.
  ///
  /// Returns nil if this replica has nothing complete to give yet.
  func openSnapshot(resuming id: SnapshotID?) throws -> SnapshotOffer?
  /// The page after `cursor` (empty for the first page), about `Limits.batchTargetBytes` long.
  func snapshotPage(_ id: SnapshotID, after cursor: [UInt8]) throws -> SnapshotPage
  /// Lets go of what the snapshot holds.
  func closeSnapshot(_ id: SnapshotID)

  // MARK: Snapshots, receiving

  /// Whether this replica waits for its first snapshot.
  var needsSnapshot: Bool { get throws }
  /// How far a snapshot has been received, if one was begun.
  func snapshotProgress() throws -> SnapshotProgress?
  /// Takes one page: the one after the last that was taken, or the first of a new snapshot. Nothing shows of it yet, and
  /// what a kill makes it lose is asked for again.
  func stage(_ page: SnapshotPage, of id: SnapshotID) throws
  /// Tells that it is so late: called every second, and before a page of a snapshot is staged.
  func timePassed(_ now: Instant) throws
  /// Puts the complete snapshot in place, in one transaction, and remembers where the log of `peer` goes on.
  func adoptSnapshot(_ id: SnapshotID, from peer: DeviceID, token: ChangeToken, now: Instant) throws
}

/// The three vectors of a store (D1, D2).
package struct StoreVectors: Hashable, Sendable {
  /// What is stored here: acknowledged, forwarded, decides what is missing.
  package var received: VersionVector
  /// What is in the cells: dependencies, digest and snapshots speak of it.
  package var applied: VersionVector
  /// What the log no longer holds one by one.
  package var base: VersionVector

  package init(received: VersionVector, applied: VersionVector, base: VersionVector) {
    self.received = received
    self.applied = applied
    self.base = base
  }
}

/// A changeset as it lies in the log and on the wire: the author's bytes, perhaps compressed.
package struct PackedChangeset: Hashable, Sendable {
  /// First byte 0: the author's bytes follow; 1: their zstd compression follows.
  package var bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }
}

/// A changeset in this replica's log.
package struct LoggedChangeset: Hashable, Sendable {
  package var position: LogPosition
  package var name: ChangesetName
  /// Whether this device sealed it, under whatever replica id.
  package var isOwn: Bool
  package var packed: PackedChangeset
  /// Whether it is the first of a branch: then it follows on a changeset of another name (D4).
  package var beginsBranch: Bool

  package init(
    position: LogPosition, name: ChangesetName, isOwn: Bool, packed: PackedChangeset, beginsBranch: Bool = false
  ) {
    self.position = position
    self.name = name
    self.isOwn = isOwn
    self.packed = packed
    self.beginsBranch = beginsBranch
  }
}

/// A part of the log.
package struct LogSlice: Sendable {
  package var changesets: [LoggedChangeset]
  /// Up to where the log was read, skipped changesets included.
  package var next: LogPosition
  /// Whether nothing more was there.
  package var reachedEnd: Bool

  package init(changesets: [LoggedChangeset], next: LogPosition, reachedEnd: Bool) {
    self.changesets = changesets
    self.next = next
    self.reachedEnd = reachedEnd
  }
}

/// What came of storing a batch.
package struct Reception: Sendable {
  /// How many changesets were new here.
  package var stored: Int
  /// How many changesets were put into the cells, earlier ones that had waited included.
  package var applied: Int
  /// The vectors afterwards.
  package var vectors: StoreVectors
  /// Whether local edits were sealed on this occasion.
  package var sealed: Bool
  /// What was in the batch, new here or not, by the names that are in use here now: the sender has it.
  package var reached: VersionVector
  /// Whether a replica turned out to have branches: names may mean something else than before (D4).
  package var forked: Bool

  package init(
    stored: Int, applied: Int, vectors: StoreVectors, sealed: Bool, reached: VersionVector, forked: Bool = false
  ) {
    self.stored = stored
    self.applied = applied
    self.vectors = vectors
    self.sealed = sealed
    self.reached = reached
    self.forked = forked
  }
}

/// What is remembered of a peer from one contact to the next.
package struct PeerRecord: Hashable, Sendable {
  /// Where reading its log goes on; nil starts at its log's beginning.
  package var token: ChangeToken?
  /// What it has confirmed to have stored.
  package var acknowledged: VersionVector

  package init(token: ChangeToken? = nil, acknowledged: VersionVector = VersionVector()) {
    self.token = token
    self.acknowledged = acknowledged
  }
}

/// A digest, and what it is the digest of.
package struct StoreDigest: Hashable, Sendable {
  package var applied: VersionVector
  package var membershipHeads: [EntryHash]
  /// SHA-256.
  package var bytes: [UInt8]

  package init(applied: VersionVector, membershipHeads: [EntryHash], bytes: [UInt8]) {
    self.applied = applied
    self.membershipHeads = membershipHeads
    self.bytes = bytes
  }
}

/// Names the content of a snapshot: equal ids mean equal pages, whoever serves them (R5).
package typealias SnapshotID = Identifier256<SnapshotKind>
package enum SnapshotKind {}

/// A snapshot that is ready to be read.
package struct SnapshotOffer: Hashable, Sendable {
  package var id: SnapshotID
  /// Where the server's log goes on after it.
  package var position: LogPosition
  /// What its records hold.
  package var applied: VersionVector
  /// What it tells of in all: besides that what does not count, or waits, and is in no log here.
  package var held: VersionVector
  /// Whether pages already received under the id that was asked for are still good.
  package var resumes: Bool

  package init(id: SnapshotID, position: LogPosition, applied: VersionVector, held: VersionVector, resumes: Bool) {
    self.id = id
    self.position = position
    self.applied = applied
    self.held = held
    self.resumes = resumes
  }
}

/// One page of a snapshot.
package struct SnapshotPage: Hashable, Sendable {
  /// What to ask the next page with; opaque.
  package var cursor: [UInt8]
  /// Whether it is the last one.
  package var isLast: Bool
  /// The content, packed like a changeset.
  package var content: [UInt8]

  package init(cursor: [UInt8], isLast: Bool, content: [UInt8]) {
    self.cursor = cursor
    self.isLast = isLast
    self.content = content
  }
}

/// How far a snapshot has been received.
package struct SnapshotProgress: Hashable, Sendable {
  package var id: SnapshotID
  /// The cursor of the last page that is stored here.
  package var cursor: [UInt8]
  /// Whether the last page is there.
  package var isComplete: Bool

  package init(id: SnapshotID, cursor: [UInt8], isComplete: Bool) {
    self.id = id
    self.cursor = cursor
    self.isComplete = isComplete
  }
}
