package import HouseholdRecords

/// Reads the whole replica and compares each thing with what it must agree with; changes nothing.
///
/// All of it reads one moment of the file, so it may run beside the node.
package struct ReplicaCheck {
  /// What is looked at.
  package enum Part: String, Sendable, CaseIterable {
    /// Whether SQLite can read its own pages and indices.
    case pages
    /// Whether each changeset is what its hash, its author's signature and its predecessor say.
    case chain
    /// Whether every record was written by a changeset that is known.
    case records
    /// Whether each table shows the records that are alive, and no others.
    case rows
  }

  /// Something that is not as it must be.
  package struct Fault: Hashable, Sendable {
    package var part: Part
    /// One sentence.
    package var text: String
  }

  private let connection: Connection
  private let cryptography: any Cryptography
  /// The most faults that are told of one part: a damaged file has many.
  private static let faultsPerPart = 10

  private init(_ connection: Connection, cryptography: any Cryptography) {
    self.connection = connection
    self.cryptography = cryptography
  }

  /// Looks at the parts in order.
  ///
  /// - Parameter isThorough: whether indices are compared with their tables, and all changesets are read.
  /// - Returns: the parts that were looked at, each with its faults; reading ends at pages that cannot be read.
  package static func run(
    path: String, isThorough: Bool, cryptography: any Cryptography
  ) throws -> [(part: Part, faults: [Fault])] {
    let connection = try Connection.reader(path: path)
    defer { connection.close() }
    try EngineTables.require(on: connection)
    try connection.execute("BEGIN")
    let check = ReplicaCheck(connection, cryptography: cryptography)
    var results: [(part: Part, faults: [Fault])] = []
    for part in Part.allCases where isThorough || part != .chain {
      let faults = try check.faults(of: part, isThorough: isThorough)
      results.append((part, faults))
      if part == .pages && !faults.isEmpty { break }
    }
    return results
  }

  private func faults(of part: Part, isThorough: Bool) throws -> [Fault] {
    let texts =
      switch part {
      case .pages: try pages(isThorough: isThorough)
      case .chain: try chain()
      case .records: try records()
      case .rows: try rows()
      }
    return texts.prefix(Self.faultsPerPart).map { Fault(part: part, text: $0) }
  }

  private func pages(isThorough: Bool) throws -> [String] {
    let statement = try connection.statement(
      "PRAGMA \(isThorough ? "integrity_check" : "quick_check")(\(Self.faultsPerPart))")
    defer { statement.reset() }
    var said: [String] = []
    do {
      while try statement.step() { said.append(statement.text(0)) }
    } catch let error as ReplicaError where error.code == .corrupt {
      said.append("\(error)")
    }
    return said == ["ok"] ? [] : said.map { "SQLite says: \($0)" }
  }

  // MARK: Changesets

  private func chain() throws -> [String] {
    let log = try Replica.loadMembership(
      connection, household: Facts(connection).identifier256(.household), cryptography: cryptography)
    let membership = MembershipEvaluation.evaluate(log).state
    let replicas = try ReplicaTable(connection)
    let statement = try connection.statement(
      "SELECT replica, seq, hash, body FROM sync_changeset WHERE body IS NOT NULL ORDER BY replica, seq")
    defer { statement.reset() }
    var faults: [String] = []
    var last: (replica: Int64, sequence: Int64, hash: ChangesetHash)?
    while try statement.step(), faults.count < Self.faultsPerPart {
      let (replica, sequence) = (statement.integer(0), statement.integer(1))
      guard let entry = replicas[number: replica], let hash = ChangesetHash(bytes: statement.bytes(2)) else {
        faults.append("A changeset names a replica or a hash that is none.")
        continue
      }
      let before = last?.replica == replica ? last : nil
      last = (replica, sequence, hash)
      let name = "\(entry.id)-\(sequence)"
      if let before, before.sequence + 1 != sequence {
        faults.append("Changesets are missing before \(name), which follows \(before.sequence).")
      }
      let key = membership.devices[entry.device]?.publicKey
      let previous = before.flatMap { $0.sequence + 1 == sequence ? $0.hash : nil }
      if let fault = link(statement.bytes(3), hash: hash, previous: previous, key: key) {
        faults.append("Changeset \(name) \(fault)")
      }
    }
    return faults + (try shortLogs(replicas))
  }

  /// What is wrong with one changeset, to be put after its name.
  private func link(_ body: [UInt8], hash: ChangesetHash, previous: ChangesetHash?, key: [UInt8]?) -> String? {
    let signed: SignedChangeset
    let changeset: Changeset
    do {
      (signed, changeset) = try Replica.unpack(PackedChangeset(bytes: body))
    } catch {
      return "cannot be read: \(error)"
    }
    guard cryptography.hashed(signed.bytes) == hash else { return "is not what its hash says." }
    if let previous, changeset.previous != previous { return "does not follow on the one before it." }
    guard let key else { return "is of a device that the membership log does not name." }
    guard cryptography.isValid(signature: signed.signature, message: signed.message, publicKey: key) else {
      return "is not signed by its device."
    }
    return nil
  }

  /// Replicas of which fewer changesets are here than are counted as received.
  private func shortLogs(_ replicas: ReplicaTable) throws -> [String] {
    try replicas.sorted.compactMap { entry in
      guard entry.received > entry.base else { return nil }
      let last = try connection.integer(
        "SELECT max(seq) FROM sync_changeset WHERE replica = ?", .integer(entry.number))
      guard (last ?? 0) < Int64(clamping: entry.received) else { return nil }
      return "Of \(entry.id) \(entry.received) changesets are counted, and the log ends at \(last ?? 0)."
    }
  }

  // MARK: Records

  private func records() throws -> [String] {
    var faults: [String] = []
    for (column, what) in [("writer", "written"), ("modified", "changed last")] {
      let count =
        try connection.integer(
          """
          SELECT count(*) FROM sync_record r
          WHERE NOT EXISTS (SELECT 1 FROM sync_changeset c WHERE c.position = r.\(column))
          """) ?? 0
      if count > 0 { faults.append("\(count) records were \(what) by a changeset that is not known here.") }
    }
    let unknown =
      try connection.integer(
        "SELECT count(*) FROM sync_record r WHERE NOT EXISTS (SELECT 1 FROM sync_type t WHERE t.number = r.type)") ?? 0
    if unknown > 0 { faults.append("\(unknown) records are of a type that has no name here.") }
    return faults
  }

  private func rows() throws -> [String] {
    let log = try Replica.loadMembership(
      connection, household: Facts(connection).identifier256(.household), cryptography: cryptography)
    let schema = MembershipEvaluation.evaluate(log).state.schema
    let registry = try TypeRegistry(schema: schema, connection: connection)
    // Owned rows have no record of their own: they are derived from their owner's.
    return try registry.sorted.filter { $0.owner == nil }.flatMap(rows)
  }

  private func rows(of table: TypeTable) throws -> [String] {
    let name = SchemaTables.quoted(table.type.name)
    // What was edited and not sealed yet is known to the outbox only.
    let unsealed = "NOT EXISTS (SELECT 1 FROM sync_outbox o WHERE o.type = ?1 AND o.id = "
    let extra =
      try connection.integer(
        """
        SELECT count(*) FROM \(name) t WHERE \(unsealed)t.id) AND NOT EXISTS (
          SELECT 1 FROM sync_record r WHERE r.type = ?1 AND r.id = t.id AND r.alive = 1 AND r.flags & 16 = 0)
        """, .integer(table.number)) ?? 0
    let missing =
      try connection.integer(
        """
        SELECT count(*) FROM sync_record r WHERE r.type = ?1 AND r.alive = 1 AND r.flags & 16 = 0
          AND \(unsealed)r.id) AND NOT EXISTS (SELECT 1 FROM \(name) t WHERE t.id = r.id)
        """, .integer(table.number)) ?? 0
    var faults: [String] = []
    if extra > 0 { faults.append("\(extra) rows of \(table.type.name) show that no changeset has written.") }
    if missing > 0 { faults.append("\(missing) records of \(table.type.name) are alive and do not show.") }
    return faults
  }

  // MARK: References

  /// How many references point to a record that is not there, by type and field.
  ///
  /// That is no damage: a record may be deleted that others name, and a reference may come before its record.
  package static func danglingReferences(
    path: String, cryptography: any Cryptography
  ) throws -> [(field: String, count: Int64)] {
    let access = try RecordAccess(path: path, readOnly: true, cryptography: cryptography)
    defer { access.close() }
    var found: [(field: String, count: Int64)] = []
    for type in access.schema.types {
      for field in type.fields where field.kind == .reference {
        guard let target = field.to, access.schema.type(target) != nil else { continue }
        let column = SchemaTables.quoted(field.name)
        let count =
          try access.connection.integer(
            """
            SELECT count(*) FROM \(SchemaTables.quoted(type.name)) a
            WHERE a.\(column) IS NOT NULL
              AND NOT EXISTS (SELECT 1 FROM \(SchemaTables.quoted(target)) b WHERE b.id = a.\(column))
              AND NOT EXISTS (
                SELECT 1 FROM sync_merged m JOIN sync_type t ON t.number = m.type
                WHERE t.name = ? AND m.id = a.\(column))
            """, .text(target)) ?? 0
        if count > 0 { found.append((field: "\(type.name).\(field.name)", count: count)) }
      }
    }
    return found
  }
}
