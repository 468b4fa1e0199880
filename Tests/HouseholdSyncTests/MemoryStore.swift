import HouseholdRecords

/// A store in memory that keeps the port's promises honestly: contiguous vectors, log order, tokens, snapshots.
///
/// A changeset here is its name and any bytes; an entry admits or removes a device. It outlives the engine, as a file
/// would, so a restart is a new engine on the same store.
final class MemoryStore: RecordStore {
  struct Fault: Error, CustomStringConvertible { var description: String { "database is locked" } }

  let household: HouseholdID
  let device: DeviceID
  private(set) var replica: ReplicaID
  private(set) var incarnation: Incarnation
  /// Every changeset that was ever applied here, by name: the "cells".
  private(set) var contents: [ChangesetName: PackedChangeset] = [:]
  private(set) var log: [LoggedChangeset] = []
  /// Devices whose members this store takes for owners.
  var owners: Set<DeviceID> = []
  private var vector = VersionVector()
  private var base = VersionVector()
  private var nextPosition: UInt64 = 1
  private var replicas: Set<ReplicaID>
  private var records: [DeviceID: PeerRecord] = [:]
  private(set) var entries: [[UInt8]] = []
  var needsSnapshot: Bool
  private var staged: (id: SnapshotID, pages: [SnapshotPage])?
  private(set) var openSnapshots = 0
  /// What is kept from the records.
  var kept: [Withheld] = []
  /// What the next write throws.
  var fault: (any Error)?
  /// Whether the digest is wrong on purpose.
  var isCorrupt = false
  /// What stands for the hash of every changeset.
  var hashPrefix: UInt64 = 1
  /// Replicas by whose name a peer means another branch than this store does, which has that branch too.
  var renamed: Set<ReplicaID> = []
  /// Whether a digest is at hand.
  var hasDigest = false
  private(set) var adoptions = 0
  private(set) var stagedPages = 0

  init(device: DeviceID, replica: ReplicaID, entries: [[UInt8]], needsSnapshot: Bool = false) {
    household = testHousehold
    self.device = device
    self.replica = replica
    self.entries = entries
    self.needsSnapshot = needsSnapshot
    replicas = [replica]
    incarnation = Identifier128(bytes: replica.bytes)!
  }

  // MARK: What the user does

  /// Seals one changeset.
  func write(_ payload: [UInt8] = [7]) {
    let name = ChangesetName(replica: replica, sequence: vector[replica] + 1)
    append(name, MemoryChangeset(name: name, payload: payload).packed, isOwn: true)
  }

  /// Adds an entry to the membership log, naming all heads.
  func append(_ kind: TestEntry.Kind, _ device: DeviceID) {
    entries.append(TestEntry(kind: kind, device: device, parents: heads).bytes)
  }

  /// Throws the log away; what it held is the base from now on.
  func compact() {
    base = vector
    log = []
    renumber()
  }

  private func renumber() {
    var bytes = incarnation.bytes
    bytes[15] &+= 1
    incarnation = Identifier128(bytes: bytes)!
    nextPosition = 1
    log = log.map { entry in
      defer { nextPosition += 1 }
      var entry = entry
      entry.position = LogPosition(rawValue: nextPosition)
      return entry
    }
  }

  private func append(_ name: ChangesetName, _ packed: PackedChangeset, isOwn: Bool) {
    log.append(
      LoggedChangeset(
        position: LogPosition(rawValue: nextPosition), name: name, isOwn: isOwn, packed: packed))
    nextPosition += 1
    vector[name.replica] = name.sequence
    contents[name] = packed
  }

  private func checkFault() throws {
    if let fault { throw fault }
  }

  // MARK: RecordStore

  func vectors() throws -> StoreVectors {
    StoreVectors(received: vector, applied: needsSnapshot ? VersionVector() : vector, base: base)
  }

  func receivedDependencies() throws -> [Dependency] {
    vector.sorted.map { Dependency(replica: $0.replica, sequence: $0.sequence, hashPrefix: hashPrefix) }
  }

  func dependencies(on vector: VersionVector) throws -> [Dependency] {
    vector.sorted.map { Dependency(replica: $0.replica, sequence: $0.sequence, hashPrefix: hashPrefix) }
  }

  func locate(_ holdings: [Dependency]) throws -> LocatedHoldings {
    let ours = Set(try receivedDependencies())
    var located = LocatedHoldings()
    for theirs in holdings {
      if renamed.contains(theirs.replica) {
        located.renamed.append(theirs.replica)
      } else if theirs.sequence == vector[theirs.replica], !ours.contains(theirs) {
        located.contradicted.append(theirs.replica)
      } else {
        located.known[theirs.replica] = theirs.sequence
      }
    }
    return located
  }

  func logEnd() throws -> LogPosition { LogPosition(rawValue: nextPosition - 1) }

