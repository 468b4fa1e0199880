/// A schema grows and never shrinks: types and fields are added, nothing that stands is changed (design 2.8, D13).
extension Schema {
  /// This schema with what the other one has besides.
  ///
  /// What stands here stays as it is: of two fields of one name the one that stands keeps its type, and the strategies
  /// and groups of fields that stand are not touched. So entries of a membership log, taken in their order of precedence,
  /// give one schema everywhere.
  package func extended(by other: Schema) -> Schema {
    if version == 0 { return other }
    var grown = self
    for type in other.types {
      if let index = grown.types.firstIndex(where: { $0.name == type.name }) {
        grown.types[index] = grown.types[index].extended(by: type)
      } else if grown.types.count < Limits.typesPerSchema {
        grown.types.append(type)
      }
    }
    let known = Set(builtIn.map { RecordKey(type: $0.type, id: $0.id) })
    grown.builtIn += other.builtIn.filter { !known.contains(RecordKey(type: $0.type, id: $0.id)) }
    if grown != self { grown.version = max(version + 1, other.version) }
    return grown
  }

  /// The first thing in which the other schema contradicts this one; nil if it only adds, or leaves out.
  package func contradiction(to other: Schema) -> String? {
    for type in types {
      guard let changed = other.type(type.name) else { continue }
      for field in type.fields {
        guard let other = changed.field(field.name), other != field else { continue }
        return "\(type.name).\(field.name) is \(field.spelled) and cannot become \(other.spelled)"
      }
      let isSame =
        changed.strategy == type.strategy
        && changed.strategies.filter { type.field($0.key) != nil } == type.strategies
        && changed.together.filter { $0.contains { type.field($0) != nil } } == type.together
        && changed.unique == type.unique && changed.owns.prefix(type.owns.count).elementsEqual(type.owns)
      if !isSame { return "the strategies, groups and rules of \(type.name) are fixed" }
    }
    return nil
  }
}

extension RecordType {
  /// This type with the fields that the other one has besides; they join no cell that stands.
  fileprivate func extended(by other: RecordType) -> RecordType {
    let added = other.fields.filter { field($0.name) == nil }.prefix(Limits.fieldsPerType - fields.count)
    if added.isEmpty { return self }
    var grown = self
    // All fields so far were one cell: from now on they are named, as the new ones are none of it.
    if strategy == MergeStrategy.lastWriterWins.rawValue && together.isEmpty { grown.together = [fields.map(\.name)] }
    grown.fields += added
    let names = Set(added.map(\.name))
    grown.together += other.together.filter { names.isSuperset(of: $0) }
    for (field, strategy) in other.strategies where names.contains(field) { grown.strategies[field] = strategy }
    return grown
  }
}

extension FieldDefinition {
  /// The type in words.
  fileprivate var spelled: String { to.map { "a \(type) to \($0)" } ?? "of the type \(type)" }
}
