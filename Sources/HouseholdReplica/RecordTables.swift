internal import HouseholdRecords

/// One record type as it lies in this file: its table, its cells, and the statements that read and write rows.
///
/// It never changes; a class, because it is passed around for every record.
final class TypeTable {
  /// A cell and where its values stand in a row.
  struct Cell {
    /// The name of its first field.
    var name: String
    /// Indices into the type's fields.
    var fields: [Int]
    var strategy: MergeStrategy
  }

  /// A set of another type's rows that a record of this type owns; it is a cell of it (D10).
  struct OwnedSet {
    /// The name of the cell: that of the rows' type.
    var name: String
    /// The number of the rows' type.
    var number: Int64
    var sum: SetSum?
  }

  let number: Int64
  let type: RecordType
  let cells: [Cell]
  /// The sets that a record of this type owns.
  let sets: [OwnedSet]
  /// Where this type's rows name their owner, and the number of the owner's type; nil if none owns them.
  let owner: (number: Int64, field: Int)?
  let fieldNames: [String]
  /// Whether some cell's strategy asks who of its writers was an owner.
  let prefersOwners: Bool
  private let storages: [SchemaTables.Storage]
  private let indices: [String: Int]
  private let cellIndices: [String: Int]
  let selectSQL: String
  let upsertSQL: String
  let deleteSQL: String

  init(number: Int64, type: RecordType, ownerships: [Schema.Ownership] = [], numbers: [String: Int64] = [:]) {
    self.number = number
    self.type = type
    sets = ownerships.filter { $0.owner == type.name }.compactMap { ownership in
      numbers[ownership.set.type].map { OwnedSet(name: ownership.set.type, number: $0, sum: ownership.set.sum) }
    }
    owner = ownerships.first { $0.set.type == type.name }.flatMap { ownership in
      guard let owner = numbers[ownership.owner] else { return nil }
      return type.fields.firstIndex { $0.name == ownership.set.by }.map { (owner, $0) }
    }
    fieldNames = type.fields.map(\.name)
    storages = type.fields.map(SchemaTables.storage)
    var indices: [String: Int] = [:]
    for (index, name) in fieldNames.enumerated() { indices[name] = index }
    self.indices = indices
    cells = type.cells.map { fields in
      Cell(
        name: fields[0], fields: fields.compactMap { indices[$0] },
        strategy: MergeStrategy(rawValue: type.strategies[fields[0]] ?? type.strategy) ?? .merge)
    }
    cellIndices = Dictionary(cells.enumerated().map { ($1.name, $0) }) { first, _ in first }
    prefersOwners = cells.contains { $0.strategy == .ownerWins }
    let table = SchemaTables.quoted(type.name)
    let columns = fieldNames.map(SchemaTables.quoted)
    selectSQL = "SELECT \((["id"] + columns).joined(separator: ", ")) FROM \(table) WHERE id = ?"
    upsertSQL = Self.upsertSQL(table, columns, rows: 1)
    deleteSQL = "DELETE FROM \(table) WHERE id = ?"
  }

  /// As `upsertSQL`, for so many rows at once.
  func upsertSQL(rows: Int) -> String {
    Self.upsertSQL(SchemaTables.quoted(type.name), fieldNames.map(SchemaTables.quoted), rows: rows)
  }

  private static func upsertSQL(_ table: String, _ columns: [String], rows: Int) -> String {
    let names = (["id"] + columns).joined(separator: ", ")
    let sets = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    let conflict = columns.isEmpty ? "DO NOTHING" : "DO UPDATE SET \(sets)"
    return """
      INSERT INTO \(table)(\(names)) VALUES \(Statement.marks(columns: columns.count + 1, rows: rows))
      ON CONFLICT(id) \(conflict)
      """
  }

  /// Where the field stands in a row; nil if the schema here does not know it.
  func index(of field: String) -> Int? { indices[field] }

  /// The cell of this name; nil if the schema here does not know it.
  func cell(_ name: String) -> Cell? { cellIndices[name].map { cells[$0] } }

  /// Whether the column can hold the value: what does not fit is kept, and not shown (R3: quarantined).
  func fits(_ value: FieldValue, field index: Int) -> Bool { fits(value.kind, field: index) }

  /// Whether the column can hold values of this kind.
  func fits(_ kind: FieldValue.Kind, field index: Int) -> Bool {
    switch (kind, storages[index]) {
    case (.null, _), (.integer, .integer), (.text, .text), (.real, .real), (.integer, .real), (.bytes, .blob): true
    default: false
    }
  }

  /// The row of this id as it is in the table now, in the order of the fields.
  func row(_ id: String, on connection: Connection) throws -> [FieldValue]? {
    let statement = try connection.statement(selectSQL)
    try statement.bind(1, id)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return (0..<Int32(fieldNames.count)).map { statement.value($0 + 1) }
  }

  /// Makes the row show these values.
  func write(_ id: String, _ row: [FieldValue], on connection: Connection) throws {
    try write(id, row, using: try connection.statement(upsertSQL))
  }

  /// As above, for many rows one after another.
  ///
  /// - Parameter statement: prepared from `upsertSQL`.
  func write(_ id: String, _ row: [FieldValue], using statement: Statement) throws {
    try statement.bind(1, id)
    for index in row.indices { try statement.bind(Int32(index + 2), row[index]) }
    try statement.run()
  }

  /// Takes the row out.
  func remove(_ id: String, on connection: Connection) throws {
    let statement = try connection.statement(deleteSQL)
    try statement.bind(1, id)
    try statement.run()
  }
}

/// All types of this file by number and by name, with those that the schema does not know.
struct TypeRegistry {
  private var tables: [Int64: TypeTable] = [:]
  private var numbers: [String: Int64] = [:]
  private var names: [Int64: String] = [:]

  /// Reads the numbers; types of the schema get their table.
  init(schema: Schema, connection: Connection) throws {
    let statement = try connection.statement("SELECT number, name FROM sync_type")
    defer { statement.reset() }
    while try statement.step() {
      let (number, name) = (statement.integer(0), statement.text(1))
      numbers[name] = number
      names[number] = name
      if name == AliasFact.typeName { tables[number] = TypeTable(number: number, type: AliasFact.recordType) }
    }
    let ownerships = schema.ownerships
    for type in schema.types {
      guard let number = numbers[type.name] else { continue }
      tables[number] = TypeTable(number: number, type: type, ownerships: ownerships, numbers: numbers)
    }
  }

  /// The table of a number; nil if the schema here does not know the type.
  subscript(number: Int64) -> TypeTable? { tables[number] }

  /// The name that a number stands for.
  func name(of number: Int64) -> String? { names[number] }

  /// The number of a type, if it has one.
  func known(_ name: String) -> Int64? { numbers[name] }

  /// The number of a type; a name that is new here gets one.
  mutating func number(of name: String, on connection: Connection) throws -> Int64 {
    if let known = numbers[name] { return known }
    try connection.run("INSERT INTO sync_type(name) VALUES (?)", .text(name))
    guard let number = try connection.integer("SELECT number FROM sync_type WHERE name = ?", .text(name)) else {
      throw ReplicaError(.other, "The type \(name) has no number.")
    }
    numbers[name] = number
    names[number] = name
    return number
  }

  /// All names with their numbers, in order.
  var all: [(name: String, number: Int64)] { numbers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }

  /// Whether records of any type are a set of another's.
  var hasSets: Bool { tables.values.contains { !$0.sets.isEmpty } }

  /// All tables in the order of the types' names.
  var sorted: [TypeTable] { tables.values.sorted { $0.type.name < $1.type.name } }
}
