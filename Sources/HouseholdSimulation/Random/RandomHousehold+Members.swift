import HouseholdRecords
import HouseholdReplica
import HouseholdSync

/// What an owner does to others, who leaves, and what is held: all of it signed entries or decisions.
///
/// The first device is an owner's and stays; other owners act beside it and against each other.
extension RandomHousehold {
  /// Lets an owner change somebody's role, remove somebody or add to the schema, or lets somebody leave.
  func actOnMembership() throws -> String {
    let first = world.devices[0]
    let owners = world.devices.filter { $0.belongs && $0.replica.membershipNow.isOwner($0.device) }
    let owner = size.hasSeveralOwners && owners.count > 1 ? random.pick(owners) : first
    let others = world.devices.filter {
      $0.member != owner.member && $0.member != first.member
        && owner.replica.membershipNow.admits($0.device)
    }
    switch random.below(6) {
    case 0 where size.losesRights && others.count > 1:
      let other = random.pick(others)
      return try takingRights(by: owner) { try remove(other, by: owner) }
    case 1 where size.losesRights && others.count > 1:
      let other = random.pick(others)
      return try takingRights(by: other) { try leave(other) }
    case 2 where size.losesRights && !others.isEmpty:
      let other = random.pick(others)
      return try takingRights(by: owner) { try changeRole(of: other, by: owner) }
    case 3... where size.growsSchema: return try growSchema(by: owner)
    default: return "nothing"
    }
  }

  private func remove(_ device: SimulatedDevice, by owner: SimulatedDevice) throws -> String {
    try state(by: owner, "\(owner.name) removes \(device.name)") {
      .removal(
        .init(
          subject: .member(device.member), reason: .removed, cutoffs: try self.cutoffs(of: device.member, by: owner)))
    }
  }

  private func changeRole(of device: SimulatedDevice, by owner: SimulatedDevice) throws -> String {
    let isReadOnly = owner.replica.membershipNow.members[device.member]?.role == .readOnly
    let role: Role = isReadOnly ? .member : size.hasSeveralOwners && random.oneIn(3) ? .owner : .readOnly
    return try state(
      by: owner,
      "\(owner.name) makes \(device.name) \(role == .owner ? "an owner" : role == .member ? "a member" : "read-only")"
    ) {
      .role(
        .init(
          member: device.member, role: role,
          cutoffs: role == .readOnly ? try self.cutoffs(of: device.member, by: owner) : []))
    }
  }

  private func cutoffs(of member: MemberID, by owner: SimulatedDevice) throws -> [MembershipEntry.Cutoffs] {
    let devices = owner.replica.membershipNow.devices.values.filter { $0.member == member }.map(\.id).sorted()
    return try devices.map { try owner.replica.cutoffs(of: $0) }
  }

  /// A type that was not there, and a field of one that was.
  private func growSchema(by owner: SimulatedDevice) throws -> String {
    var wanted = owner.replica.membershipNow.schema
    let type = random.below(wanted.types.count)
    let field = "added\(random.below(3))"
    if wanted.types[type].field(field) == nil {
      wanted.types[type].fields.append(FieldDefinition(field, random.oneIn(2) ? .text : .integer))
    }
    let kind = wanted.types[type].field(field)?.kind?.rawValue ?? "unknown"
    let missing = SimulationSchema.types.filter { known in
      ["sample", "level", "whole", "note"].contains(known.name) && wanted.type(known.name) == nil
    }
    if !missing.isEmpty && random.oneIn(2) { wanted.types.append(random.pick(missing)) }
    let grown = owner.replica.membershipNow.schema.extended(by: wanted)
    if grown == owner.replica.membershipNow.schema { return "nothing" }
    return try state(by: owner, "\(owner.name) adds \(field) (\(kind)) to \(wanted.types[type].name)") {
      .schema(grown)
    }
  }

  private func state(
    by owner: SimulatedDevice, _ line: String, _ statement: () throws -> MembershipEntry.Statement
  ) throws -> String {
    let stated = try world.survive(owner) { try owner.replica.state(statement(), at: world.wall(owner)) }
    if stated == nil { return "\(owner.name) could not say so: \(line)" }
    world.handle(owner, .membershipChanged)
    return line
  }

  private func leave(_ device: SimulatedDevice) throws -> String {
    guard device.belongs else { return "nothing" }
    let kept = random.pick([KeptRecords.all, .mine, .none])
    try collect()
    let left: Void? = try world.survive(device) { try device.replica.leave(keeping: kept, now: world.wall(device)) }
    if left == nil { return "\(device.name) could not leave" }
    world.handle(device, .membershipChanged)
    return "\(device.name) leaves and keeps \(kept)"
  }

  // MARK: The brake

  /// Makes many records at once, or deletes as many as there are.
  func actInBulk(_ device: SimulatedDevice) throws -> String {
    let names = ["sample", "level", "whole", "note"]
    let types = device.replica.membershipNow.schema.types.filter { names.contains($0.name) }
    guard !types.isEmpty else { return "nothing" }
    let type = random.pick(types)
    let (isDeletion, count) = (random.oneIn(2), 12 + random.below(8))
    let line = isDeletion ? "deletes all of \(type.name)" : "makes \(count) of \(type.name)"
    let done: Void? = try mayFail(device) {
      try device.edit(at: world.wall(device)) { access in
        if isDeletion {
          try access.execute("DELETE FROM \"\(type.name)\"")
        } else {
          for number in 0..<count {
            _ = try access.put(type, "m\(number)", [(name: type.fields[0].name, value: .null)])
          }
        }
      }
    }
    if done == nil { return "\(device.name) could not: \(line)" }
    try world.seal(device)
    return "\(device.name) \(line)"
  }

  /// Approves or rejects what the device holds.
  ///
  /// - Parameter mustEnd: whether it has to be decided now; a device that may not write can only approve.
  func decideHeld(_ device: SimulatedDevice, mustEnd: Bool = false) throws -> String {
    let line = try world.survive(device) { () -> String in
      guard let held = try device.replica.heldChangesets().first else { return "nothing" }
      let isApproved = random.oneIn(2) || mustEnd && !device.replica.mayWriteNow
      do {
        try device.replica.decide(held.name, approving: isApproved, now: world.wall(device))
      } catch let error as ReplicaError where [.badValue, .notAllowed].contains(error.code) {
        return "\(device.name) may not decide about \(held.name): \(error.message)"
      }
      return "\(device.name) \(isApproved ? "approves" : "rejects") \(held.name)"
    }
    try world.seal(device)
    return line ?? "\(device.name) could not decide"
  }

  /// Decides whatever is held until nothing is, as what is approved may let more come to be held.
  func decideAllHeld() throws {
    for _ in 0..<20 {
      let holders = try world.devices.filter { try $0.belongs && !$0.replica.heldChangesets().isEmpty }
      guard let holder = holders.first else { return }
      world.trace.add(try decideHeld(holder, mustEnd: true))
      world.pass(seconds: 6, inStepsOf: 3)
    }
  }

  /// Does what a device that may not write refuses, and whose disk may fail; nil if it did not come to be.
  func mayFail<Result>(_ device: SimulatedDevice, _ body: () throws -> Result) throws -> Result? {
    do {
      return try world.survive(device, body)
    } catch let error as ReplicaError where error.code == .notAllowed && !device.replica.mayWriteNow {
      return nil
    }
  }
}

extension Replica {
  /// Whether this device may write, as far as it knows.
  fileprivate var mayWriteNow: Bool { membershipNow.mayWrite(identity.device) }
}
