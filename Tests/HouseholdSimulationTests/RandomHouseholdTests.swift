import Foundation
import HouseholdSimulation
import Testing

@Suite("Random households")
struct RandomHouseholdTests {
  @Test func `200 seeds hold every rule at every step`() throws {
    for seed in UInt64(1)...200 {
      let size = RandomHousehold.Size(devices: seed % 4 == 0 ? 3 : 2, steps: 30, checkEvery: 15)
      let outcome = try RandomHousehold.run(seed: seed, size: size)
      #expect(outcome.failure == nil, "seed \(seed): \(outcome.failure ?? "")")
    }
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
}
