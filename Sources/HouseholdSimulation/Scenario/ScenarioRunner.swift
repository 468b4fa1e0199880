import FoundationEssentials
import HouseholdBudget
import HouseholdRecords
import HouseholdReplica

/// Plays a scenario on a simulated household, and says how it ended.
///
/// It knows the words of the format and nothing of single files. What cannot be done yet is named in the outcome, the
/// rest of the scenario is played all the same.
package final class ScenarioRunner {
  /// In which order edits that are made at one moment by one node are made.
  package enum Order: Hashable, Sendable {
    case asWritten
    case reverse
    case random(seed: UInt64)
  }

  /// How a scenario is varied.
  package struct Options: Hashable, Sendable {
    package var seed: UInt64
    package var order: Order
    /// Only this one of the points at which `sync_kill` kills; nil plays all, one after the other.
    package var killPoint: String?

    package init(seed: UInt64 = 1, order: Order = .asWritten, killPoint: String? = nil) {
      self.seed = seed
      self.order = order
      self.killPoint = killPoint
    }
  }

  let scenario: Scenario
  let options: Options
  let world: World
  var outcome: ScenarioOutcome
  /// The fields that every record has had a value in since it was made, by the scenario's own puts.
  var filled: [RecordKey: Set<String>] = [:]
  /// What was sent while traffic was watched.
  var changesSentInWatch: Int?
  /// Whether each edit is sealed by itself, because a step wants to deliver one change at a time.
  private let sealsEachEdit: Bool

  private init(_ scenario: Scenario, options: Options) {
    self.scenario = scenario
    self.options = options
    outcome = ScenarioOutcome(id: scenario.id)
    world = World(seed: options.seed, schema: BudgetSchema.schema, start: scenario.start)
    sealsEachEdit = scenario.steps.contains { $0.operation == "sync_raw" && $0.keys["batch_limit"]?.integer == 1 }
  }

  /// Plays the scenario to its end.
  package static func run(_ scenario: Scenario, options: Options = Options()) throws -> ScenarioOutcome {
    let runner = ScenarioRunner(scenario, options: options)
    try runner.setUp()
    for step in runner.orderedSteps() { try runner.play(step) }
    for device in runner.world.devices { try runner.world.seal(device) }
    try runner.checkExpectations()
    runner.outcome.failures += runner.world.faults
    return runner.outcome
  }

  /// The household is there, and everybody has its (empty) records, before the scenario begins.
  private func setUp() throws {
    let owner = scenario.nodes.first { $0.role == "owner" } ?? scenario.nodes.first
    guard let owner else { throw ScenarioFault("The scenario has no nodes.") }
    for node in [owner] + scenario.nodes.filter({ $0.name != owner.name }) {
      let role: Role =
        switch node.role {
        case "owner": .owner
        case "member": .member
        case "read-only": .readOnly
        default: try missing("the role \(node.role)", otherwise: .member)
        }
      if !node.version.isEmpty { try missing("nodes of different versions", otherwise: ()) }
      let isFirst = world.devices.isEmpty
      let device = try world.add(
        World.Plan(node.name, clockOffset: node.clockOffset, role: role, needsSnapshot: !isFirst))
      if !isFirst { try world.sync(world.devices[0], device) }
    }
    for device in world.devices.dropFirst() { try world.sync(world.devices[0], device) }
    world.traffic = Traffic()
  }

  /// Takes note of something that cannot be done, and goes on.
  func missing<Value>(_ name: String, otherwise value: Value) throws -> Value {
    if !outcome.missing.contains(name) { outcome.missing.append(name) }
    return value
  }

  /// The steps, with the puts of one node at one moment in the order that the options ask for.
  private func orderedSteps() -> [Scenario.Step] {
    if options.order == .asWritten { return scenario.steps }
    var random = SeededRandom(seed: { if case .random(let seed) = options.order { seed } else { 0 } }())
    var steps: [Scenario.Step] = []
    var moment: [Scenario.Step] = []
    func flush() {
      if options.order == .reverse { moment.reverse() } else { moment.shuffle(using: &random) }
      steps += moment
      moment = []
    }
    for step in scenario.steps {
      if let last = moment.last, step.operation != "put" || step.at != last.at || step.node != last.node { flush() }
      if step.operation == "put" { moment.append(step) } else { steps.append(step) }
    }
    flush()
    return steps
  }

  // MARK: Steps

  func play(_ step: Scenario.Step) throws {
    let time = scenario.start.advanced(byMilliseconds: step.at)
    if time > world.now {
      // A node seals soon after an edit, so everything before this moment is sealed.
      for device in world.devices { try world.seal(device) }
      world.advance(milliseconds: time.milliseconds(since: world.now))
    }
    do {
      try act(step)
    } catch let fault as NotBuilt {
      try missing(fault.name, otherwise: ())
    }
    if sealsEachEdit, let device = world[step.node] { try world.seal(device) }
  }

  func device(_ name: String?) throws -> SimulatedDevice {
    guard let name, let device = world[name] else { throw ScenarioFault("There is no node \(name ?? "").") }
    return device
  }

  private func act(_ step: Scenario.Step) throws {
    let keys = step.keys
    func node() throws -> SimulatedDevice { try device(step.node) }
    func peer() throws -> SimulatedDevice { try device(keys["with"]?.text) }
    switch step.operation {
    case "put":
      guard let id = keys["id"]?.text else { throw ScenarioFault("A put has no id.") }
      try put(node(), try key(keys, id: id), keys["fields"] ?? .null)
    case "bulk_put": try bulkPut(node(), keys)
    case "delete":
      let key = try key(keys, id: keys["id"]?.text ?? "")
      let type = try type(key.type)
      let device = try node()
      _ = try device.edit(at: world.wall(device)) { try $0.delete(type, key.id) }
      filled[key] = nil
    case "delete_where": try deleteWhere(node(), keys)
    case "sync", "sync_try": try sync(node(), peer(), keys)
    case "sync_raw": try syncRaw(node(), peer(), keys)
    case "sync_kill": try syncKill(node(), peer(), keys)
    case "sync_with_interleave": try syncWithInterleave(node(), peer(), keys)
    case "check_peer_records": try checkPeerRecords(keys)
    case "partition": world.partition(try node(), try peer())
    case "heal": world.network.heal(try node().index, try peer().index)
    case "restart": try world.restart(node())
    case "freeze": world.network.frozen.insert(try node().index)
    case "thaw": world.network.frozen.remove(try node().index)
    case "set_clock":
      guard let offset = keys["clock_offset_ms"]?.integer ?? keys["offset_ms"]?.integer else {
        throw NotBuilt("set_clock without clock_offset_ms")
      }
      try node().clockOffset = offset
    case "compact": _ = try world.compact(node())
    case "watch_traffic": try watchTraffic(keys)
    case "wait_converge": try world.heal()
    default: throw NotBuilt(step.operation)
    }
  }

  // MARK: Edits

  private func key(_ keys: ScenarioJSON, id: String) throws -> RecordKey {
    guard let type = keys["type"]?.text else { throw ScenarioFault("A step names no type.") }
    return RecordKey(type: type, id: try ScenarioValues.id(id))
  }

  func type(_ name: String) throws -> RecordType {
    guard let type = world.schema.type(name) else { throw NotBuilt("the type \(name), which the schema has not") }
    return type
  }

  private func put(_ device: SimulatedDevice, _ key: RecordKey, _ fields: ScenarioJSON, number: Int64 = 1) throws {
    let type = try type(key.type)
    var values: [(name: String, value: FieldValue)] = []
    for (name, json) in fields.members {
      guard let field = type.field(name) else {
        throw NotBuilt("the field \(type.name).\(name), which the schema has not")
      }
      values.append((name, try ScenarioValues.value(json, for: field, number: number)))
    }
    do {
      let isNew = try device.edit(at: world.wall(device)) { try $0.put(type, key.id, values) }
      if isNew { filled[key] = Set(values.filter { !$0.value.isNull }.map(\.name)) }
      for (name, value) in values where value.isNull { filled[key]?.remove(name) }
    } catch let error as ReplicaError where error.code == .badValue {
      // The writer is told; what must not happen is that anything else stops.
      world.trace.add("\(device.name) refused \(key): \(error.message)")
    }
  }

  private func bulkPut(_ device: SimulatedDevice, _ keys: ScenarioJSON) throws {
    guard let count = keys["count"]?.integer, let pattern = keys["id_pattern"]?.text, count > 0 else {
      throw ScenarioFault("A bulk_put has no count or no id_pattern.")
    }
    for number in 1...count {
      let id = try Self.fill(pattern, with: number)
      try put(device, try key(keys, id: id), keys["fields"] ?? .null, number: number)
    }
  }

  /// Puts a number in the place of `%d` or of `%0Nd`, which pads it to N digits.
  private static func fill(_ pattern: String, with number: Int64) throws -> String {
    let parts = pattern.split(separator: "%", omittingEmptySubsequences: false)
    guard parts.count == 2, let end = parts[1].firstIndex(of: "d"), let width = UInt8("0" + parts[1][..<end]) else {
      throw ScenarioFault("The pattern \(pattern) has no place for a number.")
    }
    let digits = String(number)
    let padding = String(repeating: "0", count: max(0, Int(width) - digits.count))
    return parts[0] + padding + digits + parts[1][parts[1].index(after: end)...]
  }

  private func deleteWhere(_ device: SimulatedDevice, _ keys: ScenarioJSON) throws {
    let type = try type(keys["type"]?.text ?? "")
    for record in try records(device, type: type, where: keys["where"] ?? .object([:])) {
      _ = try device.edit(at: world.wall(device)) { try $0.delete(type, record.key.id) }
      filled[record.key] = nil
    }
  }

  /// The records that have these values.
  func records(_ device: SimulatedDevice, type: RecordType, where conditions: ScenarioJSON) throws -> [ShownRecord] {
    var wanted: [(field: String, value: FieldValue)] = []
    var names: [(index: Int, name: String)] = []
    for (name, json) in conditions.members {
      guard let field = type.field(name) else { throw NotBuilt("the field \(type.name).\(name)") }
      if let same = json["$same_name_as"]?.text, let index = type.fields.firstIndex(of: field) {
        names.append((index, same))
        continue
      }
      wanted.append((name, try ScenarioValues.value(json, for: field)))
    }
    var found: [ShownRecord] = []
    try device.access.forEach(type, where: wanted) { record in
      let isNamed = names.allSatisfy { index, name in
        record.values[index].text.map { Folding.areSame($0, name) } ?? false
      }
      if isNamed { found.append(record) }
    }
    return found
  }
}
