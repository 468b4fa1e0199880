internal import HouseholdNode
internal import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTrust

/// A reader of its own for one observer: it sees what every other connection commits, this program's included.
///
/// Not for more than one task at a time.
final class LiveReader {
  let access: RecordAccess
  private var version: Int64 = -1

  init(_ directory: DataDirectory) throws {
    access = try RecordAccess(path: directory.replica, readOnly: true, cryptography: OpenSSLCryptography())
  }

  deinit { access.close() }

  /// Whether anything was committed since the last look; true at the first.
  func hasNews() throws -> Bool {
    let now = try access.dataVersion()
    defer { version = now }
    return now != version
  }
}
