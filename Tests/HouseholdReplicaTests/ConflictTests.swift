import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Conflicts: kept, listed the same everywhere, decided by new edits")
struct ConflictTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device

  init() throws {
    home = try TestHousehold("alex", "sam")
    a = home["alex"]
    b = home["sam"]
    try a.put("category", "c1", [("name", .text("Pets")), ("note", .text("dog"))])
    try home.sync("alex", "sam")
  }

  /// Both edit the note without having seen each other's.
  func disagree() throws {
    try a.put("category", "c1", [("note", .text("from alex"))])
    try b.put("category", "c1", [("note", .text("from sam"))])
    try home.sync("alex", "sam")
  }

  func open(_ device: TestHousehold.Device) throws -> [ShownConflict] {
    try device.access.conflicts(includingClosed: false)
  }

  @Test func `the edit that lost is listed on both devices under one name`() throws {
    try disagree()

    let (here, there) = (try open(a), try open(b))
    #expect(here.count == 1)
    #expect(here == there)
    let kept = try #require(try a.fields("category", "c1")?["note"]?.text)
    #expect(here[0].kept.object == #"{"note":"\#(kept)"}"#)
    #expect(Set([here[0].kept.author?.member, here[0].lost.author?.member]) == ["alex", "sam"])
  }

  @Test func `edits one after another are never listed`() throws {
    for round in 0..<3 {
      try a.put("category", "c1", [("note", .text("alex \(round)"))])
      try home.sync("alex", "sam")
      try b.put("category", "c1", [("note", .text("sam \(round)"))])
      try home.sync("alex", "sam")
    }

    #expect(try open(a).isEmpty)
    #expect(try open(b).isEmpty)
  }

  @Test func `equal values of two people are no conflict`() throws {
    try a.put("category", "c1", [("note", .text("same"))])
    try b.put("category", "c1", [("note", .text("same"))])
    try home.sync("alex", "sam")

    #expect(try open(a).isEmpty)
  }

  @Test(arguments: ["mine", "theirs", "another"])
  func `a decision closes it for everyone`(side: String) throws {
    try disagree()
    let name = try #require(try open(a).first?.conflict)

    let choice: ConflictChoice = side == "mine" ? .mine : side == "theirs" ? .theirs : .value(.text("both"))
    try a.replica.resolve(name, choice, now: a.now)
    try home.sync("alex", "sam")

    let due = ["mine": "from alex", "theirs": "from sam", "another": "both"][side]!
    for device in [a, b] {
      #expect(try device.fields("category", "c1")?["note"] == .text(due))
      #expect(try open(device).isEmpty)
      #expect(try device.access.conflicts(includingClosed: true).map(\.isOpen) == [false])
    }
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `an edit that lost against a deletion can be taken, and brings the whole record back`() throws {
    try a.delete("category", "c1")
    try b.put("category", "c1", [("note", .text("cat"))])
    try home.sync("alex", "sam")
    let conflict = try #require(try open(b).first)
    #expect(conflict.kept.object == nil)
    #expect(try open(a) == open(b))

    try b.replica.resolve(conflict.conflict, .mine, now: b.now)
    try home.sync("alex", "sam")

    #expect(try a.fields("category", "c1") == ["name": .text("Pets"), "note": .text("cat"), "sort": .null])
    #expect(try open(a).isEmpty)
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `a deletion can be confirmed, though the row is gone`() throws {
    try a.delete("category", "c1")
    try b.put("category", "c1", [("note", .text("cat"))])
    try home.sync("alex", "sam")
    let name = try #require(try open(a).first?.conflict)

    try a.replica.resolve(name, .mine, now: a.now)
    try home.sync("alex", "sam")

    for device in [a, b] {
      #expect(try device.fields("category", "c1") == nil)
      #expect(try open(device).isEmpty)
    }
  }

  @Test func `a deleted record is restored with all fields, by whoever asks`() throws {
    try a.delete("category", "c1")
    try home.sync("alex", "sam")

    try b.replica.restore(RecordKey(type: "category", id: "c1"), now: b.now)
    try home.sync("alex", "sam")

    #expect(try a.fields("category", "c1") == ["name": .text("Pets"), "note": .text("dog"), "sort": .null])
    #expect(throws: ReplicaError.self) {
      try b.replica.restore(RecordKey(type: "category", id: "c1"), now: b.now)
    }
  }

  @Test func `history tells from which value, on the device that wrote too, and one change is undone alone`() throws {
    try b.put("category", "c1", [("note", .text("cat"))])
    try home.sync("alex", "sam")
    try a.put("category", "c1", [("name", .text("Animals"))])
    try home.sync("alex", "sam")

    var shown: [[ShownChange]] = []
    for device in [a, b] {
      var changes: [ShownChange] = []
      try device.access.history(RecordKey(type: "category", id: "c1")) { changes.append($0) }
      shown.append(changes)
    }
    #expect(shown[0] == shown[1])
    let change = try #require(shown[0].first { $0.field == "note" })
    #expect(change.from == .text("dog"))
    #expect(change.to == .text("cat"))
    #expect((change.author.member, change.author.device) == ("sam", "sam-laptop"))

    try a.replica.revert(change.change, now: a.now)
    try home.sync("alex", "sam")
    #expect(try b.fields("category", "c1") == ["name": .text("Animals"), "note": .text("dog"), "sort": .null])
    #expect(try open(a).isEmpty)
  }

  @Test func `what a decision or an undoing writes over is known on both devices, and comes back`() throws {
    try disagree()
    let shown = try #require(try a.fields("category", "c1")?["note"])
    func changes(_ device: TestHousehold.Device) throws -> [ShownChange] {
      var changes: [ShownChange] = []
      try device.access.history(RecordKey(type: "category", id: "c1")) { changes.append($0) }
      return changes.filter { $0.field == "note" }
    }
    func change(to value: String) throws -> ShownChange {
      let (here, there) = (try changes(a), try changes(b))
      #expect(here.last == there.last)
      return try #require(here.last { $0.to == .text(value) })
    }

    try a.replica.resolve(try #require(try open(a).first?.conflict), .value(.text("both")), now: a.now)
    try home.sync("alex", "sam")
    #expect(try change(to: "both").from == shown)
    try b.put("category", "c1", [("note", .text("neither"))])
    try home.sync("alex", "sam")
    try a.replica.revert(try change(to: "neither").change, now: a.now)
    try home.sync("alex", "sam")
    #expect(try change(to: "both").from == .text("neither"))

    // A decision that its author had no right to make.
    try b.put("category", "c1", [("note", .text("by sam"))])
    try a.put("category", "c1", [("note", .text("by alex"))])
    try home.sync("alex", "sam")
    let before = try b.replica.state(of: RecordKey(type: "category", id: "c1"))
    let kim = try home.add("kim", needsSnapshot: true)
    try home.adoptSnapshot("kim", from: "alex")
    try kim.replica.resolve(try #require(try open(kim).first?.conflict), .value(.text("by kim")), now: kim.now)
    try kim.seal()
    try home.setRole("kim", .readOnly, by: "alex")
    try home.tell("kim", from: "alex")
    #expect(try kim.replica.state(of: RecordKey(type: "category", id: "c1")) == before)
    #expect(try kim.fields("category", "c1")?["note"] == b.fields("category", "c1")?["note"])
  }

  @Test func `a snapshot brings open conflicts along`() throws {
    try disagree()
    let c = try home.add("kim", needsSnapshot: true)
    let offer = try #require(try a.replica.openSnapshot(resuming: nil))
    var cursor: [UInt8] = []
    while true {
      let page = try a.replica.snapshotPage(offer.id, after: cursor)
      try c.replica.stage(page, of: offer.id)
      cursor = page.cursor
      if page.isLast { break }
    }
    a.replica.closeSnapshot(offer.id)
    try c.replica.adoptSnapshot(
      offer.id, from: a.key.device, token: ChangeToken(incarnation: a.replica.incarnation, position: offer.position),
      now: c.now)

    #expect(try open(c).map(\.conflict) == open(a).map(\.conflict))
    #expect(try home.difference("alex", "kim") == nil)
  }
}
