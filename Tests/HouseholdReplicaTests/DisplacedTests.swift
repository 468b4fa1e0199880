import Foundation
import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Displaced writes: what a write took the place of comes back when that write does not count (D3)")
struct DisplacedTests {
  let home: TestHousehold

  /// Bo writes a note, and Cy writes over it; Ann has heard of Bo's note only.
  init() throws {
    home = try TestHousehold("ann", "bo", "cy")
    // Edits carry the time of this machine.
    let now = Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    for device in home.devices { device.now = now }
    try home["bo"].put("category", "c1", [("note", .text("x"))])
    try home.settle("ann", "bo", "cy")
    try home["cy"].put("category", "c1", [("note", .text("by cy"))])
    try home["cy"].seal()
  }

  private func note(_ name: String, _ id: String = "c1") throws -> String? {
    try home[name].fields("category", id)?["note"]?.text
  }

  private func joinFromSnapshot(_ name: String, of server: String) throws {
    let device = try home.add(name, needsSnapshot: true)
    device.now = home[server].now
    try home.adoptSnapshot(name, from: server)
  }

  /// How many pages a snapshot has: one for the replicas, one for few records, and one for few displaced writes.
  private func pages(of name: String) throws -> Int {
    let server = home[name].replica
    server.lastNow = home[name].now
    let offer = try #require(try server.openSnapshot(resuming: nil))
    defer { server.closeSnapshot(offer.id) }
    var (count, cursor, isLast) = (0, [UInt8](), false)
    while !isLast {
      let page = try server.snapshotPage(offer.id, after: cursor)
      (count, cursor, isLast) = (count + 1, page.cursor, page.isLast)
    }
    return count
  }

  /// Two days go by, and each confirms what it has applied.
  private func confirmAll(_ names: String...) throws {
    for name in names {
      home[name].now = home[name].now.advanced(byMilliseconds: 2 * Replica.confirmationPause)
      _ = try home[name].replica.confirm(now: home[name].now)
    }
  }

  private func letAMonthGoBy() {
    for device in home.devices {
      device.now = device.now.advanced(byMilliseconds: Int64(Limits.copyRestMilliseconds) + 60_000)
      device.replica.lastNow = device.now
    }
  }

  @Test func `what was displaced before the snapshot comes back from the snapshot alone (F3)`() throws {
    try joinFromSnapshot("di", of: "cy")
    #expect(try note("di") == "by cy")

    try home.remove("cy", by: "ann")
    try home.tell("di", from: "ann")

    #expect(try note("di") == "x", "nobody was asked for it")
    try home.settle("ann", "bo", "di")
    #expect(try note("di") == "x")
    #expect(try home.firstDifference("ann", "bo", "di") == nil)
  }

  @Test func `what came by snapshot and was displaced after it comes back (F3)`() throws {
    try joinFromSnapshot("di", of: "bo")
    #expect(try note("di") == "x")
    try home.pull("di", from: "cy")
    #expect(try note("di") == "by cy")

    try home.remove("cy", by: "ann")
    try home.tell("di", from: "ann")

    #expect(try note("di") == "x")
    try home.settle("ann", "bo", "di")
    #expect(try home.firstDifference("ann", "bo", "di") == nil)
  }

  @Test func `it goes on from snapshot to snapshot, with what was written over it since (F3)`() throws {
    try home["cy"].put("category", "c1", [("note", .text("by cy again"))])
    try home["cy"].seal()
    try joinFromSnapshot("di", of: "cy")
    try home["di"].put("category", "c1", [("name", .text("by di"))])
    try home["di"].seal()
    try joinFromSnapshot("ed", of: "di")
    try home["ed"].restart()

    try home.remove("cy", by: "ann")
    try home.tell("ed", from: "ann")

    #expect(try note("ed") == "x")
    #expect(try home["ed"].fields("category", "c1")?["name"]?.text == "by di")
  }

