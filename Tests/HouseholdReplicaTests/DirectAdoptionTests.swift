import Foundation
import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("A snapshot that is put in place as it comes shows whole or not at all (R2, F13)")
struct DirectAdoptionTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let joiner: TestHousehold.Device
  let offer: SnapshotOffer
  let pages: [SnapshotPage]
  let token: ChangeToken

  init() throws {
    home = try TestHousehold("alex")
    a = home["alex"]
    let long = String(repeating: "a note that fills pages ", count: 400)
    for number in 0..<120 {
      try a.put("category", "c\(number)", [("name", .text("\(number)")), ("note", .text(long))])
    }
    try a.delete("category", "c7")
    try a.seal()
    joiner = try home.add("joiner", needsSnapshot: true)
    offer = try #require(try a.replica.openSnapshot(resuming: nil))
    var pages: [SnapshotPage] = []
    while pages.last?.isLast != true {
      pages.append(try a.replica.snapshotPage(offer.id, after: pages.last?.cursor ?? []))
    }
    self.pages = pages
    token = ChangeToken(incarnation: a.replica.incarnation, position: offer.position)
    joiner.replica.lastNow = joiner.now
    try #require(pages.count > 3)
  }

  private func count() throws -> Int64 { try joiner.access.count(joiner.type("category")) }

  private func adopt() throws {
    try joiner.replica.adoptSnapshot(offer.id, from: a.key.device, token: token, now: joiner.now)
  }

  private func stage(_ pages: some Sequence<SnapshotPage>) throws {
    for page in pages { try joiner.replica.stage(page, of: offer.id) }
  }

  private func expectWhole() throws {
    #expect(try count() == 119)
    #expect(try home.difference("alex", "joiner") == nil)
    #expect(try joiner.replica.vectors().applied == a.replica.vectors().applied)
    #expect(try !joiner.replica.needsSnapshot)
    #expect(try joiner.replica.snapshotProgress() == nil)
    // What comes next is applied on top, in both directions, and a restart changes nothing.
    try joiner.put("category", "c1", [("name", .text("by the joiner"))])
    try home.sync("alex", "joiner")
    try joiner.restart()
    #expect(try home.difference("alex", "joiner") == nil)
    #expect(try a.fields("category", "c1")?["name"] == .text("by the joiner"))
  }

  @Test func `nothing shows before the last page, and then everything`() throws {
    for page in pages {
      try joiner.replica.stage(page, of: offer.id)
      #expect(try count() == 0)
      #expect(try joiner.replica.vectors().received.entries.isEmpty)
      #expect(try joiner.replica.snapshotProgress()?.cursor == page.cursor)
    }
    try adopt()

    try expectWhole()
  }

  @Test func `whoever has to write meanwhile writes, and the pages that came are kept`() throws {
    try stage(pages.prefix(2))
    try joiner.replica.saw(a.key.device, at: joiner.now, completedSync: nil, contact: "{}")
    #expect(try joiner.replica.snapshotProgress()?.cursor == pages[1].cursor)
    try joiner.put("category", "own", [("name", .text("own"))])
    try stage(pages.dropFirst(2))
    try adopt()

    #expect(try joiner.fields("category", "own") != nil)
    #expect(try count() == 120)
  }

  @Test func `after two seconds others get their turn, and the snapshot goes on`() throws {
    try stage(pages.prefix(2))
    try joiner.replica.timePassed(joiner.now.advanced(byMilliseconds: 1900))
    #expect(throws: ReplicaError.self, "it is being put in place") {
      try RecordAccess(path: joiner.path, readOnly: false, cryptography: OpenSSLCryptography())
        .execute("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE")
    }

    try joiner.replica.timePassed(joiner.now.advanced(byMilliseconds: 2100))
    try joiner.access.execute("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; COMMIT")
    try stage(pages.dropFirst(2))
    try adopt()

    try expectWhole()
  }

  @Test func `a restart in the middle leaves nothing, and the snapshot begins anew`() throws {
    try stage(pages.prefix(3))
    try joiner.restart()
    #expect(try count() == 0)
    #expect(try joiner.replica.snapshotProgress() == nil)

    try stage(pages)
    try adopt()

    try expectWhole()
  }

  @Test func `a page that cannot be read leaves nothing, and the snapshot begins anew`() throws {
    try stage(pages.prefix(2))
    var broken = pages[2]
    broken.content = Array(broken.content.dropLast(40))
    #expect(throws: Violation.self) { try joiner.replica.stage(broken, of: offer.id) }
    #expect(try joiner.replica.snapshotProgress() == nil)
    #expect(try count() == 0)

    try stage(pages)
    try adopt()

    try expectWhole()
  }

  @Test func `a snapshot of another peer takes the place of the one that was begun`() throws {
    try stage(pages.prefix(2))
    try a.put("category", "later", [("name", .text("later"))])
    try a.seal()
    let other = try #require(try a.replica.openSnapshot(resuming: nil))
    var cursor: [UInt8] = []
    while true {
      let page = try a.replica.snapshotPage(other.id, after: cursor)
      try joiner.replica.stage(page, of: other.id)
      cursor = page.cursor
      if page.isLast { break }
    }
    try joiner.replica.adoptSnapshot(
      other.id, from: a.key.device,
      token: ChangeToken(incarnation: a.replica.incarnation, position: other.position), now: joiner.now)

    #expect(try count() == 120)
    #expect(try home.difference("alex", "joiner") == nil)
  }

  /// What is known of a replica where a snapshot comes.
  enum Known: CaseIterable { case nothing, beginning, anotherBranch }

  /// The server has the branch whose name is the replica's, and cannot apply it.
  @Test(arguments: Known.allCases)
  func `a branch has the name that follows from what is known here, whatever the server knows besides (D4)`(
    known: Known
  ) throws {
    for _ in 0..<64 {
      let home = try TestHousehold("ann", "bo", "cy", "di")
      try home["cy"].put("category", "c1", [("note", .text("first"))])
      try home["cy"].seal()
      try home.settle("ann", "bo", "cy", "di")
      for name in ["second", "third"] { _ = try home.copy("cy", as: name) }
      try home["di"].put("category", "d1", [("note", .text("di's"))])
      try home["di"].seal()
      try home.pull("cy", from: "di")
      let branches = try ["cy", "second", "third"].map { name in
        let known = try home[name].replica.vectors().received
        try home[name].put("category", "c2", [("note", .text(name))])
        try home[name].seal()
        return try home[name].replica.log(after: .start, skipping: known, limitBytes: .max).changesets.map(\.packed)
      }
      let hashes = try branches.map { OpenSSLCryptography().hashed(try Replica.unpack($0[0]).0.bytes) as ChangesetHash }
      guard hashes[0] < hashes[1], hashes[1] < hashes[2] else { continue }
      func give(_ branch: Int, to name: String) throws {
        let (replica, device) = (home[name].replica, home["cy"].key.device)
        _ = try replica.receive(branches[branch], from: device, token: nil, now: home[name].now)
      }
      for branch in 0..<2 { try give(branch, to: "ann") }
      let name = known == .nothing ? "ed" : "bo"
      if known == .nothing { try home.add(name, needsSnapshot: true) }
      if known == .anotherBranch { try give(2, to: name) }

      try home.adoptSnapshot(name, from: "ann")

      let root = home["cy"].replica.replica
      let holding = try home[name].replica.receivedDependencies().first { $0.replica == root }
      #expect(holding?.hashPrefix == hashes[1].prefix && holding?.sequence == 2)
      for branch in 0..<3 { for name in ["ann", name] { try give(branch, to: name) } }
      try home.settle("ann", name, "di")
      #expect(try home.firstDifference("ann", name, "di") == nil)
      return
    }
    Issue.record("64 households, and no branches in this order of hashes")
  }

  @Test func `two copies of one device that call different changesets alike serve different snapshots (D4)`() throws {
    let copy = home.folder.appending(path: "copy.sqlite").path
    try Replica.copy(a.path, to: copy)
    let twin = try Replica(path: copy, cryptography: OpenSSLCryptography(), signer: a.key)
    let access = try RecordAccess(path: copy, readOnly: false, cryptography: OpenSSLCryptography())
    defer {
      access.close()
      twin.close()
    }
    let before = try #require(try twin.openSnapshot(resuming: nil))
    twin.closeSnapshot(before.id)
    #expect(before.id == offer.id)
    #expect(try a.replica.openSnapshot(resuming: before.id)?.resumes == true)

    _ = try access.put(a.type("category"), "c-one", [(name: "note", value: .text("of the copy"))])
    try twin.seal(now: a.now)
    try a.put("category", "c-one", [("note", .text("of the original"))])
    try a.seal()
    #expect(try twin.vectors().applied == a.replica.vectors().applied)
    let theirs = try #require(try twin.openSnapshot(resuming: nil))
    let ours = try #require(try a.replica.openSnapshot(resuming: theirs.id))
    #expect(!ours.resumes)
    #expect(ours.id != theirs.id)
  }
}
