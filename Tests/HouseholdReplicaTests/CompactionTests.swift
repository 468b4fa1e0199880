import Foundation
import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Compaction: what everyone has confirmed goes, and nobody notices")
struct CompactionTests {
  let home: TestHousehold
  let a: TestHousehold.Device
  let b: TestHousehold.Device
  let c: TestHousehold.Device

  init() throws {
    home = try TestHousehold("alex", "sam", "kim")
    (a, b, c) = (home["alex"], home["sam"], home["kim"])
    // Edits carry the time of this machine.
    let now = Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    for device in [a, b, c] { device.now = now }
    try a.put("category", "c1", [("name", .text("Pets")), ("note", .text("dog"))])
    try a.put("category", "c2", [("name", .text("Old things")), ("note", .text("a secret"))])
    try home.settle("alex", "sam", "kim")
  }

  /// A day goes by for these devices, and each confirms what it has applied.
  @discardableResult
  private func confirmAll(_ names: String...) throws -> Int {
    var sealed = 0
    for name in names {
      home[name].now = home[name].now.advanced(byMilliseconds: Replica.confirmationPause)
      if try home[name].replica.confirm(now: home[name].now) { sealed += 1 }
    }
    return sealed
  }

  private func compact(_ device: TestHousehold.Device, keep: Int64 = 0) throws -> Compaction {
    try device.replica.compact(keepMilliseconds: keep, now: device.now)
  }

  private func life(_ device: TestHousehold.Device, _ id: String) throws -> RecordState? {
    try device.replica.state(of: RecordKey(type: "category", id: id))
  }

  @Test func `what one device has not confirmed by a change of its own stays, and it is named (P18)`() throws {
    try a.delete("category", "c2")
    try home.settle("alex", "sam", "kim")
    // Kim has it, and has even said so on the link; but nothing that kim signed does.
    try a.replica.acknowledge(a.replica.vectors().received, by: c.key.device, at: a.now)
    try confirmAll("sam")
    try home.settle("alex", "sam", "kim")

    let done = try compact(a)

    #expect(done.changesets == 0)
    #expect(done.emptied.isEmpty)
    #expect(done.kept == [.inLog: 1])
    #expect(done.blockers.map(\.device) == [c.key.device])
    #expect(done.blockers.first?.lastHeard == nil)
    try a.replica.restore(RecordKey(type: "category", id: "c2"), now: a.now)
    try a.seal()
    #expect(try a.fields("category", "c2")?["note"] == .text("a secret"))
  }

  @Test func `what everyone has confirmed goes, and the digest stays as it is (P18, R5)`() throws {
    try a.delete("category", "c2")
    try home.settle("alex", "sam", "kim")
    #expect(try confirmAll("alex", "sam", "kim") == 2, "alex wrote it")
    try home.settle("alex", "sam", "kim")
    let digest = try a.replica.computeDigest()

    let done = try compact(a)

    #expect(done.emptied == ["category": 1])
    #expect(done.changesets > 0 && done.bytes > 0)
    #expect(done.blockers.isEmpty)
    #expect(try a.replica.computeDigest() == digest)
    #expect(try a.replica.vectors().base[a.replica.replica] > 0)
    #expect(try life(a, "c2")?.cells.keys.sorted() == ["", CellName.emptied])
    #expect(try home.firstDifference("alex", "sam", "kim") == nil, "they have not compacted")
    #expect(try compact(a).emptied.isEmpty, "once is enough")
    for part in try ReplicaCheck.run(path: a.path, isThorough: true, cryptography: OpenSSLCryptography()) {
      #expect(part.faults.isEmpty, "\(part)")
    }
  }

  @Test func `the log and what may be restored are kept as long as was asked for, by this device's clock`() throws {
    let day: Int64 = 86_400_000
    try a.delete("category", "c2")
    try home.settle("alex", "sam", "kim")
    try confirmAll("alex", "sam", "kim")
    try home.settle("alex", "sam", "kim")
    // Sam's clock is ten years ahead, which keeps nothing.
    b.now = b.now.advanced(byMilliseconds: 3650 * day)
    try c.put("category", "c1", [("note", .text("cat"))])
    try home.settle("alex", "sam", "kim")
    #expect(try confirmAll("alex", "sam") == 2)
    try home.settle("alex", "sam", "kim")

    #expect(try compact(a, keep: 10 * day).changesets == 0)
    a.now = a.now.advanced(byMilliseconds: 11 * day)
    let late = try compact(a, keep: 10 * day)

    #expect(late.changesets > 0)
    #expect(late.blockers.isEmpty)
    #expect(late.emptied == ["category": 1])
  }

  @Test func `a record that is made again after its values went is whole, and the same on all (F9)`() throws {
    try a.delete("category", "c2")
    try home.settle("alex", "sam", "kim")
    try confirmAll("alex", "sam", "kim")
    try home.settle("alex", "sam", "kim")
    _ = try compact(a)

    #expect(throws: ReplicaError.self) {
      try a.replica.restore(RecordKey(type: "category", id: "c2"), now: a.now)
    }
    try a.put("category", "c2", [("name", .text("New"))])
    try home.settle("alex", "sam", "kim")

