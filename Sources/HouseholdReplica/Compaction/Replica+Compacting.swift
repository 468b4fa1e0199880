package import HouseholdRecords

/// What compaction did, what it left, and for whom.
package struct Compaction: Hashable, Sendable {
  /// Changesets whose contents went, with the bytes that they took in the file.
  package var changesets: Int64 = 0
  package var bytes: Int64 = 0
  /// Changesets whose contents are still in the log.
  package var keptChangesets: Int64 = 0
  /// Deleted records whose values went, by type.
  package var emptied: [String: Int64] = [:]
  /// Deleted records that keep their values, by reason.
  package var kept: [Reason: Int64] = [:]
  /// The devices that have not confirmed what is old enough.
  package var blockers: [Blocker] = []

  /// Why a deleted record keeps its values.
  package enum Reason: String, Hashable, Sendable, CaseIterable {
    /// Some changeset that wrote it is still in the log: it is not old enough, or not confirmed by everyone.
    case inLog
    /// A device, perhaps a sleeping one, has not confirmed all that wrote it.
    case unconfirmed
    /// An edit that lost against the deletion is open.
    case conflict
    /// It is or was one thing with others.
    case duplicate
    /// Its type is not known here.
    case parked
    /// So many went that the next compaction takes the rest.
    case later
  }

  /// A device that is waited for.
  package struct Blocker: Hashable, Sendable {
    package var device: DeviceID
    /// How many changesets that are old enough it has not confirmed.
    package var missing: UInt64
    /// When its last changeset that is known here was made, by its clock.
    package var lastHeard: Instant?
    package var isDormant: Bool
  }
}

/// Compaction (D9): what every device has confirmed goes, so that a household's file does not grow with its years.
///
/// The load-bearing detail: of a changeset only the contents go. Its header stays, as records, the history and forks name
/// it; so positions stay too, and nobody's token is touched. Of a deleted record its end stays, so that nothing brings it
/// back. Neither is in the digest (D13), and a peer that compacts earlier or later agrees with one that does not.
extension Replica {
  /// Collects what may go.
  ///
  /// - Parameters:
  ///   - keepMilliseconds: changesets that came later than this before `now` stay in the log.
  ///   - limit: how many deleted records may lose their values in one go.
  package func compact(
    keepMilliseconds: Int64, now: Instant, limit: Int = Limits.emptiedAtOnce
  ) throws -> Compaction {
    guard membershipState.admits(identity.device) else {
      throw ReplicaError(.notAllowed, "This device belongs to the household no longer; it keeps what it has.")
    }
    lastNow = now
    return try write {
      _ = try sealInTransaction(now: now)
      let view = try CompactionView(
        connection: connection, replicas: replicas, log: log, membership: membershipState, device: identity.device,
        keepMilliseconds: keepMilliseconds, now: now)
      var result = Compaction(blockers: view.blockers)
      if try !needsSnapshot {
        try forgetDisplacedInTransaction()
        try collectLog(upTo: view.base, into: &result)
        try emptyTombstones(view, limit: limit, into: &result)
      }
      result.keptChangesets =
        try connection.integer("SELECT count(*) FROM sync_changeset WHERE body IS NOT NULL") ?? 0
      return result
    }
  }

  private func collectLog(upTo base: VersionVector, into result: inout Compaction) throws {
    for entry in replicas.sorted where base[entry.id] > max(entry.base, entry.fork) {
      let last = FieldValue.integer(Int64(clamping: base[entry.id]))
      let bodies = "replica = ? AND seq <= ? AND state = 1 AND body IS NOT NULL"
      let found = try connection.statement("SELECT count(*), total(length(body)) FROM sync_changeset WHERE \(bodies)")
      try found.bind([.integer(entry.number), last])
      if try found.step() {
        result.changesets += found.integer(0)
        result.bytes += found.integer(1)
      }
      found.reset()
      try connection.run("UPDATE sync_changeset SET body = NULL WHERE \(bodies)", .integer(entry.number), last)
      try replicas.update(entry.id, on: connection) { $0.base = base[$0.id] }
    }
  }

