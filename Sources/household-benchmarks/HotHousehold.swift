import Foundation
import HouseholdBudget
import HouseholdNode
import HouseholdRecords
import HouseholdReplica
import HouseholdSync
import HouseholdTrust

/// A household of two in a folder, whose replicas are used in this process: no sockets, no threads, no node.
///
/// One process makes it and fills it, another one opens it and measures.
final class HotHousehold {
  /// The device that founded the household and, in most works, has the records.
  let ana: Replica
  /// A device that has joined, and begins without records.
  let ben: Replica
  private let folder: URL
  private var engines: (ana: SyncEngine, ben: SyncEngine)
  private var links: UInt64 = 0

  /// Opens a household that was made in this folder.
  init(in folder: URL) throws {
    self.folder = folder
    ana = try Self.openAna(in: folder)
    ben = try Replica(
      path: Self.benFile(folder), cryptography: OpenSSLCryptography(),
      signer: try KeyPair(contentsOf: Self.benKey(folder)))
    engines = (Self.engine(), Self.engine())
  }

  private static func directory(_ folder: URL) -> DataDirectory { DataDirectory(folder.appending(path: "ana").path) }
  private static func benFile(_ folder: URL) -> String { folder.appending(path: "ben.sqlite").path }
  private static func benKey(_ folder: URL) -> String { folder.appending(path: "ben.key").path }

  /// Ana's replica alone.
  static func openAna(in folder: URL) throws -> Replica {
    let directory = directory(folder)
    return try Replica(
      path: directory.replica, cryptography: OpenSSLCryptography(), signer: try NodeKeys(directory).key)
  }

  private static func engine() -> SyncEngine {
    var random = SecureRandom()
    return SyncEngine(bootNonce: .random(from: &random), programVersion: "household-benchmarks", addresses: [])
  }

  /// Founds it in an empty folder, with both devices and without transactions.
  static func make(in folder: URL) throws -> HotHousehold {
    let directory = directory(folder)
    _ = try Founding.found(
      Founding.Wishes(
        householdName: "Measured", memberName: "ana", deviceName: "ana", schema: BudgetSchema.schema), in: directory)
    var random = SecureRandom()
    let ana = try openAna(in: folder)
    let now = SystemClock.now
    let key = try KeyPair.generate()
    try key.save(to: benKey(folder))
    let member = MemberID.random(from: &random)
    let invite = try ana.state(
      .invite(
        .init(
          invitation: .random(from: &random), member: member, memberName: "ben", role: .member,
          expiresAt: now.advanced(byMilliseconds: 600_000))), at: now)
    _ = try ana.state(
      .join(.init(invite: invite, device: .init(name: "ben", publicKey: key.publicKey))), at: now)
    let ben = try Replica.create(
      path: benFile(folder),
      identity: ReplicaIdentity(household: ana.identity.household, member: member, device: key.device),
      entries: try ana.membershipEntries(except: []), nonce: .random(from: &random),
      incarnation: .random(from: &random), needsSnapshot: true, cryptography: OpenSSLCryptography(), signer: key)
    ana.close()
    ben.close()
    return try HotHousehold(in: folder)
  }

  /// Closes both files.
  func close() {
    ana.close()
    ben.close()
  }

  /// A replica's file as any program would open it.
  func file(of replica: Replica) throws -> PlainFile { try PlainFile(replica.path) }

  // MARK: What the works consist of

  /// All pages of a snapshot of Ana's records, read once.
  func serve(_ body: (SnapshotPage, SnapshotOffer) throws -> Void) throws -> SnapshotOffer {
    guard let offer = try ana.openSnapshot(resuming: nil) else {
      throw BenchmarkError(description: "Ana has no snapshot to give")
    }
    defer { ana.closeSnapshot(offer.id) }
    var cursor: [UInt8] = []
    var isLast = false
    while !isLast {
      let page = try ana.snapshotPage(offer.id, after: cursor)
      (cursor, isLast) = (page.cursor, page.isLast)
      try body(page, offer)
    }
    return offer
  }

  /// Ben puts a snapshot in place.
  func adopt(_ offer: SnapshotOffer, _ pages: [SnapshotPage]) throws {
    for page in pages { try ben.stage(page, of: offer.id) }
    try ben.adoptSnapshot(
      offer.id, from: ana.identity.device,
      token: ChangeToken(incarnation: ana.incarnation, position: offer.position), now: SystemClock.now)
  }

  /// Ben gets everything that Ana has, by a snapshot.
  func syncFirst() throws {
    var pages: [SnapshotPage] = []
    let offer = try serve { page, _ in pages.append(page) }
    try adopt(offer, pages)
  }

  /// What Ana has and Ben lacks.
  func news() throws -> [PackedChangeset] {
    try ana.log(after: .start, skipping: try ben.vectors().received, limitBytes: .max).changesets.map(\.packed)
  }

  /// Ben takes what Ana has sent.
  func receive(_ changesets: [PackedChangeset]) throws {
    let reception = try ben.receive(changesets, from: ana.identity.device, token: nil, now: SystemClock.now)
    guard reception.stored == changesets.count, reception.applied == changesets.count else {
      throw BenchmarkError(description: "Ben did not take all that Ana has sent")
    }
  }

  /// Ana's engine and Ben's talk on a new link until both have said all.
  func meet() throws {
    links += 1
    let link = LinkNumber(rawValue: links)
    let (wall, tick) = (SystemClock.now, Tick(milliseconds: Int64(links) * 60_000))
    var waiting: [(toBen: Bool, event: Event)] = [
      (false, opening(link, of: ben, weDialled: true)), (true, opening(link, of: ana, weDialled: false)),
    ]
    func handle(_ event: Event, byBen: Bool) throws {
      let effects =
        byBen
        ? engines.ben.handle(event, store: ben, wall: wall, tick: tick)
        : engines.ana.handle(event, store: ana, wall: wall, tick: tick)
      for effect in effects {
        switch effect {
        case .send(let link, let type, let flags, let payload):
          waiting.append((!byBen, .messageReceived(link, type: type, flags: flags, payload: payload)))
        case .close(_, let goodbye): throw BenchmarkError(description: "the link was closed: \(goodbye)")
        case .report: continue
        }
      }
    }
    while !waiting.isEmpty {
      let next = waiting.removeFirst()
      try handle(next.event, byBen: next.toBen)
    }
    for byBen in [false, true] { try handle(.linkClosed(link), byBen: byBen) }
  }

  private func opening(_ link: LinkNumber, of other: Replica, weDialled: Bool) -> Event {
    .linkOpened(
      LinkOpening(
        link: link, device: other.identity.device, member: other.identity.member, weDialled: weDialled))
  }
}
