import HouseholdRecords
import HouseholdReplica

/// How a scenario must end.
extension ScenarioRunner {
  /// Where a scenario leaves it to the product: the product's documented rule (design 2.4).
  static let policies: Set<String> = ["delete_vs_edit=delete_wins"]

  func checkExpectations() throws {
    for (name, json) in scenario.expect.members {
      switch name {
      case "nodes": try attempt { try checkNodes(json) }
      case "by_policy":
        guard let state = json.members.first(where: { Self.policies.contains($0.name) })?.value else {
          try missing("a policy among \(json.members.map(\.name))", otherwise: ())
          continue
        }
        try attempt { try checkNodes(state) }
      case "same_on": try checkSame(json.elements.compactMap(\.text))
      case "rules": for rule in json.elements.compactMap(\.text) { try attempt { try check(rule: rule) } }
      case "limits": for (limit, value) in json.members { try attempt { try check(limit: limit, value) } }
      default: try missing("expect.\(name)", otherwise: ())
      }
    }
  }

  private func attempt(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let fault as NotBuilt {
      try missing(fault.name, otherwise: ())
    }
  }

  private func checkNodes(_ nodes: ScenarioJSON) throws {
    for (name, state) in nodes.members {
      let device = try device(name)
      for record in state["records"]?.elements ?? [] { try attempt { try check(record, on: device) } }
      for record in state["absent"]?.elements ?? [] { try attempt { try checkAbsent(record, on: device) } }
      for count in state["count"]?.elements ?? [] { try attempt { try checkCount(count, on: device) } }
      for (key, _) in state.members where !["records", "absent", "count"].contains(key) {
        try missing("expect.nodes.\(key)", otherwise: ())
      }
    }
  }

  private func key(_ json: ScenarioJSON) throws -> RecordKey {
    RecordKey(type: try type(json["type"]?.text ?? "").name, id: try ScenarioValues.id(json["id"]?.text ?? ""))
  }

  private func check(_ record: ScenarioJSON, on device: SimulatedDevice) throws {
    let key = try key(record)
    guard let fields = try device.fields(key) else {
      outcome.failures.append("\(device.name) has no \(key)")
      return
    }
    for (name, expected) in record["fields"]?.members ?? [] {
      guard let field = try type(key.type).field(name), let value = fields[name] else {
        throw NotBuilt("the field \(key.type).\(name), which the schema has not")
      }
      if try !ScenarioValues.matches(value, expected, field: field) {
        outcome.failures.append("\(device.name) has \(value) in \(key).\(name), not \(expected)")
      }
    }
  }

  private func checkAbsent(_ record: ScenarioJSON, on device: SimulatedDevice) throws {
    let key = try key(record)
    if try device.fields(key) != nil { outcome.failures.append("\(device.name) still has \(key)") }
  }

  private func checkCount(_ json: ScenarioJSON, on device: SimulatedDevice) throws {
    let type = try type(json["type"]?.text ?? "")
    let found = try records(device, type: type, where: json["where"] ?? .object([:])).count
    if Int64(found) != json["equals"]?.integer {
      outcome.failures.append(
        "\(device.name) has \(found) of \(type.name) where \(json["where"]?.members.map(\.name) ?? []), "
          + "not \(json["equals"]?.integer ?? 0)")
    }
  }

  private func checkSame(_ names: [String]) throws {
    guard let first = names.first else { return }
    for other in names.dropFirst() {
      if let difference = try Judge.firstDifference(device(first), device(other)) {
        outcome.failures.append(difference)
      }
    }
  }

  private func check(limit: String, _ value: ScenarioJSON) throws {
    guard let most = value.integer else { throw NotBuilt("the limit \(limit)") }
    switch limit {
    case "changes_sent_in_watch":
      guard let sent = changesSentInWatch else { throw NotBuilt("\(limit) without watch_traffic") }
      if Int64(sent) > most { outcome.failures.append("\(sent) changesets were sent while traffic was watched") }
    case "times_each_change_is_sent_to_each_peer_max":
      if let worst = world.traffic.most, Int64(worst.count) > most {
        outcome.failures.append(
          "\(worst.name) was sent \(worst.count) times to \(world.devices[worst.device].name) (R9)")
      }
    default: throw NotBuilt("the limit \(limit)")
    }
  }
}
