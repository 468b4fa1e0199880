import HouseholdRecords
import HouseholdReplica
import HouseholdSimulation
import Testing

/// Compaction, confirmations and long absences on the real engine (D9; F9, G5).
@Suite("Stories of a long life")
struct LongLifeTests {
  private static let day: Int64 = 86_400_000
  private static let schema = Schema(
    name: "story", version: 1,
    types: [
      RecordType(name: "tx", fields: [.init("note", .text), .init("amount", .integer)]),
      RecordType(name: "category", fields: [.init("name", .text)], unique: [UniqueRule(by: ["name"])]),
    ])

  private static func world(_ seed: UInt64, _ names: [String]) throws -> World {
    let world = World(seed: seed, schema: schema, start: Instant(milliseconds: 1_772_442_000_000))
    for name in names { try world.add(World.Plan(name)) }
    try world.heal()
    return world
  }

  private static func put(_ device: SimulatedDevice, _ id: String, _ note: String, in world: World) throws {
    world.wait(milliseconds: 2000)
    let type = try #require(schema.type("tx"))
    _ = try device.edit(at: world.wall(device)) { try $0.put(type, id, [(name: "note", value: .text(note))]) }
    try world.seal(device)
  }

  private static func delete(_ device: SimulatedDevice, _ id: String, in world: World) throws {
    world.wait(milliseconds: 2000)
    let type = try #require(schema.type("tx"))
    _ = try device.edit(at: world.wall(device)) { try $0.delete(type, id) }
    try world.seal(device)
  }

  /// A day goes by, with everyone connected and each making its round.
  private static func liveADay(_ world: World) throws {
    world.wait(milliseconds: day)
    for device in world.devices { try world.makeRound(device) }
    try world.heal()
  }

  /// The first difference between any two devices, or the first broken rule; nil if all is well.
  private static func breach(_ world: World) throws -> String? {
    try world.heal()
    try world.heal()
    if let fault = world.faults.first { return fault }
    let (first, digest) = try (world.devices[0].tables(), world.devices[0].replica.computeDigest())
    for device in world.devices.dropFirst() {
      let tables = try device.tables()
      for key in Set(first.keys).union(tables.keys).sorted() where first[key] != tables[key] {
        return "\(key): \(String(describing: first[key])) and at \(device.name) \(String(describing: tables[key]))"
      }
      let other = try device.replica.computeDigest()
      if other.applied != digest.applied { return "\(device.name) has another applied vector" }
      if other != digest { return "\(device.name) has another digest (R5)" }
    }
    return nil
  }

  @Test func `G5: one edit among three costs two changesets in thirty days, and then there is silence (P18, R9)`()
    throws
  {
    let world = try Self.world(1, ["A", "B", "C"])
    for _ in 0..<3 { try Self.liveADay(world) }
    let before = try world.devices[0].replica.vectors().received
    try Self.put(world.devices[0], "t", "one", in: world)
    try world.heal()
    try Self.liveADay(world)
    #expect(try world.devices[0].replica.vectors().received.excess(over: before) == 3)
    let sealed = try world.devices.map { try $0.replica.vectors().received }

    for _ in 0..<12 { try Self.liveADay(world) }

    #expect(try world.devices.map { try $0.replica.vectors().received } == sealed)
    #expect(try Self.breach(world) == nil)
  }

