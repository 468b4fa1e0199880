import HouseholdRecords
import HouseholdReplica
import HouseholdSync

/// The operations of a scenario in which two nodes meet.
extension ScenarioRunner {
  /// Exchanges both ways until it is quiet; two that are cut off from each other simply do not meet.
  func sync(_ a: SimulatedDevice, _ b: SimulatedDevice, _ keys: ScenarioJSON) throws {
    if keys["expect_refused"] != nil { throw NotBuilt("sync with expect_refused") }
    try world.sync(a, b)
  }

  /// Gives the peer the node's changesets so many at a time, in the order in which they were sealed.
  ///
  /// Other orders of arrival come from other orders of writing, see `ScenarioRunner.Order`: a replica's changesets
  /// never overtake each other on any link.
  func syncRaw(_ node: SimulatedDevice, _ peer: SimulatedDevice, _ keys: ScenarioJSON) throws {
    let ways = keys["one_way"]?.boolean == true ? [(node, peer)] : [(node, peer), (peer, node)]
    for (from, to) in ways {
      try world.seal(from)
      let known = try to.replica.vectors().received
      let slice = try from.replica.log(after: .start, skipping: known, limitBytes: .max)
      let size = max(1, Int(keys["batch_limit"]?.integer ?? 1))
      for start in stride(from: 0, to: slice.changesets.count, by: size) {
        let batch = slice.changesets[start..<min(start + size, slice.changesets.count)]
        _ = try to.replica.receive(batch.map(\.packed), from: from.device, token: nil, now: world.wall(to))
      }
      world.handle(to, .localChanges)
    }
  }

  /// Kills one side at each named point of a sync, and starts it again.
  ///
  /// Data, vectors and token are one transaction of SQLite, so whatever dies inside it is as if the batch had not come.
  func syncKill(_ a: SimulatedDevice, _ b: SimulatedDevice, _ keys: ScenarioJSON) throws {
    let victim = try device(keys["kill"]?.text)
    let points = options.killPoint.map { [$0] } ?? (keys["kill_points"]?.elements ?? []).compactMap(\.text)
    for device in world.devices { try world.seal(device) }
    for point in points {
      world.connect(a, b)
      while let (link, end) = nextForVictim(victim), !isData(world.network.first(link, end: end)) {
        world.deliver(link, end: end)
      }
      switch point {
      case "after_first_row", "middle_of_batch", "after_data_before_token": break
      case "after_token_before_ack", "during_ack":
        if let (link, end) = world.network.waiting.first(where: { isVictim(victim, $0) }) {
          world.deliver(link, end: end)
        }
      default: throw NotBuilt("the kill point \(point)")
      }
      try world.kill(victim)
      world.settle()
    }
  }

  private func isVictim(_ victim: SimulatedDevice, _ place: (link: LinkNumber, end: Int)) -> Bool {
    world.network[place.link]?.ends[place.end] == victim.index
  }

  /// Where the next parcel is delivered: the other side's first, so that the victim has a batch waiting at the end.
  private func nextForVictim(_ victim: SimulatedDevice) -> (LinkNumber, Int)? {
    let waiting = world.network.waiting
    return (waiting.first { !isVictim(victim, $0) } ?? waiting.first).map { ($0.link, $0.end) }
  }

  private func isData(_ parcel: SimulatedNetwork.Parcel?) -> Bool {
    guard case .message(let type, _, let payload)? = parcel, type == Message.Kind.batch.rawValue else { return false }
    return !Traffic.changesets(in: payload).isEmpty
  }

  /// Runs the inner steps when a batch is about to be stored.
  func syncWithInterleave(_ a: SimulatedDevice, _ b: SimulatedDevice, _ keys: ScenarioJSON) throws {
    guard let inner = keys["steps"]?.elements else { throw NotBuilt("sync_with_interleave without steps") }
    for device in world.devices { try world.seal(device) }
    world.connect(a, b)
    var isDone = false
    while let place = world.network.waiting.first {
      if !isDone, isData(world.network.first(place.link, end: place.end)) {
        isDone = true
        for step in try inner.map(Scenario.Step.init) { try play(step) }
      }
      world.deliver(place.link, end: place.end)
    }
    world.disconnectAll()
  }

  /// Checks that the peer has records of these ids already.
  func checkPeerRecords(_ keys: ScenarioJSON) throws {
    let peer = try device(keys["peer"]?.text)
    let ids = Set(try peer.tables().keys.map(\.id))
    for id in (keys["must_hold"]?.elements ?? []).compactMap(\.text) where !ids.contains(id) {
      outcome.failures.append("\(peer.name) does not hold \(id) after the one-way sync")
    }
  }

  /// Joins the nodes, lets them become quiet, and counts what is sent in the time that follows.
  func watchTraffic(_ keys: ScenarioJSON) throws {
    let nodes = try (keys["nodes"]?.elements ?? []).map { try device($0.text) }
    for device in world.devices { try world.seal(device) }
    for (index, a) in nodes.enumerated() {
      for b in nodes.dropFirst(index + 1) { world.connect(a, b) }
    }
    world.pass(seconds: 2)
    let before = world.traffic
    world.pass(seconds: Int(keys["seconds"]?.integer ?? 60))
    changesSentInWatch = world.traffic.changesets - before.changesets
    if world.traffic.messages != before.messages {
      outcome.failures.append("\(world.traffic.messages - before.messages) messages were sent while nothing changed")
    }
    world.disconnectAll()
  }
}
