import Foundation
import HouseholdSimulation
import Testing

@Suite("Random households")
struct RandomHouseholdTests {
  /// Households of some hours: the seeds that found something before months went by mean the same runs still.
  private static func short(devices: Int = 3, steps: Int = 100) -> RandomHousehold.Size {
    var size = RandomHousehold.Size(devices: devices, steps: steps)
    size.livesLong = false
    return size
  }

  /// Ten seeds each: cases run at the same time, one on each core.
  private static let tens = stride(from: UInt64(1), through: 191, by: 10).map { $0...($0 + 9) }

  @Test(arguments: tens) func `200 seeds hold every rule at every step`(seeds: ClosedRange<UInt64>) throws {
    for seed in seeds {
      // Most are small, as these builds are not optimised; `household-simulator` plays larger ones.
      let isLarge = seed % 4 == 0
      let size = RandomHousehold.Size(devices: isLarge ? 3 : 2, steps: isLarge ? 100 : 50)
      let outcome = try RandomHousehold.run(seed: seed, size: size)
      #expect(outcome.failure == nil, "seed \(seed): \(outcome.failure ?? "")")
    }
  }

  @Test(arguments: [84, 170, 353, 1047, 1106] as [UInt64])
  func `a seed that once found a fault holds, where the schema stays as it is`(seed: UInt64) throws {
    var size = Self.short()
    (size.losesRights, size.hasSeveralOwners) = (false, false)
    (size.growsSchema, size.sealsInSmallParts) = (false, false)
    let outcome = try RandomHousehold.run(seed: seed, size: size)
    #expect(outcome.failure == nil, "seed \(seed): \(outcome.failure ?? "")")
  }

  @Test(arguments: [24, 46, 5067] as [UInt64])
  func `a seed that once found a fault where the schema grows holds`(seed: UInt64) throws {
    var size = Self.short()
    (size.losesRights, size.hasSeveralOwners, size.sealsInSmallParts) = (false, false, false)
    let outcome = try RandomHousehold.run(seed: seed, size: size)
    #expect(outcome.failure == nil, "seed \(seed): \(outcome.failure ?? "")")
  }

  @Test(arguments: [1, 5, 22, 35, 207, 10033, 21016, 60275] as [UInt64])
  func `a seed that once found a fault where edits are sealed in parts holds`(seed: UInt64) throws {
    var size = Self.short()
    (size.losesRights, size.hasSeveralOwners) = (false, false)
    let outcome = try RandomHousehold.run(seed: seed, size: size)
    #expect(outcome.failure == nil, "seed \(seed): \(outcome.failure ?? "")")
  }

  @Test(arguments: [22, 45, 79, 87, 163] as [UInt64])
  func `what a removed member's edit displaced comes back in every order (F3, D3)`(seed: UInt64) throws {
    var size = Self.short()
    size.hasSeveralOwners = false
    let outcome = try RandomHousehold.run(seed: seed, size: size)
    #expect(outcome.failure == nil, "seed \(seed): \(outcome.failure ?? "")")
  }

  @Test(arguments: [186, 224, 226, 308, 358] as [UInt64])
  func `nothing waits for what does not count, on whatever branch it lies (D2, D5)`(seed: UInt64) throws {
    var size = Self.short()
    size.hasSeveralOwners = false
    let outcome = try RandomHousehold.run(seed: seed, size: size)
    #expect(outcome.failure == nil, "seed \(seed): \(outcome.failure ?? "")")
  }

  @Test(arguments: [103, 234, 266, 286, 325, 444, 599, 1120] as [UInt64])
  func `what a cutoff takes of a snapshot stays received, so that everyone comes to have the same (R3, D5)`(
    seed: UInt64
  )
    throws
  {
    var size = Self.short()
    size.hasSeveralOwners = false
    let outcome = try RandomHousehold.run(seed: seed, size: size)
    #expect(outcome.failure == nil, "seed \(seed): \(outcome.failure ?? "")")
  }

  @Test func `who had seen a branch that does not count has not seen as much of another (D4, D6)`() throws {
    let outcome = try RandomHousehold.run(seed: 5022, size: Self.short(devices: 4, steps: 200))
    #expect(outcome.failure == nil, "\(outcome.failure ?? "")")
  }

  @Test
  func `who had seen the end of a branch that does not count has seen its beginning, whenever the end comes (D4, D6)`()
    throws
  {
    let outcome = try RandomHousehold.run(seed: 200243, size: Self.short())
    #expect(outcome.failure == nil, "\(outcome.failure ?? "")")
  }