  func log(after position: LogPosition, skipping known: VersionVector, limitBytes: Int) throws -> LogSlice {
    var slice = LogSlice(changesets: [], next: position, reachedEnd: true)
    var bytes = 0
    for entry in log where entry.position > position {
      if bytes >= limitBytes {
        slice.reachedEnd = false
        break
      }
      slice.next = entry.position
      if known.contains(entry.name) { continue }
      bytes += entry.packed.bytes.count
      slice.changesets.append(entry)
    }
    return slice
  }

  func changesets(
    of replica: ReplicaID, from first: UInt64, through last: UInt64, limitBytes: Int
  ) throws -> [LoggedChangeset] {
    var found: [LoggedChangeset] = []
    var bytes = 0
    for entry in log where entry.name.replica == replica && entry.name.sequence == first + UInt64(found.count) {
      if entry.name.sequence > last || bytes >= limitBytes { break }
      found.append(entry)
      bytes += entry.packed.bytes.count
    }
    return found
  }

  func digest() throws -> StoreDigest? {
    guard hasDigest else { return nil }
    return StoreDigest(applied: vector, membershipHeads: heads, bytes: isCorrupt ? [1] : [0])
  }

  func receive(
    _ changesets: [PackedChangeset], from peer: DeviceID, token: ChangeToken?, now: Instant
  ) throws -> Reception {
    try checkFault()
    var reception = Reception(stored: 0, applied: 0, vectors: try vectors(), sealed: false, reached: VersionVector())
    let decoded = try changesets.map { packed in
      guard let changeset = MemoryChangeset(packed) else { throw Violation(.badChangeset, "It cannot be read.") }
      return (changeset.name, packed)
    }
    for (name, _) in decoded { reception.reached.count(name) }
    for (name, packed) in decoded where !vector.contains(name) {
      guard name.sequence == vector[name.replica] + 1 else {
        throw Violation(.badChangeset, "There is a gap before \(name).")
      }
      append(name, packed, isOwn: replicas.contains(name.replica))
      reception.stored += 1
    }
    if let token { records[peer, default: PeerRecord()].token = token }
    reception.vectors = try vectors()
    return reception
  }

  func membership() throws -> MembershipState {
    var state = MembershipState(heads: heads)
    for entry in entries.compactMap(TestEntry.init) {
      let member = MemberID(bytes: entry.device.bytes.prefix(16))!
      let isActive = entry.kind == .admit && state.devices[entry.device]?.state != .removed
      state.members[member] = .init(
        id: member, name: "m", role: owners.contains(entry.device) ? .owner : .member,
        state: isActive ? .active : .removed)
      state.devices[entry.device] = .init(
        id: entry.device, member: member, name: "d", publicKey: [], state: isActive ? .active : .removed)
    }
    // A stranger's log is taken for one that he has not begun, so that it is the other side that sends him away.
    if let own = state.devices[device] {
      state.genesis = MembershipEntry.Genesis(
        householdName: "h", sharePublicKey: [], member: own.member, memberName: "m",
        device: MembershipEntry.DeviceDescription(name: own.name, publicKey: []))
    }
    return state
  }

  private var heads: [EntryHash] {
    var heads = Set(entries.map(entryHash))
    for entry in entries.compactMap(TestEntry.init) { heads.subtract(entry.parents) }
    return heads.sorted()
  }

  func membershipHashes() throws -> [EntryHash] { entries.map(entryHash) }

  func membershipEntries(except known: Set<EntryHash>) throws -> [[UInt8]] {
    entries.filter { !known.contains(entryHash($0)) }
  }

  func membershipNews(ending device: DeviceID, known: Set<EntryHash>) throws -> Set<EntryHash> {
    Set(try membershipHashes()).subtracting(known)
  }

  func addMembership(_ new: [[UInt8]]) throws -> Bool {
    try checkFault()
    let known = Set(entries.map(entryHash))
    let fresh = new.filter { !known.contains(entryHash($0)) }
    if fresh.contains(where: { TestEntry($0) == nil }) { throw Violation(.badMembership, "It cannot be read.") }
    entries += fresh
    return !fresh.isEmpty
  }

  func peer(_ device: DeviceID) throws -> PeerRecord { records[device] ?? PeerRecord() }

  func acknowledge(_ vector: VersionVector, by device: DeviceID, at now: Instant?) throws {
    for entry in vector.entries where self.vector[entry.key] > 0 {
      records[device, default: PeerRecord()].acknowledged.merge(
        VersionVector([entry.key: min(entry.value, self.vector[entry.key])]))
    }
  }

  func replicas(of device: DeviceID) throws -> Set<ReplicaID> {
    Set(vector.entries.keys.filter { $0.bytes + $0.bytes == device.bytes })
  }

  // MARK: Snapshots

