internal import HouseholdRecords

/// The encodings that stay inside this module, for whoever tries them with any bytes: what is read must be written as
/// the same bytes again, and the rest be refused.
package enum FuzzedEncodings {
  /// Reads a snapshot page, unpacked; returns what it is when written again.
  package static func snapshotPage(_ bytes: [UInt8]) throws -> [UInt8] {
    SnapshotEncoding.encode(try SnapshotEncoding.decode(bytes))
  }

  /// Reads the versions of a record's cells, as a snapshot has them; returns what they are when written again.
  package static func cells(_ bytes: [UInt8]) throws -> [UInt8] {
    try CellVersions.renumber(bytes, from: AnyNames(), to: AnyNames())
  }

  /// Unpacks what a peer packed.
  package static func packed(_ bytes: [UInt8], limit: Int) throws -> [UInt8] {
    try Compression.unpack(bytes, limit: limit)
  }

  /// The cells of a snapshot page's records.
  package static func cellsOfRecords(onPage bytes: [UInt8]) throws -> [[UInt8]] {
    guard case .rows(let rows) = try SnapshotEncoding.decode(bytes) else { return [] }
    return rows.rows.compactMap(\.cells)
  }

  /// Knows every number below a bound, each as a changeset of its own.
  private struct AnyNames: WriterNames {
    func isByOwner(_ header: ChangesetHeader) -> Bool { false }

    func number(of name: ChangesetName) throws -> Int64 { Int64(name.sequence) - 1 }

    func header(of number: Int64) throws -> ChangesetHeader {
      guard (0..<1000).contains(number), let id = ReplicaID(bytes: [UInt8](repeating: 1, count: ReplicaID.byteCount))
      else { throw Violation(.badSnapshot, "A snapshot's record names a changeset that is not there.") }
      return ChangesetHeader(
        position: number, name: ChangesetName(replica: id, sequence: UInt64(number) + 1), hash: .zero, stamp: .least,
        editedAt: Instant(milliseconds: 0), schemaVersion: 1, continues: false, dependencies: Dependencies(),
        membershipHeads: [])
    }
  }
}
