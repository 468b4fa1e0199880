internal import HouseholdRecords

/// What is known here about records that are one thing, and what has changed and is not looked at yet.
///
/// The load-bearing detail: while records are applied, this only notes what they touch. Groups, references and keys
/// are brought in line afterwards, in the same transaction, so the cost follows what changed (`settleDuplicates`).
struct Duplicates {
  /// Two records that a fact names.
  struct Edge: Equatable {
    var first: RecordPlace
    var second: RecordPlace
  }

  /// A field that names a record of another type.
  struct Reference {
    var index: Int
    /// The number of the type that it points to.
    var target: Int64
  }

  /// The number of the type of facts in every file; the first migration gives it.
  static let factType: Int64 = 1

  /// The facts that hold, by the ids of their records.
  private var edges: [String: Edge] = [:]
  /// What they connect. A member's values are all kept beside its cells, none in the row of its type's table.
  private(set) var groups = AliasGroups<RecordPlace>()
  /// What the tables show instead of a record: the survivor's id.
  private(set) var shownAs: [RecordPlace: String] = [:]
  /// The references of each type.
  private var references: [Int64: [Reference]] = [:]
  /// Types whose rows decide keys: those with a rule, and those that a rule's references point to.
  private var watched: Set<Int64> = []
  /// Ids that every household begins with.
  private var builtIn: Set<RecordKey> = []

  /// Facts that may have come or gone.
  private var changedFacts: Set<String> = []
  /// Members whose group may show something else now.
  private var changedMembers: Set<RecordPlace> = []
  /// Rows that may have got another key; true for one that was not there before.
  private var changedRows: [RecordPlace: Bool] = [:]
  /// Whether all keys are to be made, or only looked through, once more.
  private(set) var mustIndexAll = false
  var mustLookThroughKeys = false
  /// Rows of losers that another program inserted and that were sealed for the survivor, until they are taken out.
  var standing: Set<RecordPlace> = []

  /// Reads what the file says.
  init(_ connection: Connection, registry: TypeRegistry, schema: Schema) throws {
    // Only what is sealed: a fact that a person takes back or brings back is settled when that is.
    let facts = try connection.statement(
      """
      SELECT f.id, f.type, f.first, f.second FROM sync_alias f
      JOIN sync_record r ON r.type = \(Self.factType) AND r.id = f.id WHERE r.alive = 1
      """)
    var found: [(id: String, row: [FieldValue])] = []
    while try facts.step() { found.append((facts.text(0), (1...3).map { facts.value(Int32($0)) })) }
    facts.reset()
    for (id, row) in found {
      guard let fact = AliasFact(row: row), let number = registry.known(fact.type) else { continue }
      join(Self.edge(fact, number), id: id)
    }
    let merged = try connection.statement("SELECT type, id, survivor FROM sync_merged")
    defer { merged.reset() }
    while try merged.step() {
      shownAs[RecordPlace(type: merged.integer(0), id: merged.text(1))] = merged.text(2)
    }
    adopt(schema, registry: registry)
    // Another schema came, and the process ended before anything was made of it.
    if try Facts(connection).integer(.indexedSchema) != Int64(clamping: schema.version) { noteAll() }
  }

  private mutating func adopt(_ schema: Schema, registry: TypeRegistry) {
    builtIn = Set(schema.builtIn.map { RecordKey(type: $0.type, id: $0.id) })
    for table in registry.sorted {
      references[table.number] = table.type.fields.enumerated().compactMap { index, field in
        guard field.kind == .reference, let target = field.to.flatMap(registry.known) else { return nil }
        return Reference(index: index, target: target)
      }
      if !table.type.unique.isEmpty { watched.insert(table.number) }
      for rule in table.type.unique {
        for reference in UniqueKey.references(of: rule, type: table.type) {
          if let target = registry.known(reference.target) { watched.insert(target) }
        }
      }
    }
  }

  private static func edge(_ fact: AliasFact, _ number: Int64) -> Edge {
    Edge(first: RecordPlace(type: number, id: fact.first), second: RecordPlace(type: number, id: fact.second))
  }

  private mutating func join(_ edge: Edge, id: String) {
    edges[id] = edge
    groups.join(edge.first, edge.second)
  }

  // MARK: What is asked for every record

