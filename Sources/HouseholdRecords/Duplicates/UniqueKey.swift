/// What two records must have in common to be one thing by a rule of the schema (design 1.5).
package enum UniqueKey {
  /// The key of a row by a rule; nil if a field of `by` is null, so that the record never groups.
  ///
  /// Rows with equal bytes are duplicates. Texts are compared folded, everything else as it is; null in a field of
  /// `within` equals null.
  ///
  /// - Parameter row: the values in the order of the type's fields, references as they show.
  package static func bytes(of row: [FieldValue], rule: UniqueRule, type: RecordType) -> [UInt8]? {
    var writer = ByteWriter()
    for (names, allowsNull) in [(rule.by, false), (rule.within, true)] {
      for name in names {
        guard let index = type.fields.firstIndex(where: { $0.name == name }), index < row.count,
          allowsNull || !row[index].isNull
        else { return nil }
        writer.value(comparable(row[index], kind: type.fields[index].kind))
      }
    }
    return writer.bytes
  }

  /// What a value is compared by: a text folded.
  package static func comparable(_ value: FieldValue, kind: FieldType?) -> FieldValue {
    guard kind == .text, let text = value.text else { return value }
    return .text(Folding.key(text))
  }

  /// The references that decide a rule's key: a record groups only when the targets of all that are set are there.
  package static func references(of rule: UniqueRule, type: RecordType) -> [(index: Int, target: String)] {
    type.fields.enumerated().compactMap { index, field in
      guard field.kind == .reference, let target = field.to, (rule.by + rule.within).contains(field.name) else {
        return nil
      }
      return (index, target)
    }
  }
}
