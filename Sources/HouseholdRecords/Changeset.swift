/// What one replica sealed at one time: whole local transactions, applied whole.
///
/// The chain of `previous` hashes shows rollbacks and forks; `dependencyChanges` say what the author had seen; the
/// stamp only orders concurrent writes. The signature stands beside the body, see ``ChangesetEncoding``.
package struct Changeset: Hashable, Sendable {
  package var name: ChangesetName
  /// The hash of the author's changeset before this one; zero for the first.
  package var previous: ChangesetHash
  /// Which device began the replica; in changeset 1 only, where it must be (D4).
  package var origin: ReplicaOrigin?
  package var stamp: Stamp
  /// When the edit was made, by the author's clock; shown to people, decides nothing.
  package var editedAt: Instant
  /// Whether the local transaction goes on in the next changeset: they are applied together.
  package var continues: Bool
  /// The dependencies that differ from those of the author's previous changeset, in ascending order of the replica.
  package var dependencyChanges: [Dependency]
  /// The version of the schema that the author wrote under.
  package var schemaVersion: UInt64
  /// The membership heads that the author knew, ascending; nil when the same as in the previous changeset.
  package var membershipHeads: [EntryHash]?
  /// What kinds of rows the operations write.
  package var shapes: [Shape]
  package var operations: [Operation]

  package init(
    name: ChangesetName, previous: ChangesetHash, origin: ReplicaOrigin?, stamp: Stamp, editedAt: Instant,
    continues: Bool = false, dependencyChanges: [Dependency], schemaVersion: UInt64, membershipHeads: [EntryHash]?,
    shapes: [Shape], operations: [Operation]
  ) {
    self.name = name
    self.previous = previous
    self.origin = origin
    self.stamp = stamp
    self.editedAt = editedAt
    self.continues = continues
    self.dependencyChanges = dependencyChanges
    self.schemaVersion = schemaVersion
    self.membershipHeads = membershipHeads
    self.shapes = shapes
    self.operations = operations
  }
}

/// Binds a replica to the device that began it.
package struct ReplicaOrigin: Hashable, Sendable {
  package var device: DeviceID
  package var nonce: ReplicaNonce

  package init(device: DeviceID, nonce: ReplicaNonce) {
    self.device = device
    self.nonce = nonce
  }
}

/// A list of fields of one type that an operation writes; operations name it by its index.
package struct Shape: Hashable, Sendable {
  package var type: String
  /// In the order of the operation's values, each once; all fields of a group or none.
  package var fields: [String]

  package init(type: String, fields: [String]) {
    self.type = type
    self.fields = fields
  }
}

/// What a changeset does to one record.
package struct Operation: Hashable, Sendable {
  /// What is written.
  package enum Kind: UInt8, Sendable {
    /// Makes the record alive: begins a life, or restores one; writes every field, null where none was given.
    case insert = 0
    /// Writes the fields of the shape and no others.
    case update = 1
    /// Writes the alive cell and no other.
    case delete = 2
    /// Writes an owned set whole; the shape's one field is the type of its rows.
    case set = 3
  }

  package var kind: Kind
  /// Whether a person's concurrent write goes before it: generated and imported rows.
  package var isWeak: Bool
  /// Index into the changeset's shapes; a deletion's shape has no fields.
  package var shape: Int
  package var id: String
  /// The life that the author saw (or begins); from 1.
  package var life: UInt64
  /// One for each field of the shape; none for a set.
  package var values: [FieldValue]
  /// The rows of a set; empty for the other kinds.
  package var rows: OwnedRows

  package init(
    kind: Kind, isWeak: Bool = false, shape: Int, id: String, life: UInt64, values: [FieldValue],
    rows: OwnedRows = .none
  ) {
    self.kind = kind
    self.isWeak = isWeak
    self.shape = shape
    self.id = id
    self.life = life
    self.values = values
    self.rows = rows
  }
}
