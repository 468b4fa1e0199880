import HouseholdRecords

/// What tables must show where several records are one thing, computed anew from all states and facts.
///
/// It knows what a group is and nothing of indexes, of what was shown before, or of the order in which things came.
struct GroupTruth {
  private let states: [RecordKey: RecordState]
  private let schema: Schema
  private let coverage: ArchiveView
  private var groups = AliasGroups<RecordKey>()
  private var survivors: [RecordKey: String] = [:]
  /// The rows that show.
  private(set) var rows: [RecordKey: [FieldValue]] = [:]

  init(_ states: [RecordKey: RecordState], schema: Schema, coverage: ArchiveView) throws {
    self.states = states
    self.schema = schema
    self.coverage = coverage
    for key in states.keys.filter({ $0.type == AliasFact.typeName }).sorted() {
      guard let state = states[key], let row = ArchiveView.row(of: state, type: AliasFact.recordType),
        let fact = AliasFact(row: row)
      else { continue }
      groups.join(RecordKey(type: fact.type, id: fact.first), RecordKey(type: fact.type, id: fact.second))
    }
    for key in groups.members { survivors[key] = group(of: key)?.survivor.id }
    let owned = Set(schema.ownerships.map(\.set.type))
    for key in states.keys where !owned.contains(key.type) {
      guard let type = schema.type(key.type), let row = try row(of: key, type: type) else { continue }
      rows[key] = repointed(row, type: type)
    }
    // Rows of sets follow from their owners' states.
    for (key, row) in ArchiveView.rowsOfSets(of: states, schema: schema) {
      guard let type = schema.type(key.type) else { continue }
      rows[key] = repointed(row, type: type)
    }
  }

  private func group(of key: RecordKey) -> RecordGroup? {
    let builtIn = Set(schema.builtIn.map { RecordKey(type: $0.type, id: $0.id) })
    let members = groups.group(of: key).map { RecordGroup.Member(id: $0.id, state: states[$0] ?? RecordState()) }
    return RecordGroup(members) { builtIn.contains(RecordKey(type: key.type, id: $0)) }
  }

  private func row(of key: RecordKey, type: RecordType) throws -> [FieldValue]? {
    guard let state = states[key], state.isAlive else { return nil }
    guard groups.isMember(key), let group = group(of: key) else { return ArchiveView.row(of: state, type: type) }
    guard group.survivor.id.hasSameBytes(as: key.id) else { return nil }
    return ArchiveView.row(of: group.combined(try group.entries(coverage: coverage)), type: type)
  }

  private func repointed(_ row: [FieldValue], type: RecordType) -> [FieldValue] {
    zip(row, type.fields).map { value, field in
      guard field.kind == .reference, let target = field.to, let id = value.text,
        let survivor = survivors[RecordKey(type: target, id: id)]
      else { return value }
      return .text(survivor)
    }
  }

  /// Two records that show, have one key, and were never parted; nil if there are none.
  func firstDouble(_ cryptography: any Cryptography) -> (RecordKey, RecordKey)? {
    for type in schema.types {
      for rule in type.unique {
        var seen: [[UInt8]: [RecordKey]] = [:]
        for key in rows.keys.sorted() where key.type == type.name {
          guard let row = rows[key], let bytes = UniqueKey.bytes(of: row, rule: rule, type: type),
            isResolved(row, rule: rule, type: type)
          else { continue }
          for other in seen[bytes] ?? [] where !isParted(key, other, cryptography) { return (other, key) }
          seen[bytes, default: []].append(key)
        }
      }
    }
    return nil
  }

  private func isResolved(_ row: [FieldValue], rule: UniqueRule, type: RecordType) -> Bool {
    UniqueKey.references(of: rule, type: type).allSatisfy { reference in
      row[reference.index].text.map { rows[RecordKey(type: reference.target, id: $0)] != nil } ?? true
    }
  }

  /// Whether a fact about any of one group and any of the other was ever written: it does not hold any more.
  private func isParted(_ a: RecordKey, _ b: RecordKey, _ cryptography: any Cryptography) -> Bool {
    groups.group(of: a).contains { one in
      groups.group(of: b).contains { other in
        AliasFact(type: one.type, one.id, other.id).map {
          states[RecordKey(type: AliasFact.typeName, id: $0.id(cryptography))] != nil
        } ?? false
      }
    }
  }
}
