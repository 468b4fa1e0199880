import HouseholdBudget
import HouseholdRecords
import HouseholdReplica

/// The rules that a scenario names: statements about whole states.
extension ScenarioRunner {
  func check(rule: String) throws {
    switch rule {
    case "no_dangling_refs": for device in world.devices { try checkReferences(device) }
    case "all_refs_to_duplicates_point_to_survivor": for device in world.devices { try checkSurvivors(device) }
    case "splits_sum_to_parent": for device in world.devices { try checkSplits(device) }
    case "every_record_complete": for device in world.devices { try checkComplete(device) }
    case "month_totals_equal_on_all_nodes": try checkMonths()
    default:
      if rule.hasPrefix("sum("), let close = rule.firstIndex(of: ")") {
        let condition = rule[rule.index(rule.startIndex, offsetBy: 4)..<close]
        try checkSum(String(condition), rest: String(rule[rule.index(after: close)...]), rule: rule)
        return
      }
      throw NotBuilt("the rule \(rule)")
    }
  }

  /// Every reference resolves; the built-in "uncategorised" is there by definition.
  private func checkReferences(_ device: SimulatedDevice) throws {
    let tables = try device.tables()
    let builtIn = Set(world.schema.builtIn.map { RecordKey(type: $0.type, id: $0.id) })
    for key in tables.keys.sorted() {
      for (field, value) in zip(try type(key.type).fields, tables[key] ?? []) {
        guard field.kind == .reference, let target = field.to, let id = value.text else { continue }
        let to = RecordKey(type: target, id: id)
        if tables[to] == nil && !builtIn.contains(to) {
          outcome.failures.append("\(device.name): \(key).\(field.name) points to \(to), which is not there")
        }
      }
    }
  }

  /// No reference that shows names a record that is one thing with another one.
  private func checkSurvivors(_ device: SimulatedDevice) throws {
    let tables = try device.tables()
    for key in tables.keys.sorted() {
      for (field, value) in zip(try type(key.type).fields, tables[key] ?? []) {
        guard field.kind == .reference, let target = field.to, let id = value.text else { continue }
        if let survivor = try device.access.survivor(of: id, type(target)) {
          outcome.failures.append("\(device.name): \(key).\(field.name) points to \(id), not to \(survivor)")
        }
      }
    }
  }

  private func checkSplits(_ device: SimulatedDevice) throws {
    var sums: [String: Int64] = [:]
    for split in try records(device, type: type("split"), where: .object([:])) {
      guard let fields = try device.fields(split.key), let parent = fields["parent"]?.text else { continue }
      sums[parent, default: 0] += fields["amount_minor"]?.integer ?? 0
    }
    for (parent, sum) in sums.sorted(by: { $0.key < $1.key }) {
      let amount = try device.fields(RecordKey(type: "transaction", id: parent))?["amount_minor"]?.integer
      if amount != sum {
        outcome.failures.append("\(device.name): the splits of \(parent) sum to \(sum), its amount is \(amount ?? 0)")
      }
    }
  }

  /// No row holds only the field that was patched: what a record was made with is there.
  private func checkComplete(_ device: SimulatedDevice) throws {
    for key in try device.tables().keys.sorted() {
      let fields = try device.fields(key) ?? [:]
      for name in (filled[key] ?? []).sorted() where fields[name]?.isNull ?? true {
        outcome.failures.append("\(device.name): \(key) has lost its \(name)")
      }
    }
  }

  private func checkMonths() throws {
    var totals: [[String: Int64]] = []
    for device in world.devices {
      var sums: [String: Int64] = [:]
      for record in try records(device, type: type("transaction"), where: .object([:])) {
        let fields = try device.fields(record.key) ?? [:]
        let month = fields["date"]?.text.map { String($0.prefix(7)) } ?? ""
        sums[month, default: 0] += fields["amount_minor"]?.integer ?? 0
      }
      totals.append(sums)
    }
    for (device, sums) in zip(world.devices, totals) where sums != totals[0] {
      outcome.failures.append("\(device.name) has other totals by month than \(world.devices[0].name)")
    }
  }

  private func checkSum(_ condition: String, rest: String, rule: String) throws {
    let words = condition.split(separator: "=", maxSplits: 1).map(String.init)
    guard rest.hasPrefix("="), let expected = Int64(rest.dropFirst()), words.count == 2 else {
      throw NotBuilt("the rule \(rule)")
    }
    for device in world.devices {
      let found = try records(device, type: type("transaction"), where: .object([words[0]: .text(words[1])]))
      var sum: Int64 = 0
      for record in found { sum += try device.fields(record.key)?["amount_minor"]?.integer ?? 0 }
      if sum != expected { outcome.failures.append("\(device.name): sum(\(condition)) is \(sum), not \(expected)") }
    }
  }
}
