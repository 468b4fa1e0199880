package import HouseholdRecords
internal import HouseholdReplica

/// What was written without the right to: kept aside, for an owner to adopt.
extension Household {
  /// A changeset that was rejected.
  package struct Rejected: Hashable, Sendable {
    /// What it would have done to one record.
    package struct Edit: Hashable, Sendable {
      /// `insert`, `update` or `delete`.
      package var kind: String
      package var type: String
      package var id: String
      package var fields: [Field]
    }

    /// One field and the value that was written.
    package struct Field: Hashable, Sendable {
      package var name: String
      package var value: FieldValue
    }

    package var id: String
    package var author: Authorship
    /// Whether this device wrote it.
    package var isOwn: Bool
    package var edits: [Edit]
  }

  /// The rejected changesets that nobody here has decided about, oldest first.
  package func rejected() throws -> [Rejected] {
    try Self.guarded { try access.rejected() }.map { change in
      Rejected(
        id: change.id,
        author: Authorship(member: change.author.member, device: change.author.device, at: change.author.at),
        isOwn: change.isOwn,
        edits: change.edits.map { edit in
          Rejected.Edit(
            kind: Self.word(edit.kind), type: edit.type, id: edit.id,
            fields: edit.fields.map { Rejected.Field(name: $0.name, value: $0.value) })
        })
    }
  }

  private static func word(_ kind: Operation.Kind) -> String {
    switch kind {
    case .insert: "insert"
    case .update: "update"
    case .delete: "delete"
    case .set: "set"
    }
  }

  /// Writes what was rejected as edits of this owner's device; returns the records that could not be written.
  package func adoptRejected(_ id: String) throws -> [RecordKey] { try Self.guarded { try access.adopt(id) } }

  /// Puts a rejected changeset aside.
  package func dismissRejected(_ id: String) throws { try Self.guarded { try access.dismiss(id) } }
}
