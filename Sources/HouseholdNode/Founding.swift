internal import HouseholdBudget
package import HouseholdRecords
internal import HouseholdReplica
internal import HouseholdTrust

/// Makes a new household: keys, share certificate, membership log, and a replica with the built-in records.
package enum Founding {
  /// What the founder chooses.
  package struct Wishes: Sendable {
    package var householdName: String
    package var memberName: String
    package var deviceName: String
    package var schema: Schema
    /// Whether it begins as a store on this device alone.
    package var isOff: Bool

    package init(
      householdName: String, memberName: String, deviceName: String, schema: Schema, isOff: Bool = false
    ) {
      self.isOff = isOff
      self.householdName = householdName
      self.memberName = memberName
      self.deviceName = deviceName
      self.schema = schema
    }
  }

  /// Makes the household beside its place and puts it there when it is complete: killed half-way, nothing is left
  /// that could be taken for a household.
  package static func found(
    _ wishes: Wishes, in directory: DataDirectory, now: Instant = SystemClock.now
  ) throws -> HouseholdID {
    try directory.requireFree()
    try check(wishes)
    let staging = directory.staging
    let lock = try StagingLock.making(staging)
    return try withExtendedLifetime(lock) {
      try NodeError.guarding { try complete(wishes, in: staging, for: directory, now: now) }
    }
  }

  private static func complete(
    _ wishes: Wishes, in staging: DataDirectory, for directory: DataDirectory, now: Instant
  ) throws -> HouseholdID {
    // A certificate is shown to whoever connects: it holds no name that tells who lives here.
    let authority = try ShareAuthority.make(name: "household", now: now)
    let key = try KeyPair.generate()
    var random = SecureRandom()
    let member = MemberID.random(from: &random)
    let certificate = try authority.issue(publicKey: key.publicKey, member: member, now: now)
    try authority.certificate.save(to: staging.shareCertificate)
    try authority.key.save(to: staging.shareKey)
    try certificate.save(to: staging.deviceCertificate)
    try key.save(to: staging.deviceKey)
    let genesis = MembershipEntry(
      author: key.device, parents: [], at: now,
      statement: .genesis(
        MembershipEntry.Genesis(
          householdName: wishes.householdName, sharePublicKey: authority.key.publicKey, member: member,
          memberName: wishes.memberName,
          device: MembershipEntry.DeviceDescription(name: wishes.deviceName, publicKey: key.publicKey))))
    let entry = try SignedEntry(genesis) { try authority.key.signature(of: $0) }
    let identity = ReplicaIdentity(
      household: authority.certificate.household, member: member, device: key.device)
    let replica = try Replica.create(
      path: staging.replica, identity: identity, entries: [entry.bytes], nonce: .random(from: &random),
      incarnation: .random(from: &random), needsSnapshot: false, cryptography: OpenSSLCryptography(), signer: key)
    _ = try replica.state(.schema(wishes.schema), at: now)
    try addBuiltInRecords(of: wishes.schema, to: replica, at: staging.replica, now: now)
    if wishes.isOff { try replica.setOff(true) }
    replica.close()
    try directory.adopt(staging)
    return identity.household
  }

  private static func check(_ wishes: Wishes) throws {
    let names = [
      ("household", wishes.householdName), ("member", wishes.memberName), ("device", wishes.deviceName),
    ]
    for (what, name) in names { try Names.check(name, of: what) }
    do {
      try SchemaCheck.check(wishes.schema)
    } catch {
      throw NodeError(.badArgument, "The schema cannot be used: \(error)", remedy: error.remedy)
    }
  }

  /// The records that every fresh household has, as generated ones: two households that join agree on them.
  private static func addBuiltInRecords(
    of schema: Schema, to replica: Replica, at path: String, now: Instant
  ) throws {
    guard !schema.builtIn.isEmpty else { return }
    let access = try RecordAccess(path: path, readOnly: false, cryptography: OpenSSLCryptography())
    defer { access.close() }
    try access.generating {
      for record in schema.builtIn {
        guard let type = schema.type(record.type) else { continue }
        let fields = record.fields.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        _ = try access.put(type, record.id, fields)
      }
    }
    try replica.seal(now: now)
  }
}

/// Names of members, devices and households.
package enum Names {
  /// Throws unless the name can be shown and typed.
  package static func check(_ name: String, of what: String) throws {
    let isShown = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    guard !name.isEmpty, name.utf8.count <= Limits.nameBytes, isShown, !name.allSatisfy(\.isWhitespace) else {
      throw NodeError(
        .badArgument, "The name of a \(what) must have 1 to \(Limits.nameBytes) bytes and no control characters.",
        remedy: "Choose another name.")
    }
  }
}
