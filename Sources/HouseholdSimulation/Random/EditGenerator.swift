import HouseholdRecords
import HouseholdReplica

/// Makes up edits: of every type, by our own access and by SQL as other programs write it.
struct EditGenerator {
  let schema: Schema

  /// Few ids, so that devices meet; two of them differ only in how an accent is written.
  static let ids = ["a", "b", "c", "d", "é", "e\u{301}", "it's"]

  private func type(_ random: inout SeededRandom) -> RecordType { random.pick(schema.types) }

  func id(_ random: inout SeededRandom) -> String { random.pick(Self.ids) }

  func value(of field: FieldDefinition, _ random: inout SeededRandom) -> FieldValue {
    if random.oneIn(6) { return .null }
    if field.name == "name" { return .text(random.pick(["Pets", "pets ", "PETS", "Dog"])) }
    if field.name == "parent" && random.oneIn(2) { return .null }
    switch field.kind {
    case .text, nil:
      let texts = [
        "", "x", "null", "0", "Café", "Cafe\u{301}", "a 'b' \"c\"", "\u{1F600}", String(repeating: "y", count: 300),
      ]
      return .text(random.oneIn(2) ? "n\(random.below(1000))" : random.pick(texts))
    case .integer: return .integer(random.oneIn(4) ? random.pick([0, -1, .max, .min]) : Int64(random.below(1000)))
    case .boolean: return .integer(Int64(random.below(2)))
    case .real: return .real(random.pick([0, 1.5, -0.1, 1e300, 2.5e-300, .infinity, Double(random.below(100))]))
    case .date: return .text(random.pick(["2026-02-28", "2024-02-29", "0001-01-01"]))
    case .timestamp: return .text("2026-03-0\(1 + random.below(9))T09:30:00Z")
    case .bytes: return .bytes(random.bytes(random.below(4)))
    case .json: return .text(random.pick(["{}", "[1, 2]", "null", "{\"a\": \"é\"}"]))
    case .reference: return .text(id(&random))
    }
  }

  /// Some fields of a type with values.
  func fields(of type: RecordType, _ random: inout SeededRandom) -> [(name: String, value: FieldValue)] {
    let chosen = type.fields.filter { _ in random.oneIn(3) }
    return (chosen.isEmpty ? [random.pick(type.fields)] : chosen).map { ($0.name, value(of: $0, &random)) }
  }

  /// One edit by our own access; returns a line about it.
  func edit(_ access: RecordAccess, _ random: inout SeededRandom) throws -> String {
    let type = type(&random)
    let id = id(&random)
    switch random.below(10) {
    case 0, 1: return try access.delete(type, id) ? "delete \(type.name)/\(id)" : "delete nothing"
    case 2:
      let fields = fields(of: type, &random)
      // A generator keeps away from ids that are known; what fills a field in afterwards does not.
      if try !random.oneIn(3) && access.isKnown(type, id) { return "generate nothing" }
      _ = try access.generating { try access.put(type, id, fields) }
      return "generate \(type.name)/\(id)"
    case 3:
      let fields = fields(of: type, &random)
      _ = try access.delete(type, id)
      _ = try access.put(type, id, fields)
      return "delete and make \(type.name)/\(id)"
    default:
      let fields = fields(of: type, &random)
      _ = try access.put(type, id, fields)
      return "put \(type.name)/\(id) \(fields.map(\.name))"
    }
  }

  // MARK: SQL of other programs

  /// A transaction of one to four statements.
  func sql(_ random: inout SeededRandom) -> String {
    (0...random.below(4)).map { _ in statement(&random) }.joined(separator: "; ")
  }

  private func statement(_ random: inout SeededRandom) -> String {
    if let ownership = schema.ownerships.first, random.oneIn(3) { return statement(about: ownership, &random) }
    let type = type(&random)
    let table = "\"\(type.name)\""
    let (one, other) = (literal(.text(id(&random))), literal(.text(id(&random))))
    let fields = fields(of: type, &random)
    let sets = fields.map { "\"\($0.name)\" = \(literal($0.value))" }.joined(separator: ", ")
    let names = (["id"] + fields.map { "\"\($0.name)\"" }).joined(separator: ", ")
    let values = ([one] + fields.map { literal($0.value) }).joined(separator: ", ")
    switch random.below(11) {
    case 0: return "REPLACE INTO \(table)(\(names)) VALUES (\(values))"
    case 1: return "UPDATE \(table) SET id = \(one) WHERE id = \(other)"
    case 2: return "UPDATE OR REPLACE \(table) SET id = \(one), \(sets) WHERE id = \(other)"
    case 3: return "INSERT OR IGNORE INTO \(table)(\(names)) VALUES (\(values))"
    case 4: return "INSERT INTO \(table)(\(names)) VALUES (\(values)) ON CONFLICT(id) DO UPDATE SET \(sets)"
    case 5: return "DELETE FROM \(table) WHERE id > \(one)"
    case 6: return "UPDATE \(table) SET \(sets)"
    case 7: return "UPDATE OR IGNORE \(table) SET id = \(one) WHERE id IN (\(one), \(other))"
    case 8:
      let field = "\"\(fields[0].name)\""
      return "UPDATE \(table) SET \(sets) WHERE id = \(one); UPDATE \(table) SET \(field) = NULL WHERE id = \(one)"
    case 9: return "DELETE FROM \(table) WHERE id = \(one)"
    default: return "UPDATE \(table) SET \(sets) WHERE id = \(one)"
    }
  }

  /// What people do to sets: rows move, come and go by twos, and go with their owner.
  private func statement(about ownership: Schema.Ownership, _ random: inout SeededRandom) -> String {
    let (rows, by, owners) = ("\"\(ownership.set.type)\"", "\"\(ownership.set.by)\"", "\"\(ownership.owner)\"")
    let (one, other) = (literal(.text(id(&random))), literal(.text(id(&random))))
    switch random.below(6) {
    case 0: return "DELETE FROM \(rows) WHERE \(by) = \(one); DELETE FROM \(owners) WHERE id = \(one)"
    case 1: return "DELETE FROM \(owners) WHERE id = \(one); DELETE FROM \(rows) WHERE \(by) = \(one)"
    case 2: return "UPDATE \(rows) SET \(by) = \(one) WHERE \(by) = \(other)"
    case 3: return "UPDATE \(rows) SET \(by) = NULL WHERE id = \(one)"
    case 4:
      return "DELETE FROM \(rows) WHERE \(by) = \(one); "
        + "INSERT OR REPLACE INTO \(rows)(id, \(by)) VALUES (\(one), \(one)), (\(other), \(one))"
    default:
      return
        "INSERT OR IGNORE INTO \(owners)(id) VALUES (\(one)); UPDATE \(rows) SET \(by) = \(one) WHERE id = \(other)"
    }
  }

  private func literal(_ value: FieldValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let integer): integer == .min ? "(-9223372036854775807 - 1)" : "\(integer)"
    case .real(let real): real.isInfinite ? "9e999" : "\(real)"
    case .text(let text):
      "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    case .bytes(let bytes): "x'\(hexadecimal(bytes))'"
    }
  }
}
