/// What a command asks the running node over the control socket; JSON with a length in front.
package enum ControlRequest: Codable, Hashable, Sendable {
  /// What only the node knows of sync health.
  case status
  /// Look for edits now: a program of ours has just committed some.
  case poke
  /// Make an invitation; without a member, for another device of this one.
  case invite(member: String?, role: String, lifetimeMilliseconds: Int64)
  /// The open invitations.
  case invitations
  /// What became of an invitation, open or not.
  case invitationState(code: String)
  /// Take an invitation back.
  case cancel(code: String)
  /// End the membership of a person or device.
  case remove(String)
  /// End one device of a member who stays.
  case retire(String)
  /// A member may do more: read-only to member, member to owner.
  case promote(String)
  /// A member may do less.
  case demote(String, readOnly: Bool)
  /// What would happen if this member left.
  case leavePreview(keep: String)
  /// This member leaves.
  case leave(keep: String)
  /// What would happen if the last owner ended the sharing, and ending it.
  case dissolvePreview
  case dissolve
  /// Another name for a member or device.
  case rename(String, to: String)
  /// Add the types and fields of a manifest to the household's schema.
  case upgradeSchema(manifest: String)
  /// Collect what every device has confirmed.
  case compact(keepMilliseconds: Int64)
}

/// What the node answers.
package enum ControlResponse: Codable, Hashable, Sendable {
  case done
  case status(LiveFacts)
  case invitation(InvitationFacts)
  case invitations([InvitationFacts])
  case invitationState(InvitationFacts.State)
  case role(member: String, role: String)
  case leaving(LeavingFacts)
  case compaction(CompactionFacts)
  case failed(code: String, message: String, remedy: String)

  /// A refusal or fault, as it goes to the command.
  static func failure(_ error: NodeError) -> Self {
    .failed(code: error.code.rawValue, message: error.message, remedy: error.remedy)
  }
}

/// An invitation as commands show it.
package struct InvitationFacts: Codable, Hashable, Sendable {
  /// What became of one.
  package enum State: String, Codable, Sendable { case open, used, expired, cancelled, locked }

  /// In groups of four.
  package var code: String
  package var link: String
  package var member: String
  package var role: String
  /// Milliseconds since 1970.
  package var expiresAt: Int64
}
