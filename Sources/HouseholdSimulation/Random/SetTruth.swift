import HouseholdRecords

/// What tables must show of owned sets, and what of them needs attention, computed anew from all states.
extension ArchiveView {
  /// What the tables of the owned types show of all these states: each record's row, and each row of a set at the owner
  /// whose claim on it is the greatest.
  static func rowsOfSets(of states: [RecordKey: RecordState], schema: Schema) -> [RecordKey: [FieldValue]] {
    var rows: [RecordKey: [FieldValue]] = [:]
    var claims: [RecordKey: RowClaim] = [:]
    let ownerships = schema.ownerships
    let owned = Set(ownerships.map(\.set.type))
    for (key, state) in states where owned.contains(key.type) {
      guard let type = schema.type(key.type), let row = row(of: state, type: type) else { continue }
      rows[key] = row
      claims[key] = state.winner(of: CellName.alive).map { RowClaim($0, owner: "") }
    }
    for (owner, state) in states {
      for ownership in ownerships where ownership.owner == owner.type {
        guard let shown = state.shownSet(of: ownership.set.type), let type = schema.type(ownership.set.type) else {
          continue
        }
        let claim = RowClaim(shown.write, owner: owner.id)
        for row in shown.rows.rows {
          let key = RecordKey(type: type.name, id: row.id)
          if let other = claims[key], claim < other { continue }
          claims[key] = claim
          rows[key] = type.fields.map { field in
            field.name == ownership.set.by ? .text(owner.id) : field.shows(shown.rows.value(of: field.name, in: row))
          }
        }
      }
    }
    return rows
  }

  /// What of these states needs attention, as `TYPE/ID code`: sets that do not add up, and rows that show elsewhere.
  static func attention(
    of states: [RecordKey: RecordState], rows: [RecordKey: [FieldValue]], schema: Schema
  ) -> Set<String> {
    var items: Set<String> = []
    for (owner, state) in states {
      for ownership in schema.ownerships where ownership.owner == owner.type {
        guard let set = state.shownSet(of: ownership.set.type)?.rows, let type = schema.type(ownership.set.type) else {
          continue
        }
        func value(_ field: String, _ key: RecordKey) -> FieldValue {
          guard let row = rows[key], let index = schema.type(key.type)?.fields.firstIndex(where: { $0.name == field })
          else { return .null }
          return row[index]
        }
        let keys = set.rows.map { RecordKey(type: type.name, id: $0.id) }
        let here = keys.filter { value(ownership.set.by, $0) == .text(owner.id) }
        if here.count < keys.count { items.insert("\(owner) elsewhere") }
        guard let rule = ownership.set.sum, state.isAlive else { continue }
        let sum = here.reduce(Int128(0)) { $0 + Int128(value(rule.of, $1).integer ?? 0) }
        if sum != Int128(value(rule.equals, owner).integer ?? 0) { items.insert("\(owner) sum") }
      }
    }
    return items
  }
}
