import HouseholdRecords
import HouseholdReplica
import HouseholdSimulation
import HouseholdSync
import Testing

/// Restores and clones with real replicas and the real engine (F4; rows 8 and 9 of the faults).
@Suite("Stories of restores and clones")
struct ForkStoryTests {
  let world: World

  init() throws {
    world = World(
      seed: 4,
      schema: Schema(
        name: "story", version: 1, types: [RecordType(name: "tx", fields: [FieldDefinition("note", .text)])]),
      start: Instant(milliseconds: 1_772_442_000_000))
    for name in ["A", "B", "C"] { try world.add(World.Plan(name)) }
    try meetAll()
  }

  func device(_ name: String) throws -> SimulatedDevice { try #require(world[name]) }

  func put(_ device: SimulatedDevice, _ id: String, _ note: String) throws {
    let type = try #require(world.schema.type("tx"))
    world.wait(milliseconds: 2000)
    _ = try device.edit(at: world.wall(device)) { try $0.put(type, id, [(name: "note", value: .text(note))]) }
    try world.seal(device)
  }

  func put(_ name: String, _ id: String, _ note: String) throws { try put(device(name), id, note) }

  func meet(_ a: String, _ b: String) throws { try world.sync(device(a), device(b)) }

  func meetAll() throws {
    for (a, b) in [("A", "B"), ("B", "C"), ("A", "C"), ("A", "B")] { try meet(a, b) }
  }

  /// Heals everything, and expects these records on every device.
  func expectEverywhere(_ notes: [String: String], keepingLinks: Bool = false) throws {
    let breach = try world.breachAfterHealing(keepingLinks: keepingLinks)
    #expect(breach == nil)
    for device in world.devices {
      let shown = try device.tables().reduce(into: [:]) { $0[$1.key.id] = $1.value[0] }
      #expect(shown == notes.mapValues { .text($0) }, "\(device.name)")
    }
  }

  /// A writes e1, is copied, writes e2, which B gets; A is put back, writes e3.
  private func restoreA(isNoticed: Bool) throws {
    try put("A", "e1", "1")
    try meetAll()
    let copy = try world.copy(device("A"))
    try put("A", "e2", "2")
    try meet("A", "B")
    try world.restore(device("A"), to: copy, isNoticed: isNoticed)
    try put("A", "e3", "3")
  }

  @Test(arguments: [false, true], [["C", "B"], ["B", "C"]])
  func `F4: a restored device meets the others in either order, and both branches survive`(
    isNoticed: Bool, order: [String]
  ) throws {
    try restoreA(isNoticed: isNoticed)
    for name in order { try meet("A", name) }
    try expectEverywhere(["e1": "1", "e2": "2", "e3": "3"])
  }

  @Test func `F4: both branches survive when the restored device is gone for good`() throws {
    try restoreA(isNoticed: false)
    try meet("A", "C")
    // B and C hold one branch each, and nobody is left who could tell them.
    for _ in 0..<4 { try meet("B", "C") }
    for name in ["B", "C"] {
      for id in ["e1", "e2", "e3"] {
        #expect(try device(name).fields(RecordKey(type: "tx", id: id)) != nil, "\(name) lacks \(id)")
      }
    }
  }

  @Test func `a device that was put back goes on under a new replica id, and once only`() throws {
    let before = try device("A").replica.replica
    try restoreA(isNoticed: false)
    try meet("A", "B")
    let minted = try device("A").replica.replica
    #expect(minted != before)
    try put("A", "e4", "4")
    try expectEverywhere(["e1": "1", "e2": "2", "e3": "3", "e4": "4"])
    #expect(try device("A").replica.replica == minted)
  }

  @Test func `a device that was put back and wrote nothing gets back what it lost`() throws {
    try put("A", "e1", "1")
    let copy = try world.copy(device("A"))
    for n in 2...6 { try put("A", "e\(n)", "\(n)") }
    try meet("A", "B")
    try world.restore(device("A"), to: copy, isNoticed: false)
    try meet("A", "B")
    try put("A", "e7", "7")
    try expectEverywhere(["e1": "1", "e2": "2", "e3": "3", "e4": "4", "e5": "5", "e6": "6", "e7": "7"])
  }

  @Test func `three copies of one device write, and nothing is lost`() throws {
    try put("A", "e1", "1")
    try meetAll()
    let second = try world.clone(device("A"), isNoticed: false)
    let third = try world.clone(device("A"), isNoticed: false)
    try put("A", "a", "A")
    try put(second, "b", "second")
    try put(third, "c", "third")
    try world.sync(second, device("B"))
    try world.sync(third, device("C"))
    try meet("A", "C")
    try expectEverywhere(["e1": "1", "a": "A", "b": "second", "c": "third"])
  }

  @Test func `who has two branches asks how far another has them that has a third and longer one (household 441144)`()
    throws
  {
    try put("A", "e", "1")
    try meetAll()
    let twin = try world.clone(device("A"), isNoticed: false)
    for number in 0..<4 { try put("A", "a", "\(number)") }
    let third = try world.clone(device("A"), isNoticed: false)
    for number in 0..<4 { try put("A", "b", "\(number)") }
    for number in 0..<4 { try put(third, "c", "\(number)") }
    for writer in [try device("A"), third] { try world.sync(writer, try device("B")) }
    // So long that C's own questions take more than one answer.
    for number in 0..<80 { try put(twin, "d", "\(number)") }
    try world.sync(twin, try device("C"))

    // Nobody else is left who could tell them.
    for _ in 0..<3 { try meet("B", "C") }

    for name in ["B", "C"] {
      let notes = try ["e", "a", "b", "c", "d"].map { id in
        try device(name).fields(RecordKey(type: "tx", id: id))?["note"]
      }
      #expect(notes == [.text("1"), .text("3"), .text("3"), .text("3"), .text("79")], "\(name)")
    }
    try expectEverywhere(["e": "1", "a": "3", "b": "3", "c": "3", "d": "79"])
  }

  @Test func `two copies that run at once come together in sessions that go on`() throws {
    try put("A", "e1", "1")
    try meetAll()
    let twin = try world.clone(device("A"), isNoticed: false)
    let (a, b, c) = (try device("A"), try device("B"), try device("C"))
    for (one, other) in [(a, b), (twin, c), (b, c)] { world.connect(one, other) }
    world.deliverAll()
    world.wait(milliseconds: 3000)
    // Both seal the same seq before either hears of the other, and B and C get one each.
    try put("A", "a", "A")
    try put(twin, "b", "second")
    world.deliverAll()

    // Nobody is cut off: what was said in these sessions must show them what they lack.
    try expectEverywhere(["e1": "1", "a": "A", "b": "second"], keepingLinks: true)
    #expect(a.replica.replica != twin.replica.replica)
  }

  @Test func `two devices that get a branch each in one session begin it anew, and nobody else has to tell them (D4)`()
    throws
  {
    try put("A", "e1", "1")
    try meetAll()
    let twin = try world.clone(device("A"), isNoticed: false)
    let (a, b, c) = (try device("A"), try device("B"), try device("C"))
    // No copy ever meets who has the other's edit: B and C have only each other.
    let pairs = [(a, b), (twin, c), (b, c)]
    for (one, other) in pairs { world.connect(one, other) }
    world.deliverAll()
    world.wait(milliseconds: 3000)
    try put("A", "a", "A")
    try put(twin, "b", "second")
    world.deliverAll()

    for _ in 0..<6 {
      for (one, other) in pairs where !one.engine.peers.contains(where: { $0.device == other.device }) {
        world.connect(one, other)
      }
      world.deliverAll()
    }

    for device in [a, b, c, twin] {
      let shown = try device.tables().reduce(into: [:]) { $0[$1.key.id] = $1.value[0] }
      #expect(shown == ["e1": .text("1"), "a": .text("A"), "b": .text("second")], "\(device.name)")
    }
  }

  @Test func `a copy whose edit was overtaken by the other's in one session is heard (F4)`() throws {
    try put("A", "e1", "1")
    try meetAll()
    let twin = try world.clone(device("A"), isNoticed: false)
    let (a, b) = (try device("A"), try device("B"))
    // The twin has sealed before it meets B, and B gets the other's changeset of that seq after it said what it has.
    try put(twin, "b", "second")
    try put("A", "a", "A")
    world.connect(a, b)
    world.connect(twin, b)
    world.deliverAll()

    try expectEverywhere(["e1": "1", "a": "A", "b": "second"], keepingLinks: true)
  }

  @Test func `copies that edit one field are a conflict like any other`() throws {
    try put("A", "t", "before")
    try meetAll()
    let twin = try world.clone(device("A"), isNoticed: false)
    try put("A", "t", "one")
    try put(twin, "t", "two")
    try world.sync(twin, device("B"))
    try meet("A", "C")
    try expectEverywhere(["t": "two"])
    for device in world.devices {
      #expect(try device.access.conflicts(includingClosed: false).count == 1, "\(device.name)")
    }
  }

  @Test func `a member who joins after a fork knows both branches by the same names`() throws {
    try restoreA(isNoticed: false)
    try meet("A", "C")
    try meet("B", "C")
    try world.add(World.Plan("D", needsSnapshot: true))
    try meet("C", "D")
    try put("D", "d", "D")
    try expectEverywhere(["e1": "1", "e2": "2", "e3": "3", "d": "D"])
  }

  @Test func `a branch meets a device that has the other one by snapshot only`() throws {
    try put("A", "e1", "1")
    let copy = try world.copy(device("A"))
    for n in 2...5 { try put("A", "e\(n)", "\(n)") }
    try world.add(World.Plan("D", needsSnapshot: true))
    try meet("A", "D")
    try world.restore(device("A"), to: copy, isNoticed: false)
    try put("A", "e6", "6")
    for _ in 0..<4 { try meet("A", "D") }
    // Nobody has the lost changesets one by one any more, so the judge of the whole household cannot compare them.
    for name in ["A", "D"] {
      for n in 1...6 {
        let shown = try device(name).fields(RecordKey(type: "tx", id: "e\(n)"))
        #expect(shown == ["note": .text("\(n)")], "\(name) has something else as e\(n)")
      }
    }
  }

  /// The limit that Docs/Protocol.md states: where nobody has a log, 256 changesets tell branches apart.
  @Test func `a branch further back than a snapshot tells waits on its device, and goes on from whoever has a log`()
    throws
  {
    try put("A", "e0", "0")
    let copy = try world.copy(device("A"))
    for n in 1...(Limits.recentHeaders + 4) { try put("A", "e\(n % 4)", "\(n)") }
    let joiner = try world.add(World.Plan("D", needsSnapshot: true))
    try meet("A", "D")
    let before = try joiner.tables()
    let full = try world.copy(device("A"))
    try world.restore(device("A"), to: copy, isNoticed: false)
    try put("A", "late", "branch")

    for _ in 0..<4 { try meet("A", "D") }

    #expect(try joiner.tables() == before)
    #expect(try device("A").fields(RecordKey(type: "tx", id: "late")) == ["note": .text("branch")])
    // The returned device finds the snapshot to contradict it, says so, and keeps what it has.
    #expect(world.faults.allSatisfy { $0.contains("has another changeset") })
    // Somebody has the log after all: here another copy of the disk.
    let witness = try world.start(twinOf: device("A"), on: full)
    try world.sync(witness, device("B"))
    for _ in 0..<3 { for (one, other) in [("A", "B"), ("B", "D"), ("A", "D")] { try meet(one, other) } }
    for name in ["A", "B", "D"] {
      #expect(try device(name).fields(RecordKey(type: "tx", id: "late")) == ["note": .text("branch")], "\(name)")
    }
  }
}
