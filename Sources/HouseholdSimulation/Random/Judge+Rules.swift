import HouseholdRecords
import HouseholdReplica
import HouseholdTrust

/// The rules that hold at every moment, and those that hold once everything is healed and quiet.
extension Judge {
  /// The first rule that is broken now; nil if all hold.
  ///
  /// Devices with edits that are not sealed are left out where tables are compared: they show more than they tell.
  ///
  /// - Parameter isHealed: whether the merge rule is compared with the one that was written a second time, and nothing may
  ///   be missing that will be there when what an entry names has come.
  static func firstBreach(
    _ world: World, archive: inout ChangesetArchive, isHealed: Bool = true, random: inout SeededRandom
  ) throws -> String? {
    if let fault = world.faults.first { return fault }
    if let (link, name) = world.traffic.repeated { return "\(name) crossed link \(link) more than once (R9)" }
    try archive.collect(from: world.devices)
    var seen: [(device: SimulatedDevice, applied: NumberSet, digest: StoreDigest)] = []
    // Who knows that it belongs no longer keeps what it has, and is none of the household's business.
    for device in world.devices where device.belongs {
      let vectors = try device.replica.vectors()
      if !vectors.received.covers(vectors.applied) { return "\(device.name) has applied more than it received (D1)" }
      guard let received = try archive.received(by: device) else {
        return "\(device.name) has received what nobody sealed"
      }
      let view = ArchiveView(archive, of: received)
      for holding in try device.replica.receivedDependencies() {
        let name = ChangesetName(replica: holding.replica, sequence: holding.sequence)
        let due = archive.resolve(holding).flatMap { view.names[$0] }
        if due != name {
          return "\(device.name) calls \(due.map { "\($0)" } ?? "what nobody has") \(name), which does not follow (D4)"
        }
      }
      let applied = view.closure(of: vectors.applied)
      guard try !device.replica.needsSnapshot else { continue }
      let admission = try AdmissionTruth(
        device, received: received, view: view, archive: archive, rights: archive.rights(of: device, in: world))
      if let fault = admission.firstFault(in: applied) { return "\(device.name) \(fault)" }
      if let missing = admission.applied.subtracting(applied).compactMap({ view.names[$0] }).min() {
        return "\(device.name) has not applied \(missing), which waits for nothing (D5)"
      }
      guard try device.replica.unsealedCount() == 0 else { continue }
      if !isHealed, admission.isUncertain || admission.hasSeenAbsent(applied) { continue }
      let digest = try device.replica.computeDigest()
      let equal = seen.first {
        $0.applied == applied && $0.digest.applied == digest.applied
          && $0.digest.membershipHeads == digest.membershipHeads
      }
      if let equal {
        let haveEqualDigests = equal.digest.bytes == digest.bytes
        if let fault = try firstDivergence(equal.device, device, haveEqualDigests: haveEqualDigests) {
          return try "equal vectors (R5), but " + fault
            + (firstStateDifference(equal.device, device, archive: archive, random: &random).map { "; " + $0 } ?? "")
        }
      } else {
        if let fault = try firstUntruth(device, view: view, applied: applied, isHealed: isHealed, random: &random) {
          return fault
        }
        seen.append((device, applied, digest))
      }
    }
    return nil
  }

  /// In what two devices differ that have applied the same; nil if in nothing.
  private static func firstDivergence(
    _ a: SimulatedDevice, _ b: SimulatedDevice, haveEqualDigests: Bool
  ) throws -> String? {
    if let difference = try firstDifference(a, b) { return difference }
    let (ours, theirs) = (try a.access.attention(), try b.access.attention())
    if ours != theirs {
      return "\(a.name) and \(b.name) have different attention items: \(ours.map(\.text)), \(theirs.map(\.text))"
    }
    return haveEqualDigests ? nil : "\(a.name) and \(b.name) have different digests"
  }

