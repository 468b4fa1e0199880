internal import HouseholdNode
package import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTrust

/// What is stored on this device and does not show (R3).
extension Household {
  /// A record with something that does not show.
  package struct Unshown: Hashable, Sendable {
    package var type: String
    package var id: String
    /// Whether the whole type is not known here.
    package var isOfUnknownType: Bool
    package var fields: [(name: String, value: FieldValue)] { zip(names, values).map { ($0, $1) } }
    package var author: Authorship
    private var names: [String]
    private var values: [FieldValue]

    init(_ record: UnshownRecord) {
      type = record.key.type
      id = record.key.id
      isOfUnknownType = record.isOfUnknownType
      names = record.fields.map(\.name)
      values = record.fields.map(\.value)
      author = Household.authorship(record.author)
    }
  }

  /// Records of types, or with fields, that the schema here does not know: they show after an upgrade.
  package func parked() throws -> [Unshown] {
    try unshown { replica, take in try replica.forEachParked(take) }
  }

  /// Records with a value that its field cannot hold: the field shows as empty until it is written anew.
  package func quarantined() throws -> [Unshown] {
    try unshown { replica, take in try replica.forEachQuarantined(take) }
  }

  private func unshown(_ look: (Replica, (UnshownRecord) throws -> Void) throws -> Void) throws -> [Unshown] {
    try Self.guarded {
      let replica = try Replica(path: directory.replica, cryptography: OpenSSLCryptography(), signer: nil)
      defer { replica.close() }
      var list: [Unshown] = []
      try look(replica) { list.append(Unshown($0)) }
      return list
    }
  }
}
