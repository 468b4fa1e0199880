import HouseholdRecords

/// The merge rule as design 2.4 says it, written a second time and in another way: over all writes of a cell at once.
///
/// It shares no code with ``MergeRule``: a mistake there that comes out the same in every order would otherwise be the
/// truth here too. It takes the square of the number of writes, so it is for the checks at the end of a run.
enum ReferenceRule {
  /// The maximal writes: those that no other one displaces.
  ///
  /// A write displaces another one if its author had seen it; but one that is weak, and of the same life, displaces no
  /// person's. Of one changeset the later life stays.
  static func maximal(_ writes: [Write], coverage: some Coverage) throws -> [Write] {
    try writes.filter { write in
      for other in writes where !(other.name == write.name && other.life == write.life) {
        let goesOn = other.name == write.name && other.life > write.life
        let isStrong = !other.isWeak || write.isWeak || other.life != write.life
        if goesOn { return false }
        if other.name != write.name, isStrong, try coverage.covers(other.name, write.name) { return false }
      }
      return true
    }.sorted { $0.name < $1.name || $0.name == $1.name && $0.life < $1.life }
  }

  /// The write that decides: of the record's life, a person's before a weak one, a deletion before a life, then what
  /// the strategy prefers, then the greatest stamp, replica and seq.
  static func winner(_ maximal: [Write], life: UInt64, strategy: String) -> Write? {
    let ofLife = maximal.filter { $0.life == life }
    let persons = ofLife.filter { !$0.isWeak }
    let competing = persons.isEmpty ? ofLife : persons
    let deletions = competing.filter { $0.value == .alive(false) }
    let rest = deletions.isEmpty ? competing : deletions
    return rest.sorted { a, b in
      if strategy == "max" || strategy == "min" {
        let (x, y) = (a.value.values.first ?? .null, b.value.values.first ?? .null)
        if x.isNull != y.isNull { return x.isNull }
        if case .integer(let p) = x, case .integer(let q) = y, p != q { return (p < q) == (strategy == "max") }
      }
      if a.stamp.rawValue != b.stamp.rawValue { return a.stamp.rawValue < b.stamp.rawValue }
      return a.name.replica == b.name.replica ? a.name.sequence < b.name.sequence : a.name.replica < b.name.replica
    }.last
  }

  /// The row that these cells show; nil if the record does not.
  static func row(of cells: [String: [Write]], type: RecordType) -> [FieldValue]? {
    let alive = cells[""] ?? []
    let life = alive.map(\.life).max() ?? 0
    guard winner(alive, life: life, strategy: "merge")?.value == .alive(true) else { return nil }
    var row: [String: FieldValue] = [:]
    for fields in type.cells {
      let strategy = type.strategies[fields[0]] ?? type.strategy
      let values = winner(cells[fields[0]] ?? [], life: life, strategy: strategy)?.value.values ?? []
      for (field, value) in zip(fields, values) { row[field] = value }
    }
    return type.fields.map { $0.shows(row[$0.name] ?? .null) }
  }
}

extension FieldDefinition {
  /// The value as the field's column can hold it: what somebody wrote while the field was of another kind is kept, and
  /// not shown (R3). Two owners who add one name with two kinds make that, and so does one who is put back to a copy.
  func shows(_ value: FieldValue) -> FieldValue {
    switch (kind, value) {
    case (.integer, .integer), (.boolean, .integer), (.real, .integer), (.real, .real), (.bytes, .bytes): value
    case (.integer, _), (.boolean, _), (.real, _), (.bytes, _): .null
    case (_, .text): value
    case (_, _): .null
    }
  }
}
