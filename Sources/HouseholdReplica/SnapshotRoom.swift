internal import HouseholdRecords

/// How many headers of changesets find room on a page of a snapshot, which has to be read whole (R8).
///
/// A header names every replica that its author had seen, so it grows with the number of those that a household ever had.
package enum SnapshotRoom {
  /// About how many bytes a header takes that names so many replicas; rather too many than too few.
  package static func headerBytes(dependencies: Int) -> Int { 140 + 28 * dependencies }

  /// How many headers of each replica, beside the last one's, the first page carries where there are so many replicas.
  package static func recentHeaders(replicas: Int) -> Int {
    let forOneOfEach = max(1, replicas) * headerBytes(dependencies: replicas)
    return min(Limits.recentHeaders, max(0, Limits.snapshotHeaderBytes / forOneOfEach - 1))
  }
}
