package import HouseholdRecords

/// An invitation that was made here; the code never leaves this file but to the person who invites.
package struct StoredInvitation: Hashable, Sendable {
  /// What became of it.
  package enum State: String, Sendable { case open, used, expired, cancelled, locked }

  package var id: InvitationID
  /// As it is typed, without separators.
  package var code: String
  package var member: MemberID
  package var memberName: String
  package var role: Role
  /// The entry in the membership log that says so.
  package var entry: EntryHash
  package var expiresAt: Instant
  package var state: State
  package var wrongTries: Int
  /// The key of the guest to whom a join was signed: from then on the invitation answers to it only.
  package var guestKey: [UInt8]?

  package init(
    id: InvitationID, code: String, member: MemberID, memberName: String, role: Role, entry: EntryHash,
    expiresAt: Instant, state: State, wrongTries: Int
  ) {
    self.id = id
    self.code = code
    self.member = member
    self.memberName = memberName
    self.role = role
    self.entry = entry
    self.expiresAt = expiresAt
    self.state = state
    self.wrongTries = wrongTries
  }
}

/// Invitations made at this node: redeemable here only, so they are not synced.
extension Replica {
  /// All invitations, newest first; those past their end are marked as expired.
  package func invitations(now: Instant) throws -> [StoredInvitation] {
    try write {
      try connection.run(
        "UPDATE sync_invitation SET state = 'expired' WHERE state = 'open' AND expires_at <= ?",
        .integer(now.milliseconds))
      return try readInvitations()
    }
  }

  private func readInvitations() throws -> [StoredInvitation] {
    let statement = try connection.statement(
      """
      SELECT id, code, member, member_name, role, entry, expires_at, state, wrong_tries, guest_key
      FROM sync_invitation ORDER BY expires_at DESC
      """)
    defer { statement.reset() }
    var list: [StoredInvitation] = []
    while try statement.step() {
      guard let id = InvitationID(bytes: statement.bytes(0)), let member = MemberID(bytes: statement.bytes(2)),
        let role = Role(rawValue: statement.text(4)), let entry = EntryHash(bytes: statement.bytes(5)),
        let state = StoredInvitation.State(rawValue: statement.text(7))
      else { throw ReplicaError(.corrupt, "An invitation in the replica cannot be read.") }
      var invitation = StoredInvitation(
        id: id, code: statement.text(1), member: member, memberName: statement.text(3), role: role, entry: entry,
        expiresAt: Instant(milliseconds: statement.integer(6)), state: state,
        wrongTries: Int(statement.integer(8)))
      if !statement.isNull(9) { invitation.guestKey = statement.bytes(9) }
      list.append(invitation)
    }
    return list
  }

  /// Keeps a new invitation.
  package func add(_ invitation: StoredInvitation) throws {
    try write {
      try connection.run(
        """
        INSERT INTO sync_invitation(id, code, member, member_name, role, entry, expires_at, state, wrong_tries)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, .bytes(invitation.id.bytes), .text(invitation.code), .bytes(invitation.member.bytes),
        .text(invitation.memberName), .text(invitation.role.rawValue), .bytes(invitation.entry.bytes),
        .integer(invitation.expiresAt.milliseconds), .text(invitation.state.rawValue),
        .integer(Int64(invitation.wrongTries)))
    }
  }

  /// Binds an invitation to the guest to whom a join is signed.
  package func setInvitation(_ id: InvitationID, guestKey: [UInt8]) throws {
    try write {
      try connection.run("UPDATE sync_invitation SET guest_key = ? WHERE id = ?", .bytes(guestKey), .bytes(id.bytes))
    }
  }

  /// Puts a join into the log and marks its invitation as used, in one transaction.
  package func commitJoin(_ entries: [[UInt8]], invitation: InvitationID) throws {
    try write {
      _ = try addMembership(entries)
      try setInvitation(invitation, state: .used)
    }
  }

  /// How many records of each type show, in the order of the schema.
  package func recordCounts() throws -> [(type: String, count: Int64)] {
    try membershipState.schema.types.map { type in
      let count = try connection.integer("SELECT count(*) FROM \(SchemaTables.quoted(type.name))") ?? 0
      return (type: type.name, count: count)
    }
  }

  /// Changes what became of an invitation.
  package func setInvitation(_ id: InvitationID, state: StoredInvitation.State) throws {
    try write {
      try connection.run(
        "UPDATE sync_invitation SET state = ? WHERE id = ?", .text(state.rawValue), .bytes(id.bytes))
    }
  }

  /// Counts a wrong try against every open invitation; with the third it is locked, for good.
  package func countWrongTry() throws {
    try write {
      try connection.run("UPDATE sync_invitation SET wrong_tries = wrong_tries + 1 WHERE state = 'open'")
      try connection.run("UPDATE sync_invitation SET state = 'locked' WHERE state = 'open' AND wrong_tries >= 3")
    }
  }

  /// The salt of this node's pairing codes; made once from `random`.
  package func pairingSalt(random: () -> [UInt8]) throws -> [UInt8] {
    if let salt = try facts.bytes(.pairingSalt) { return salt }
    let salt = random()
    try write { try facts.set(.pairingSalt, .bytes(salt)) }
    return salt
  }
}