    for device in [a, b, c] {
      #expect(try device.fields("category", "c2")?["name"] == .text("New"))
      #expect(try device.fields("category", "c2")?["note"] == .null, "\(device.name)")
    }
    #expect(try home.firstDifference("alex", "sam", "kim") == nil)
    #expect(try life(a, "c2")?.isEmptied == false)
  }

  @Test func `a deleted record keeps what was written in a later life, whose beginning does not count (F9, R5)`() throws
  {
    try c.delete("category", "c2")
    try c.seal()
    try c.put("category", "c2", [("name", .text("kim's"))])
    try c.seal()
    try home.pull("sam", from: "kim")
    try b.put("category", "c2", [("note", .text("sam's"))])
    try b.seal()
    try home.remove("kim", by: "alex")
    try home.settle("alex", "sam")
    for id in ["c1", "c2"] { try a.delete("category", id) }
    for _ in 0..<2 {
      try home.settle("alex", "sam")
      try confirmAll("alex", "sam")
    }
    try home.settle("alex", "sam")

    #expect(try compact(a).emptied == ["category": 1])
    #expect(try life(a, "c1")?.isEmptied == true)
    #expect(try life(a, "c2")?.isEmptied == false)
    // A new life has the number of the one that did not count.
    try a.put("category", "c2", [("name", .text("again"))])
    try home.settle("alex", "sam")
    #expect(try home.firstDifference("alex", "sam") == nil)
    #expect(try a.fields("category", "c2")?["name"] == .text("again"))
  }

  @Test func `a deleted record with an open conflict keeps its values until that is decided (F9)`() throws {
    try a.delete("category", "c2")
    try b.put("category", "c2", [("note", .text("still needed"))])
    try home.settle("alex", "sam", "kim")
    try confirmAll("alex", "sam", "kim")
    try home.settle("alex", "sam", "kim")

    let done = try compact(a)
    let open = try a.access.conflicts(includingClosed: false)

    #expect(done.kept == [.conflict: 1])
    #expect(open.count == 1)
    try a.replica.resolve(open[0].conflict, .mine, now: a.now)
    try home.settle("alex", "sam", "kim")
    try confirmAll("sam", "kim")
    try home.settle("alex", "sam", "kim")
    #expect(try compact(a).emptied == ["category": 1])
    #expect(try home.firstDifference("alex", "sam", "kim") == nil)
  }

  @Test func `one edit among three costs two confirmations in thirty days, and then nothing (G5, P18, R9)`() throws {
    try confirmAll("alex", "sam", "kim")
    try home.settle("alex", "sam", "kim")
    for _ in 0..<3 {
      try confirmAll("alex", "sam", "kim")
      try home.settle("alex", "sam", "kim")
    }
    try a.put("category", "c1", [("note", .text("one edit"))])
    try home.settle("alex", "sam", "kim")

    var sealed: [Int] = []
    for _ in 0..<30 {
      sealed.append(try confirmAll("alex", "sam", "kim"))
      try home.settle("alex", "sam", "kim")
    }

    #expect(sealed.reduce(0, +) == 2)
    #expect(sealed.prefix(1) == [2])
  }

  @Test func `R8: so many records lose their values in one go, the others the next time`() throws {
    for id in ["c1", "c2"] { try a.delete("category", id) }
    try home.settle("alex", "sam", "kim")
    try confirmAll("sam", "kim")
    try home.settle("alex", "sam", "kim")

    let first = try a.replica.compact(keepMilliseconds: 0, now: a.now, limit: 1)
    let second = try a.replica.compact(keepMilliseconds: 0, now: a.now, limit: 1)

    #expect(first.emptied == ["category": 1] && first.kept == [.later: 1])
    #expect(second.emptied == ["category": 1] && second.kept.isEmpty)
  }

  @Test func `a device that only reads confirms, too (P18)`() throws {
    try home.setRole("kim", .readOnly, by: "alex")
    try a.delete("category", "c2")
    try home.settle("alex", "sam", "kim")
    try confirmAll("sam", "kim")
    try home.settle("alex", "sam", "kim")

    #expect(try compact(a).emptied == ["category": 1])
    #expect(try home.firstDifference("alex", "sam", "kim") == nil)
  }

  @Test func `splits of a deleted transaction go with its values, and later ones stay hidden as everywhere`() throws {
    let place = try SplitHousehold()
    let (a, b) = (place.a, place.b)
    try a.access.execute(#"DELETE FROM "transaction" WHERE id = 't1'"#)
    try place.home.settle("alex", "sam")
    try b.put("transaction", "t2", [("note", .text("confirms"))])
    try place.home.settle("alex", "sam")

    #expect(try a.replica.compact(keepMilliseconds: 0, now: a.now).emptied == ["transaction": 1])
    try b.access.execute("INSERT INTO split(id, parent, amount_minor) VALUES ('s5', 't1', -7)")
    try b.seal()
    try place.home.settle("alex", "sam")

    #expect(try place.splits(a) == ["s9": "t2 -50"])
    #expect(try place.splits(b) == ["s9": "t2 -50"])
    #expect(try place.home.firstDifference("alex", "sam") == nil)
    #expect(throws: ReplicaError.self) { try a.replica.restore(SplitHousehold.t1, now: a.now) }
  }

  @Test func `an owner's device does not fall asleep, and a device that belongs no longer collects nothing (P19)`()
    throws
  {
    try home.makeOwner("sam", by: "alex")
    try home.settle("alex", "sam", "kim")
    let late = a.now.advanced(byMilliseconds: 200 * Replica.confirmationPause)
    #expect(try a.replica.silentDevices(now: late) == [c.key.device])

    try home.remove("kim", by: "alex")
    try home.tell("kim", from: "alex")

    #expect(throws: ReplicaError.self) { try compact(c) }
  }
}
