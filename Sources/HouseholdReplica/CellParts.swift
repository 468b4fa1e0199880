internal import HouseholdRecords

/// Parts of cells: what was written to a type that was not known here is kept field by field, as nothing tells which of its
/// fields belong together. Once the type is known, the parts that one changeset wrote are one write of their cell again.
extension TypeTable {
  /// Whether something in the state is a part of a cell.
  func hasParts(_ state: RecordState) -> Bool {
    guard hasGroups else { return false }
    return state.cells.contains { cell, writes in writes.contains { part(of: $0, in: cell) != nil } }
  }

  /// The same writes in their order, the parts of each cell put together; of what nobody wrote, null.
  func joiningParts(_ writes: [DisplacedWrite]) -> [DisplacedWrite] {
    guard hasGroups else { return writes }
    var joined: [DisplacedWrite] = []
    var places: [Part: Int] = [:]
    for one in writes {
      guard let (cell, offset, value) = part(of: one.write, in: one.cell) else {
        joined.append(one)
        continue
      }
      let part = Part(cell: cell.name, name: one.write.name, life: one.write.life)
      if let place = places[part] {
        var values = joined[place].write.value.values
        values[offset] = value
        joined[place].write.value = .fields(values)
        joined[place].write.isWeak = joined[place].write.isWeak && one.write.isWeak
      } else {
        var whole = one
        var values = [FieldValue](repeating: .null, count: cell.fields.count)
        values[offset] = value
        (whole.cell, whole.write.value) = (cell.name, .fields(values))
        places[part] = joined.count
        joined.append(whole)
      }
    }
    // What the log still holds is whole.
    let whole = Set(joined.indices.filter { !places.values.contains($0) }.map { Part(joined[$0]) })
    let needless = Set(places.filter { whole.contains($0.key) }.values)
    return joined.indices.filter { !needless.contains($0) }.map { joined[$0] }
  }

  /// The cell that a write is a part of, where in it, and the value; nil for a whole one.
  private func part(of write: Write, in name: String) -> (cell: Cell, offset: Int, value: FieldValue)? {
    guard case .fields(let values) = write.value, values.count == 1, let field = index(of: name),
      let cell = cells.first(where: { $0.fields.count > 1 && $0.fields.contains(field) }),
      let offset = cell.fields.firstIndex(of: field)
    else { return nil }
    return (cell, offset, values[0])
  }

  /// Whether several fields are one cell anywhere.
  private var hasGroups: Bool { cells.count < fieldNames.count }

  private struct Part: Hashable {
    var cell: String
    var name: ChangesetName
    var life: UInt64

    init(cell: String, name: ChangesetName, life: UInt64) { (self.cell, self.name, self.life) = (cell, name, life) }

    init(_ one: DisplacedWrite) { (cell, name, life) = (one.cell, one.write.name, one.write.life) }
  }
}
