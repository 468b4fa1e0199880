import FoundationEssentials
package import HouseholdRecords

/// A file of the format `household-sync-scenario/1`: devices, what happens to them, and how it must end.
package struct Scenario: Sendable {
  /// One device of the scenario.
  package struct Node: Hashable, Sendable {
    package var name: String
    package var clockOffset: Int64
    package var role: String
    package var version: String
  }

  /// One thing that happens.
  package struct Step: Hashable, Sendable {
    /// True time since the start, in milliseconds.
    package var at: Int64
    package var node: String
    package var operation: String
    /// The whole object with the operation's own keys.
    package var keys: ScenarioJSON

    package init(_ json: ScenarioJSON) throws {
      guard let operation = json["op"]?.text, let at = json["at_ms"]?.integer else {
        throw ScenarioFault("A step has no `op` or no `at_ms`.")
      }
      self.operation = operation
      self.at = at
      node = json["node"]?.text ?? ""
      keys = json
    }
  }

  package var id: String
  package var title: String
  package var start: Instant
  package var nodes: [Node]
  package var steps: [Step]
  package var expect: ScenarioJSON

  /// The name that every file of this format carries.
  package static let format = "household-sync-scenario/1"

  /// Reads a file's bytes.
  package init(bytes: [UInt8]) throws {
    let json = try JSONDecoder().decode(ScenarioJSON.self, from: Data(bytes))
    guard json["format"]?.text == Self.format else { throw ScenarioFault("The file is not \(Self.format).") }
    guard let id = json["id"]?.text, let start = json["start_utc"]?.text.flatMap({ Instant(rfc3339: $0) }) else {
      throw ScenarioFault("The file has no `id` or no `start_utc`.")
    }
    self.id = id
    self.start = start
    title = json["title"]?.text ?? ""
    nodes = (json["nodes"]?.members ?? []).map { name, keys in
      Node(
        name: name, clockOffset: keys["clock_offset_ms"]?.integer ?? 0, role: keys["role"]?.text ?? "member",
        version: keys["version"]?.text ?? "")
    }
    steps = try (json["steps"]?.elements ?? []).map(Step.init)
    expect = json["expect"] ?? .object([:])
  }

  /// Reads a file.
  package init(contentsOf path: String) throws {
    try self.init(bytes: Array(try Data(contentsOf: URL(fileURLWithPath: path))))
  }
}

/// Why a scenario file cannot be read, in a sentence.
package struct ScenarioFault: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ sentence: String) { description = sentence }
}

/// How a scenario ended.
package struct ScenarioOutcome: Hashable, Sendable {
  package var id: String
  /// What the scenario asks for and neither the product nor the simulator can do yet, by name.
  package var missing: [String] = []
  /// What was expected and is not so.
  package var failures: [String] = []

  /// Whether everything was done and everything is as expected.
  package var holds: Bool { missing.isEmpty && failures.isEmpty }

  /// One line about it.
  package var line: String {
    if holds { return "\(id): passed" }
    let parts = missing.map { "not built yet: \($0)" } + failures
    return "\(id): failed: " + parts.joined(separator: "; ")
  }
}
