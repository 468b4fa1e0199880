internal import HouseholdReplica
internal import HouseholdTrust

/// Doing what only one process may do at a time, where no node runs on the directory.
enum StoppedNode {
  /// Runs the body on the replica in the node's place: nobody else may, meanwhile.
  static func inItsPlace<Result>(_ directory: DataDirectory, _ body: (Replica) throws -> Result) throws -> Result {
    let lock = try DirectoryLock(directory)
    return try withExtendedLifetime(lock) {
      let keys = try NodeKeys(directory)
      return try NodeError.guarding {
        let replica = try Replica(path: directory.replica, cryptography: OpenSSLCryptography(), signer: keys.key)
        defer { replica.close() }
        return try body(replica)
      }
    }
  }
}
