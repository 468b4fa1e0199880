import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Admission: what its author had no right to write does not count, whoever heard of it first (design 2.6, D5)")
struct AdmissionTests {
  private func note(_ device: TestHousehold.Device, _ id: String = "c1") throws -> String? {
    try device.fields("category", id)?["note"]?.text
  }

  @Test func `a demoted member's late edit leaves the tables of who had it and of its author (F5)`() throws {
    let home = try TestHousehold("ann", "bo", "cy", "di")
    try home["ann"].put("category", "c1", [("note", .text("by ann"))])
    try home.settle("ann", "bo", "cy", "di")
    try home["cy"].put("category", "c1", [("note", .text("by cy"))])
    try home["cy"].put("category", "c2", [("name", .text("made by cy"))])
    try home.pull("di", from: "cy")
    #expect(try note(home["di"]) == "by cy")

    try home.setRole("cy", .readOnly, by: "ann")
    try home.settle("ann", "bo", "cy", "di")

    #expect(try home.firstDifference("ann", "bo", "cy", "di") == nil)
    for device in home.devices {
      #expect(try note(device) == "by ann", "\(device.name)")
      #expect(try device.fields("category", "c2") == nil, "\(device.name)")
      let rejected = try device.access.rejected()
      #expect(rejected.flatMap(\.edits).map(\.id).sorted() == ["c1", "c2"], "\(device.name)")
      #expect(rejected.allSatisfy { $0.isOwn == (device.name == "cy") && $0.author.member == "cy" })
    }
  }

  @Test func `whoever heard of the demotion first and whoever had the edit first come to the same (F5)`() throws {
    let home = try TestHousehold("ann", "bo", "cy")
    try home["ann"].put("category", "c1", [("note", .text("by ann"))])
    try home.settle("ann", "bo", "cy")
    try home["cy"].put("category", "c1", [("note", .text("late"))])
    try home["cy"].seal()

    try home.setRole("cy", .readOnly, by: "ann")
    try home.tell("bo", from: "ann")
    try home.pull(home["bo"], from: home["cy"])

    #expect(try note(home["bo"]) == "by ann")
    #expect(try home["bo"].access.rejected().count == 1)
    try home.settle("ann", "bo", "cy")
    #expect(try home.firstDifference("ann", "bo", "cy") == nil)
  }

  /// Everyone has what ed wrote first; ann and di, not bo, who is an owner too, and cy, what he wrote then.
  private func secondEditOfEd() throws -> TestHousehold {
    let home = try TestHousehold("ann", "bo", "cy", "di", "ed")
    try home.makeOwner("bo", by: "ann")
    try home["ed"].put("category", "c1", [("note", .text("ed 1"))])
    try home.settle("ann", "bo", "cy", "di", "ed")
    try home["ed"].put("category", "c1", [("note", .text("ed 2"))])
    try home.pull("ann", from: "ed")
    try home.pull("di", from: "ed")
    return home
  }

  @Test func `a write that comes back when the cutoff rises is concurrent with what was written meanwhile (F6)`() throws
  {
    let home = try secondEditOfEd()
    try home["di"].put("category", "c2", [("name", .text("has seen ed 2"))])

    try home.remove("ed", by: "bo")
    try home.pull("cy", from: "bo")
    try home.tell("di", from: "bo")
    try home.pull("cy", from: "di")
    #expect(try home["cy"].fields("category", "c2") != nil, "di's edit does not wait for what is rejected")
    #expect(try note(home["cy"]) == "ed 1")
    try home["cy"].put("category", "c1", [("note", .text("cy"))])
    try home["cy"].seal()
    try home.setRole("ed", .readOnly, by: "ann")
    try home.settle("ann", "bo", "cy", "di")

    #expect(try home.firstDifference("ann", "bo", "cy", "di") == nil)
    let conflicts = try home["cy"].access.conflicts(includingClosed: false)
    #expect(conflicts.count == 1, "ed 2 counts again, and cy had not seen it")
  }

