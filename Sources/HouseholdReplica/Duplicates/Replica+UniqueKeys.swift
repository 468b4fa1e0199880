internal import HouseholdRecords

/// Finding duplicates: an index of keys, kept for the rows that changed, so the cost follows what changed.
extension Replica {
  /// A key by which records of a type may be one thing.
  private struct Key: Hashable {
    var type: Int64
    var rule: Int64
    var bytes: [UInt8]
  }

  /// Brings the index in line with the rows that were noted; returns whether duplicates were found and written down.
  func settleKeys(now: Instant) throws -> Bool {
    if duplicates.mustIndexAll { try indexAll() }
    var suspects: Set<Key> = []
    var appeared: [Int64: [String]] = [:]
    for (place, isNew) in duplicates.takeRows() {
      guard let table = registry[place.type] else { continue }
      let row = try table.row(place.id, on: connection)
      let keys = try index(row, at: place, table: table)
      suspects.formUnion(keys.new)
      if row != nil && isNew && keys.old.isEmpty { appeared[place.type, default: []].append(place.id) }
    }
    suspects.formUnion(try keysOfHolders(of: appeared))
    if duplicates.mustLookThroughKeys { suspects.formUnion(try doubledKeys()) }
    duplicates.mustLookThroughKeys = false
    guard mayWriteFacts else { return false }
    var isFound = false
    for key in suspects.sorted(by: {
      ($0.type, $0.rule, hexadecimal($0.bytes)) < ($1.type, $1.rule, hexadecimal($1.bytes))
    })
    where try joinRecords(of: key, now: now) { isFound = true }
    return isFound
  }

  // MARK: The index

  private func indexAll() throws {
    try connection.run("DELETE FROM sync_unique")
    for table in registry.sorted where !table.type.unique.isEmpty {
      let statement = try connection.statement("SELECT id FROM \(SchemaTables.quoted(table.type.name))")
      var ids: [String] = []
      while try statement.step() { ids.append(statement.text(0)) }
      statement.reset()
      for id in ids {
        let place = RecordPlace(type: table.number, id: id)
        _ = try index(table.row(id, on: connection), at: place, table: table)
      }
    }
    try facts.set(.indexedSchema, .integer(Int64(clamping: membershipState.schema.version)))
    duplicates.indexedAll()
  }

  /// Puts the keys of a row in the place of those that its record had; nil: it does not show.
  private func index(
    _ row: [FieldValue]?, at place: RecordPlace, table: TypeTable
  ) throws -> (old: Set<Key>, new: Set<Key>) {
    guard !table.type.unique.isEmpty else { return ([], []) }
    let old = Set(try keys(of: place))
    var new: Set<Key> = []
    for (number, rule) in table.type.unique.enumerated() {
      guard let row, let bytes = UniqueKey.bytes(of: row, rule: rule, type: table.type) else { continue }
      // The beginning of a hash: a key may be as long as a text.
      new.insert(Key(type: place.type, rule: Int64(number), bytes: Array(cryptography.sha256(bytes).prefix(16))))
    }
    for key in old.subtracting(new) {
      try connection.run(
        "DELETE FROM sync_unique WHERE type = ? AND rule = ? AND key = ? AND id = ?", .integer(key.type),
        .integer(key.rule), .bytes(key.bytes), .text(place.id))
    }
    for key in new.subtracting(old) {
      try connection.run(
        "INSERT OR IGNORE INTO sync_unique(type, rule, key, id) VALUES (?, ?, ?, ?)", .integer(key.type),
        .integer(key.rule), .bytes(key.bytes), .text(place.id))
    }
    return (old, new)
  }

  private func keys(of place: RecordPlace) throws -> [Key] {
    let statement = try connection.statement("SELECT rule, key FROM sync_unique WHERE type = ? AND id = ?")
    try statement.bind([.integer(place.type), .text(place.id)])
    defer { statement.reset() }
    var keys: [Key] = []
    while try statement.step() {
      keys.append(Key(type: place.type, rule: statement.integer(0), bytes: statement.bytes(1)))
    }
    return keys
  }

