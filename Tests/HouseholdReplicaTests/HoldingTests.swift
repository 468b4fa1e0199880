import HouseholdRecords
import HouseholdReplica
import Testing

@Suite("The brake on mass deletions: held until somebody decides, and the same everywhere afterwards")
struct HoldingTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device
  let c: TestHousehold.Device

  init() throws {
    home = try TestHousehold("alex", "sam", "kim")
    a = home["alex"]
    b = home["sam"]
    c = home["kim"]
    for number in 0..<100 { try a.put("category", "c\(number)", [("sort", .integer(Int64(number)))]) }
    try home.sync("alex", "sam")
    try home.sync("alex", "kim")
  }

  func delete(_ range: Range<Int>, at device: TestHousehold.Device) throws {
    try device.access.transaction {
      for number in range { _ = try device.access.delete(device.type("category"), "c\(number)") }
    }
    try device.seal()
  }

  func count(_ device: TestHousehold.Device) throws -> Int64 { try device.access.count(device.type("category")) }

  func decide(_ device: TestHousehold.Device, approving: Bool) throws {
    let held = try #require(try device.replica.heldChangesets().first)
    try device.replica.decide(held.name, approving: approving, now: device.now)
    try device.seal()
  }

  @Test func `a mass deletion by another member is stored, listed with what it deletes, and not applied`() throws {
    try delete(0..<40, at: b)
    try b.put("category", "later", [("note", .text("after it"))])
    try home.pull(a, from: b)

    #expect(try count(a) == 100)
    let held = try a.replica.heldChangesets()
    #expect(held.count == 1)
    #expect(held[0].deletions == ["category": 40])
    #expect(held[0].author.member == "sam")
    #expect(held[0].waiting == 1)
    #expect(try a.replica.vectors().received == b.replica.vectors().received)
    #expect(try a.replica.withheld().map(\.reason) == [.held])
  }

  @Test(arguments: [KeptRecords.all, .mine, .none])
  func `whoever leaves while something is held decides about nothing that went`(kept: KeptRecords) throws {
    try delete(0..<40, at: b)
    try home.pull(c, from: b)
    #expect(try c.replica.heldChangesets().count == 1)

    try c.replica.leave(keeping: kept, now: c.now)

    for restarts in [false, true] {
      if restarts { try c.restart() }
      #expect(try c.replica.heldChangesets().count == (kept == .all ? 1 : 0))
      #expect(try c.replica.withheld().isEmpty == (kept != .all))
    }
  }

  @Test func `ten deletions and one's own are free, the eleventh of a fifth is not`() throws {
    try delete(0..<10, at: b)
    try home.pull(a, from: b)
    #expect(try count(a) == 90)

    a.now = a.now.advanced(byMilliseconds: 60_000)
    try delete(10..<40, at: a)
    try home.pull(b, from: a)
    #expect(try count(b) == 60)

    a.now = a.now.advanced(byMilliseconds: 60_000)
    try delete(40..<53, at: b)
    try home.pull(a, from: b)
    #expect(try a.replica.heldChangesets().count == 1, "13 of 60 are more than a fifth")
  }

  @Test func `deletions that come in many changesets of one catch-up are counted together`() throws {
    for number in 0..<30 {
      try delete(number..<number + 1, at: b)
      b.now = b.now.advanced(byMilliseconds: 5000)
    }
    try home.pull(a, from: b)

    #expect(try count(a) == 80)
    #expect(try a.replica.heldChangesets().count == 1)
  }

  @Test func `approval applies it with all that waited, and releases it on a device that never decided`() throws {
    try delete(0..<40, at: b)
    try b.put("category", "later", [])
    try home.pull(a, from: b)
    try home.pull(c, from: b)
    #expect(try count(c) == 100)

    try decide(a, approving: true)
    try home.pull(c, from: a)
    try home.pull(b, from: a)

    for device in [a, b, c] {
      #expect(try count(device) == 61)
      #expect(try device.replica.heldChangesets().isEmpty)
    }
    #expect(try home.difference("alex", "kim") == nil)
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `an approval that comes before what it approves holds nothing up`() throws {
    try delete(0..<40, at: b)
    try home.pull(a, from: b)
    try decide(a, approving: true)
    try home.pull(c, from: a)

    #expect(try count(c) == 60)
  }

  @Test func `rejection brings every record back whole, everywhere, and applies the rest of the change`() throws {
    try b.access.transaction {
      for number in 0..<40 { _ = try b.access.delete(b.type("category"), "c\(number)") }
      _ = try b.access.put(b.type("category"), "extra", [(name: "note", value: .text("same change"))])
    }
    try home.pull(a, from: b)
    try decide(a, approving: false)
    try home.sync("alex", "sam")
    try home.sync("alex", "kim")

    for device in [a, b, c] {
      #expect(try count(device) == 101)
      #expect(try device.fields("category", "c7")?["sort"] == .integer(7))
      #expect(try device.replica.heldChangesets().isEmpty)
    }
    #expect(try home.difference("alex", "sam") == nil)
    #expect(try home.difference("alex", "kim") == nil)
  }

  @Test func `a member who may only read approves for himself and cannot reject, as that is to write`() throws {
    try home.setRole("kim", .readOnly, by: "alex")
    try home.settle("alex", "kim")
    try delete(0..<40, at: b)
    try home.pull(c, from: b)
    let held = try #require(try c.replica.heldChangesets().first)

    let error = #expect(throws: ReplicaError.self) {
      try c.replica.decide(held.name, approving: false, now: c.now)
    }
    #expect(error?.code == .notAllowed)
    #expect(try c.replica.unsealedCount() == 0)
    try decide(c, approving: true)
    #expect(try count(c) == 60)
  }

  @Test func `a held change is held after a restart, too, and decided once`() throws {
    try delete(0..<40, at: b)
    try home.pull(a, from: b)
    try a.restart()

    let held = try #require(try a.replica.heldChangesets().first)
    try a.replica.decide(held.name, approving: true, now: a.now)
    #expect(throws: ReplicaError.self) { try a.replica.decide(held.name, approving: false, now: a.now) }
    try a.seal()
    #expect(throws: ReplicaError.self) { try a.replica.decide(held.name, approving: true, now: a.now) }
    #expect(try count(a) == 60)
  }
}