  @Test
  func `a write that comes back is what it would be had it come in time, also where its displacer is displaced (F6)`()
    throws
  {
    let home = try secondEditOfEd()
    try home["di"].put("category", "c1", [("note", .text("di has seen ed 2"))])
    try home.remove("ed", by: "bo")
    try home.pull("cy", from: "bo")
    try home.tell("di", from: "bo")
    try home.pull("cy", from: "di")
    try home["cy"].put("category", "c1", [("note", .text("cy has seen di's"))])
    try home["cy"].seal()

    try home.setRole("ed", .readOnly, by: "ann")
    try home.settle("ann", "bo", "cy", "di")

    #expect(try note(home["cy"]) == "cy has seen di's")
    for device in home.devices.dropLast() {
      #expect(try device.access.conflicts(includingClosed: false).isEmpty, "\(device.name)")
    }
    #expect(try home.firstDifference("ann", "bo", "cy", "di") == nil)
  }

  @Test func `of two owners who remove each other the older stays (F12)`() throws {
    let home = try TestHousehold("ann", "bo", "cy")
    try home.makeOwner("bo", by: "ann")
    try home["ann"].put("category", "c1", [("note", .text("by ann"))])
    try home.settle("ann", "bo", "cy")

    try home.remove("ann", by: "bo")
    try home["ann"].put("category", "c1", [("note", .text("ann, removed by bo"))])
    try home["ann"].seal()
    try home.pull("cy", from: "bo")
    try home.pull(home["cy"], from: home["ann"])
    #expect(try note(home["cy"]) == "by ann", "cy knows only bo's word")
    try home.remove("bo", by: "ann")
    try home["bo"].put("category", "c3", [("name", .text("bo, removed by ann"))])
    try home["bo"].seal()
    try home.pull(home["cy"], from: home["bo"])
    try home.settle("ann", "cy")
    try home.tell("bo", from: "ann")

    let membership = try home["cy"].replica.membership()
    #expect(membership.members[home.member("ann")]?.state == .active)
    #expect(membership.members[home.member("bo")]?.state == .removed)
    #expect(try note(home["cy"]) == "ann, removed by bo")
    #expect(try home["cy"].fields("category", "c3") == nil)
    #expect(try home.firstDifference("ann", "cy") == nil)
    #expect(try home["bo"].fields("category", "c3") != nil, "who is removed keeps what he had")
  }

