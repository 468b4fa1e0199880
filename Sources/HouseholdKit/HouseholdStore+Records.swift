internal import HouseholdRecords
internal import HouseholdReplica

/// Records by their Swift types.
extension HouseholdStore {
  /// Runs the body as one transaction: others see all of what it writes or nothing, and what it throws undoes it.
  ///
  /// Calls to this store inside it are part of it. Other programs that write wait meanwhile, so keep it short.
  public func transaction<Result>(_ body: () throws -> Result) throws(HouseholdStoreError) -> Result {
    try locked { try $0.transaction(body) }
  }

  /// Makes a record that is not here yet.
  public func insert<Record: HouseholdRecord>(_ record: Record) throws(HouseholdStoreError) {
    try locked { household in
      let shape = try shape(Record.self)
      let fields = try shape.values(of: record)
      try household.transaction {
        guard try household.record(shape.type, record.id) == nil else {
          throw HouseholdStoreError(
            .recordExists, "There is a \(shape.type.name) \(record.id) already: update it, or take another id.")
        }
        try household.put(shape.type, record.id, fields)
      }
    }
  }

  /// Changes a record: reads it, runs the body on it, and writes the properties that the body changed and no others.
  ///
  /// - Returns: the record as it is now; nil if there is none, in which case nothing is written.
  @discardableResult
  public func update<Record: HouseholdRecord>(
    _ type: Record.Type, id: String, _ change: (inout Record) throws -> Void
  ) throws(HouseholdStoreError) -> Record? {
    try locked { household in
      let shape = try shape(type)
      return try household.transaction {
        guard let before = try read(shape, id, household) else { return nil }
        var after = before
        try change(&after)
        try write(shape, from: before, to: after, household)
        return after
      }
    }
  }

  /// Writes what a person changed in a form: the properties in which `edited` differs from `original` and no others.
  ///
  /// A property that somebody else changed meanwhile and the person left alone keeps the other's value. One that both
  /// changed, to different values, throws `changedMeanwhile` and nothing is written: show the person both.
  /// - Returns: false if the record is no longer here, in which case nothing is written.
  @discardableResult
  public func update<Record: HouseholdRecord>(
    from original: Record, to edited: Record
  ) throws(HouseholdStoreError) -> Bool {
    try locked { household in
      let shape = try shape(Record.self)
      return try household.transaction {
        guard let current = try read(shape, original.id, household) else { return false }
        try requireUntouched(shape, original, current, edited)
        try write(shape, from: original, to: edited, household)
        return true
      }
    }
  }

  private func requireUntouched<Record: HouseholdRecord>(
    _ shape: RecordShape<Record>, _ original: Record, _ current: Record, _ edited: Record
  ) throws {
    let (shown, here, wanted) = (
      try shape.values(of: original), try shape.values(of: current), try shape.values(of: edited)
    )
    let contested = shown.indices.filter { index in
      let (shown, here, wanted) = (shown[index].value, here[index].value, wanted[index].value)
      return wanted != shown && here != shown && here != wanted
    }
    guard contested.isEmpty else {
      let names = contested.map { shown[$0].name }.joined(separator: ", ")
      throw HouseholdStoreError(
        .changedMeanwhile,
        "Of the \(shape.type.name) \(original.id) somebody has changed \(names) meanwhile: fetch it, and ask again.")
    }
  }

  private func write<Record: HouseholdRecord>(
    _ shape: RecordShape<Record>, from before: Record, to after: Record, _ household: Household
  ) throws {
    guard before.id == after.id else {
      throw HouseholdStoreError(.badValue, "The id of a record cannot be changed: delete it and insert another.")
    }
    let changed = zip(try shape.values(of: before), try shape.values(of: after))
      .filter { $0.0.value != $0.1.value }.map(\.1)
    if !changed.isEmpty { try household.put(shape.type, after.id, changed) }
  }

  /// Deletes a record; ``restore(_:id:)`` brings it back.
  ///
  /// - Returns: false if there was none.
  @discardableResult
  public func delete<Record: HouseholdRecord>(_ type: Record.Type, id: String) throws(HouseholdStoreError) -> Bool {
    try locked { try $0.delete(try shape(type).type, [id]).isEmpty }
  }

  /// Brings a deleted record back, with all its fields, for everyone.
  public func restore<Record: HouseholdRecord>(_ type: Record.Type, id: String) throws(HouseholdStoreError) {
    try locked { try $0.restore(RecordKey(type: try shape(type).type.name, id: id)) }
  }

  /// One record; nil if it is not here. The id of a duplicate finds the record that shows in its place.
  public func fetch<Record: HouseholdRecord>(_ type: Record.Type, id: String) throws(HouseholdStoreError) -> Record? {
    try locked { try read(try shape(type), id, $0) }
  }

  private func read<Record: HouseholdRecord>(
    _ shape: RecordShape<Record>, _ id: String, _ household: Household
  ) throws -> Record? {
    let shown = try household.access.survivor(of: id, shape.type) ?? id
    let query = try ResolvedQuery(shape, nil, [], nil)
    return try Household.guarded { try query.records(household.access, id: shown).first }
  }

  /// The records that meet the predicate, sorted.
  ///
  /// - Parameters:
  ///   - type: whose records.
  ///   - predicate: nil for all.
  ///   - sorting: the first decides, the next breaks ties; the id breaks the last.
  ///   - limit: the most records; nil for all.
  public func fetch<Record: HouseholdRecord>(
    _ type: Record.Type, where predicate: RecordPredicate<Record>? = nil, sort sorting: [RecordSorting<Record>] = [],
    limit: Int? = nil
  ) throws(HouseholdStoreError) -> [Record] {
    try locked { household in
      let query = try ResolvedQuery(try shape(type), predicate, sorting, limit)
      return try household.guardedRecords(query)
    }
  }

  /// How many records of the type there are.
  public func count<Record: HouseholdRecord>(_ type: Record.Type) throws(HouseholdStoreError) -> Int {
    try locked { Int(try $0.count(try shape(type).type)) }
  }
}

extension Household {
  /// The records that a question finds.
  func guardedRecords<Record: HouseholdRecord>(_ query: ResolvedQuery<Record>) throws -> [Record] {
    try Self.guarded { try query.records(access) }
  }
}