  @Test func `a deletion and a new life that do not count leave the record as it was (F3)`() throws {
    try home["cy"].delete("category", "c1")
    try home["cy"].seal()
    try home["cy"].put("category", "c1", [("name", .text("new life"))])
    try home["cy"].seal()
    try joinFromSnapshot("di", of: "cy")
    #expect(try note("di") == nil)

    try home.remove("cy", by: "ann")
    try home.tell("di", from: "ann")

    #expect(try note("di") == "x")
    #expect(try home["di"].fields("category", "c1")?["name"] == .null)
  }

  @Test func `what was compacted and is displaced afterwards comes back (P18, F3)`() throws {
    try home["ann"].put("category", "c2", [("note", .text("old"))])
    try home.settle("ann", "bo", "cy")
    try confirmAll("ann", "bo", "cy")
    try home.settle("ann", "bo", "cy")
    #expect(try home["bo"].replica.compact(keepMilliseconds: 0, now: home["bo"].now).changesets > 0)
    try home["cy"].put("category", "c2", [("note", .text("late"))])
    try home.pull("bo", from: "cy")
    #expect(try note("bo", "c2") == "late")

    try home.remove("cy", by: "ann")
    try home.settle("ann", "bo")

    #expect(try note("bo", "c2") == "old")
    #expect(try note("bo") == "by cy", "that was confirmed")
    #expect(try home.firstDifference("ann", "bo") == nil)
  }

  @Test func `compaction leaves what a write displaced that not everyone has confirmed (P18, F3)`() throws {
    try home["bo"].put("category", "c2", [("note", .text("old"))])
    try home.settle("ann", "bo", "cy")
    try confirmAll("ann", "bo", "cy")
    try home.settle("ann", "bo", "cy")
    // Ann has not confirmed what bo and cy go on with.
    try home["cy"].put("category", "c2", [("note", .text("late"))])
    try home.pull("bo", from: "cy")
    #expect(try home["bo"].replica.compact(keepMilliseconds: 0, now: home["bo"].now).changesets > 0)

    try home.remove("cy", by: "ann")
    try home.settle("ann", "bo")

    #expect(try note("bo", "c2") == "old")
    #expect(try home.firstDifference("ann", "bo") == nil)
  }

  @Test func `once every active device has confirmed what displaced it, it is kept and sent no longer (P18)`() throws {
    try home.settle("ann", "bo", "cy")
    #expect(try pages(of: "ann") == 3)
    try confirmAll("ann")
    try home.settle("ann", "bo", "cy")
    #expect(try pages(of: "cy") == 3, "bo has confirmed nothing")

    try confirmAll("bo")
    try home.settle("ann", "bo", "cy")
    #expect(try pages(of: "cy") == 3, "one of them may be put back to a copy from before")

    letAMonthGoBy()
    #expect(try pages(of: "cy") == 2)
    try home["bo"].replica.forgetDisplaced()
    #expect(try pages(of: "bo") == 2)
  }

  @Test func `what one copy of a device has confirmed, the other may still say does not count`() throws {
    try home["ann"].put("category", "c2", [("note", .text("ann's"))])
    try home.settle("ann", "bo", "cy")
    try home["cy"].put("category", "c1", [("note", .text("by cy again"))])
    try home["cy"].seal()
    try joinFromSnapshot("di", of: "cy")
    // Ann's directory is copied to another machine, and goes on there too.
    let copy = try home.copy("ann", as: "ann elsewhere")
    try copy.replica.mint(.cloned, now: copy.now)
    try home.settle("ann elsewhere", "bo", "cy", "di")
    try confirmAll("ann elsewhere", "bo", "cy")
    try home.settle("ann elsewhere", "bo", "cy", "di")
    home["di"].replica.lastNow = home["bo"].now
    try home["di"].replica.forgetDisplaced()

    try home.remove("cy", by: "ann")
    try home.tell("di", from: "ann")

    #expect(try note("di") == "by cy", "the last that ann has heard of him")
    try home.settle("ann", "bo", "di")
    #expect(try home.firstDifference("ann", "bo", "di") == nil)
  }

