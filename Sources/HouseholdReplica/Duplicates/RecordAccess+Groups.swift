internal import HouseholdRecords

/// Which records show otherwise when one of a group of duplicates changes.
extension RecordAccess {
  /// For each of these records that is one thing with others, by a fact that is here: the others, and every record that
  /// shows a reference to one of them. Whichever of a group shows may be another now.
  func shownWith(_ keys: some Collection<RecordKey>) throws -> [RecordKey: [RecordKey]] {
    let groups = try aliasGroups()
    guard !groups.isEmpty else { return [:] }
    var holders: [Int: [RecordKey]] = [:]
    var result: [RecordKey: [RecordKey]] = [:]
    for key in keys {
      guard let (number, members) = groups[key] else { continue }
      let known = try holders[number] ?? members + members.flatMap(referring)
      holders[number] = known
      result[key] = known
    }
    return result
  }

  /// The group of each record that a fact names: its number, and all its records.
  private func aliasGroups() throws -> [RecordKey: (number: Int, members: [RecordKey])] {
    let statement = try connection.statement("SELECT type, first, second FROM sync_alias")
    defer { statement.reset() }
    var numbers: [RecordKey: Int] = [:]
    var groups: [Int: [RecordKey]] = [:]
    while try statement.step() {
      let pair = [1, 2].map { RecordKey(type: statement.text(0), id: statement.text($0)) }
      let number = numbers[pair[0]] ?? groups.count
      groups[number, default: []] += numbers[pair[0]] == nil ? [pair[0]] : []
      numbers[pair[0]] = number
      let other = numbers[pair[1]]
      guard other != number else { continue }
      let joined = other.flatMap { groups.updateValue([], forKey: $0) } ?? [pair[1]]
      for key in joined { numbers[key] = number }
      groups[number, default: []] += joined
    }
    return numbers.mapValues { ($0, groups[$0] ?? []) }
  }

  /// The records whose rows show a reference to this one.
  private func referring(to key: RecordKey) throws -> [RecordKey] {
    var found: [RecordKey] = []
    for type in schema.types {
      for field in type.fields where field.kind == .reference && field.to == key.type {
        let statement = try connection.statement(
          "SELECT id FROM \(SchemaTables.quoted(type.name)) WHERE \(SchemaTables.quoted(field.name)) = ?")
        try statement.bind(1, key.id)
        defer { statement.reset() }
        while try statement.step() { found.append(RecordKey(type: type.name, id: statement.text(0))) }
      }
    }
    return found
  }
}
