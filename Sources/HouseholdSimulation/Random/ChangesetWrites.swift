import HouseholdRecords

/// What changesets write, cell by cell, each computed once for each schema that devices know.
///
/// A changeset's bytes never change, so whoever asks gets the same; only what it is called depends on who asks.
final class ChangesetWrites {
  /// One write of one cell, which has a number here.
  struct CellWrite {
    var cell: Int
    var write: Write
  }

  /// The cells that were ever written, by number.
  private(set) var cells: [(key: RecordKey, name: String)] = []
  private var numbers: [RecordKey: [String: Int]] = [:]
  private var known: [Schema: [ChangesetHash: [CellWrite]]] = [:]

  /// The writes of some changesets, each under the name that it has for who asks.
  func writes(of changesets: [(ChangesetArchive.Known, name: ChangesetName)], schema: Schema) -> [CellWrite] {
    var ofSchema = known.removeValue(forKey: schema) ?? [:]
    defer { known[schema] = ofSchema }
    var list: [CellWrite] = []
    for (one, name) in changesets {
      if ofSchema[one.hash] == nil { ofSchema[one.hash] = writes(of: one.changeset, schema: schema) }
      let start = list.count
      list += ofSchema[one.hash] ?? []
      if name != one.changeset.name { for index in start..<list.count { list[index].write.name = name } }
    }
    return list
  }

  private func writes(of changeset: Changeset, schema: Schema) -> [CellWrite] {
    changeset.operations.flatMap { operation in
      let shape = changeset.shapes[operation.shape]
      let key = RecordKey(type: shape.type, id: operation.id)
      return operation.writes(
        name: changeset.name, stamp: changeset.stamp, fields: shape.fields,
        type: shape.type == AliasFact.typeName ? AliasFact.recordType : schema.type(shape.type)
      ).map { CellWrite(cell: number(of: $0.cell, in: key), write: $0.write) }
    }
  }

  private func number(of cell: String, in key: RecordKey) -> Int {
    if let known = numbers[key]?[cell] { return known }
    numbers[key, default: [:]][cell] = cells.count
    cells.append((key, cell))
    return cells.count - 1
  }
}
