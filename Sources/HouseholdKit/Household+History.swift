internal import HouseholdNode
package import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTrust

/// What happened to the records, what lost, and how it is undone.
extension Household {
  /// One change of one field, or with `field` nil a deletion.
  package struct Change: Hashable, Sendable {
    package var change: String
    package var type: String
    package var id: String
    package var field: String?
    package var from: FieldValue
    package var to: FieldValue
    package var author: Authorship
  }

  /// An edit that lost against a concurrent one.
  package struct LostEdit: Hashable, Sendable {
    /// One side: the fields of the cell as a JSON object, nil for a deletion, and whose it is.
    package struct Side: Hashable, Sendable {
      package var object: String?
      package var author: Authorship?
    }

    package var conflict: String
    package var type: String
    package var id: String
    package var field: String
    package var kept: Side
    package var lost: Side
    package var isOpen: Bool
  }

  /// A received change that is not applied before somebody approves what it deletes.
  package struct HeldChange: Hashable, Sendable {
    package var name: String
    package var author: Authorship
    /// How many records it deletes, by type.
    package var deletions: [String: Int]
    /// How many later changesets of the author wait behind it.
    package var waiting: Int64
  }

  /// Which side of a conflict is taken.
  package enum Choice: Hashable, Sendable {
    case mine
    case theirs
    /// Another value for the field.
    case value(FieldValue)
  }

  /// Calls `body` with the changes of one record, or of all, oldest first.
  package func history(_ key: RecordKey?, _ body: (Change) throws -> Void) throws {
    try Self.guarded {
      try access.history(key) { shown in
        try body(
          Change(
            change: shown.change, type: shown.type, id: shown.id, field: shown.field, from: shown.from, to: shown.to,
            author: Self.authorship(shown.author)))
      }
    }
  }

  /// The conflicts, oldest first.
  package func conflicts(includingClosed: Bool) throws -> [LostEdit] {
    try Self.guarded { try access.conflicts(includingClosed: includingClosed) }.map { shown in
      func side(_ side: ShownConflict.Side) -> LostEdit.Side {
        LostEdit.Side(object: side.object, author: side.author.map(Self.authorship))
      }
      return LostEdit(
        conflict: shown.conflict, type: shown.type, id: shown.id, field: shown.field, kept: side(shown.kept),
        lost: side(shown.lost), isOpen: shown.isOpen)
    }
  }

  /// Decides an open conflict, for everyone.
  package func resolve(_ conflict: String, _ choice: Choice) throws {
    let taken: ConflictChoice =
      switch choice {
      case .mine: .mine
      case .theirs: .theirs
      case .value(let value): .value(value)
      }
    try repair { try $0.resolve(conflict, taken, now: now) }
  }

  /// Brings a deleted record back with all its fields.
  package func restore(_ key: RecordKey) throws { try repair { try $0.restore(key, now: now) } }

  /// Undoes one change by a new one.
  package func revert(_ change: String) throws { try repair { try $0.revert(change, now: now) } }

  /// The changesets whose deletions wait for a decision, oldest first.
  package func heldChanges() throws -> [HeldChange] {
    try Self.guarded {
      let replica = try Replica(path: directory.replica, cryptography: OpenSSLCryptography(), signer: nil)
      defer { replica.close() }
      return try replica.heldChangesets().map { held in
        HeldChange(
          name: held.name, author: Self.authorship(held.author), deletions: held.deletions, waiting: held.waiting)
      }
    }
  }

  /// Leaves the decision about a held change for the node to carry out.
  package func decide(_ name: String, approving: Bool) throws {
    if approving {
      // Five copies are kept: one for a name that is none would take the place of one that is of use.
      try repair { try $0.requireUndecided(name) }
      try SafetyCopy.take(directory, before: "approve", now: now)
    }
    try repair { try $0.decide(name, approving: approving, now: now) }
  }

  private func repair(_ body: (Replica) throws -> Void) throws {
    try Self.guarded {
      // Without the key: whoever seals is the node, and nobody beside it.
      let replica = try Replica(path: directory.replica, cryptography: OpenSSLCryptography(), signer: nil)
      defer { replica.close() }
      try body(replica)
    }
  }

  static func authorship(_ authorship: HouseholdReplica.Authorship) -> Authorship {
    Authorship(member: authorship.member, device: authorship.device, at: authorship.at)
  }
}
