internal import FoundationEssentials
internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTrust

/// The household that a data directory holds while another one is joined from it.
package struct ExistingHousehold {
  private let directory: DataDirectory

  package init(_ directory: DataDirectory) { self.directory = directory }

  /// How many records there are beside the built-in ones, by type, in the order of the schema.
  package func recordCounts() throws -> [(type: String, count: Int)] {
    try NodeError.guarding {
      let access = try open(directory, readOnly: true)
      defer { access.close() }
      return try access.schema.types.map { type in
        var count = 0
        try forEachOwn(type, access) { _ in count += 1 }
        return (type: type.name, count: count)
      }
    }
  }

  /// Writes the records into a staged replica, as edits of this device: there they merge like any others.
  func copyRecords(to staging: DataDirectory) throws {
    let source = try open(directory, readOnly: true)
    defer { source.close() }
    let target = try open(staging, readOnly: false)
    defer { target.close() }
    try target.transaction {
      for type in source.schema.types {
        guard let known = target.schema.type(type.name) else { continue }
        try forEachOwn(type, source) { record in
          let fields = zip(type.fields, record.values).filter { known.field($0.0.name) != nil && !$0.1.isNull }
          _ = try target.put(known, record.key.id, fields.map { (name: $0.0.name, value: $0.1) })
        }
      }
    }
  }

  /// Moves the whole directory under the snapshots of the one that takes its place; what its node is told goes on to hold.
  func keep(in staging: DataDirectory) throws {
    try keepSettings(in: staging)
    let place = staging.snapshots + "/before-join-\(SystemClock.now.milliseconds)"
    try directory.move(to: place)
  }

  private func keepSettings(in staging: DataDirectory) throws {
    let files = FileManager.default
    guard files.fileExists(atPath: directory.settings), !files.fileExists(atPath: staging.settings) else { return }
    do {
      try files.copyItem(atPath: directory.settings, toPath: staging.settings)
    } catch {
      throw NodeError(
        .dataDirectory, "\(directory.settings) cannot be copied: \(error).",
        remedy: "Check the disk and its permissions.")
    }
  }

  private func open(_ directory: DataDirectory, readOnly: Bool) throws -> RecordAccess {
    try RecordAccess(path: directory.replica, readOnly: readOnly, cryptography: OpenSSLCryptography())
  }

  private func forEachOwn(
    _ type: RecordType, _ access: RecordAccess, _ body: (ShownRecord) throws -> Void
  ) throws {
    let builtIn = Set(access.schema.builtIn.filter { $0.type == type.name }.map(\.id))
    try access.forEach(type) { record in
      if !builtIn.contains(record.key.id) { try body(record) }
    }
  }
}
