import HouseholdRecords
import HouseholdReplica
import HouseholdSync

/// The months of a household, drawn from a seed of their own: whatever else happens is drawn as without them.
struct Months {
  var random: SeededRandom
  /// Devices that are away, by index, and when they come back.
  var returns: [Int: Instant] = [:]

  /// Nil for every other seed: its household lasts a few hours.
  init?(seed: UInt64) {
    random = SeededRandom(seed: seed &+ 3)
    if random.oneIn(2) { return nil }
  }

  static let day: Int64 = 86_400_000
}

/// Months that go by: absences, sleep, waking, confirmations, compaction (D9).
extension RandomHousehold {
  /// Lets days or months pass, somebody go away or come back, or collects what may go; nothing in most steps.
  func liveOn(_ step: Int) throws {
    guard let chance = months?.random.below(45) else { return }
    let line: String
    switch chance {
    case 0..<4: line = try collectLog(months?.random.pick(world.devices) ?? world.devices[0])
    case 4: line = try world.devices.map(collectLog).joined(separator: "; ")
    case 5..<9: line = try passDays(months?.random.pick([1, 2, 5, 30]) ?? 1)
    case 9, 10: line = try passDays(months?.random.pick([100, 200, 450]) ?? 1)
    case 11, 12: line = goAway()
    case 13: line = comeBack(at: Instant(milliseconds: .max))
    case 14: line = copy(months?.random.pick(world.devices) ?? world.devices[0])
    case 15: line = try putBackAfterMonths()
    default: return
    }
    world.trace.add("\(step)+ \(line)")
  }

  /// Lets a device do what takes a right to write; nothing where what it names could be less than what it has confirmed.
  ///
  /// What others forgot for that nobody can put back (decisions 0008 and 0011, the price). So it has to be the only one of
  /// its identity, to have all that this ever sealed, or had before it was put back to a copy that is older than a month now,
  /// as far as anybody has it; it is not put back to before it any more, and nobody to a copy that may have the rest.
  func takingRights(by device: SimulatedDevice, _ act: () throws -> String) throws -> String {
    let hasTwin = world.devices.contains { $0 !== device && $0.device == device.device }
    if months != nil || hasJumpedFar, hasTwin { return "nothing" }
    if hasTwin { hasTakenBesideTwin = true }
    try collect()
    let forgotten = forgotten[device.device].flatMap { forgotten in
      let age = world.now.milliseconds(since: forgotten.copied).magnitude
      return age >= Limits.copyRestMilliseconds || hasJumpedFar ? forgotten : nil
    }
    if months == nil, forgotten == nil { return try act() }
    let had = forgotten?.changesets ?? []
    guard let received = try archive.received(by: device),
      archive.known.indices.allSatisfy({ number in
        let one = archive.known[number]
        let isOwn = months != nil && one.device == device.device
        return received.contains(number) || !isOwn && !had.contains(one.hash)
      })
    else { return "nothing" }
    // What nobody has any more may be in a copy.
    let isLost = had.contains { archive.numbers[$0] == nil }
    copies.removeAll { isLost || months != nil && $0.device === device }
    return try act()
  }

  /// Somebody goes where nobody reaches him, if two stay.
  private func goAway() -> String {
    let here = world.devices.filter { !world.network.away.contains($0.index) }
    guard here.count > 2, var months else { return "nobody goes away" }
    let device = months.random.pick(here)
    let days = 40 + months.random.below(460)
    months.returns[device.index] = world.now.advanced(byMilliseconds: Int64(days) * Months.day)
    self.months = months
    world.takeAway(device)
    return "\(device.name) goes away for \(days) days"
  }

  /// Whoever should be back by then is where others reach him.
  private func comeBack(at time: Instant) -> String {
    let back = (months?.returns ?? [:]).filter { $0.value <= time }.keys.sorted()
    for index in back {
      months?.returns[index] = nil
      world.network.away.remove(index)
    }
    return back.isEmpty ? "nobody comes back" : back.map { world.devices[$0].name }.joined(separator: ", ") + " is back"
  }

  /// A device is put back to a copy from before what was collected since.
  private func putBackAfterMonths() throws -> String {
    guard !copies.isEmpty, var months else { return "nobody was copied" }
    let copy = months.random.pick(copies)
    let isNoticed = months.random.oneIn(2)
    self.months = months
    return try putBack(to: copy, isNoticed: isNoticed)
  }

  /// Time goes on in some strides; in each the nodes that reach each other do, and make their rounds.
  private func passDays(_ days: Int) throws -> String {
    let strides = min(days, 3)
    for _ in 0..<strides {
      world.advance(milliseconds: Int64(days) * Months.day / Int64(strides))
      world.trace.add(comeBack(at: world.now))
      for device in world.devices { world.handle(device, .tick) }
      if months?.random.oneIn(4) == true { continue }
      world.connectAll()
      deliverSome()
      for device in world.devices where months?.random.oneIn(4) == false { try world.makeRound(device) }
      deliverSome()
    }
    return "\(days) days go by"
  }

  private func deliverSome() {
    let limit = months?.random.pick([40, 400, 4000]) ?? 0
    for _ in 0..<limit where !world.deliverOne() { return }
  }

  /// Compacts as a person's `compact` does; what goes is read before.
  ///
  /// - Parameter keptDays: for how long changesets stay; nil draws it.
  private func collectLog(_ device: SimulatedDevice) throws -> String {
    let kept = Int64(months?.random.pick([0, 0, 30, 400]) ?? 0)
    return try collectLog(device, keptDays: kept)
  }

  private func collectLog(_ device: SimulatedDevice, keptDays: Int64) throws -> String {
    guard device.belongs else { return "\(device.name) does not belong" }
    try world.declareSleepers(by: device)
    try world.seal(device)
    try collect()
    let done = try world.survive(device) { () -> Compaction? in
      // What cannot be sealed now would be sealed and collected in one go.
      guard try device.replica.unsealedCount() == 0 else { return nil }
      return try world.compact(device, keepMilliseconds: keptDays * Months.day)
    }
    guard case .some(.some(let compaction)) = done else { return "\(device.name) could not compact" }
    let kept = compaction.kept.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue) \($0.value)" }
    return "\(device.name) compacts but for \(keptDays) days, keeps \(kept)"
  }

  /// Lives some quiet days more in which all confirm and compact, and names the first broken rule after that.
  func breachAfterMonths() throws -> String? {
    guard months != nil else { return nil }
    for _ in 0..<3 {
      world.advance(milliseconds: Months.day + Months.day / 24)
      try world.heal()
      for device in world.devices { try world.makeRound(device) }
      world.settle()
      try decideAllHeld()
    }
    for device in world.devices { world.trace.add(try collectLog(device, keptDays: 0)) }
    if let breach = try breach() { return "after all have compacted: \(breach)" }
    try world.heal()
    world.pass(seconds: 12, inStepsOf: 3)
    return try (breach() ?? Judge.firstLack(world, archive: archive)).map { "at the end of the months: \($0)" }
  }
}
