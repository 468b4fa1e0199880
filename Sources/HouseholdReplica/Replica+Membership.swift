package import HouseholdRecords

/// The membership log in the file, and the schema that it brings.
extension Replica {
  static func loadMembership(
    _ connection: Connection, household: HouseholdID, cryptography: any Cryptography
  ) throws -> MembershipLog {
    var log = MembershipLog(household: household)
    _ = try load(connection, after: 0, into: &log, cryptography: cryptography)
    return log
  }

  /// Adds what the file holds after an entry's number to the log, and returns the last number; entries stay for ever.
  static func load(
    _ connection: Connection, after last: Int64, into log: inout MembershipLog, cryptography: any Cryptography
  ) throws -> Int64 {
    let statement = try connection.statement(
      "SELECT number, bytes FROM sync_membership WHERE number > ? ORDER BY number")
    try statement.bind(1, last)
    defer { statement.reset() }
    var (entries, last): ([[UInt8]], Int64) = ([], last)
    while try statement.step() {
      last = statement.integer(0)
      entries.append(statement.bytes(1))
    }
    do {
      _ = try log.add(entries, cryptography: cryptography)
    } catch {
      throw ReplicaError(.corrupt, "The membership log in the replica is damaged.", cause: "\(error)")
    }
    return last
  }

  package func membership() throws -> MembershipState { membershipState }

  package func membershipHashes() throws -> [EntryHash] { membershipLog.hashes }

  package func membershipEntries(except known: Set<EntryHash>) throws -> [[UInt8]] {
    membershipLog.entries(except: known)
  }

  package func membershipNews(ending device: DeviceID, known: Set<EntryHash>) throws -> Set<EntryHash> {
    guard let member = membershipState.devices[device]?.member else { return [] }
    return membershipLog.news(ending: device, of: member, known: known)
  }

  /// Adds entries to the log, and with them what follows from it: names for reading, and the schema's tables.
  package func addMembership(_ entries: [[UInt8]]) throws -> Bool {
    try write {
      var log = membershipLog
      let added = try log.add(entries, cryptography: cryptography)
      if added.isEmpty { return false }
      // What was edited before this was known belongs to the membership of before.
      if try !outbox.isEmpty(), membershipLog.count > 0 { _ = try sealInTransaction(now: lastNow) }
      for hash in added {
        guard let bytes = log.entry(hash)?.signed.bytes else { continue }
        try connection.run(
          "INSERT INTO sync_membership(hash, bytes) VALUES (?, ?)", .bytes(hash.bytes), .bytes(bytes))
      }
      let before = membershipState
      let couldWriteFacts = mayWriteFacts
      let rights = admission.rights
      membershipLog = log
      (membershipState, admission.rights) = MembershipEvaluation.evaluate(log)
      try writeNames()
      if mayWriteFacts && !couldWriteFacts { duplicates.mustLookThroughKeys = true }
      if membershipState.schema != before.schema { try adoptSchema(after: before.schema) }
      try protect(before: before)
      try readmit(since: rights)
      if replicas.sorted.contains(where: { !rights.agree(with: admission.rights, on: $0.device) }) {
        try decideAmongOwnersAnew()
      }
      digestCache = nil
      // What came into the records or left them may be one thing with others.
      if canSeal && duplicates.isDirty { _ = try sealInTransaction(now: lastNow) }
      return true
    }
  }

  /// Signs a statement as this device and adds it.
  package func state(_ statement: MembershipEntry.Statement, at now: Instant) throws -> EntryHash {
    let signed = try sign(statement, at: now)
    _ = try addMembership([signed.bytes])
    return cryptography.hashed(signed.bytes)
  }

  /// Signs a statement as this device without adding it: a join is added when the guest has it.
  package func sign(_ statement: MembershipEntry.Statement, at now: Instant) throws -> SignedEntry {
    let signer = try requireSigner()
    let entry = MembershipEntry(
      author: identity.device, parents: membershipLog.heads, at: now, statement: statement)
    return try SignedEntry(entry) { try signer.signature(of: $0) }
  }

  private func writeNames() throws {
    for member in membershipState.members.values.sorted(by: { $0.id < $1.id }) {
      try connection.run(
        "INSERT OR REPLACE INTO sync_member(id, name, role, state) VALUES (?, ?, ?, ?)", .bytes(member.id.bytes),
        .text(member.name), .text(member.role.rawValue), .text(member.state.rawValue))
    }
    for device in membershipState.devices.values.sorted(by: { $0.id < $1.id }) {
      try connection.run(
        "INSERT OR REPLACE INTO sync_device(id, member, name, state) VALUES (?, ?, ?, ?)", .bytes(device.id.bytes),
        .bytes(device.member.bytes), .text(device.name), .text(device.state.rawValue))
    }
  }
}
