import Foundation
import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Long absences: what was collected meanwhile does not come back, and no edit is lost")
struct LongAbsenceTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device
  let c: TestHousehold.Device
  private let year: Int64 = 366 * 86_400_000

  init() throws {
    home = try TestHousehold("alex", "sam", "kim")
    (a, b, c) = (home["alex"], home["sam"], home["kim"])
    // Edits carry the time of this machine.
    let now = Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    for device in [a, b, c] { device.now = now }
    for id in ["gone", "edited"] {
      try a.put("category", id, [("name", .text(id)), ("note", .text("old"))])
    }
    try home.settle("alex", "sam", "kim")
    // Kim has written, so she has confirmed what came before.
    try c.put("category", "kims", [("name", .text("Kim's"))])
    try home.settle("alex", "sam", "kim")
  }

  /// Alex and Sam go on for a year without Kim, and both compact.
  private func goOnWithoutKim() throws {
    for id in ["gone", "edited"] { try a.delete("category", id) }
    try home.settle("alex", "sam")
    for device in [a, b] { device.now = device.now.advanced(byMilliseconds: year) }
    #expect(try b.replica.confirm(now: b.now))
    try home.settle("alex", "sam")
    #expect(try a.replica.silentDevices(now: a.now) == [c.key.device])
    try a.replica.declareDormant(c.key.device, now: a.now)
    try home.settle("alex", "sam")
  }

  @Test func `the log does not wait for a device that sleeps; values of deleted records do`() throws {
    try goOnWithoutKim()

    let done = try a.replica.compact(keepMilliseconds: 0, now: a.now)

    #expect(done.changesets > 0)
    #expect(done.emptied.isEmpty)
    #expect(done.kept == [.unconfirmed: 2])
    #expect(done.blockers.map(\.isDormant) == [true])
    #expect(try a.replica.membership().devices[c.key.device]?.state == .dormant)
  }

  @Test func `who wakes gets a snapshot, keeps what it wrote, and brings nothing back (P19)`() throws {
    try goOnWithoutKim()
    for device in [a, b] { _ = try device.replica.compact(keepMilliseconds: 0, now: device.now) }
    try c.put("category", "edited", [("note", .text("edited while away"))])
    try c.put("category", "new", [("name", .text("written while away"))])
    try c.seal()
    #expect(try !c.replica.vectors().received.covers(a.replica.vectors().base))

    var notesBefore: [FieldValue?] = []
    c.replica.beforeResync = { notesBefore.append(try c.fields("category", "edited")?["note"]) }
    try home.adoptSnapshot("kim", from: "alex")
    #expect(notesBefore == [.text("edited while away")], "a copy could be made of what the snapshot replaces")
    c.now = a.now
    #expect(try c.replica.wake(now: c.now))
    #expect(try !c.replica.wake(now: c.now))
    try home.settle("alex", "sam", "kim")

    for device in [a, b, c] {
      #expect(try device.fields("category", "gone") == nil, "\(device.name)")
      #expect(try device.fields("category", "edited") == nil, "\(device.name): a fragment")
      #expect(try device.fields("category", "new")?["name"] == .text("written while away"))
      #expect(try device.access.conflicts(includingClosed: false).map(\.id) == ["edited"])
      #expect(try device.replica.membership().devices[c.key.device]?.state == .active)
    }
    #expect(try home.firstDifference("alex", "sam", "kim") == nil)
  }

  @Test func `an edit that comes after the values went is listed, and is never shown as a fragment (F9)`() throws {
    // Kim's device is retired, and edits before she hears of it; her first changesets count.
    for id in ["gone", "edited"] { try a.delete("category", id) }
    try home.settle("alex", "sam")
    try b.put("category", "sam", [("name", .text("confirms"))])
    try c.put("category", "edited", [("note", .text("edited while away"))])
    try c.seal()
    try home.settle("alex", "sam")
    // The removal names what sam has of kim, who told sam of the edit just before; alex has not got it.
    _ = try b.replica.addMembership(try a.replica.membershipEntries(except: []))
    try home.makeOwner("sam", by: "alex")
    _ = try home.pull("sam", from: "kim")
    try home.remove("kim", by: "sam")
    try home.tell("alex", from: "sam")
    #expect(try a.replica.compact(keepMilliseconds: 0, now: a.now).emptied == ["category": 2])

    try home.settle("alex", "sam")

    let open = try a.access.conflicts(includingClosed: false)
    #expect(open.count == 1)
    #expect(try a.fields("category", "edited") == nil)
    #expect(throws: ReplicaError.self) { try a.replica.resolve(open[0].conflict, .theirs, now: a.now) }
    #expect(try home.difference("alex", "sam") == nil)
  }

  @Test func `what a clock far ahead has signed is no sign of life`() throws {
    try b.put("category", "sams", [("name", .text("Sam's"))])
    try home.settle("alex", "sam", "kim")
    #expect(try c.replica.confirm(now: c.now.advanced(byMilliseconds: 20 * year)))
    try home.settle("alex", "sam", "kim")
    a.now = a.now.advanced(byMilliseconds: year)

    #expect(try Set(a.replica.silentDevices(now: a.now)) == [b.key.device, c.key.device])
  }

  @Test func `status names who keeps the log from being collected, once it is old enough to be`() throws {
    try a.put("category", "gone", [("note", .text("new"))])
    try a.seal()
    func keptFor(days: Int64) throws -> [DeviceID] {
      let now = a.now.advanced(byMilliseconds: days * Replica.confirmationPause)
      let facts = try StatusFacts.read(path: a.path, cryptography: OpenSSLCryptography(), now: now)
      return facts.keptFor.map(\.device)
    }

    #expect(try keptFor(days: 399).isEmpty)
    #expect(try Set(keptFor(days: 402)) == [b.key.device, c.key.device])
  }
}
