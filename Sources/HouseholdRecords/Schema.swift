/// What kinds of records a household keeps: the manifest `household-schema/1`.
///
/// A schema only ever grows: types and nullable fields are added, nothing is taken away or changed (design 2.8).
package struct Schema: Hashable, Sendable, Codable {
  /// The format's name, always `household-schema/1`.
  package var format: String
  package var name: String
  /// Counts up with every upgrade; what a changeset was written under.
  package var version: UInt64
  package var types: [RecordType]
  /// Records that every fresh household has, under fixed ids.
  package var builtIn: [BuiltInRecord]

  /// The only format that is known here.
  package static let format = "household-schema/1"

  package init(name: String, version: UInt64, types: [RecordType], builtIn: [BuiltInRecord] = []) {
    format = Self.format
    self.name = name
    self.version = version
    self.types = types
    self.builtIn = builtIn
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    format = try container.decode(String.self, forKey: .format)
    name = try container.decode(String.self, forKey: .name)
    version = try container.decode(UInt64.self, forKey: .version)
    types = try container.decode([RecordType].self, forKey: .types)
    builtIn = try container.decodeIfPresent([BuiltInRecord].self, forKey: .builtIn) ?? []
  }

  /// The type of this name.
  package func type(_ name: String) -> RecordType? { types.first { $0.name == name } }

  /// A schema without any type: what a replica has before the membership log brought one.
  package static let empty = Schema(name: "", version: 0, types: [])
}

/// One kind of record: a table with `id` and a column for each field.
package struct RecordType: Hashable, Sendable, Codable {
  package var name: String
  package var fields: [FieldDefinition]
  /// Fields that win or lose together, such as an amount and its currency; with `lastWriterWins` the fields of its one
  /// cell, or none for all.
  package var together: [[String]]
  /// What makes two records the same thing.
  package var unique: [UniqueRule]
  /// Types whose records are a set that belongs to a record of this type.
  package var owns: [OwnedSet]
  /// How concurrent writes are decided: `merge`, `lastWriterWins`, `ownerWins` or `ask`.
  package var strategy: String
  /// Strategies of single fields, which go before the type's: also `max` and `min`.
  package var strategies: [String: String]

  package init(
    name: String, fields: [FieldDefinition], together: [[String]] = [], unique: [UniqueRule] = [],
    owns: [OwnedSet] = [], strategy: String = "merge", strategies: [String: String] = [:]
  ) {
    self.name = name
    self.fields = fields
    self.together = together
    self.unique = unique
    self.owns = owns
    self.strategy = strategy
    self.strategies = strategies
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    fields = try container.decode([FieldDefinition].self, forKey: .fields)
    together = try container.decodeIfPresent([[String]].self, forKey: .together) ?? []
    unique = try container.decodeIfPresent([UniqueRule].self, forKey: .unique) ?? []
    owns = try container.decodeIfPresent([OwnedSet].self, forKey: .owns) ?? []
    strategy = try container.decodeIfPresent(String.self, forKey: .strategy) ?? "merge"
    strategies = try container.decodeIfPresent([String: String].self, forKey: .strategies) ?? [:]
  }

  /// The field of this name.
  package func field(_ name: String) -> FieldDefinition? { fields.first { $0.name == name } }

  /// The names of the fields that are one cell with this one, in the schema's order; the first names the cell.
  package func cellFields(of field: String) -> [String] {
    if strategy == "lastWriterWins" && together.isEmpty { return fields.map(\.name) }
    return together.first { $0.contains(field) } ?? [field]
  }

  /// All cells in the schema's order, each as its fields.
  package var cells: [[String]] {
    var seen: Set<String> = []
    return fields.compactMap { field in
      guard !seen.contains(field.name) else { return nil }
      let cell = cellFields(of: field.name)
      seen.formUnion(cell)
      return cell
    }
  }
}

/// One field of a type; every field may be null.
package struct FieldDefinition: Hashable, Sendable, Codable {
  package var name: String
  /// `text`, `integer`, `real`, `boolean`, `date`, `timestamp`, `bytes`, `json` or `reference`.
  package var type: String
  /// The type that a reference points to.
  package var to: String?

  package init(_ name: String, _ type: FieldType, to: String? = nil) {
    self.name = name
    self.type = type.rawValue
    self.to = to
  }

  /// The kind, if it is known here.
  package var kind: FieldType? { FieldType(rawValue: type) }
}

/// The kinds of values (design 1.2).
package enum FieldType: String, Hashable, Sendable, CaseIterable {
  case text, integer, real, boolean, date, timestamp, bytes, json, reference
}

/// Two live records with equal keys are one thing (design 2.7).
package struct UniqueRule: Hashable, Sendable, Codable {
  /// Fields that must be equal when folded, and not null.
  package var by: [String]
  /// Fields that must be equal; null equals null.
  package var within: [String]

  package init(by: [String], within: [String] = []) {
    self.by = by
    self.within = within
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    by = try container.decode([String].self, forKey: .by)
    within = try container.decodeIfPresent([String].self, forKey: .within) ?? []
  }
}

/// Records of another type that are one cell of a record of this type (D10).
package struct OwnedSet: Hashable, Sendable, Codable {
  /// The type of the set's records.
  package var type: String
  /// Their field that names the owner.
  package var by: String

  package init(type: String, by: String) {
    self.type = type
    self.by = by
  }
}

/// A record that a fresh household starts with.
package struct BuiltInRecord: Hashable, Sendable, Codable {
  package var type: String
  package var id: String
  package var fields: [String: FieldValue]

  package init(type: String, id: String, fields: [String: FieldValue]) {
    self.type = type
    self.id = id
    self.fields = fields
  }
}

extension FieldValue: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let boolean = try? container.decode(Bool.self) {
      self = .integer(boolean ? 1 : 0)
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else {
      self = .real(try container.decode(Double.self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .integer(let integer): try container.encode(integer)
    case .real(let real): try container.encode(real)
    case .text(let text): try container.encode(text)
    case .bytes(let bytes): try container.encode(hexadecimal(bytes))
    }
  }
}