  /// The first record that is not what its changesets say; nil if all are.
  private static func firstUntruth(
    _ device: SimulatedDevice, view: ArchiveView, applied: NumberSet, isHealed: Bool, random: inout SeededRandom
  ) throws -> String? {
    let schema = try device.access.schema
    let truth = try view.states(of: applied, schema: schema, random: &random)
    if isHealed, let fault = try view.firstDisagreement(of: applied, schema: schema, states: truth) { return fault }
    let shown = try device.tables()
    let due = try GroupTruth(truth, schema: schema, coverage: view).rows
    if shown != due, let key = Set(due.keys).union(shown.keys).filter({ shown[$0] != due[$0] }).min() {
      return "\(device.name) shows \(text(shown[key])) as \(key), its changesets say \(text(due[key]))"
    }
    let attention = Set(try device.access.attention().map { "\($0.key) \($0.code)" })
    let needed = ArchiveView.attention(of: truth, rows: due, schema: schema)
    if let item = attention.symmetricDifference(needed).min() {
      return "\(device.name) \(needed.contains(item) ? "lacks" : "has") the attention item \(item)"
    }
    for (key, state) in truth.sorted(by: { $0.key < $1.key }) {
      let stored = try device.replica.state(of: key) ?? RecordState()
      if stored == state { continue }
      let type = schema.type(key.type)
      if let fault = try CompactionTruth(coverage: view, type: type).fault(in: stored, truth: state) {
        return "\(device.name) \(fault.text): \(key) " + firstDifference(fault.stored, fault.truth)
      }
    }
    return nil
  }

  private static func firstDifference(_ stored: RecordState, _ truth: RecordState) -> String {
    for cell in Set(stored.cells.keys).union(truth.cells.keys).sorted() where stored.cells[cell] != truth.cells[cell] {
      return "cell '\(cell)' has \(describe(stored.cells[cell])), not \(describe(truth.cells[cell]))"
    }
    return "no cell differs"
  }

  private static func describe(_ writes: [Write]?) -> String {
    (writes ?? []).map { write in
      "\(write.name) stamp \(write.stamp.rawValue) life \(write.life)\(write.isWeak ? " weak" : "") "
        + (write.value == .alive(true) ? "alive" : write.value == .alive(false) ? "dead" : text(write.value.values))
    }.joined(separator: " | ")
  }

  private static func firstStateDifference(
    _ a: SimulatedDevice, _ b: SimulatedDevice, archive: ChangesetArchive, random: inout SeededRandom
  ) throws -> String? {
    let all = NumberSet(below: archive.count)
    let states = try ArchiveView(archive, of: all).states(of: all, schema: try a.access.schema, random: &random)
    for key in states.keys.sorted() {
      let (ours, theirs) = (try a.replica.state(of: key), try b.replica.state(of: key))
      if ours != theirs { return "\(key) " + firstDifference(ours ?? RecordState(), theirs ?? RecordState()) }
    }
    return nil
  }

  /// The first device that lacks something although everything is healed; nil if all have everything.
  static func firstLack(_ world: World, archive: ChangesetArchive) throws -> String? {
    let heads = try world.devices[0].replica.membership().heads
    let members = world.devices.filter { world.devices[0].replica.membershipNow.admits($0.device) }
    // Two copies of one directory meet only by way of another device.
    if members.count > 1 && Set(members.map(\.device)).count == 1 { return nil }
    var all = NumberSet()
    var applied: VersionVector?
    for device in members { all.formUnion(try archive.received(by: device) ?? NumberSet()) }
    for device in members {
      let vectors = try device.replica.vectors()
      if try device.replica.unsealedCount() != 0 { return "\(device.name) has edits that are not sealed" }
      let received = try archive.received(by: device) ?? NumberSet()
      if received != all { return "\(device.name) lacks \(all.subtracting(received).count) changesets after healing" }
      if try !device.replica.heldChangesets().isEmpty { return "\(device.name) holds what was decided" }
      if let other = applied,
        let entry = (vectors.applied.sorted + other.sorted).first(where: {
          vectors.applied[$0.replica] != other[$0.replica]
        })
      {
        let (ours, theirs) = (vectors.applied[entry.replica], other[entry.replica])
        return "\(device.name) has applied other changesets: \(entry.replica) up to \(ours), not \(theirs)"
      }
      applied = vectors.applied
      if try device.replica.membership().heads != heads { return "\(device.name) has other membership heads" }
      if try device.replica.needsSnapshot { return "\(device.name) still waits for its snapshot" }
    }
    let schema = try world.devices[0].access.schema
    var random = SeededRandom(seed: 0)
    let view = ArchiveView(archive, of: all)
    let counted = view.closure(of: applied ?? VersionVector())
    let states = try view.states(of: counted, schema: schema, random: &random)
    let truth = try GroupTruth(states, schema: schema, coverage: view)
    if let (a, b) = truth.firstDouble(SimulatedCryptography(secret: [])) {
      return "\(a) and \(b) are one thing, and show as two"
    }
    return nil
  }
}
