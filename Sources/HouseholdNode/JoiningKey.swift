internal import HouseholdSync
internal import HouseholdTrust

/// The key with which a guest asks for one code, kept beside the data directory until the join is over.
///
/// From the moment at which the host signs a join the invitation answers to that key only. A join that fails afterwards,
/// at the guest's disk or because the link was lost, can be begun again with the same code only by whoever has the same key.
struct JoiningKey {
  let directory: DataDirectory
  let code: InvitationCode

  private var file: DurableFile { DurableFile(path: directory.joiningKey) }

  /// Tells for which code the key is, without telling the code.
  private var mark: [UInt8] { OpenSSLCryptography().sha256(Array("household-joining-key/1".utf8) + code.secret) }

  /// The key of an earlier try with this code, or a new one.
  func find() throws -> KeyPair {
    guard DataDirectory.exists(file.path) else { return try KeyPair.generate() }
    let bytes = try file.read()
    guard bytes.starts(with: mark) else { return try KeyPair.generate() }
    return try KeyPair(privateKey: Array(bytes.dropFirst(mark.count)))
  }

  /// Keeps the key; on the disk when this returns, so before the host hears of it.
  func keep(_ key: KeyPair) throws {
    try directory.makeParents()
    try file.write(mark + (try key.privateKey()), mode: 0o600)
  }

  /// Takes the key away once it is of no use, if it is the one for this code.
  func forget() throws {
    guard DataDirectory.exists(file.path), try file.read().starts(with: mark) else { return }
    try directory.removeJoiningKey()
  }
}
