internal import HouseholdRecords

/// Which sets the edits of one chunk touch: a row touches that of its owner, one that moves both (D10).
struct TouchedSets {
  /// The owners whose sets a row was in, is in, or came into.
  private(set) var owners: [RecordPlace: [RecordPlace]] = [:]
  /// The rows that touch an owner's set, those that left it too.
  private(set) var rows: [RecordPlace: [RecordPlace]] = [:]
  /// The last row of the outbox that is looked at: rows of tables that were edited later are not written over.
  var lastNumber: Int64 = 0

  /// Whether no row of an owned type was touched.
  var isEmpty: Bool { owners.isEmpty }

  /// That the row touches the owner's set.
  mutating func add(_ row: RecordPlace, to owner: RecordPlace) {
    guard owners[row]?.contains(owner) != true else { return }
    owners[row, default: []].append(owner)
    rows[owner, default: []].append(row)
  }

  /// That the row was touched, whether it has an owner or not.
  mutating func know(_ row: RecordPlace) { owners[row, default: []] += [] }
}

extension Replica {
  /// The sets that these edits touch, over all of the chunk.
  func touchedSets(in chunk: [OutboxRow]) throws -> TouchedSets {
    var touched = TouchedSets()
    guard registry.hasSets else { return touched }
    touched.lastNumber = chunk.last?.number ?? 0
    var last: TypeTable?
    for row in chunk {
      if last?.number != row.type { last = registry[row.type] }
      guard let table = last, let owner = table.owner else { continue }
      let place = RecordPlace(type: row.type, id: row.id)
      if touched.owners[place] == nil {
        touched.know(place)
        for claim in try claims(on: place) {
          touched.add(place, to: RecordPlace(type: owner.number, id: claim.owner))
        }
        if let id = try table.row(row.id, on: connection)?[owner.field].text {
          touched.add(place, to: RecordPlace(type: owner.number, id: id))
        }
      }
      guard let image = row.image, row.kind != .updated || row.fields >> UInt64(owner.field) & 1 != 0 else { continue }
      let values = try CaptureTriggers.row(fromImage: image, of: table.type, on: connection)
      if let id = values[owner.field].text { touched.add(place, to: RecordPlace(type: owner.number, id: id)) }
    }
    return touched
  }
}

extension EditReader {
  /// Reads what happened to a row of an owned type as far as it is a record of its own, which it is without an owner.
  ///
  /// With one it is a part of the owner's set, see `addSets`.
  func readOwned(
    _ rows: [OutboxRow], of place: RecordPlace, table: TypeTable, known: Known, later: [OutboxRow], into run: inout Run
  ) throws {
    guard let owner = table.owner, let first = rows.first else { return }
    let wasThere = known.isAlive || first.kind != .inserted && first.kind != .confirmed
    var folded = FoldedEdit(rows, wasThere: wasThere)
    let after = folded.isThereAfter ? try rowAfter(folded, of: place, table: table, later: later)?.row : nil
    let isFree = after?[owner.field].isNull ?? false
    func edit(_ kind: Operation.Kind, life: UInt64, row: [FieldValue]?) -> Edit {
      Edit(
        kind: kind, table: table, id: place.id, isWeak: folded.isWeak, life: life,
        fields: row == nil ? [] : table.fieldNames, values: row ?? [], isNew: !known.isKnown)
    }
    if known.isAlive {
      if after != nil && !isFree { return run.rest.append(edit(.delete, life: known.life, row: nil)) }
      // A row that left its set takes all its values along.
      if folded.changed >> UInt64(owner.field) & 1 != 0 { folded.changed = .max }
      try read(folded, of: place, table: table, known: known, rowBefore: nil, later: later, into: &run)
    } else if let after, isFree {
      run.rest.append(edit(.insert, life: known.life + 1, row: after))
    } else if folded.confirmsDeletion && after == nil && known.isKnown {
      run.rest.append(edit(.delete, life: max(1, known.life), row: nil))
    }
  }
}