  @Test func `a cutoff that reaches into a snapshot takes nothing that was received (F3, R3)`() throws {
    let home = try TestHousehold("ann", "bo", "cy")
    try home["bo"].put("category", "c1", [("note", .text("x"))])
    try home.settle("ann", "bo", "cy")
    try home["cy"].put("category", "c1", [("note", .text("by cy"))])
    try home["cy"].put("category", "c2", [("name", .text("by cy"))])
    try home["cy"].seal()
    try home.add("di", needsSnapshot: true)
    try home.adoptSnapshot("di", from: "cy")
    #expect(try note(home["di"]) == "by cy")
    let received = try home["di"].replica.vectors().received

    try home.remove("cy", by: "ann")
    try home.tell("di", from: "ann")

    #expect(try !home["di"].replica.needsSnapshot)
    #expect(try home["di"].replica.vectors().received == received)
    #expect(try home["di"].fields("category", "c2") == nil)
    #expect(try note(home["di"]) == "x")
    try home.settle("ann", "bo", "di")
    #expect(try home.firstDifference("ann", "bo", "di") == nil)
    for name in ["ann", "bo", "di"] {
      let edits = try home[name].access.rejected().flatMap(\.edits)
      #expect(edits.map { "\($0.kind) \($0.id)" }.sorted() == ["insert c2", "update c1"], "\(name)")
    }
    for change in try home["ann"].access.rejected() { #expect(try home["ann"].access.adopt(change.id).isEmpty) }
    try home.settle("ann", "bo", "di")
    #expect(try note(home["di"]) == "by cy")
    #expect(try home["di"].fields("category", "c2")?["name"] == .text("by cy"))
    #expect(try home["ann"].access.rejected().isEmpty)
  }

  /// An owner knows less of cy than di has by snapshot; another one, who knows all of it, removes cy at the same time.
  @Test func `what a cutoff takes of a snapshot comes back everywhere when a greater one is heard of (F3, F6)`() throws
  {
    let home = try TestHousehold("ann", "bo", "cy", "ed")
    try home.makeOwner("bo", by: "ann")
    try home["bo"].put("category", "c1", [("note", .text("x"))])
    try home.settle("ann", "bo", "cy", "ed")
    try home["cy"].put("category", "c1", [("note", .text("by cy"))])
    try home["cy"].put("category", "c2", [("name", .text("by cy"))])
    try home["cy"].seal()
    try home.pull("ann", from: "cy")
    try home.add("di", needsSnapshot: true)
    try home.adoptSnapshot("di", from: "cy")

    try home.remove("cy", by: "bo")
    try home.tell("di", from: "bo")
    try home["di"].restart()
    try home.pull("ed", from: "di")
    for name in ["di", "ed"] { #expect(try note(home[name]) == "x", "\(name)") }
    try home.remove("cy", by: "ann")
    for name in ["di", "ed"] { try home.tell(name, from: "ann") }

    for name in ["di", "ed"] {
      #expect(try note(home[name]) == "by cy", "\(name)")
      #expect(try home[name].fields("category", "c2") != nil, "\(name)")
    }
    try home.settle("ann", "bo", "di", "ed")
    #expect(try home.firstDifference("ann", "bo", "di", "ed") == nil)
  }

  @Test func `an edit on top of what a replica wrote that nobody else ever heard of waits nowhere for it (D2)`() throws
  {
    let home = try TestHousehold("ann", "bo", "cy")
    try home["ann"].put("category", "c1", [("note", .text("by ann"))])
    try home.pull("cy", from: "ann")
    try home["cy"].put("category", "c1", [("note", .text("by cy"))])
    try home["cy"].seal()
    try home.add("di", needsSnapshot: true)
    try home.adoptSnapshot("di", from: "cy")
    try home["di"].put("category", "c2", [("name", .text("has seen it"))])
    try home["di"].seal()

    try home.remove("cy", by: "ann")
    try home.tell("di", from: "ann")
    try home.pull("ann", from: "di")
    try home.pull("bo", from: "ann")

    for name in ["ann", "bo"] { #expect(try home[name].fields("category", "c2") != nil, "\(name)") }
    try home.settle("ann", "bo", "di")
    #expect(try note(home["bo"]) == "by ann")
    #expect(try home.firstDifference("ann", "bo", "di") == nil)
  }

  @Test func `an edit on top of what a snapshot brought and a cutoff took waits nowhere for it (D2, D5)`() throws {
    let home = try TestHousehold("ann", "cy")
    try home["cy"].put("category", "c1", [("note", .text("known to all"))])
    try home.settle("ann", "cy")
    try home["cy"].put("category", "c1", [("note", .text("known to cy and di"))])
    try home["cy"].seal()
    try home.add("di", needsSnapshot: true)
    try home.adoptSnapshot("di", from: "cy")
    try home["di"].put("category", "c2", [("name", .text("has seen it"))])
    try home["di"].seal()

    try home.remove("cy", by: "ann")
    try home.tell("di", from: "ann")
    try home.pull("ann", from: "di")

    #expect(try home["ann"].fields("category", "c2") != nil)
    #expect(try note(home["ann"]) == "known to all")
    try home.pull("di", from: "ann")
    #expect(try home.firstDifference("ann", "di") == nil)
  }

  @Test func `an edit waits for what counts of a removed member, also when it has seen more than counts (D2)`() throws {
    let home = try TestHousehold("ann", "bo", "cy", "di")
    try home["cy"].put("category", "c1", [("note", .text("first"))])
    try home.settle("ann", "bo", "cy", "di")
    try home["cy"].put("category", "c1", [("note", .text("counts"))])
    try home.pull("ann", from: "cy")
    try home["cy"].put("category", "c1", [("note", .text("late"))])
    try home.pull("bo", from: "cy")
    try home["bo"].put("category", "c2", [("name", .text("has seen both"))])
    try home["bo"].seal()
    try home.remove("cy", by: "ann")
    try home.tell("di", from: "ann")
    let log = try home["bo"].replica.log(after: .start, skipping: VersionVector(), limitBytes: .max).changesets
    let edit = try #require(log.last { $0.isOwn })

    let alone = try home["di"].replica.receive(
      [edit.packed], from: home["bo"].key.device, token: nil, now: home["di"].now)

    #expect(alone.stored == 1 && alone.applied == 0)
    try home.pull("di", from: "ann")
    #expect(try note(home["di"]) == "counts")
    #expect(try home["di"].fields("category", "c2") != nil)
  }

  @Test func `who may write again does so under a new replica id, and all of it counts`() throws {
    let home = try TestHousehold("ann", "bo")
    try home["bo"].put("category", "c1", [("note", .text("before"))])
    try home.settle("ann", "bo")
    let first = home["bo"].replica.replica
    try home.setRole("bo", .readOnly, by: "ann")
    try home.settle("ann", "bo")

    try home.setRole("bo", .member, by: "ann")
    try home.settle("ann", "bo")
    try home["bo"].put("category", "c1", [("note", .text("after"))])
    try home.settle("ann", "bo")

    #expect(home["bo"].replica.replica != first)
    #expect(try note(home["ann"]) == "after")
    try home["bo"].restart()
    #expect(home["bo"].replica.replica != first)
    #expect(try home.firstDifference("ann", "bo") == nil)
  }

  @Test func `a device that has not heard cannot bring a removed member's writes back`() throws {
    let home = try TestHousehold("ann", "bo", "cy")
    try home.settle("ann", "bo", "cy")
    try home.remove("cy", by: "ann")
    try home["cy"].put("category", "c1", [("name", .text("late"))])
    try home.pull("bo", from: "cy")
    #expect(try home["bo"].fields("category", "c1") != nil)

    try home.settle("ann", "bo")

    for name in ["ann", "bo"] {
      #expect(try home[name].fields("category", "c1") == nil, "\(name)")
      #expect(try home[name].replica.membership().members[home.member("cy")]?.state == .removed, "\(name)")
    }
    #expect(try home.firstDifference("ann", "bo") == nil)
  }

  @Test func `an owner adopts what was rejected, and then it counts for everyone`() throws {
    let home = try TestHousehold("ann", "bo", "cy")
    try home["ann"].put("category", "c1", [("name", .text("Pets")), ("note", .text("dog"))])
    try home["ann"].put("category", "c2", [("name", .text("Old"))])
    try home.settle("ann", "bo", "cy")
    try home["cy"].put("category", "c1", [("note", .text("cat"))])
    try home["cy"].delete("category", "c2")
    try home["cy"].put("category", "c3", [("name", .text("New"))])
    try home.pull("bo", from: "cy")
    try home.remove("cy", by: "ann")
    try home.settle("ann", "bo")
    #expect(try note(home["ann"]) == "dog")

    let rejected = try home["ann"].access.rejected()
    #expect(throws: ReplicaError.self) { try home["bo"].access.adopt(rejected[0].id) }
    let reader = try RecordAccess(path: home["ann"].path, readOnly: false, cryptography: OpenSSLCryptography())
    defer { reader.close() }
    for change in rejected { #expect(try reader.adopt(change.id).isEmpty) }
    try home.settle("ann", "bo")

    #expect(try note(home["bo"]) == "cat")
    #expect(try home["bo"].fields("category", "c2") == nil)
    #expect(try home["bo"].fields("category", "c3")?["name"] == .text("New"))
    #expect(try reader.rejected().isEmpty)
    #expect(try home.firstDifference("ann", "bo") == nil)
  }

  @Test func `the history and the conflicts of what was rejected go with it`() throws {
    let home = try TestHousehold("ann", "bo", "cy")
    try home["ann"].put("category", "c1", [("note", .text("1"))])
    try home.settle("ann", "bo", "cy")
    try home["bo"].put("category", "c1", [("note", .text("bo"))])
    try home["cy"].put("category", "c1", [("note", .text("cy"))])
    try home.settle("ann", "bo", "cy")
    #expect(try home["ann"].access.conflicts(includingClosed: false).count == 1)

    // As if ann had not had it: a cutoff at nothing.
    _ = try home["ann"].replica.state(
      .removal(.init(subject: .member(home.member("cy")), reason: .removed, cutoffs: [])), at: home["ann"].now)
    try home.settle("ann", "bo")

    #expect(try note(home["ann"]) == "bo")
    #expect(try home["ann"].access.conflicts(includingClosed: true).isEmpty)
    var authors: Set<String> = []
    try home["ann"].access.history(nil) { authors.insert($0.author.member ?? "?") }
    #expect(authors == ["ann", "bo"])
    #expect(try home.firstDifference("ann", "bo") == nil)
  }
}
