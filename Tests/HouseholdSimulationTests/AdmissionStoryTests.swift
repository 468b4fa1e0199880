import HouseholdRecords
import HouseholdReplica
import HouseholdSimulation
import Testing

/// Lost rights (D5) where they meet duplicates and branches, with real replicas and the real engine.
@Suite("Stories of lost rights")
struct AdmissionStoryTests {
  let world: World

  init() throws {
    let tx = RecordType(
      name: "tx", fields: [FieldDefinition("note", .text)], unique: [UniqueRule(by: ["note"], within: [])])
    world = World(
      seed: 9, schema: Schema(name: "story", version: 1, types: [tx]), start: Instant(milliseconds: 1_772_442_000_000))
    for name in ["A", "B", "C"] { try world.add(World.Plan(name)) }
    try meet("A", "B", "C")
  }

  func device(_ name: String) throws -> SimulatedDevice { try #require(world[name]) }

  func put(_ device: SimulatedDevice, _ id: String, _ note: String) throws {
    let type = try #require(world.schema.type("tx"))
    world.wait(milliseconds: 2000)
    _ = try device.edit(at: world.wall(device)) { try $0.put(type, id, [(name: "note", value: .text(note))]) }
    try world.seal(device)
  }

  /// Each pair of these meets until all have everything.
  func meet(_ names: String...) throws {
    for _ in 0..<2 {
      for (index, a) in names.enumerated() {
        for b in names.dropFirst(index + 1) { try world.sync(device(a), device(b)) }
      }
    }
  }

  /// Nothing that this device's member ever wrote counts.
  func removeWithAll(_ name: String, by owner: String) throws {
    let member = try device(name).member
    try world.state(
      .removal(.init(subject: .member(member), reason: .removed, cutoffs: [])), by: device(owner))
  }

  func notes(_ name: String) throws -> [String: FieldValue] {
    try device(name).tables().reduce(into: [:]) { $0[$1.key.id] = $1.value[0] }
  }

  @Test func `the record that showed for a group leaves the tables when all that it was is withdrawn`() throws {
    try put(device("A"), "z-by-ann", "Pets")
    try meet("A", "C")
    // Cy's has the smaller id, and it is Cy who finds that the two are one: the fact goes with its author too.
    try put(device("C"), "a-by-cy", "pets")
    try put(device("C"), "a-by-cy", "Dogs")
    try meet("B", "C")
    #expect(try notes("B") == ["a-by-cy": .text("Dogs")])

    try removeWithAll("C", by: "A")
    try meet("A", "B")

    let breach = try world.breachAfterHealing()
    #expect(breach == nil)
    for name in ["A", "B"] { #expect(try notes(name) == ["z-by-ann": .text("Pets")], "\(name)") }
  }

  /// The branch's names follow from hashes, so some of these have the one and some the other first.
  @Test(arguments: 0..<2, [false, true])
  func `a branch of which a cutoff has taken everything begins anew when its changesets come again`(
    run: Int, comesInOtherOrder: Bool
  ) throws {
    try put(device("A"), "kept", "kept")
    try put(device("C"), "first", "first")
    try meet("A", "B", "C")
    let twin = try world.clone(device("C"), isNoticed: false)
    try put(device("C"), "one", "one \(run)")
    try put(twin, "other", "other \(run)")
    try world.sync(device("C"), device(comesInOtherOrder ? "A" : "B"))
    try world.sync(twin, device(comesInOtherOrder ? "B" : "A"))
    try meet("A", "B")
    // D has both branches by snapshot only.
    let joiner = try world.add(World.Plan("D", needsSnapshot: true))
    try meet("B", "D")
    #expect(try notes("D").count == 4)

    try removeWithAll("C", by: "A")
    let removal = try device("A").replica.membershipEntries(except: [])
    _ = try joiner.replica.addMembership(removal)
    try meet("A", "B", "D")

    let breach = try world.breachAfterHealing()
    #expect(breach == nil)
    for name in ["A", "B", "D"] { #expect(try notes(name) == ["kept": .text("kept")], "\(name)") }
    #expect(try joiner.replica.vectors().received == device("A").replica.vectors().received)
  }
}
