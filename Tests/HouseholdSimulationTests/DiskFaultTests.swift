import HouseholdRecords
import HouseholdReplica
import HouseholdSimulation
import Testing

/// The operations of the disk go wrong one after the other, in every way: nothing that was promised is lost, nobody is told of
/// what is not stored, and once the disk is well all is as if nothing had happened.
@Suite("Faults of the disk")
struct DiskFaultTests {
  static let schema = Schema(
    name: "faults", version: 1,
    types: [RecordType(name: "note", fields: [FieldDefinition("text", .text), FieldDefinition("number", .integer)])])

  static func world(seed: UInt64 = 1, _ names: String...) throws -> World {
    let world = World(seed: seed, schema: schema, start: Instant(milliseconds: 1_772_442_000_000))
    for name in names { try world.add(World.Plan(name)) }
    return world
  }

  static func put(_ device: SimulatedDevice, _ id: String, _ text: String, in world: World) throws {
    let type = try #require(schema.type("note"))
    world.wait(milliseconds: 2000)
    _ = try device.edit(at: world.wall(device)) { try $0.put(type, id, [(name: "text", value: .text(text))]) }
  }

  /// Death is tried at every operation, the others at some: the suite is not optimised, and a random household meets
  /// them all.
  private static func step(_ fault: SimulatedDisk.Fault) -> Int { fault == .killed ? 1 : 5 }

  /// Heals everything, and expects these records on every device.
  static func expect(_ texts: [String: String], in world: World, _ comment: Comment) throws {
    let breach = try world.breachAfterHealing()
    #expect(breach == nil, comment)
    for device in world.devices {
      #expect(try Self.texts(device) == texts.mapValues(FieldValue.text), comment)
    }
  }

