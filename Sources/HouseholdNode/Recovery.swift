internal import FoundationEssentials
internal import Glibc
package import HouseholdRecords
package import HouseholdReplica
internal import HouseholdTrust

/// Backups and putting them back: consistent copies beside a running node, and what `recover` does with one.
package struct Recovery {
  private let directory: DataDirectory

  package init(_ directory: DataDirectory) { self.directory = directory }

  /// Writes a backup; never over a file that is there.
  package func backUp(to file: String, now: Instant) throws {
    try directory.requireHousehold()
    guard !DataDirectory.exists(file) else {
      throw NodeError(.badArgument, "\(file) exists already.", remedy: "Name another file.")
    }
    // Beside its place first: what bears the name is complete.
    let part = file + ".part-" + String(UInt64.random(in: .min ... .max), radix: 16)
    defer { unsafe unlink(part) }
    try NodeError.guarding { try ReplicaBackup.write(of: directory.replica, to: part, now: now) }
    unsafe chmod(part, 0o600)
    guard unsafe link(part, file) == 0 else {
      throw NodeError(
        .dataDirectory, "\(file) cannot be made: \(unsafe String(cString: strerror(errno))).",
        remedy: "Name a file that does not exist, in a folder that you may write to.")
    }
  }

  /// What a file is a backup of; throws for anything that is none of this household.
  package func facts(of file: String) throws -> ReplicaBackup.Facts {
    try directory.requireHousehold()
    guard DataDirectory.exists(file) else {
      throw NodeError(.notFound, "There is no file \(file).", remedy: "Name a file that `household backup` made.")
    }
    let facts: ReplicaBackup.Facts
    do {
      facts = try ReplicaBackup.facts(of: file, cryptography: OpenSSLCryptography())
    } catch let error as ReplicaError where error.code == .newerVersion {
      throw NodeError(error)
    } catch let error as ReplicaError {
      throw NodeError(.badArgument, error.message, remedy: "Name a file that `household backup` made.")
    }
    let ours = try NodeError.guarding {
      try StatusFacts.read(path: directory.replica, cryptography: OpenSSLCryptography()).identity.household
    }
    guard facts.household == ours else {
      throw NodeError(
        .badArgument, "\(file) is a backup of another household.",
        remedy: "Name a backup of this household, or import its records.")
    }
    return facts
  }

  /// What putting this device back takes from it that no other device can bring again.
  package struct Loss: Hashable, Sendable {
    /// Changesets of this device that are neither in the backup nor confirmed by a device that belongs.
    package var changesets: UInt64
    /// Edits that are not sealed yet.
    package var edits: Int64
  }

  /// What would be lost, as of now.
  package func loss(comparedTo file: String) throws -> Loss {
    try NodeError.guarding {
      let facts = try StatusFacts.read(path: directory.replica, cryptography: OpenSSLCryptography())
      let kept = try ReplicaBackup.received(in: file)
      let others = facts.membership.devices.keys.filter {
        $0 != facts.identity.device && facts.membership.admits($0)
      }
      let missing = others.map { device in
        var there = facts.peers[device]?.acknowledged ?? VersionVector()
        there.merge(kept)
        return facts.own.excess(over: there)
      }
      return Loss(
        changesets: missing.min() ?? facts.own.excess(over: kept),
        edits: try ReplicaBackup.unsealedEdits(of: directory.replica, notIn: file))
    }
  }

  private func keepCopy(now: Instant) throws { try SafetyCopy.take(directory, before: "recover", now: now) }

  /// Puts this device's replica back to the backup; its peers bring what came since. No node may run.
  package func putBack(_ file: String, now: Instant) throws {
    let lock = try DirectoryLock(directory)
    defer { withExtendedLifetime(lock) {} }
    try keepCopy(now: now)
    let made = directory.replica + ".recovering"
    for suffix in ["", "-wal", "-shm"] { unsafe unlink(made + suffix) }
    try NodeError.guarding {
      let replica = try Replica(path: directory.replica, cryptography: OpenSSLCryptography(), signer: nil)
      defer { replica.close() }
      var random = SecureRandom()
      try ReplicaBackup.install(
        file, as: made, inPlaceOf: replica, nonce: .random(from: &random), incarnation: .random(from: &random),
        now: now)
      try replica.finishLog()
    }
    unsafe chmod(made, 0o600)
    // The old log is in the old file by now; left behind it would be taken for the new one's.
    for suffix in ["-wal", "-shm"] { unsafe unlink(directory.replica + suffix) }
    guard unsafe rename(made, directory.replica) == 0 else {
      throw NodeError(.dataDirectory, "\(directory.replica) cannot be replaced.", remedy: "Check the permissions.")
    }
    for suffix in ["-wal", "-shm"] { unsafe unlink(made + suffix) }
  }

  /// Rolls the household back, with a copy first; nothing is copied where nothing differs, or this device may not write.
  package func rollBackHousehold(to file: String, now: Instant) throws -> [RecordAccess.Difference] {
    let wanted = try rollBack(to: file, isDry: true)
    guard wanted.contains(where: { $0.missing + $0.changed + $0.added > 0 }) else { return wanted }
    try NodeError.guarding {
      let access = try RecordAccess(path: directory.replica, readOnly: true, cryptography: OpenSSLCryptography())
      defer { access.close() }
      try access.requireRightToWrite()
    }
    try keepCopy(now: now)
    return try rollBack(to: file, isDry: false)
  }

  /// What rolling the household back to a backup would change, or has changed.
  package func rollBack(to file: String, isDry: Bool) throws -> [RecordAccess.Difference] {
    try NodeError.guarding {
      let access = try RecordAccess(path: directory.replica, readOnly: false, cryptography: OpenSSLCryptography())
      defer { access.close() }
      return try access.rollBack(to: file, isDry: isDry)
    }
  }
}
