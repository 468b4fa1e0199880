internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdSync
internal import HouseholdTrust

/// Makes invitations and answers for them: the replica keeps them, the share's key signs what comes of them.
///
/// On the replica's thread, like the driver.
final class InvitationDesk: PairingDesk {
  private let replica: Replica
  /// Changed when this device's member becomes an owner, or is one no longer.
  var keys: NodeKeys
  private var pairingKeys: [InvitationID: [UInt8]] = [:]
  private var reserved: Set<InvitationID> = []
  let salt: [UInt8]
  /// Where this node can be dialled.
  var addresses: [String] = []

  init(replica: Replica, keys: NodeKeys) throws {
    self.replica = replica
    self.keys = keys
    salt = try replica.pairingSalt { SecureRandom.bytes(PairingMessage.saltBytes) }
  }

  /// What someone asks to be invited.
  struct Wish {
    /// The name of the member; nil invites another device of this one.
    var member: String?
    var role: Role
    var lifetimeMilliseconds: Int64
  }

  /// Makes an invitation.
  func invite(_ wish: Wish, now: Instant) throws -> (code: InvitationCode, invitation: StoredInvitation) {
    guard replica.membershipNow.isOwner(replica.identity.device) else {
      throw NodeError(
        .notAllowed, "Only an owner's device can invite: it holds the share's key.", remedy: "Ask an owner to invite.")
    }
    guard keys.authority != nil else {
      throw NodeError(
        .network, "The share's key has not come from another owner's device yet.",
        remedy: "Leave the node running while another owner's node runs, and try again.")
    }
    var random = SecureRandom()
    let membership = replica.membershipNow
    let (member, name, role) = try invited(wish, in: membership, random: &random)
    let expiresAt = now.advanced(byMilliseconds: wish.lifetimeMilliseconds)
    let id = InvitationID.random(from: &random)
    let entry = try replica.state(
      .invite(
        MembershipEntry.Invite(
          invitation: id, member: member, memberName: name, role: role, expiresAt: expiresAt)), at: now)
    let code = InvitationCode(from: &random)
    let invitation = StoredInvitation(
      id: id, code: code.characters, member: member, memberName: name, role: role, entry: entry,
      expiresAt: expiresAt, state: .open, wrongTries: 0)
    try replica.add(invitation)
    return (code, invitation)
  }

  private func invited(
    _ wish: Wish, in membership: MembershipState, random: inout SecureRandom
  ) throws -> (MemberID, String, Role) {
    guard let name = wish.member else {
      let own = membership.members[replica.identity.member]
      return (replica.identity.member, own?.name ?? "", own?.role ?? .member)
    }
    try Names.check(name, of: "member")
    let known = membership.members.values.sorted { $0.id < $1.id }.first { $0.name == name && $0.state == .active }
    if let known {
      guard wish.role != .readOnly || known.role == .readOnly else {
        throw NodeError(
          .badArgument, "\(name) is here already, and may do more than read; an invitation takes no right away.",
          remedy: "To invite another device of theirs: household invite \(name). To take the right away: "
            + "household demote \(name) --read-only")
      }
      return (known.id, known.name, known.role)
    }
    return (MemberID.random(from: &random), name, wish.role)
  }

  /// The invitations that can be used now.
  func open(now: Instant) throws -> [StoredInvitation] {
    try replica.invitations(now: now).filter { $0.state == .open }
  }

  /// What became of an invitation.
  func state(code: InvitationCode, now: Instant) throws -> InvitationFacts.State {
    guard let found = try replica.invitations(now: now).first(where: { $0.code == code.characters }) else {
      throw NodeError(
        .notFound, "There is no invitation with this code.", remedy: "List the open ones: household invitations")
    }
    return switch found.state {
    case .open: .open
    case .used: .used
    // A guest who is at it may still finish.
    case .expired: reserved.contains(found.id) ? .open : .expired
    case .cancelled: .cancelled
    case .locked: .locked
    }
  }

  /// Takes an invitation back.
  func cancel(code: InvitationCode, now: Instant) throws {
    guard let found = try open(now: now).first(where: { $0.code == code.characters }) else {
      throw NodeError(
        .notFound, "There is no open invitation with this code.", remedy: "List them: household invitations")
    }
    try replica.setInvitation(found.id, state: .cancelled)
  }

  // MARK: What the pairing asks

