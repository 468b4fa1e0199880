package import HouseholdRecords

/// Sealing: local edits become changesets, in one transaction with the cells, the vector and the outbox (R2).
extension Replica {
  /// Seals everything that was captured; returns whether there was anything.
  ///
  /// - Parameter now: this device's clock.
  @discardableResult
  package func seal(now: Instant) throws -> Bool {
    lastNow = now
    if try outbox.isEmpty() && !duplicates.isDirty && !tablesMayDiffer() { return false }
    return try write { try sealInTransaction(now: now) }
  }

  /// How many records have edits that are not sealed yet, but for those that were made and deleted since; what a row was
  /// before something that then left it alone is no edit. The simulator counts by it what a death may not take.
  package func unsealedRecords() throws -> Int64 {
    try connection.integer(
      """
      SELECT count(*) FROM (
        SELECT min(number) AS first, max(number) AS last FROM sync_outbox WHERE kind <> 0 GROUP BY type, id
      ) AS edited WHERE (SELECT kind FROM sync_outbox WHERE number = first) <> 1
        OR (SELECT kind FROM sync_outbox WHERE number = last) <> 3
      """) ?? 0
  }

  /// How many captured edits are not sealed yet.
  package func unsealedCount() throws -> Int64 { try outbox.count() }

  /// How many captured edits are sealed in one go; what goes on is marked as one transaction.
  package var rowsSealedAtOnce: Int {
    get { outbox.chunkRows }
    set { outbox.chunkRows = newValue }
  }

  func sealInTransaction(now: Instant) throws -> Bool {
    try mendTables(now: now)
    let sealed = try sealCaptured(now: now)
    guard try carryOutDecisions(now: now) else { return sealed }
    _ = try sealCaptured(now: now)
    return true
  }

  /// Seals what programs and decisions have written.
  func sealCaptured(now: Instant) throws -> Bool {
    var sealed = false
    var mustWithdraw = false
    var lost: [RecordPlace: Set<String>] = [:]
    let malformed = connection.malformed.value
    while true {
      let rows = try outbox.chunk()
      guard !rows.isEmpty else {
        if sealed { try endTransaction(now: now) }
        // What was found to be one thing is written down in a changeset of its own.
        if try settleDuplicates(now: now) { continue }
        if mustWithdraw {
          mustWithdraw = false
          try withdrawWhatMayNotBeWritten()
          continue
        }
        return sealed
      }
      sealed = true
      mustWithdraw = true
      let chunk = rows.prefix(outbox.cut(rows))
      let ahead = rows.count > chunk.count ? rows[chunk.count] : nil
      try seal(chunk: Array(chunk), ahead: ahead, lost: &lost, now: now)
      if connection.malformed.value != malformed && !takesMalformedTexts { throw MalformedText.Found() }
      try outbox.remove(through: chunk.last?.number ?? 0)
      if ahead != nil { connection.releaseMemoryAfterLargeWork() }
    }
  }

  /// Seals an empty changeset if the last one says that its transaction goes on: what was to follow came to nothing, such
  /// as a record that was made and deleted, and others would wait for it.
  private func endTransaction(now: Instant) throws {
    let last = ChangesetName(replica: replica, sequence: replicas[replica]?.received ?? 0)
    guard let header = try log.header(of: last, replicas: replicas), header.continues else { return }
    _ = try appendOwn([], editedAt: header.editedAt, continues: false, overwritten: nil, now: now)
  }

  /// - Parameter lost: see ``show(_:sealedThrough:touched:lost:)``.
  private func seal(
    chunk: [OutboxRow], ahead: OutboxRow?, lost: inout [RecordPlace: Set<String>], now: Instant
  ) throws {
    let reader = EditReader(
      connection: connection, registry: registry, outbox: outbox, lastNumber: chunk.last?.number ?? 0)
    let cuts = Self.runs(of: chunk)
    let touched = try touchedSets(in: chunk)
    var sealed = SealedRecords()
    let beyond = ahead == nil ? [:] : try outbox.changes(after: chunk)
    for (index, range) in cuts.enumerated() {
      var later: [RecordPlace: [OutboxRow]] = [:]
      for row in chunk[range.upperBound...] {
        later[RecordPlace(type: row.type, id: row.id), default: []].append(row)
      }
      later.merge(beyond, uniquingKeysWith: +)
      var run = try reader.run(chunk[range], laterRows: later) { place in
        var known: EditReader.Known
        if let state = sealed[place] {
          known = EditReader.Known(state)
        } else {
          known = EditReader.Known(try StoredRecord.read(type: place.type, id: place.id, on: connection))
        }
        if known.isAlive && duplicates.isHidden(place) { known.isAlive = duplicates.standing.contains(place) }
        return known
      }
      try addSets(to: &run, of: chunk[range], laterRows: later, touched: touched, sealed: sealed, reader: reader)
      try routeToSurvivors(&run, sealed)
      let goesOn =
        index == cuts.count - 1 && ahead.map { Self.isSameRun(chunk[range.upperBound - 1].at, $0.at) } ?? false
      let editedAt = Instant(milliseconds: run.editedAt)
      try seal(run.before, into: &sealed, editedAt: editedAt, continues: !run.rest.isEmpty || goesOn, now: now)
      // Of those before, and of owners of sets, there may be more in the run.
      try seal(
        run.rest, into: &sealed, isOnlyEdit: touched.isEmpty, editedAt: editedAt, continues: goesOn, now: now)
      // A later run finds the row with values that nobody ever sealed; what it displaces are those from before.
      for item in run.passedOver where sealed[item.place] == nil {
        guard let stored = try StoredRecord.read(type: item.place.type, id: item.place.id, on: connection) else {
          continue
        }
        sealed.keep(
          try CellVersions.decode(stored, row: item.row, table: item.table, names: self), of: item.place,
          table: item.table, lost: [])
      }
    }
    try show(sealed, sealedThrough: chunk.last?.number ?? 0, touched: touched, lost: &lost)
  }

