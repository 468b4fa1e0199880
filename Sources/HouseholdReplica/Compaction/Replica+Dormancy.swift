package import HouseholdRecords

/// Devices that sleep: what is compacted does not wait for them, and they come back as they are (D9).
///
/// Dormancy takes no right away. Whoever wakes is served like any other: by the log as long as that reaches back, else
/// by a snapshot, and keeps its own edits either way.
extension Replica {
  /// After how long a silence a device counts as asleep, in milliseconds: 180 days.
  package static let dormancyMilliseconds: Int64 = 180 * 86_400_000

  /// Active devices, but for this one, that were not heard of for so long; ascending.
  ///
  /// Owners' devices do not fall asleep: what an owner decided in his absence counts when he comes back, and could not be
  /// carried out in a log that was collected without him. One that is gone is retired by hand.
  package func silentDevices(now: Instant) throws -> [DeviceID] {
    let active = membershipState.devices.values.filter { $0.state == .active && membershipState.admits($0.id) }
    let candidates = active.map(\.id).filter { $0 != identity.device && !membershipState.isOwner($0) }
    return try candidates.sorted().filter { device in
      now.milliseconds(since: try lastSign(of: device, now: now)) > Self.dormancyMilliseconds
    }
  }

  /// The last sign of a device: a contact, a changeset of its own, or an entry that says that it is there. What a clock
  /// that was far ahead has signed tells nothing.
  private func lastSign(of device: DeviceID, now: Instant) throws -> Instant {
    var signs: [Instant] = []
    if let seen = try connection.integer("SELECT last_seen FROM sync_peer WHERE device = ?", .bytes(device.bytes)) {
      signs.append(Instant(milliseconds: seen))
    }
    if let written = try Confirmations(replicas: replicas, log: log).lastHeard(of: device) { signs.append(written) }
    for known in membershipLog.ordered {
      if known.introduces == device || known.entry.author == device { signs.append(known.entry.at) }
      if case .dormancy(let dormancy) = known.entry.statement, dormancy.device == device {
        signs.append(known.entry.at)
      }
    }
    let latest = now.advanced(byMilliseconds: Stamp.leadMilliseconds)
    return signs.filter { $0 <= latest }.max() ?? Instant(milliseconds: 0)
  }

  /// Writes down that a device sleeps, and what it had confirmed; only an owner's device may.
  package func declareDormant(_ device: DeviceID, now: Instant) throws {
    let confirmed = try Confirmations(replicas: replicas, log: log).confirmed(by: device) ?? VersionVector()
    _ = try state(.dormancy(.init(device: device, isDormant: true, confirmed: hashed(confirmed))), at: now)
  }

  /// Writes down that this device is awake, if the others take it for asleep; returns whether it did.
  package func wake(now: Instant) throws -> Bool {
    guard canSeal, membershipState.admits(identity.device),
      membershipState.devices[identity.device]?.state == .dormant
    else { return false }
    lastNow = now
    let applied = try hashed(replicas.vectors.applied)
    _ = try state(.dormancy(.init(device: identity.device, isDormant: false, confirmed: applied)), at: now)
    return true
  }

  /// A vector with the hash of each changeset in it, as names may change (decision 0009).
  private func hashed(_ vector: VersionVector) throws -> Dependencies { Dependencies(try dependencies(on: vector)) }
}
