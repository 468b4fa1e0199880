import HouseholdRecords
import HouseholdReplica
import HouseholdTrust

/// Who belongs, by name.
extension TestHousehold {
  func member(_ name: String) -> MemberID { self[name].replica.identity.member }

  private func cutoffs(_ name: String, at device: Device) throws -> [MembershipEntry.Cutoffs] {
    let membership = try device.replica.membership()
    return try membership.devices.values.filter { $0.member == member(name) }.map(\.id).sorted()
      .map { try device.replica.cutoffs(of: $0) }
  }

  /// Removes a member, as this owner's device knows him.
  func remove(_ name: String, by owner: String) throws {
    let owner = self[owner]
    _ = try owner.replica.state(
      .removal(
        .init(subject: .member(member(name)), reason: .removed, cutoffs: try cutoffs(name, at: owner))),
      at: owner.now)
  }

  /// Gives a member another role.
  func setRole(_ name: String, _ role: Role, by owner: String) throws {
    let owner = self[owner]
    let cutoffs = role == .readOnly ? try cutoffs(name, at: owner) : []
    _ = try owner.replica.state(.role(.init(member: member(name), role: role, cutoffs: cutoffs)), at: owner.now)
  }

  /// Makes a member an owner, and lets everyone know.
  func makeOwner(_ name: String, by owner: String) throws {
    try setRole(name, .owner, by: owner)
    for device in devices { try tell(device.name, from: owner) }
  }

  /// The membership entries that one has go to another; nothing else does.
  func tell(_ to: String, from: String) throws {
    _ = try self[to].replica.addMembership(self[from].replica.membershipEntries(except: []))
  }

  /// Everything goes from one to another, entries first, as on a link: by snapshot what the log does not hold.
  @discardableResult
  func pull(_ to: String, from: String) throws -> Reception {
    try self[from].seal()
    try tell(to, from: from)
    if try !self[to].replica.vectors().received.covers(self[from].replica.vectors().base) {
      try adoptSnapshot(to, from: from)
    }
    return try pull(self[to], from: self[from])
  }

  /// Everything goes between all of these until nothing is new.
  func settle(_ names: String...) throws {
    for _ in 0..<2 {
      for to in names { for from in names where from != to { try tell(to, from: from) } }
      for to in names { for from in names where from != to { try pull(to, from: from) } }
    }
  }

  /// Puts what `from` serves as a snapshot in place at `to`.
  func adoptSnapshot(_ to: String, from: String) throws {
    try tell(to, from: from)
    if let snapshot = try snapshot(of: from) { try adopt(snapshot, at: to) }
  }

  /// A snapshot as it was served, whole.
  struct Snapshot {
    var offer: SnapshotOffer
    var pages: [SnapshotPage] = []
    var server: DeviceID
    var token: ChangeToken
  }

  /// What a device serves now; nil if it waits for a snapshot itself.
  ///
  /// - Parameter body: happens after the first page.
  func snapshot(of name: String, afterFirstPage body: () throws -> Void = {}) throws -> Snapshot? {
    let server = self[name].replica
    server.lastNow = self[name].now
    guard let offer = try server.openSnapshot(resuming: nil) else { return nil }
    var snapshot = Snapshot(
      offer: offer, server: self[name].key.device,
      token: ChangeToken(incarnation: server.incarnation, position: offer.position))
    repeat {
      snapshot.pages.append(try server.snapshotPage(offer.id, after: snapshot.pages.last?.cursor ?? []))
      if snapshot.pages.count == 1 { try body() }
    } while snapshot.pages.last?.isLast == false
    server.closeSnapshot(offer.id)
    return snapshot
  }

  /// Puts a snapshot in place at a device.
  func adopt(_ snapshot: Snapshot, at name: String) throws {
    for page in snapshot.pages { try self[name].replica.stage(page, of: snapshot.offer.id) }
    try self[name].replica.adoptSnapshot(
      snapshot.offer.id, from: snapshot.server, token: snapshot.token, now: self[name].now)
  }

  /// The first difference between the tables, digests, conflicts or vectors of these devices.
  func firstDifference(_ names: String...) throws -> String? {
    for name in names.dropFirst() {
      if let found = try difference(names[0], name) { return "\(names[0]), \(name): \(found)" }
      let vectors = try [names[0], name].map { try self[$0].replica.vectors() }
      if vectors[0].applied != vectors[1].applied { return "\(names[0]), \(name): applied vectors" }
      if vectors[0].received != vectors[1].received { return "\(names[0]), \(name): received vectors" }
      let conflicts = try [names[0], name].map { try self[$0].access.conflicts(includingClosed: false) }
        .map { $0.map { "\($0.conflict) \($0.kept.object ?? "-") \($0.lost.object ?? "-")" }.sorted() }
      if conflicts[0] != conflicts[1] { return "\(names[0]) has \(conflicts[0]), \(name) has \(conflicts[1])" }
    }
    return nil
  }
}