  private var snapshotContent: [(ChangesetName, PackedChangeset)] {
    contents.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  func openSnapshot(resuming id: SnapshotID?) throws -> SnapshotOffer? {
    if needsSnapshot { return nil }
    openSnapshots += 1
    let named: SnapshotID = testHash(snapshotContent.flatMap { $0.1.bytes })
    return SnapshotOffer(id: named, position: try logEnd(), applied: vector, held: vector, resumes: id == named)
  }

  func withheld() throws -> [Withheld] { kept }

  func snapshotPage(_ id: SnapshotID, after cursor: [UInt8]) throws -> SnapshotPage {
    let index = cursor.first.map(Int.init) ?? 0
    let content = snapshotContent
    let page = content.dropFirst(index * 4).prefix(4)
    var writer = ByteWriter()
    for (_, packed) in page { writer.data(packed.bytes) }
    return SnapshotPage(cursor: [UInt8(index + 1)], isLast: (index + 1) * 4 >= content.count, content: writer.bytes)
  }

  func closeSnapshot(_ id: SnapshotID) { openSnapshots -= 1 }

  func snapshotProgress() throws -> SnapshotProgress? {
    guard let staged, let last = staged.pages.last else { return nil }
    return SnapshotProgress(id: staged.id, cursor: last.cursor, isComplete: last.isLast)
  }

  func timePassed(_ now: Instant) throws {}

  func stage(_ page: SnapshotPage, of id: SnapshotID) throws {
    try checkFault()
    if staged?.id != id { staged = (id, []) }
    guard page.cursor == [UInt8((staged?.pages.count ?? 0) + 1)] else {
      throw Violation(.badSnapshot, "The page does not follow.")
    }
    staged?.pages.append(page)
    stagedPages += 1
  }

  func adoptSnapshot(_ id: SnapshotID, from peer: DeviceID, token: ChangeToken, now: Instant) throws {
    guard let staged, staged.id == id, staged.pages.last?.isLast == true else {
      throw Violation(.badSnapshot, "The snapshot is not complete.")
    }
    var applied = VersionVector()
    for page in staged.pages {
      var reader = ByteReader(page.content)
      while reader.remaining > 0 {
        let packed = PackedChangeset(bytes: try reader.data(limit: Limits.messageBytes))
        let changeset = MemoryChangeset(packed)!
        contents[changeset.name] = packed
        applied[changeset.name.replica] = max(applied[changeset.name.replica], changeset.name.sequence)
      }
    }
    base.merge(applied)
    vector.merge(applied)
    log.removeAll { applied.contains($0.name) }
    renumber()
    records = records.mapValues { PeerRecord(token: nil, acknowledged: $0.acknowledged) }
    records[peer, default: PeerRecord()].token = token
    self.staged = nil
    needsSnapshot = false
    adoptions += 1
  }
}

/// The household of these tests.
let testHousehold = HouseholdID(bytes: [UInt8](repeating: 9, count: 32))!

/// A changeset that is only a name and bytes; the engine never looks inside.
struct MemoryChangeset {
  var name: ChangesetName
  var payload: [UInt8]

  init(name: ChangesetName, payload: [UInt8]) {
    self.name = name
    self.payload = payload
  }

  init?(_ packed: PackedChangeset) {
    var reader = ByteReader(packed.bytes)
    guard let lead = try? reader.byte(), lead == 0, let replica: ReplicaID = try? reader.identifier128(),
      let sequence = try? reader.sequence(), let payload = try? reader.data(limit: Limits.changesetBytes),
      reader.remaining == 0
    else { return nil }
    self.init(name: ChangesetName(replica: replica, sequence: sequence), payload: payload)
  }

  var packed: PackedChangeset {
    var writer = ByteWriter()
    writer.byte(0)
    writer.identifier(name.replica)
    writer.varint(name.sequence)
    writer.data(payload)
    return PackedChangeset(bytes: writer.bytes)
  }
}

/// A membership entry of these tests.
struct TestEntry {
  enum Kind: UInt8 { case admit = 0, remove = 1 }
  var kind: Kind
  var device: DeviceID
  var parents: [EntryHash]

  init(kind: Kind, device: DeviceID, parents: [EntryHash]) {
    self.kind = kind
    self.device = device
    self.parents = parents
  }

  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let lead = try? reader.byte(), let kind = Kind(rawValue: lead),
      let device: DeviceID = try? reader.identifier256(), let parents = try? reader.heads(), reader.remaining == 0
    else { return nil }
    self.init(kind: kind, device: device, parents: parents)
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.byte(kind.rawValue)
    writer.identifier(device)
    writer.heads(parents)
    return writer.bytes
  }
}

/// A stand-in for SHA-256 (FNV-1a, four times): these tests need names, not strength.
func testHash<Kind>(_ bytes: [UInt8]) -> Identifier256<Kind> {
  var result: [UInt8] = []
  for salt in UInt64(0)..<4 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ salt
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    for shift in 0..<8 { result.append(UInt8(truncatingIfNeeded: hash >> UInt64(shift * 8))) }
  }
  return Identifier256(bytes: result)!
}

/// The name of a membership entry.
func entryHash(_ bytes: [UInt8]) -> EntryHash { testHash(bytes) }