  @Test(arguments: SimulatedDisk.Fault.allCases)
  func `an edit and its sealing survive a fault at any operation (R2)`(fault: SimulatedDisk.Fault) throws {
    let world = try Self.world("A", "B")
    let (a, b) = (try #require(world["A"]), try #require(world["B"]))
    var expected: [String: String] = [:]
    var number = 0
    var disk: SimulatedDisk
    repeat {
      number += Self.step(fault)
      try Self.put(a, "n\(number)", "committed", in: world)
      expected["n\(number)"] = "committed"
      disk = a.disk
      disk.arm(fault, atOperation: number)
      try world.seal(a)
      a.disk.heal()
      try world.sync(a, b)
      for device in [a, b] {
        #expect(try Self.texts(device) == expected.mapValues(FieldValue.text), "\(fault) at operation \(number)")
      }
    } while disk.strikes > 0

    #expect(number > 2, "sealing writes and syncs")
    try Self.expect(expected, in: world, "\(fault)")
  }

  @Test(arguments: SimulatedDisk.Fault.allCases)
  func `receiving survives a fault at any operation (R2)`(fault: SimulatedDisk.Fault) throws {
    let world = try Self.world("A", "B")
    let (a, b) = (try #require(world["A"]), try #require(world["B"]))
    var expected: [String: String] = [:]
    var number = 0
    var disk: SimulatedDisk
    repeat {
      number += Self.step(fault)
      expected["n\(number)"] = String(repeating: "\(number) ", count: 2000)
      expected["mine"] = "not sealed yet \(number)"
      try Self.put(a, "n\(number)", expected["n\(number)"] ?? "", in: world)
      try Self.put(b, "mine", expected["mine"] ?? "", in: world)
      try world.seal(a)
      disk = b.disk
      disk.arm(fault, atOperation: number)
      world.connect(a, b)
      world.deliverAll()
      b.disk.heal()
      try world.sync(a, b)
      for device in [a, b] {
        #expect(try Self.texts(device) == expected.mapValues(FieldValue.text), "\(fault) at operation \(number)")
      }
      world.disconnectAll()
    } while disk.strikes > 0

    #expect(number > 4)
    try Self.expect(expected, in: world, "\(fault)")
  }

  @Test(arguments: [SimulatedDisk.Fault.killed, .powerLost])
  func `taking over a snapshot survives a fault at any operation (R2)`(fault: SimulatedDisk.Fault) throws {
    var number = 0
    var disk: SimulatedDisk
    repeat {
      number += 4
      let world = try Self.world("A")
      let a = try #require(world["A"])
      for id in ["x", "y", "z"] { try Self.put(a, id, String(repeating: id, count: 3000), in: world) }
      try world.seal(a)
      let joiner = try world.add(World.Plan("J", needsSnapshot: true))
      disk = joiner.disk
      disk.arm(fault, atOperation: number)
      world.connect(a, joiner)
      world.deliverAll()
      let shown = try joiner.tables().count
      #expect(shown == 0 || shown == 3, "\(fault) at operation \(number): half a snapshot shows")
      try Self.expect(
        ["x": "x", "y": "y", "z": "z"].mapValues { String(repeating: $0, count: 3000) }, in: world,
        "\(fault) at operation \(number)")
    } while disk.strikes > 0

    #expect(number > 4)
  }

  @Test(arguments: [SimulatedDisk.Fault.full, .killed])
  func `a replica that dies while it is made is whole, or is known not to be one`(fault: SimulatedDisk.Fault) throws {
    var (number, whole) = (0, 0)
    var disk: SimulatedDisk
    repeat {
      number += 6
      let world = try Self.world(seed: UInt64(number), "A")
      disk = SimulatedDisk(wall: world.now, seed: UInt64(number))
      disk.arm(fault, atOperation: number)
      do {
        try world.add(World.Plan("J"), on: disk)
        whole += 1
      } catch is ReplicaError {
        let left = disk.afterDeath()
        do {
          try world.open(left)
        } catch let error as ReplicaError {
          #expect(
            [.notAReplica, .corrupt, .notFound].contains(error.code), "\(fault) at operation \(number): \(error)")
        }
      }
    } while disk.strikes > 0

    #expect(number > 8 && whole > 0)
  }

  @Test func `a flipped bit is noticed or does no harm, and never reaches a peer`() throws {
    var (refused, noticed, harmless) = (0, 0, 0)
    for seed in UInt64(1)...60 {
      let world = try Self.world(seed: seed, "A", "B")
      let (a, b) = (try #require(world["A"]), try #require(world["B"]))
      var expected: [String: String] = [:]
      for number in 0..<12 {
        expected["n\(number)"] = String(repeating: "\(number % 10)", count: 200)
        try Self.put(a, "n\(number)", expected["n\(number)"] ?? "", in: world)
      }
      try world.sync(a, b)
      expected["n0"] = "by B"
      try Self.put(b, "n0", "by B", in: world)
      do {
        // Closing moves all from the WAL into the file.
        try world.restart(a) { _ = a.disk.flipBit(of: SimulatedDevice.file) }
        try world.sync(a, b)
        _ = try a.replica.refreshDigest()
        _ = try b.replica.refreshDigest()
        try world.sync(a, b)
        let isWhole = try Self.texts(a) == expected.mapValues(FieldValue.text)
        if isWhole { harmless += 1 } else { noticed += 1 }
        #expect(isWhole || !world.faults.isEmpty, "seed \(seed): A shows something else, and nobody says so")
      } catch is ReplicaError {
        refused += 1
      }
      #expect(try Self.texts(b) == expected.mapValues(FieldValue.text), "seed \(seed) reached B")
    }
    #expect(refused + noticed > 0, "\(refused) refused, \(noticed) noticed, \(harmless) harmless")
  }

  static func texts(_ device: SimulatedDevice) throws -> [String: FieldValue] {
    Dictionary(uniqueKeysWithValues: try device.tables().map { ($0.key.id, $0.value[0]) })
  }
}