  @Test func `a copy that was put back and wrote no more for a month is waited for no longer`() throws {
    try home["ann"].put("category", "c2", [("note", .text("ann's"))])
    try home.settle("ann", "bo", "cy")
    try home["ann"].replica.mint(.restored, now: home["ann"].now)
    try confirmAll("ann", "bo")
    try home.settle("ann", "bo", "cy")
    #expect(try pages(of: "cy") == 3, "the old one may be in use")

    letAMonthGoBy()
    #expect(try pages(of: "cy") == 2)
  }

  @Test func `whoever is alone keeps nothing of it`() throws {
    let alone = try TestHousehold("ann")
    for text in ["1", "2", "3"] {
      try alone["ann"].put("category", "c1", [("note", .text(text))])
      try alone["ann"].seal()
    }

    let offer = try #require(try alone["ann"].replica.openSnapshot(resuming: nil))
    let first = try alone["ann"].replica.snapshotPage(offer.id, after: [])

    #expect(try alone["ann"].replica.snapshotPage(offer.id, after: first.cursor).isLast)
  }

  @Test func `many writes of one record go over many pages, and a snapshot goes on after any of them (R8)`() throws {
    let long = String(repeating: "a note that fills pages ", count: 4000)
    for number in 0..<8 {
      try home["cy"].put("category", "c1", [("note", .text("\(number) \(long)"))])
      try home["cy"].seal()
    }
    let server = home["cy"].replica
    let offer = try #require(try server.openSnapshot(resuming: nil))
    try #require(try pages(of: "cy") > 4)
    let joiner = try home.add("di", needsSnapshot: true)
    var (cursor, isLast) = ([UInt8](), false)
    while !isLast {
      let page = try server.snapshotPage(offer.id, after: cursor)
      try joiner.replica.stage(page, of: offer.id)
      (cursor, isLast) = (page.cursor, page.isLast)
    }
    try joiner.replica.adoptSnapshot(
      offer.id, from: home["cy"].key.device,
      token: ChangeToken(incarnation: server.incarnation, position: offer.position), now: joiner.now)

    // Ann has cy's changesets but for the last five.
    let known = try home["cy"].replica.log(after: .start, skipping: .init(), limitBytes: .max).changesets
    let own = known.filter { $0.name.replica == server.replica }
    _ = try home["ann"].replica.receive(
      own.dropLast(5).map(\.packed), from: home["cy"].key.device, token: nil, now: home["ann"].now)
    #expect(try note("ann") == "2 \(long)")
    try home.remove("cy", by: "ann")
    try home.tell("di", from: "ann")

    #expect(try note("di") == "2 \(long)")
    #expect(try home.difference("ann", "di") == nil)
  }

  @Test func `a new life that does not count does not bring half of what was collected back (P18, F9)`() throws {
    try home["ann"].put("category", "c3", [("note", .text("gone"))])
    try home["ann"].seal()
    try home["ann"].delete("category", "c3")
    try home.settle("ann", "bo", "cy")
    try confirmAll("ann", "bo", "cy")
    try home.settle("ann", "bo", "cy")
    #expect(try home["bo"].replica.compact(keepMilliseconds: 0, now: home["bo"].now).emptied == ["category": 1])
    try home["cy"].put("category", "c3", [("name", .text("anew"))])
    try home.pull("bo", from: "cy")
    #expect(try home["bo"].fields("category", "c3") != nil)

    try home.remove("cy", by: "ann")
    try home.settle("ann", "bo")

    #expect(try home["bo"].fields("category", "c3") == nil)
    let key = RecordKey(type: "category", id: "c3")
    #expect(try home["bo"].replica.state(of: key)?.isEmptied == true)
    #expect(throws: ReplicaError.self) { try home["bo"].replica.restore(key, now: home["bo"].now) }
  }

