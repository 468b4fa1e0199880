/// A person's part in the household.
package enum Role: String, Hashable, Sendable, CaseIterable {
  /// Writes, and decides who belongs; holds the share key.
  case owner
  /// Writes.
  case member
  /// Reads.
  case readOnly
}

/// One signed statement about who belongs, what they may do and what the schema is (design 2.6).
///
/// Entries merge as a set; each names the heads that its author had seen, so they form a graph.
package struct MembershipEntry: Hashable, Sendable {
  /// The device that wrote it.
  package var author: DeviceID
  /// The heads of the log as the author knew it, ascending; empty for the genesis only.
  package var parents: [EntryHash]
  /// When it was written, by the author's clock; shown to people, decides nothing.
  package var at: Instant
  package var statement: Statement

  package init(author: DeviceID, parents: [EntryHash], at: Instant, statement: Statement) {
    self.author = author
    self.parents = parents
    self.at = at
    self.statement = statement
  }

  /// What an entry says.
  package enum Statement: Hashable, Sendable {
    /// The household begins; signed with the share key itself.
    case genesis(Genesis)
    /// Someone may join.
    case invite(Invite)
    /// An invitation was used: a device, and with it perhaps a new member, is admitted.
    case join(Join)
    /// A member's or device's name.
    case rename(Rename)
    /// The schema of the household.
    case schema(Schema)
    /// A member's role from now on; a loss of the right to write carries cutoffs.
    case role(RoleChange)
    /// A member or a device belongs no longer (`remove`, `leave`, `retire`, a void join).
    case removal(Removal)
    /// A device counts as asleep, or as awake again (D9).
    case dormancy(Dormancy)
    /// A replica has ended and leaves the vectors (D9).
    case fold(Fold)
    /// A statement of a kind that this version does not know: kept and passed on, without effect.
    case unknown(kind: UInt64, body: [UInt8])
  }

  /// The first entry.
  package struct Genesis: Hashable, Sendable {
    package var householdName: String
    /// SubjectPublicKeyInfo of the share, DER; its SHA-256 is the household's id.
    package var sharePublicKey: [UInt8]
    package var member: MemberID
    package var memberName: String
    package var device: DeviceDescription

    package init(
      householdName: String, sharePublicKey: [UInt8], member: MemberID, memberName: String, device: DeviceDescription
    ) {
      self.householdName = householdName
      self.sharePublicKey = sharePublicKey
      self.member = member
      self.memberName = memberName
      self.device = device
    }
  }

  /// A device as it is admitted.
  package struct DeviceDescription: Hashable, Sendable {
    package var name: String
    /// SubjectPublicKeyInfo, DER; its SHA-256 is the device's id.
    package var publicKey: [UInt8]

    package init(name: String, publicKey: [UInt8]) {
      self.name = name
      self.publicKey = publicKey
    }
  }

  /// An offer; the code itself is nowhere in the log.
  package struct Invite: Hashable, Sendable {
    package var invitation: InvitationID
    /// Who is invited: a new member, or one that exists (`--device`, a reinstall).
    package var member: MemberID
    package var memberName: String
    package var role: Role
    package var expiresAt: Instant

    package init(
      invitation: InvitationID, member: MemberID, memberName: String, role: Role, expiresAt: Instant
    ) {
      self.invitation = invitation
      self.member = member
      self.memberName = memberName
      self.role = role
      self.expiresAt = expiresAt
    }
  }

  /// The use of an invitation, written by the inviting node.
  package struct Join: Hashable, Sendable {
    /// The hash of the invite entry, which must be an ancestor.
    package var invite: EntryHash
    package var device: DeviceDescription
    /// Devices of the same member that this one replaces, with what is admitted of them.
    package var replaces: [Cutoffs]

    package init(invite: EntryHash, device: DeviceDescription, replaces: [Cutoffs] = []) {
      self.invite = invite
      self.device = device
      self.replaces = replaces
    }
  }

  /// A new name.
  package struct Rename: Hashable, Sendable {
    package var subject: Subject
    package var name: String

    package init(subject: Subject, name: String) {
      self.subject = subject
      self.name = name
    }
  }

  /// Whom an entry is about.
  package enum Subject: Hashable, Sendable {
    case member(MemberID)
    case device(DeviceID)
  }

  /// A device and how much of its replicas counts: one not named has 0 (D5).
  ///
  /// The last changeset that counts is named with its hash, as a replica's name may pass to another branch later (D4): who
  /// forks his log after his removal, with a smaller hash, must not get the place of what was admitted.
  package struct Cutoffs: Hashable, Sendable {
    package var device: DeviceID
    package var through: Dependencies

    package init(device: DeviceID, through: Dependencies) {
      self.device = device
      self.through = through
    }
  }

  /// Another role.
  package struct RoleChange: Hashable, Sendable {
    package var member: MemberID
    package var role: Role
    /// When the right to write is lost, for each device of the member.
    package var cutoffs: [Cutoffs]

    package init(member: MemberID, role: Role, cutoffs: [Cutoffs] = []) {
      self.member = member
      self.role = role
      self.cutoffs = cutoffs
    }
  }

  /// An end.
  package struct Removal: Hashable, Sendable {
    /// Why it ends.
    package enum Reason: UInt8, Sendable {
      case removed = 0
      case left = 1
      case retired = 2
      case voided = 3
      /// The last owner ends the sharing for everyone.
      case dissolved = 4
    }
    package var subject: Subject
    package var reason: Reason
    package var cutoffs: [Cutoffs]

    package init(subject: Subject, reason: Reason, cutoffs: [Cutoffs]) {
      self.subject = subject
      self.reason = reason
      self.cutoffs = cutoffs
    }
  }

  /// A device sleeps or wakes.
  package struct Dormancy: Hashable, Sendable {
    package var device: DeviceID
    package var isDormant: Bool
    /// What was confirmed by then.
    package var confirmed: Dependencies

    package init(device: DeviceID, isDormant: Bool, confirmed: Dependencies) {
      self.device = device
      self.isDormant = isDormant
      self.confirmed = confirmed
    }
  }

  /// The end of a replica that everyone has.
  package struct Fold: Hashable, Sendable {
    package var last: ChangesetName
    package var hash: ChangesetHash

    package init(last: ChangesetName, hash: ChangesetHash) {
      self.last = last
      self.hash = hash
    }
  }
}
