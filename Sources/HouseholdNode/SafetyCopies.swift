internal import FoundationEssentials
internal import HouseholdRecords
internal import HouseholdReplica

/// The copies of the replica under `snapshots/`, made before something that cannot be undone.
struct SafetyCopies {
  private let directory: DataDirectory

  init(_ directory: DataDirectory) { self.directory = directory }

  /// Copies the replica as of now; of all copies the newest few are kept. Returns where the copy is.
  func make(of replica: String, before act: String, now: Instant, keeping count: Int) throws -> String {
    let time = now.rfc3339.filter { $0 != ":" && $0 != "." }
    let path = "\(directory.snapshots)/\(time)-before-\(act).sqlite"
    do {
      try FileManager.default.createDirectory(atPath: directory.snapshots, withIntermediateDirectories: true)
      try Replica.copy(replica, to: path)
      let copies = try FileManager.default.contentsOfDirectory(atPath: directory.snapshots)
        .filter { $0.contains("-before-") && $0.hasSuffix(".sqlite") }.sorted()
      for old in copies.dropLast(count) {
        try FileManager.default.removeItem(atPath: "\(directory.snapshots)/\(old)")
      }
    } catch let error as ReplicaError {
      throw error
    } catch {
      throw NodeError(
        .dataDirectory, "\(directory.snapshots) cannot take a copy of the replica: \(error).",
        remedy: "Check the disk and the permissions; nothing was done.")
    }
    return path
  }
}
