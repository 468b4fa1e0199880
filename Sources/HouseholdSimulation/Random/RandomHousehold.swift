import HouseholdRecords
import HouseholdReplica
import HouseholdSync

/// How one seed went.
package struct SeedOutcome: Hashable, Sendable {
  package var seed: UInt64
  /// The first broken rule with the first differing record, and the step after which it was found; nil if all held.
  package var failure: String?
  package var events: Int
  package var changesets: Int
  /// Of the trace: equal for equal runs.
  package var checksum: UInt64
}

/// A device's file as it once was.
struct Copy {
  let device: SimulatedDevice
  let file: SimulatedDisk
  let time: Instant
}

/// A household to which things happen at random, all from one seed.
package final class RandomHousehold {
  /// How large a run is.
  package struct Size: Hashable, Sendable {
    package var devices: Int
    package var steps: Int
    /// The rules are checked after so many steps.
    package var checkEvery: Int

    /// Whether members are removed, made read-only and leave.
    package var losesRights = true
    /// Whether members are made owners, and copies of an owner's device act on their own.
    package var hasSeveralOwners = true
    /// Whether the owner adds types and fields.
    package var growsSchema = true
    /// Whether two of three devices seal one edit in one go, or three, as a real one does with 20,000.
    package var sealsInSmallParts = true
    /// Whether in every other household months go by, in which devices are away, fall asleep, and compact.
    package var livesLong = true

    package init(devices: Int = 3, steps: Int = 100, checkEvery: Int = 10) {
      self.devices = devices
      self.steps = steps
      self.checkEvery = checkEvery
    }
  }

  private let seed: UInt64
  let size: Size
  let world: World
  var random: SeededRandom
  private var judgeRandom: SeededRandom
  var archive = ChangesetArchive()
  /// What the months bring; nil in a household that lasts a few hours.
  var months: Months?
  var copies: [Copy] = []
  /// What devices had that were put back, and from when the oldest of the copies was.
  var forgotten: [DeviceID: (changesets: Set<ChangesetHash>, copied: Instant)] = [:]
  /// Whether a clock was wrong by more than a month: then a month has gone by for whoever has it.
  var hasJumpedFar = false
  /// Whether a device that is used in two places has taken a right away: one that has forgotten what was displaced by then
  /// hears of it later (decision 0011, the price), so nobody's clock goes wrong by more than a month any more.
  var hasTakenBesideTwin = false
  private static let start = Instant(milliseconds: 1_772_442_000_000)

  private init(seed: UInt64, size: Size, trace: Trace) {
    self.seed = seed
    self.size = size
    random = SeededRandom(seed: seed &+ 1)
    judgeRandom = SeededRandom(seed: seed &+ 2)
    let schema = SimulationSchema.schema(types: 2, &random)
    world = World(seed: seed, schema: schema, start: Self.start, trace: trace)
    world.sealsInSmallParts = size.sealsInSmallParts
    months = size.livesLong ? Months(seed: seed) : nil
  }

  /// Plays one seed to its end, or to the first broken rule.
  package static func run(seed: UInt64, size: Size = Size(), trace: Trace = Trace()) throws -> SeedOutcome {
    let household = RandomHousehold(seed: seed, size: size, trace: trace)
    let failure = try household.play()
    return SeedOutcome(
      seed: seed, failure: failure, events: household.world.events, changesets: household.archive.count,
      checksum: household.world.trace.checksum)
  }

  /// Everything that the devices of one seed send to each other, in order.
  package static func messages(seed: UInt64, size: Size) throws -> [(type: UInt8, payload: [UInt8])] {
    let household = RandomHousehold(seed: seed, size: size, trace: Trace())
    var messages: [(type: UInt8, payload: [UInt8])] = []
    household.world.onSend = { messages.append(($0, $1)) }
    _ = try household.play()
    return messages
  }

  private func play() throws -> String? {
    for index in 0..<size.devices {
      try world.add(World.Plan("d\(index)", needsSnapshot: index > 0 && random.oneIn(2)))
    }
    world.connectAll()
    for step in 1...size.steps {
      try act(step)
      try liveOn(step)
      if step % size.checkEvery == 0, let breach = try breach(isHealed: false) {
        return "after step \(step): \(breach)"
      }
    }
    try world.heal(keepingLinks: random.oneIn(2))
    // What came in late may bring more to be fetched or sealed.
    world.pass(seconds: 12, inStepsOf: 3)
    try decideAllHeld()
    if let breach = try breach() ?? Judge.firstLack(world, archive: archive) { return "after healing: \(breach)" }
    let before = world.traffic.messages
    world.pass(seconds: 20, inStepsOf: 5)
    if world.traffic.messages != before { return "after healing: traffic goes on while nothing changes (R9)" }
    if let breach = try breach() { return "after the quiet: \(breach)" }
    return try breachAfterMonths()
  }

  func breach(isHealed: Bool = true) throws -> String? {
    // The judge reads the devices' files.
    for device in world.devices { device.disk.heal() }
    return try Judge.firstBreach(world, archive: &archive, isHealed: isHealed, random: &judgeRandom)
  }

  // MARK: What happens

  private func act(_ step: Int) throws {
    world.advance(milliseconds: Int64(random.oneIn(5) ? random.below(20_000) : random.below(400)))
    let device = random.pick(world.devices)
    let line: String
    switch random.below(108) {
    case 0..<38: line = try edit(device)
    case 38..<54: line = try sql(device)
    case 54..<64: line = try seal(device)
    case 64..<78: line = flap(device)
    case 78..<82: line = try restart(device)
    case 82..<86: line = try kill(device)
    case 86..<90: line = jump(device)
    case 90..<92: line = try join()
    case 92..<95: line = try tick()
    case 95: line = "digest of \(device.name): \(try lookAtDigest(device))"
    case 96: line = try world.survive(device) { try decide(device) } ?? "\(device.name) could not decide"
    case 97: line = armFault(device)
    case 98: line = try random.oneIn(2) ? copy(device) : restore()
    case 99: line = try clone(device)
    case 100..<103: line = try actOnMembership()
    case 103..<106: line = try actInBulk(device)
    default: line = try decideHeld(world.devices.first(where: Self.holds) ?? device)
    }
    world.trace.add("\(step). \(line)")
    for _ in 0..<random.below(random.oneIn(4) ? 60 : 8) where !world.deliverOne() { break }
  }

  private static func holds(_ device: SimulatedDevice) throws -> Bool {
    try device.disk.isReadable && device.belongs && !device.replica.heldChangesets().isEmpty
  }

  private func edit(_ device: SimulatedDevice) throws -> String {
    let line = try mayFail(device) {
      try device.edit(at: world.wall(device)) { try EditGenerator(schema: $0.schema).edit($0, &random) }
    }
    if random.oneIn(2) { try world.seal(device) }
    return "\(device.name) \(line ?? "could not edit")"
  }

  private func sql(_ device: SimulatedDevice) throws -> String {
    let sql = EditGenerator(schema: device.replica.membershipNow.schema).sql(&random)
    let isRecursive = random.oneIn(3)
    do {
      let done: Void? = try mayFail(device) {
        try device.access.execute("PRAGMA recursive_triggers = \(isRecursive ? "ON" : "OFF")")
        try device.edit(at: world.wall(device)) { try $0.execute(sql) }
      }
      if done == nil { return "\(device.name) could not \(sql)" }
    } catch let error as ReplicaError where error.code == .badValue {
      return "\(device.name) refused \(sql)"
    }
    if random.oneIn(2) { try world.seal(device) }
    return "\(device.name) \(sql)"
  }

  private func seal(_ device: SimulatedDevice) throws -> String {
    try world.seal(device)
    return "\(device.name) is given time to seal"
  }

  /// Looking at the digest at any time must not change what it is at another.
  private func lookAtDigest(_ device: SimulatedDevice) throws -> String {
    let digest = try world.survive(device) { try device.replica.computeDigest() }
    return digest.map { String(hexadecimal($0.bytes).prefix(8)) } ?? "none"
  }

  /// A conflict is decided, what was deleted comes back, or what was joined is parted.
  private func decide(_ device: SimulatedDevice) throws -> String {
    let now = world.wall(device)
    var merges: [String] = []
    var deleted: [RecordKey] = []
    try device.access.history(nil) { change in
      if change.change.contains("-\(AliasFact.typeName)-") { merges.append(change.change) }
      if change.field == nil { deleted.append(RecordKey(type: change.type, id: change.id)) }
    }
    let conflicts = try device.access.conflicts(includingClosed: false)
    do {
      switch random.below(3) {
      case 0 where !conflicts.isEmpty:
        let conflict = random.pick(conflicts).conflict
        try device.replica.resolve(conflict, random.oneIn(2) ? .mine : .theirs, now: now)
        return "\(device.name) decides \(conflict)"
      case 1 where !deleted.isEmpty:
        let key = random.pick(deleted)
        try device.replica.restore(key, now: now)
        return "\(device.name) restores \(key)"
      case 2 where !merges.isEmpty:
        let merge = random.pick(merges)
        try device.replica.revert(merge, now: now)
        return "\(device.name) parts \(merge)"
      default: return "nothing"
      }
    } catch let error as ReplicaError where [.databaseLocked, .badValue, .notFound, .notAllowed].contains(error.code) {
      return "\(device.name) may not decide: \(error.message)"
    }
  }

  private func flap(_ device: SimulatedDevice) -> String {
    let other = random.pick(world.devices)
    let links = world.network.links(of: device.index)
    switch random.below(8) {
    case 0 where other !== device:
      world.partition(device, other)
      return "\(device.name) and \(other.name) are cut off from each other"
    case 1, 2:
      world.network.healAll()
      return "all can reach each other"
    case 3 where !links.isEmpty:
      let link = random.pick(links)
      world.network.deafen(link, end: random.below(2))
      return "one direction of link \(link) is dead"
    case 4 where !links.isEmpty:
      let link = random.pick(links)
      world.cut(link)
      return "link \(link) breaks"
    default:
      if other === device { return "nothing" }
      world.connect(device, other)
      return "\(device.name) dials \(other.name)"
    }
  }

  private func restart(_ device: SimulatedDevice) throws -> String {
    try world.restart(device)
    return "\(device.name) has started again"
  }

  private func kill(_ device: SimulatedDevice) throws -> String {
    try world.kill(device)
    return "\(device.name) was killed"
  }

  /// The clock goes wrong by milliseconds to decades, either way.
  private func jump(_ device: SimulatedDevice) -> String {
    let spans: [Int64] = [0, 1, 900, 60_000, 3_600_000, 23 * 3_600_000, 26 * 3_600_000, 40 * 365 * 86_400_000]
    var span = random.pick(spans)
    if hasTakenBesideTwin { span = min(span, Int64(Limits.copyRestMilliseconds / 2)) }
    device.clockOffset = random.oneIn(2) ? span : -span
    if span >= Limits.copyRestMilliseconds { hasJumpedFar = true }
    return "the clock of \(device.name) is wrong by \(device.clockOffset) ms"
  }

  private func join() throws -> String {
    if world.devices.count >= size.devices + 2 { return "nothing" }
    let device = try world.add(World.Plan("d\(world.devices.count)", needsSnapshot: true))
    world.connect(device, random.pick(world.devices.filter { $0 !== device }))
    return "\(device.name) joins"
  }

  func copy(_ device: SimulatedDevice) -> String {
    copies.append(Copy(device: device, file: world.copy(device), time: world.now))
    return "\(device.name) is copied"
  }

  /// Reads what was sealed, before some of it may be nowhere any more.
  func collect() throws {
    for device in world.devices where !device.disk.isReadable { device.disk.heal() }
    try archive.collect(from: world.devices)
  }

  private func restore() throws -> String {
    if copies.isEmpty { return "nothing" }
    return try putBack(to: random.pick(copies), isNoticed: random.oneIn(2))
  }

  /// A device is put back to an older copy; what it alone had since is gone, what others had of it must come back.
  func putBack(to copy: Copy, isNoticed: Bool) throws -> String {
    let device = copy.device
    try collect()
    let before = forgotten[device.device]
    let had = (before?.changesets ?? []).union(try archive.hashesReceived(by: device))
    forgotten[device.device] = (had, min(copy.time, before?.copied ?? copy.time))
    try world.restore(device, to: copy.file, isNoticed: isNoticed)
    try archive.forgetLost(world.devices)
    return "\(device.name) is put back to a copy\(isNoticed ? ", and notices" : "")"
  }

  private func clone(_ device: SimulatedDevice) throws -> String {
    if world.devices.count >= size.devices + 2 { return "nothing" }
    let isNoticed = random.oneIn(2)
    let twin = try world.clone(device, isNoticed: isNoticed)
    return "\(device.name) is cloned as \(twin.name)\(isNoticed ? ", which notices" : "")"
  }

  private func tick() throws -> String {
    world.advance(milliseconds: Int64(random.below(15_000)))
    for device in world.devices {
      world.handle(device, .tick)
      if random.oneIn(2) { try world.seal(device) }
    }
    return "time goes on"
  }
}
