/// What each kind of statement does once its author's right to it was found good.
extension MembershipJudgement {
  mutating func begin(_ genesis: MembershipEntry.Genesis, _ number: Int, _ known: MembershipLog.Known) {
    let age = graph.age(of: number)
    let seniority = MembershipSeniority(ownership: age, introduction: age)
    self.genesis = genesis
    members[genesis.member] = MemberRegister(
      id: genesis.member, name: name(genesis.memberName, by: number, seniority),
      standings: [
        MemberRegister.Standing(by: number, authority: seniority, role: .owner, state: .active, ownership: age)
      ])
    devices[known.entry.author] = DeviceRegister(
      id: known.entry.author, member: genesis.member, publicKey: genesis.device.publicKey,
      name: name(genesis.device.name, by: number, seniority),
      standings: [DeviceRegister.Standing(by: number, state: .active)])
  }

  /// Takes the statement in; says whether it has an effect.
  mutating func apply(_ statement: MembershipEntry.Statement, _ act: Act) -> Bool {
    switch statement {
    case .genesis, .fold, .unknown: return false
    case .invite(let invite):
      invites[act.entry] = invite
      return true
    case .join(let join): return admit(join, act)
    case .rename(let rename): return self.rename(rename, act)
    case .schema(let schema):
      guard schema.isReadable else {
        unreadableSchema = max(unreadableSchema ?? 0, schema.version)
        return false
      }
      self.schema = self.schema.extended(by: schema)
      return true
    case .role(let change): return self.change(change, act)
    case .removal(let removal):
      let isAccepted =
        switch removal.subject {
        case .member(let member): remove(member: member, removal.reason, act)
        case .device(let device): remove(device: device, removal.reason, act)
        }
      if isAccepted { withdraw(removal.subject, removal.cutoffs, act) }
      return isAccepted
    case .dormancy(let dormancy):
      guard let current = devices[dormancy.device]?.current, current.belongs else { return false }
      setState(dormancy.isDormant ? .dormant : .active, of: dormancy.device, by: act.entry)
      if dormancy.isDormant {
        dormancies.append(
          AcceptedDormancy(entry: act.entry, device: dormancy.device, confirmed: dormancy.confirmed))
      }
      return true
    }
  }

  private mutating func admit(_ join: MembershipEntry.Join, _ act: Act) -> Bool {
    guard let index = graph.index[join.invite], let invite = invites[index], uses[index] == nil,
      let device = graph.entries[act.entry].introduces
    else { return false }
    if let known = devices[device] {
      // A key belongs to one person, and comes back only if whoever admits it knew of its end.
      guard known.member == invite.member else { return false }
      guard known.current.belongs || graph.saw(act.entry, known.current.by) else { return false }
    }
    guard admitMember(invite, index, act) else { return false }
    uses[index] = act.entry
    let name = name(join.device.name, by: act.entry, act.seniority)
    let standing = DeviceRegister.Standing(by: act.entry, state: .active)
    if devices[device] == nil {
      devices[device] = DeviceRegister(
        id: device, member: invite.member, publicKey: join.device.publicKey, name: name, standings: [standing])
    } else {
      devices[device]?.standings.append(standing)
      devices[device]?.name.rename(name, in: graph)
    }
    for replaced in join.replaces.map(\.device) where replaced != device {
      guard let known = devices[replaced], known.member == invite.member else { continue }
      _ = record(Loss(by: act, subject: .device(replaced), isTotal: true))
      withdraw(.device(replaced), join.replaces, act)
      if known.current.belongs { setState(.retired, of: replaced, by: act.entry) }
    }
    return true
  }

  /// Makes the member, or lets one back in whose end the inviter knew; one that belongs stays as he is.
  private mutating func admitMember(_ invite: MembershipEntry.Invite, _ index: Int, _ act: Act) -> Bool {
    let standing = MemberRegister.Standing(
      by: act.entry, authority: act.seniority, role: invite.role, state: .active,
      ownership: ownership(of: invite.role, by: act.entry))
    guard let known = members[invite.member] else {
      members[invite.member] = MemberRegister(
        id: invite.member, name: name(invite.memberName, by: act.entry, act.seniority), standings: [standing])
      return true
    }
    if known.current.state == .active { return true }
    guard graph.saw(index, known.current.by), act.need == .ownership else { return false }
    members[invite.member]?.standings.append(standing)
    return true
  }