  private func emptyTombstones(_ view: CompactionView, limit: Int, into result: inout Compaction) throws {
    let base = replicas.vectors.base
    var left = limit
    for place in try deadRecords() {
      guard let table = registry[place.type], !table.type.name.hasPrefix("sync_") else {
        if registry[place.type] == nil { result.kept[.parked, default: 0] += 1 }
        continue
      }
      guard let state = try state(of: place), state.life > 0, state != state.emptied() else { continue }
      if duplicates.isMember(place) {
        result.kept[.duplicate, default: 0] += 1
        continue
      }
      let conflicts = try state.conflicts(strategy: { table.cell($0)?.strategy ?? .merge }, coverage: self)
      guard
        CompactionRule.mayEmpty(state, base: base, confirmed: view.byAll, hasConflicts: !conflicts.isEmpty)
      else {
        let isInLog = state.cells.values.joined().contains { !base.contains($0.name) }
        result.kept[!conflicts.isEmpty ? .conflict : isInLog ? .inLog : .unconfirmed, default: 0] += 1
        continue
      }
      guard left > 0 else {
        result.kept[.later, default: 0] += 1
        continue
      }
      left -= 1
      let flags = try StoredRecord.read(type: place.type, id: place.id, on: connection)?.flags ?? 0
      try store(state.emptied(), of: place, table: table, shownBefore: nil, earlierFlags: flags)
      result.emptied[table.type.name, default: 0] += 1
    }
  }

  private func deadRecords() throws -> [RecordPlace] {
    let statement = try connection.statement("SELECT type, id FROM sync_record WHERE alive = 0")
    defer { statement.reset() }
    var places: [RecordPlace] = []
    while try statement.step() { places.append(RecordPlace(type: statement.integer(0), id: statement.text(1))) }
    return places
  }
}

/// Who has confirmed what is old enough, and what may go for that.
struct CompactionView {
  /// The new base of the log.
  let base: VersionVector
  /// What each active device has confirmed.
  let byActive: [VersionVector]
  /// What each device that belongs has confirmed, sleeping ones too.
  let byAll: [VersionVector]
  let blockers: [Compaction.Blocker]

  init(
    connection: Connection, replicas: ReplicaTable, log: ChangesetLog, membership: MembershipState, device: DeviceID,
    keepMilliseconds: Int64, now: Instant
  ) throws {
    let age = LogAge(connection: connection, replicas: replicas, device: device)
    let position =
      keepMilliseconds <= 0 ? .max : try age.position(at: now.advanced(byMilliseconds: -keepMilliseconds))
    let aged = try age.vector(through: position)
    let confirmations = Confirmations(replicas: replicas, log: log)
    var byActive: [VersionVector] = []
    var byAll: [VersionVector] = []
    var blockers: [Compaction.Blocker] = []
    let others = membership.devices.values.filter { $0.id != device && membership.admits($0.id) }
    for other in others.sorted(by: { $0.id < $1.id }) {
      let confirmed = try confirmations.confirmed(by: other.id) ?? VersionVector()
      byAll.append(confirmed)
      if other.state == .active { byActive.append(confirmed) }
      let missing = aged.excess(over: confirmed)
      // Nobody confirms a confirmation.
      let isWaitedFor = try replicas.sorted.contains { entry in
        try log.hasContents(
          of: entry, after: max(confirmed[entry.id], entry.base), through: aged[entry.id], replicas: replicas)
      }
      guard isWaitedFor else { continue }
      blockers.append(
        Compaction.Blocker(
          device: other.id, missing: missing, lastHeard: try confirmations.lastHeard(of: other.id),
          isDormant: other.state == .dormant))
    }
    base = CompactionRule.base(from: replicas.vectors.base, aged: aged, confirmed: byActive)
    self.byActive = byActive
    self.byAll = byAll
    self.blockers = blockers
  }
}