  /// Where pauses cut the rows.
  static func runs(of rows: [OutboxRow]) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    var start = 0
    for index in rows.indices where index > 0 && !isSameRun(rows[index - 1].at, rows[index].at) {
      runs.append(start..<index)
      start = index
    }
    return rows.isEmpty ? [] : runs + [start..<rows.count]
  }

  private static func isSameRun(_ a: Int64, _ b: Int64) -> Bool {
    Instant(milliseconds: b).milliseconds(since: Instant(milliseconds: a)).magnitude
      <= UInt64(Outbox.gapMilliseconds)
  }

  /// Seals these edits in as few changesets as the target size allows.
  ///
  /// - Parameter isOnlyEdit: whether an update is the only edit of its record in the run.
  private func seal(
    _ edits: [EditReader.Edit], into sealed: inout SealedRecords, isOnlyEdit: Bool = false, editedAt: Instant,
    continues: Bool, now: Instant
  ) throws {
    var part: [EditReader.Edit] = []
    var size = 0
    for edit in edits {
      let bytes = edit.values.reduce(edit.id.utf8.count + 16) { $0 + $1.byteCount } + edit.rows.byteCount
      // Generated rows carry the stamp of what they were made from, so they are sealed apart from a person's.
      if size + bytes > Limits.changesetTargetBytes || part.last.map({ $0.isWeak != edit.isWeak }) ?? false,
        !part.isEmpty
      {
        try sealOne(part, into: &sealed, isOnlyEdit: isOnlyEdit, editedAt: editedAt, continues: true, now: now)
        part = []
        size = 0
      }
      part.append(edit)
      size += bytes
    }
    guard !part.isEmpty else { return }
    try sealOne(part, into: &sealed, isOnlyEdit: isOnlyEdit, editedAt: editedAt, continues: continues, now: now)
  }

  private func sealOne(
    _ edits: [EditReader.Edit], into sealed: inout SealedRecords, isOnlyEdit: Bool, editedAt: Instant, continues: Bool,
    now: Instant
  ) throws {
    var overwritten: Stamp?
    var plains: [Int: PlainEdit] = [:]
    var last: PlainEdit.Plan?
    for (index, edit) in edits.enumerated() where !edit.isNew {
      if isOnlyEdit, edit.kind == .update {
        if last?.table !== edit.table || last?.fields != edit.fields {
          last = PlainEdit.Plan(edit.fields, table: edit.table)
        }
        if let plan = last, let plain = try plainEdit(edit, plan, sealed) {
          for write in plain.overwritten { overwritten = max(overwritten ?? write.header.stamp, write.header.stamp) }
          plains[index] = plain
          continue
        }
      }
      guard let state = try state(before: edit, sealed) else { continue }
      for cell in Self.cells(of: edit) {
        for write in state.cells[cell] ?? [] { overwritten = max(overwritten ?? write.stamp, write.stamp) }
      }
    }
    let header = try appendOwn(edits, editedAt: editedAt, continues: continues, overwritten: overwritten, now: now)
    let insertion = try StoredRecord.insertion(on: connection)
    changesInChangeset = 0
    // Indices of fresh records that are not stored yet.
    var fresh: [Int] = []
    var kept = KeptEdits()
    for (index, edit) in edits.enumerated() {
      if let plain = plains[index], try seal(plain, edit, header: header, kept: &kept) { continue }
      try kept.write(on: connection)
      let isFresh = isFresh(edit)
      if isFresh { fresh.append(index) }
      if isFresh && fresh.count < NewRecords.count { continue }
      try record(fresh: &fresh, of: edits, header: header, insertion: insertion, into: &sealed)
      if !isFresh { try record(edit, header: header, insertion: insertion, into: &sealed) }
    }
    try kept.write(on: connection)
    try record(fresh: &fresh, of: edits, header: header, insertion: insertion, into: &sealed)
  }

  /// Stores fresh records, at once if there are enough; none are left.
  private func record(
    fresh: inout [Int], of edits: [EditReader.Edit], header: ChangesetHeader, insertion: Statement,
    into sealed: inout SealedRecords
  ) throws {
    if takesShortWay, try NewRecords.seal(fresh, of: edits, header: header, on: connection) {
      for index in fresh {
        duplicates.note(RecordPlace(type: edits[index].table.number, id: edits[index].id), isNew: true)
      }
    } else {
      for index in fresh { try record(edits[index], header: header, insertion: insertion, into: &sealed) }
    }
    fresh = []
  }

  /// Whether nothing was ever heard of the record, and its row needs no more than to stand as it is.
  private func isFresh(_ edit: EditReader.Edit) -> Bool {
    edit.isNew && edit.kind == .insert && edit.table.owner == nil
      && !duplicates.concerns(RecordPlace(type: edit.table.number, id: edit.id), row: edit.values)
  }

  /// The state of the record before the edit; nil if nothing was ever heard of it.
  func state(before edit: EditReader.Edit, _ sealed: SealedRecords) throws -> RecordState? {
    if let state = sealed[RecordPlace(type: edit.table.number, id: edit.id)] { return state }
    return try StoredRecord.read(type: edit.table.number, id: edit.id, on: connection).map {
      try CellVersions.decode($0, row: edit.rowBefore, table: edit.table, names: self)
    }
  }

  private static func cells(of edit: EditReader.Edit) -> [String] {
    let fields = Operation.cells(of: edit.fields, type: edit.table.type).map { $0[0] }
    return edit.kind == .update || edit.kind == .set ? fields : fields + [CellName.alive]
  }

  /// Builds, signs and stores the changeset.
  func appendOwn(
    _ edits: [EditReader.Edit], editedAt: Instant, continues: Bool, overwritten: Stamp?, now: Instant
  ) throws -> ChangesetHeader {
    let isFirst = (replicas[replica]?.received ?? 0) == 0
    let origin = isFirst ? ReplicaOrigin(device: identity.device, nonce: try facts.identifier128(.nonce)) : nil
    if let origin { _ = try replicas.add(replica, origin: origin, begun: membershipState.heads, on: connection) }
    guard let entry = replicas[replica] else { throw ReplicaError(.other, "This device's replica is not known here.") }
    let name = ChangesetName(replica: replica, sequence: entry.received + 1)
    let previous = try log.header(
      of: ChangesetName(replica: replica, sequence: entry.received), replicas: replicas)
    guard previous != nil || entry.received == 0 else {
      throw ReplicaError(.corrupt, "The last changeset of this device is not in the log.")
    }
    let last = Stamp(rawValue: UInt64(bitPattern: try facts.integer(.lastStamp) ?? 0))
    let isWeak = edits.allSatisfy(\.isWeak)
    let stamp =
      isWeak
      ? overwritten ?? .least
      : Stamp.sealing(edited: editedAt, last: last, wall: now, overwritten: overwritten)
    // As whoever receives it will compute it: what an earlier one had seen was seen, also if it does not count now.
    let earlier = previous?.dependencies ?? Dependencies()
    let changes = try appliedDependencies().changes(since: earlier).filter { try !wasSeenFurther($0, by: earlier) }
    let heads = membershipState.heads
    var changeset = Changeset(
      name: name, previous: previous?.hash ?? .zero, origin: origin, stamp: stamp,
      editedAt: editedAt, continues: continues,
      dependencyChanges: changes,
      schemaVersion: membershipState.schema.version,
      membershipHeads: heads == previous?.membershipHeads ? nil : heads, shapes: [], operations: [])
    Self.fill(&changeset, with: edits)
    let signed = try SignedChangeset(changeset, signer: try requireSigner())
    let header = try log.append(
      ChangesetHeader(
        position: 0, name: name, hash: cryptography.hashed(signed.bytes), stamp: stamp, editedAt: editedAt,
        schemaVersion: changeset.schemaVersion, continues: continues, dependencies: earlier.applying(changes),
        membershipHeads: heads), replica: entry.number, state: .applied,
      body: PackedChangeset(bytes: Compression.pack(signed.bytes)))
    try replicas.update(replica, on: connection) { entry in
      entry.received = name.sequence
      entry.applied = name.sequence
    }
    if !isWeak { try remember(stamp, now: now) }
    return header
  }

  /// Keeps the greatest stamp seen, unless a clock that is more than a day ahead made it (D11).
  func remember(_ stamp: Stamp, now: Instant) throws {
    guard stamp.wall <= now.advanced(byMilliseconds: Stamp.leadMilliseconds) else { return }
    let last = Stamp(rawValue: UInt64(bitPattern: try facts.integer(.lastStamp) ?? 0))
    let isUsable = last.wall <= now.advanced(byMilliseconds: Stamp.leadMilliseconds)
    if stamp > last || !isUsable { try facts.set(.lastStamp, .integer(Int64(bitPattern: stamp.rawValue))) }
  }

  private static func fill(_ changeset: inout Changeset, with edits: [EditReader.Edit]) {
    changeset.operations.reserveCapacity(edits.count)
    var shapes: [Shape: Int] = [:]
    // Most edits are like the one before: comparing is quicker than hashing all names.
    var last: (table: TypeTable, fields: [String], index: Int)?
    for edit in edits {
      let index: Int
      if let last, last.table === edit.table, last.fields == edit.fields {
        index = last.index
      } else {
        let shape = Shape(type: edit.table.type.name, fields: edit.fields)
        index = shapes[shape] ?? changeset.shapes.count
        if index == changeset.shapes.count { changeset.shapes.append(shape) }
        shapes[shape] = index
        last = (edit.table, edit.fields, index)
      }
      changeset.operations.append(
        Operation(
          kind: edit.kind, isWeak: edit.isWeak, shape: index, id: edit.id, life: edit.life, values: edit.values,
          rows: edit.rows))
    }
  }

  /// Whether an earlier changeset of this device had seen more of the same branch, which does not count now. What a replica
  /// has seen only grows: its later writes take the place of all that its earlier ones did.
  private func wasSeenFurther(_ dependency: Dependency, by earlier: Dependencies) throws -> Bool {
    guard let before = earlier.entries[dependency.replica], before.sequence > dependency.sequence,
      let name = try resolve(before)
    else { return false }
    return name.replica == dependency.replica
  }

  /// Everything that is applied here but for this device's own replica, with the beginnings of the hashes.
  private func appliedDependencies() throws -> Dependencies {
    Dependencies(
      try replicas.sorted.compactMap { entry in
        guard entry.id != replica, entry.applied > entry.fork else { return nil }
        let name = ChangesetName(replica: entry.id, sequence: entry.applied)
        guard let header = try log.header(of: name, replicas: replicas) else {
          // After a cutoff inside the base; a prefix of 0 tells that it is meant by its name.
          if entry.applied <= entry.base {
            return Dependency(replica: entry.id, sequence: entry.applied, hashPrefix: 0)
          }
          throw ReplicaError(.corrupt, "The changeset \(name) is applied and not known here.")
        }
        return Dependency(replica: entry.id, sequence: entry.applied, hashPrefix: header.hash.prefix)
      })
  }

  /// Puts a sealed edit into the state of its record; its row is in the table already.
  private func record(
    _ edit: EditReader.Edit, header: ChangesetHeader, insertion: Statement, into sealed: inout SealedRecords
  ) throws {
    let place = RecordPlace(type: edit.table.number, id: edit.id)
    if isFresh(edit) {
      let stored = StoredRecord(
        writer: header.position, modified: header.position, flags: edit.isWeak ? StoredRecord.weakFlag : 0,
        life: edit.life, isAlive: true, cells: nil)
      if try stored.writeIfNew(type: edit.table.number, id: edit.id, using: insertion, on: connection) {
        return duplicates.note(place, isNew: true)
      }
    }
    let operation = Operation(
      kind: edit.kind, isWeak: edit.isWeak, shape: 0, id: edit.id, life: edit.life, values: edit.values,
      rows: edit.rows)
    // A changeset may hold a deletion and the new life of one record: then the state is what the first of them left.
    var state = try state(before: edit, sealed) ?? RecordState()
    let type = edit.table.type
    try noteChanges(
      of: operation, fields: edit.fields, type: edit.table.number, table: edit.table, before: state, header: header)
    var lost: Set<String> = []
    for (cell, write) in operation.writes(
      name: header.name, stamp: header.stamp, fields: edit.fields, type: type,
      isByOwner: edit.table.prefersOwners && isByOwner(header))
    {
      try merge(write, cell: cell, into: &state, of: place)
      if state.winner(of: cell, strategy: edit.table.cell(cell)?.strategy ?? .merge)?.name != header.name {
        lost.insert(cell)
      }
    }
    sealed.keep(state, of: place, table: edit.table, lost: lost)
  }
}