  /// Keys of more than one record: to find what could not be written down before.
  private func doubledKeys() throws -> [Key] {
    let statement = try connection.statement(
      "SELECT type, rule, key FROM sync_unique GROUP BY type, rule, key HAVING count(*) > 1")
    defer { statement.reset() }
    var keys: [Key] = []
    while try statement.step() {
      keys.append(Key(type: statement.integer(0), rule: statement.integer(1), bytes: statement.bytes(2)))
    }
    return keys
  }

  /// The keys of records whose rule looks at a reference to one of these records: it can be resolved now.
  private func keysOfHolders(of appeared: [Int64: [String]]) throws -> Set<Key> {
    var found: Set<Key> = []
    guard !appeared.isEmpty else { return found }
    for table in registry.sorted where !table.type.unique.isEmpty {
      let deciding = Set(
        table.type.unique.flatMap { UniqueKey.references(of: $0, type: table.type).map(\.index) })
      for reference in duplicates.references(of: table.number) where deciding.contains(reference.index) {
        guard let ids = appeared[reference.target] else { continue }
        for place in try places(in: table, whereField: reference.index, isOneOf: ids) {
          found.formUnion(try keys(of: place))
        }
      }
    }
    return found
  }

  // MARK: Writing facts

  /// Writes down that the records of a key are one thing, unless somebody has parted them; returns whether it did.
  private func joinRecords(of key: Key, now: Instant) throws -> Bool {
    guard let table = registry[key.type], table.type.unique.indices.contains(Int(key.rule)) else { return false }
    let statement = try connection.statement(
      "SELECT id FROM sync_unique WHERE type = ? AND rule = ? AND key = ? ORDER BY id")
    try statement.bind([.integer(key.type), .integer(key.rule), .bytes(key.bytes)])
    var ids: [String] = []
    while try statement.step() { ids.append(statement.text(0)) }
    statement.reset()
    guard ids.count > 1, try isResolved(ids[0], rule: table.type.unique[Int(key.rule)], table: table) else {
      return false
    }
    let name = table.type.name
    ids = ids.filter { duplicates.isBuiltIn(name, $0) } + ids.filter { !duplicates.isBuiltIn(name, $0) }
    var isFound = false
    for (index, id) in ids.enumerated().dropFirst() {
      // One that may not be joined with the first may with another.
      for other in ids[..<index] where try join(other, id, table: table, now: now) {
        isFound = true
        break
      }
    }
    return isFound
  }

  /// Whether the targets of all references that the rule looks at are there: else the record never groups.
  private func isResolved(_ id: String, rule: UniqueRule, table: TypeTable) throws -> Bool {
    guard let row = try table.row(id, on: connection) else { return false }
    for reference in UniqueKey.references(of: rule, type: table.type) {
      guard let target = row[reference.index].text else { continue }
      let number = registry.known(reference.target)
      guard let targets = number.flatMap({ registry[$0] }), try targets.row(target, on: connection) != nil else {
        return false
      }
    }
    return true
  }

  /// Writes a fact into the outbox as generated, if nothing was ever heard of it and the two were never parted.
  private func join(_ a: String, _ b: String, table: TypeTable, now: Instant) throws -> Bool {
    guard let facts = registry[Duplicates.factType],
      let fact = AliasFact(type: table.type.name, a, b)
    else { return false }
    let places = [a, b].map { duplicates.groups.group(of: RecordPlace(type: table.number, id: $0)) }
    for one in places[0] {
      for other in places[1] where try isKnown(table.type.name, one.id, other.id) { return false }
    }
    let id = fact.id(cryptography)
    try facts.write(id, fact.row, on: connection)
    try connection.run(
      "INSERT INTO sync_outbox(type, id, kind, fields, at, weak) VALUES (?, ?, ?, 0, ?, 1)",
      .integer(Duplicates.factType), .text(id), .integer(OutboxRow.Kind.inserted.rawValue), .integer(now.milliseconds))
    return true
  }

  /// Whether a fact about these two was ever written, be it that it holds or that a person has taken it back.
  private func isKnown(_ type: String, _ a: String, _ b: String) throws -> Bool {
    guard let id = AliasFact(type: type, a, b)?.id(cryptography) else { return false }
    if try StoredRecord.read(type: Duplicates.factType, id: id, on: connection) != nil { return true }
    // One that was found just now waits in the outbox.
    return try registry[Duplicates.factType]?.row(id, on: connection) != nil
  }
}