  private mutating func rename(_ rename: MembershipEntry.Rename, _ act: Act) -> Bool {
    let new = name(rename.name, by: act.entry, act.seniority)
    switch rename.subject {
    case .member(let member):
      guard members[member] != nil else { return false }
      members[member]?.name.rename(new, in: graph)
    case .device(let device):
      guard devices[device] != nil else { return false }
      devices[device]?.name.rename(new, in: graph)
    }
    return true
  }

  private mutating func change(_ change: MembershipEntry.RoleChange, _ act: Act) -> Bool {
    guard let current = members[change.member]?.current, current.state == .active else { return false }
    // Of two concurrent changes the older owner's stands, else the one that was judged first.
    let isAware = graph.saw(act.entry, current.by)
    guard isAware || act.seniority < current.authority else { return false }
    if !isAware {
      losses.removeAll { $0.by.entry == current.by }
      withdrawals.removeAll { $0.entry == current.by }
    }
    if change.role != .owner {
      let loss = Loss(by: act, subject: .member(change.member), isTotal: false)
      if !record(loss), current.role == .owner, !hasOwner(without: .member(change.member)) {
        losses.removeLast()
        return false
      }
    }
    if change.role == .readOnly { withdraw(.member(change.member), change.cutoffs, act) }
    guard change.role != current.role else { return true }
    let standing = MemberRegister.Standing(
      by: act.entry, authority: act.seniority, role: change.role, state: .active,
      ownership: ownership(of: change.role, by: act.entry))
    members[change.member]?.standings.append(standing)
    return true
  }

  private mutating func remove(
    member: MemberID, _ reason: MembershipEntry.Removal.Reason, _ act: Act
  ) -> Bool {
    guard let current = members[member]?.current else { return false }
    let isFirst = current.state == .active
    if !record(Loss(by: act, subject: .member(member), isTotal: true)), isFirst, !hasOwner(without: .member(member)) {
      losses.removeLast()
      return false
    }
    guard isFirst else { return true }
    members[member]?.standings.append(
      MemberRegister.Standing(
        by: act.entry, authority: act.seniority, role: current.role, state: reason == .left ? .left : .removed,
        ownership: .none))
    for device in devices.values where device.member == member && device.current.belongs {
      setState(reason == .left ? .left : .removed, of: device.id, by: act.entry)
    }
    return true
  }

  private mutating func remove(
    device: DeviceID, _ reason: MembershipEntry.Removal.Reason, _ act: Act
  ) -> Bool {
    guard let current = devices[device]?.current else { return false }
    if !record(Loss(by: act, subject: .device(device), isTotal: true)), current.belongs,
      !hasOwner(without: .device(device))
    {
      losses.removeLast()
      return false
    }
    guard current.belongs else { return true }
    let state: MembershipState.DeviceState =
      switch reason {
      case .removed, .voided, .dissolved: .removed
      case .left: .left
      case .retired: .retired
      }
    setState(state, of: device, by: act.entry)
    return true
  }

  /// Remembers that the right to write ends, and where.
  private mutating func withdraw(
    _ subject: MembershipEntry.Subject, _ cutoffs: [MembershipEntry.Cutoffs], _ act: Act
  ) {
    withdrawals.append(
      Withdrawal(
        entry: act.entry, author: act.member, device: act.device, subject: subject, cutoffs: cutoffs))
  }

  /// Whether an owner with a device would be left.
  private func hasOwner(without subject: MembershipEntry.Subject) -> Bool {
    devices.values.contains { device in
      guard device.current.belongs, let member = members[device.member]?.current else { return false }
      return member.state == .active && member.role == .owner && subject != .member(device.member)
        && subject != .device(device.id)
    }
  }

  private mutating func setState(_ state: MembershipState.DeviceState, of device: DeviceID, by entry: Int) {
    devices[device]?.standings.append(DeviceRegister.Standing(by: entry, state: state))
  }

  private func ownership(of role: Role, by entry: Int) -> MembershipAge {
    role == .owner ? graph.age(of: entry) : .none
  }

  private mutating func name(_ text: String, by entry: Int, _ authority: MembershipSeniority) -> NameRegister {
    namesGiven += 1
    return NameRegister(text, by: entry, order: namesGiven, authority: authority)
  }
}

extension Schema {
  /// Whether this version knows all its kinds of fields and all its strategies.
  fileprivate var isReadable: Bool {
    types.allSatisfy { type in
      type.fields.allSatisfy { $0.kind != nil }
        && ([type.strategy] + type.strategies.values).allSatisfy { MergeStrategy(rawValue: $0) != nil }
    }
  }
}