  /// Whether a fact names the record.
  func isMember(_ place: RecordPlace) -> Bool { !groups.isEmpty && groups.isMember(place) }

  /// Whether the record is one thing with another that shows in its place.
  func isHidden(_ place: RecordPlace) -> Bool { !shownAs.isEmpty && shownAs[place] != nil }

  /// Whether the id is one that every household begins with.
  func isBuiltIn(_ type: String, _ id: String) -> Bool { builtIn.contains(RecordKey(type: type, id: id)) }

  /// The references of a type.
  func references(of type: Int64) -> [Reference] { references[type] ?? [] }

  /// The row with each reference to a record that does not show put to the one that shows in its place.
  func repointed(_ row: [FieldValue], of type: Int64) -> [FieldValue] {
    guard !shownAs.isEmpty, let references = references[type], !references.isEmpty else { return row }
    var row = row
    for reference in references where reference.index < row.count {
      guard let id = row[reference.index].text,
        let survivor = shownAs[RecordPlace(type: reference.target, id: id)]
      else { continue }
      row[reference.index] = .text(survivor)
    }
    return row
  }

  /// Whether a row of this place needs more than to be written as it is.
  func concerns(_ place: RecordPlace, row: [FieldValue]) -> Bool {
    isMember(place) || !shownAs.isEmpty && repointed(row, of: place.type) != row
  }

  /// Whether there is anything to settle.
  var isDirty: Bool {
    mustIndexAll || mustLookThroughKeys || !changedFacts.isEmpty || !changedMembers.isEmpty || !changedRows.isEmpty
      || !standing.isEmpty
  }

  // MARK: Noting

  /// Notes that a record's state or row has changed.
  mutating func note(_ place: RecordPlace, isNew: Bool) {
    if place.type == Self.factType {
      changedFacts.insert(place.id)
    } else if isMember(place) {
      changedMembers.insert(place)
    } else if watched.contains(place.type) {
      changedRows[place] = changedRows[place] ?? false || isNew
    }
  }

  /// Notes that the group of a record is to be looked at.
  mutating func noteGroup(of place: RecordPlace) { changedMembers.insert(place) }

  /// Notes that the row of a record shows something else, or no longer shows.
  mutating func noteRow(of place: RecordPlace, isNew: Bool) {
    guard watched.contains(place.type) else { return }
    changedRows[place] = changedRows[place] ?? false || isNew
  }

  /// Notes everything, after a snapshot or with another schema.
  mutating func noteAll() {
    changedMembers.formUnion(groups.members)
    mustIndexAll = true
  }

  /// Remembers that all keys are made.
  mutating func indexedAll() {
    mustIndexAll = false
    mustLookThroughKeys = true
  }

  // MARK: Taking what was noted

  mutating func takeFacts() -> [String] {
    defer { changedFacts = [] }
    return changedFacts.sorted()
  }

  mutating func takeMembers() -> [RecordPlace] {
    let taken = changedMembers.union(standing)
    changedMembers = []
    standing = []
    return taken.sorted()
  }

  mutating func takeRows() -> [(place: RecordPlace, isNew: Bool)] {
    defer { changedRows = [:] }
    return changedRows.sorted { $0.key < $1.key }.map { (place: $0.key, isNew: $0.value) }
  }

  // MARK: Changing

  /// Makes a fact hold, or with nil not hold; the groups that it concerns are noted.
  mutating func set(_ fact: AliasFact?, type number: Int64, of id: String) {
    let edge = fact.map { Self.edge($0, number) }
    guard edges[id] != edge else { return }
    if let old = edges.removeValue(forKey: id) {
      groups.part(old.first, old.second)
      changedMembers.formUnion([old.first, old.second])
    }
    if let edge {
      join(edge, id: id)
      changedMembers.formUnion([edge.first, edge.second])
    }
  }

  /// Remembers what shows in a record's place; nil: itself.
  mutating func show(_ place: RecordPlace, as survivor: String?) { shownAs[place] = survivor }

  /// The facts about a record that hold, by the ids of their records, in order.
  func facts(about place: RecordPlace) -> [(id: String, edge: Edge)] {
    edges.filter { $0.value.first == place || $0.value.second == place }.sorted { $0.key < $1.key }
      .map { (id: $0.key, edge: $0.value) }
  }
}
