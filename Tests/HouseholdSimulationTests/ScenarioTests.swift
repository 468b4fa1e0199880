import Foundation
import HouseholdSimulation
import Testing

@Suite("Scenario files on a simulated household")
struct ScenarioTests {
  /// The scenario whose file begins so.
  static func scenario(_ number: String) throws -> Scenario {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Scenarios")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let name = try #require(names.first { $0.hasPrefix(number) })
    return try Scenario(contentsOf: folder.appending(path: name).path)
  }

  static func step(_ at: Int64, _ node: String, _ operation: String, _ keys: [String: ScenarioJSON]) throws
    -> Scenario.Step
  {
    let common: [String: ScenarioJSON] = ["at_ms": .integer(at), "node": .text(node), "op": .text(operation)]
    return try Scenario.Step(.object(common.merging(keys) { $1 }))
  }

  @Test(arguments: ["01", "02", "05", "06", "08", "10", "13", "16", "24"])
  func `the scenario holds`(number: String) throws {
    let outcome = try ScenarioRunner.run(Self.scenario(number))

    #expect(outcome.holds, "\(outcome.line)")
  }

  @Test(arguments: [
    "03": ["expect.status"], "11": ["backup", "restore-backup"], "19": ["local_only_setting"],
    "15": ["the limit retries_of_refused_record_per_hour", "expect.status"],
  ])
  func `what is not built yet is named, and the rest of the scenario holds`(
    number: String, missing: [String]
  ) throws {
    let outcome = try ScenarioRunner.run(Self.scenario(number))

    #expect(outcome.missing == missing)
    #expect(outcome.failures.isEmpty, "\(outcome.line)")
  }

  @Test(arguments: ["18", "20", "25", "27", "30", "31"])
  func `a scenario that needs what is not built fails by name`(number: String) throws {
    let outcome = try ScenarioRunner.run(Self.scenario(number))

    #expect(!outcome.holds)
    #expect(!outcome.missing.isEmpty, "\(outcome.line)")
  }

  @Test func `dates hold in every zone, but for the import that is not built`() throws {
    let outcome = try ScenarioRunner.run(Self.scenario("33"))

    #expect(outcome.missing.first == "import")
    let other = outcome.failures.filter { !$0.contains("has 0 of transaction where [\"account\"]") }
    #expect(other.isEmpty, "\(outcome.line)")
  }

  @Test func `01 holds when the deletion is synced before the record is made again, by either node`() throws {
    for maker in ["A", "B"] {
      var scenario = try Self.scenario("01")
      scenario.steps.insert(try Self.step(2000, "A", "sync", ["with": .text("B")]), at: 3)
      scenario.steps[4].at = 2500
      scenario.steps[4].node = maker

      let outcome = try ScenarioRunner.run(scenario)
      #expect(outcome.holds, "made again by \(maker): \(outcome.line)")
    }
  }

  @Test func `02 holds in reverse and in 20 random orders`() throws {
    let scenario = try Self.scenario("02")
    let orders = [ScenarioRunner.Order.reverse] + (1...20).map { .random(seed: $0) }
    for order in orders {
      let outcome = try ScenarioRunner.run(scenario, options: .init(order: order))
      #expect(outcome.holds, "\(order): \(outcome.line)")
    }
  }

  @Test func `05 ends with one value in every order of the syncs, whoever is called A`() throws {
    let scenario = try Self.scenario("05")
    let edits = try #require(scenario.steps.firstIndex { $0.at == 6000 })
    let last = Array(scenario.steps[edits...])
    for (seed, order) in Self.permutations(last).enumerated() {
      var varied = scenario
      varied.steps = Array(scenario.steps[..<edits])
      // The file's own syncs come last, so that everything has gone everywhere whatever came before.
      for (index, step) in (order + last).enumerated() {
        var step = step
        step.at = Int64(6000 + index)
        varied.steps.append(step)
      }
      if seed % 2 == 1 { varied.nodes.reverse() }

      let outcome = try ScenarioRunner.run(varied, options: .init(seed: UInt64(seed)))
      #expect(outcome.holds, "order \(seed): \(outcome.line)")
    }
  }

  /// All orders of the syncs; those that differ only by which of two equal ones comes first are left out.
  static func permutations(_ steps: [Scenario.Step]) -> [[Scenario.Step]] {
    func pair(_ step: Scenario.Step) -> String { step.node + (step.keys["with"]?.text ?? "") }
    guard !steps.isEmpty else { return [[]] }
    var seen: Set<String> = []
    return steps.indices.flatMap { index -> [[Scenario.Step]] in
      guard seen.insert(pair(steps[index])).inserted else { return [] }
      var rest = steps
      let first = rest.remove(at: index)
      return permutations(rest).map { [first] + $0 }
    }
  }

  @Test func `08 holds when the deletion is the later one`() throws {
    var scenario = try Self.scenario("08")
    let deletion = try #require(scenario.steps.firstIndex { $0.operation == "delete" })
    scenario.steps[deletion].at = 3000
    scenario.steps[deletion + 1].at = 2000
    scenario.steps.swapAt(deletion, deletion + 1)

    let outcome = try ScenarioRunner.run(scenario)
    #expect(outcome.holds, "\(outcome.line)")
  }

  @Test func `06 holds when the partners meet only in the other's direction, in any spelling`() throws {
    for (seed, spelling) in ["CAFÉ & BARS", " cafe\u{301} & Bars", "Café\u{a0}&  bars"].enumerated() {
      var scenario = try Self.scenario("06")
      for index in scenario.steps.indices where scenario.steps[index].keys["id"]?.text == "cB-1" {
        guard case .object(var keys) = scenario.steps[index].keys else { continue }
        keys["fields"] = .object(["name": .text(spelling)])
        scenario.steps[index].keys = .object(keys)
      }
      scenario.nodes.reverse()

      let outcome = try ScenarioRunner.run(scenario, options: .init(seed: UInt64(seed)))
      #expect(outcome.holds, "\(spelling): \(outcome.line)")
    }
  }

  @Test(arguments: [
    "after_first_row", "middle_of_batch", "after_data_before_token", "after_token_before_ack", "during_ack",
  ])
  func `13 holds at each point of the kill, whichever side dies`(point: String) throws {
    for victim in ["A", "B"] {
      var scenario = try Self.scenario("13")
      let kill = try #require(scenario.steps.firstIndex { $0.operation == "sync_kill" })
      scenario.steps[kill] = try Self.step(
        1000, "A", "sync_kill", ["with": .text("B"), "kill": .text(victim)])

      let outcome = try ScenarioRunner.run(scenario, options: .init(killPoint: point))
      #expect(outcome.holds, "\(victim): \(outcome.line)")
    }
  }

  @Test func `a wrong end state is found`() throws {
    var scenario = try Self.scenario("24")
    scenario.steps.removeAll { $0.operation == "sync" }

    let outcome = try ScenarioRunner.run(scenario)
    #expect(outcome.failures.contains { $0.hasPrefix("B has no category/cat-1") })
    #expect(outcome.failures.contains { $0.contains("A has") && $0.contains("B has nothing") })
  }
}