  @Test func `what several edits of a device that began with a snapshot displaced comes back (F3)`() throws {
    try joinFromSnapshot("di", of: "bo")
    try home["di"].put("category", "c1", [("note", .text("di"))])
    // A pause, so that the two are sealed one by one, the first without what the second changes anyway.
    try home["di"].access.execute("UPDATE sync_outbox SET at = at - 5000")
    try home["di"].put("category", "c1", [("note", .text("di again"))])
    try home["di"].seal()

    try home.setRole("di", .readOnly, by: "ann")
    try home.tell("di", from: "ann")

    #expect(try note("di") == "x")
  }

  @Test(arguments: [false, true])
  func `what is taken away by UPDATE OR REPLACE of another record's id comes back (F3)`(recursive: Bool) throws {
    try home["bo"].put("category", "c2", [("note", .text("y"))])
    try joinFromSnapshot("di", of: "bo")
    if recursive { try home["di"].access.execute("PRAGMA recursive_triggers = ON") }
    try home["di"].access.execute("UPDATE OR REPLACE category SET id = 'c1' WHERE id = 'c2'")
    try home["di"].access.execute("UPDATE OR IGNORE category SET note = 'z', id = 'c1' WHERE id = 'c1'")
    try home["di"].seal()
    #expect(try note("di") == "z")
    #expect(try note("di", "c2") == nil)

    try home.setRole("di", .readOnly, by: "ann")
    try home.tell("di", from: "ann")

    #expect(try note("di") == "x")
    #expect(try note("di", "c2") == "y")
  }

  @Test func `a file of before keeps them from when it is opened`() throws {
    try home["bo"].access.execute("DROP TABLE sync_displaced; PRAGMA user_version = 1")
    try home["bo"].restart()
    try home.pull("bo", from: "cy")
    try joinFromSnapshot("di", of: "bo")

    try home.remove("cy", by: "ann")
    try home.tell("di", from: "ann")

    #expect(try note("di") == "x")
  }

  @Test func `what counts again displaces again`() throws {
    try home.makeOwner("bo", by: "ann")
    try joinFromSnapshot("di", of: "bo")
    try home.pull("di", from: "cy")
    try home.pull("ann", from: "cy")
    try home.remove("cy", by: "bo")
    try home.tell("di", from: "bo")
    #expect(try note("di") == "x")

    // Ann, whose ownership is older, has cy's edit.
    try home.setRole("cy", .readOnly, by: "ann")
    try home.settle("ann", "bo", "di")

    #expect(try note("di") == "by cy")
    #expect(try home.firstDifference("ann", "bo", "di") == nil)
  }

  /// Ann wrote over bo's edit in a life that was before his, and her next life, of the same number, says nothing of the
  /// field: what says nothing takes the place of nobody's edit, though she had seen it.
  @Test(arguments: [("bo", "ann"), ("ann", "bo")])
  func `what one side displaced long ago does not come back with a snapshot (R5)`(adopter: String, server: String)
    throws
  {
    for edit in 0..<2 {
      if edit == 0 { try home["cy"].delete("category", "c1") }
      if edit == 1 { try home["cy"].put("category", "c1", [("name", .text("cy's"))]) }
      try home["cy"].seal()
    }
    try home.pull("bo", from: "cy")
    try home["bo"].put("category", "c1", [("note", .text("bo's"))])
    try home["bo"].seal()
    try home.remove("cy", by: "ann")
    try home.pull("ann", from: "bo")
    try home["ann"].put("category", "c1", [("note", .text("ann's"))])
    try home["ann"].seal()
    try home["ann"].delete("category", "c1")
    try home["ann"].seal()
    try home["ann"].put("category", "c1", [("name", .text("again"))])
    try home["ann"].seal()
    #expect(try note("ann") == nil)

    try home.tell("bo", from: "ann")
    try home.adoptSnapshot(adopter, from: server)
    try home.settle("ann", "bo")

    #expect(try home["bo"].fields("category", "c1")?["name"] == .text("again"))
    #expect(try note("bo") == nil)
    #expect(try home.firstDifference("ann", "bo") == nil)
  }
}