  /// How many closed invitations are remembered, so that a late guest hears what became of its own.
  private static let closedShown = 20

  func invitations() throws -> [PairingInvitation] {
    let all = try replica.invitations(now: SystemClock.now)
    let shown = all.filter { $0.state == .open } + all.filter { $0.state != .open }.prefix(Self.closedShown)
    return try shown.map { stored in
      let state: PairingInvitation.State =
        switch stored.state {
        case .open: .open
        case .used: .used
        case .expired: reserved.contains(stored.id) ? .open : .expired
        case .cancelled: .cancelled
        case .locked: .locked
        }
      return PairingInvitation(id: stored.id, key: try key(of: stored), state: state)
    }
  }

  private func key(of invitation: StoredInvitation) throws -> [UInt8] {
    if let known = pairingKeys[invitation.id] { return known }
    let key = PairingTrust().pairingKey(code: try InvitationCode(invitation.code).secret, salt: salt)
    pairingKeys[invitation.id] = key
    return key
  }

  func countWrongTry() throws -> Int {
    try replica.countWrongTry()
    return try open(now: SystemClock.now).map { Limits.wrongTries - $0.wrongTries }.max() ?? 0
  }

  func reserve(_ invitation: InvitationID) -> Bool { reserved.insert(invitation).inserted }

  func release(_ invitation: InvitationID) { reserved.remove(invitation) }

  private func stored(_ id: InvitationID) throws -> StoredInvitation {
    guard let found = try replica.invitations(now: SystemClock.now).first(where: { $0.id == id }) else {
      throw PairingRefusal(.failed, "The invitation is not there any more. Ask for a new one.")
    }
    return found
  }

  func preview(of invitation: InvitationID) throws -> PairingPreview {
    let stored = try stored(invitation)
    let membership = replica.membershipNow
    let identity = replica.identity
    return PairingPreview(
      household: identity.household, householdName: membership.genesis?.householdName ?? "",
      shareCertificate: keys.share.der, inviterMember: membership.members[identity.member]?.name ?? "",
      inviterDevice: membership.devices[identity.device]?.name ?? "", member: stored.member,
      memberName: stored.memberName, role: stored.role, isDeviceInvitation: stored.member == identity.member,
      schemaName: membership.schema.name,
      recordCounts: try replica.recordCounts().map { .init(type: $0.type, count: UInt64($0.count)) },
      memberNames: Array(
        membership.members.values.filter { $0.state == .active }.map(\.name).sorted().prefix(Limits.membersInPreview)))
  }

  func prepareJoin(
    signingRequest: [UInt8], deviceName: String, guestPublicKey: [UInt8], invitation: InvitationID
  ) throws -> PairingCompletion {
    guard let authority = keys.authority else {
      throw PairingRefusal(.failed, "The inviting device holds the share's key no longer. Ask an owner to invite.")
    }
    let stored = try stored(invitation)
    if let bound = stored.guestKey, bound != guestPublicKey {
      throw PairingRefusal(.used, "The invitation is used by another device. Ask for a new one.")
    }
    let request = try SigningRequest(der: signingRequest)
    guard request.publicKey == guestPublicKey else {
      throw PairingRefusal(.unexpected, "The signing request is for another key than the link's.")
    }
    do {
      try Names.check(deviceName, of: "device")
    } catch {
      throw PairingRefusal(.failed, "The device's name cannot be used. Choose another with --device.")
    }
    let now = SystemClock.now
    let membership = replica.membershipNow
    let replaced = membership.devices.values
      .filter { $0.member == stored.member && $0.name == deviceName && $0.state == .active }
      .map(\.id).sorted()
    let join = try replica.sign(
      .join(
        MembershipEntry.Join(
          invite: stored.entry,
          device: MembershipEntry.DeviceDescription(name: deviceName, publicKey: guestPublicKey),
          replaces: try replaced.map { try replica.cutoffs(of: $0) })), at: now)
    let certificate = try authority.issue(for: request, member: stored.member, now: now)
    try replica.setInvitation(invitation, guestKey: guestPublicKey)
    return PairingCompletion(
      deviceCertificate: certificate.der, shareCertificate: keys.share.der,
      entries: try replica.membershipEntries(except: []) + [join.bytes], addresses: addresses)
  }

  func commitJoin(_ completion: PairingCompletion, invitation: InvitationID) throws {
    try replica.commitJoin(completion.entries, invitation: invitation)
  }
}