  @Test func `a branch that peers hold in their base only comes by snapshot, though its name is covered (D4)`() throws {
    var size = Self.short()
    (size.losesRights, size.hasSeveralOwners) = (false, false)
    let outcome = try RandomHousehold.run(seed: 20593, size: size)
    #expect(outcome.failure == nil, "\(outcome.failure ?? "")")
  }

  @Test func `pages of two copies of one device are not put together, though both call what they hold alike (D4)`()
    throws
  {
    let outcome = try RandomHousehold.run(seed: 60045, size: Self.short())
    #expect(outcome.failure == nil, "\(outcome.failure ?? "")")
  }

  @Test func `a snapshot sets aside only what its server's log does not hold one by one (R3, D5)`() throws {
    let outcome = try RandomHousehold.run(seed: 200392, size: Self.short())
    #expect(outcome.failure == nil, "\(outcome.failure ?? "")")
  }

  @Test func `an owner whose set is sealed in one part and itself in another keeps its row`() throws {
    let outcome = try RandomHousehold.run(seed: 310160, size: Self.short())
    #expect(outcome.failure == nil, "\(outcome.failure ?? "")")
  }

  @Test func `what an edit in parts wrote over comes back when its author had no right to write (D3)`() throws {
    let outcome = try RandomHousehold.run(seed: 5078, size: Self.short(devices: 4, steps: 200))
    #expect(outcome.failure == nil, "\(outcome.failure ?? "")")
  }

  @Test func `a value beside a row that waits for three parts stays beside it`() throws {
    let outcome = try RandomHousehold.run(seed: 201402)
    #expect(outcome.failure == nil, "\(outcome.failure ?? "")")
  }

  /// Two changesets begin one replica; and a snapshot tells of one of them only.
  @Test(arguments: [130038, 130242] as [UInt64])
  func `a long household in which a replica begins twice holds (D4)`(seed: UInt64) throws {
    let outcome = try RandomHousehold.run(seed: seed, size: .init(steps: 1000, checkEvery: 50))
    #expect(outcome.failure == nil, "seed \(seed): \(outcome.failure ?? "")")
  }

  @Test func `what a replica has seen only grows, though what it has seen counts no longer (D2, D6)`() throws {
    let outcome = try RandomHousehold.run(seed: 130804, size: .init(steps: 1000, checkEvery: 50))
    #expect(outcome.failure == nil, "\(outcome.failure ?? "")")
  }

  @Test func `two devices whose replica has branches do not blame each other, whatever comes between (D4)`() throws {
    let outcome = try RandomHousehold.run(seed: 130079, size: .init(steps: 1000, checkEvery: 50))
    #expect(outcome.failure == nil, "\(outcome.failure ?? "")")
  }

  @Test func `in some households devices sleep, wake, forget deleted records, and are put back to before that (D9)`()
    throws
  {
    var missing: Set = [
      "sleeps, says", "wake d", "changesets, 1 records", "is put back to a copy", "has a snapshot of",
    ]
    for seed in UInt64(1)...60 where !missing.isEmpty {
      var lines: [String] = []
      let outcome = try RandomHousehold.run(seed: seed, trace: Trace { lines.append($0) })
      #expect(outcome.failure == nil, "seed \(seed): \(outcome.failure ?? "")")
      guard lines.contains(where: { $0.contains("days go by") }) else { continue }
      missing = missing.filter { word in !lines.contains { $0.contains(word) } }
    }
    #expect(missing.isEmpty)
  }

  @Test func `the same seed gives the same run`() throws {
    for seed in UInt64(1)...5 {
      let first = try RandomHousehold.run(seed: seed)
      let second = try RandomHousehold.run(seed: seed)
      #expect(first == second)
    }
    let other = try (UInt64(1)...5).map { try RandomHousehold.run(seed: $0, size: .init(steps: 20)).checksum }
    #expect(Set(other).count == 5, "different seeds are different runs")
  }

  /// Each with the steps after which it failed; the fault has a story of its own beside the rule that it broke.
  @Test(arguments: [
    (300_146, 700), (300_414, 1000), (310_069, 350), (310_092, 850), (400_165, 400), (400_637, 200), (401_303, 550),
    (405_627, 250), (406_473, 250), (406_548, 300), (420_031, 250), (441_144, 1000), (446_416, 950), (455_236, 1000),
    (460_108, 800),
  ])
  func `a long household that once found a fault holds`(seed: UInt64, steps: Int) throws {
    let outcome = try RandomHousehold.run(seed: seed, size: .init(steps: steps, checkEvery: 50))
    #expect(outcome.failure == nil, "seed \(seed): \(outcome.failure ?? "")")
  }
}