  @Test func `a device that was put back to before the base gets a snapshot and loses nothing (P6, P18)`() throws {
    let world = try Self.world(2, ["A", "B", "C"])
    let (a, b, c) = (world.devices[0], world.devices[1], world.devices[2])
    try Self.put(a, "gone", "secret", in: world)
    try world.heal()
    let copy = world.copy(c)
    try Self.delete(b, "gone", in: world)
    try Self.put(a, "new", "1", in: world)
    try world.heal()
    for _ in 0..<2 { try Self.liveADay(world) }
    for device in [a, b] { #expect(try world.compact(device, keepMilliseconds: 0).emptied == ["tx": 1]) }

    try world.restore(c, to: copy, isNoticed: true)
    try Self.put(c, "late", "written before it met anyone", in: world)

    #expect(try Self.breach(world) == nil)
    #expect(try c.tables().keys.map(\.id).sorted() == ["late", "new"])
  }

  @Test func `a joiner of a household that was compacted has all of it`() throws {
    let world = try Self.world(3, ["A", "B"])
    for number in 0..<20 { try Self.put(world.devices[number % 2], "t\(number)", "\(number)", in: world) }
    try world.heal()
    for number in 0..<5 { try Self.delete(world.devices[1], "t\(number)", in: world) }
    try world.heal()
    for _ in 0..<2 { try Self.liveADay(world) }
    for device in world.devices { _ = try world.compact(device, keepMilliseconds: 0) }
    try Self.put(world.devices[0], "after", "1", in: world)

    try world.add(World.Plan("D", needsSnapshot: true))

    #expect(try Self.breach(world) == nil)
    #expect(try world.devices[2].tables().count == 16)
  }

  @Test func `who makes a collected record again ends the set of its former life at those who have it still (D7, D9)`()
    throws
  {
    let schema = Schema(
      name: "story", version: 1,
      types: [
        RecordType(name: "tx", fields: [.init("note", .text)], owns: [.init(type: "split", by: "parent")]),
        RecordType(name: "split", fields: [.init("parent", .reference, to: "tx")]),
      ])
    let world = World(seed: 4, schema: schema, start: Instant(milliseconds: 1_772_442_000_000))
    let (a, b) = (try world.add(World.Plan("A")), try world.add(World.Plan("B")))
    try world.heal()
    for sql in [
      "INSERT INTO tx(id, note) VALUES ('t', 'one'); INSERT INTO split(id, parent) VALUES ('s', 't')",
      "DELETE FROM split; DELETE FROM tx",
    ] {
      world.wait(milliseconds: 2000)
      try a.edit(at: world.wall(a)) { try $0.execute(sql) }
      try world.seal(a)
      try world.heal()
    }
    for _ in 0..<2 { try Self.liveADay(world) }
    #expect(try world.compact(a, keepMilliseconds: 0).emptied == ["tx": 1])

    try a.edit(at: world.wall(a)) { try $0.execute("INSERT INTO tx(id, note) VALUES ('t', 'two')") }

    #expect(try Self.breach(world) == nil)
    #expect(try b.access.conflicts(includingClosed: false) == [])
  }

  @Test func `a new life by who knew neither the last edit nor the end is the same with and without them (D7, D9)`()
    throws
  {
    let world = try Self.world(5, ["A", "B", "C"])
    let (a, b, c) = (world.devices[0], world.devices[1], world.devices[2])
    try Self.put(a, "t", "one", in: world)
    try world.heal()
    let copy = world.copy(c)
    try Self.put(a, "t", "two", in: world)
    try world.heal()
    try Self.delete(b, "t", in: world)
    for _ in 0..<2 { try Self.liveADay(world) }
    #expect(try world.compact(a, keepMilliseconds: 0).emptied == ["tx": 1])
    try world.restore(c, to: copy, isNoticed: true)

    try Self.delete(c, "t", in: world)
    try Self.put(c, "t", "three", in: world)

    #expect(try Self.breach(world) == nil)
    #expect(try b.fields(RecordKey(type: "tx", id: "t"))?["note"] == .text("three"))
    for device in world.devices { #expect(try device.access.conflicts(includingClosed: false) == []) }
  }

  @Test(arguments: 0..<12)
  func `whoever compacts, sleeps, wakes or is put back in whatever order, all agree in the end (R5)`(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let world = try Self.world(UInt64(seed), ["A", "B", "C", "D"])
    var copies: [Int: SimulatedDisk] = [:]
    for _ in 0..<60 {
      let device = world.devices[Int(random.next() % UInt64(world.devices.count))]
      let other = world.devices[Int(random.next() % UInt64(world.devices.count))]
      let id = "t\(random.next() % 6)"
      switch random.next() % 12 {
      case 0..<3: try Self.put(device, id, "\(random.next() % 100)", in: world)
      case 3, 4: try Self.delete(device, id, in: world)
      case 5, 6: if device !== other { try world.sync(device, other) }
      case 7:
        world.wait(milliseconds: Self.day)
        try world.makeRound(device)
      case 8: _ = try world.compact(device, keepMilliseconds: 0)
      case 9:
        if device.index > 0 { try world.declareDormant(device, by: world.devices[0]) }
      case 10: try Self.liveADay(world)
      default:
        if let copy = copies.removeValue(forKey: device.index) {
          try world.restore(device, to: copy, isNoticed: true)
        } else if copies.count < 2 {
          copies[device.index] = world.copy(device)
        }
      }
    }
    for device in world.devices { try world.makeRound(device) }

    #expect(try Self.breach(world) == nil)
    _ = try world.compact(world.devices[1], keepMilliseconds: 0)
    #expect(try Self.breach(world) == nil)
  }
}
