import HouseholdBudget

/// A JSON value that changed nothing on its way in: integers are exact, text is whole.
///
/// As an `Encodable` it is how a command prints what has no fixed shape, such as the fields of a record.
package enum JSONValue: Hashable, Sendable {
  /// No value.
  case null
  /// `true` or `false`.
  case boolean(Bool)
  /// A number written without point and exponent.
  case integer(Int64)
  /// A number written with a point or an exponent.
  case real(Double)
  /// Text.
  case string(String)
  /// Values in order.
  case array([JSONValue])
  /// Names with their values, each name once.
  case object([Member])

  /// A name and its value, in the order of the text.
  package struct Member: Hashable, Sendable {
    package let name: String
    package let value: JSONValue

    package init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// Reads one JSON value (RFC 8259) and nothing behind it.
  ///
  /// Refused, because they could not come back as they were: whole numbers beyond 64 bits, numbers beyond a double,
  /// unpaired surrogates, a name twice in one object; and nesting deeper than 64 levels.
  package init(parsing text: String) throws(JSONFailure) {
    let tree: JSONTree
    do throws(JSONTreeFailure) {
      tree = try JSONTree.read(Array(text.utf8))
    } catch {
      throw JSONFailure(sentence: "\(error.reason).")
    }
    self = try JSONValue(tree)
  }

  private init(_ tree: JSONTree) throws(JSONFailure) {
    switch tree.value {
    case .null: self = .null
    case .boolean(let boolean): self = .boolean(boolean)
    case .string(let text): self = .string(text)
    case .number(let text): self = try Self.number(text)
    case .array(let trees):
      var values: [JSONValue] = []
      for tree in trees { values.append(try JSONValue(tree)) }
      self = .array(values)
    case .object(let trees):
      var members: [Member] = []
      for member in trees { members.append(Member(member.name, try JSONValue(member.value))) }
      self = .object(members)
    }
  }

  private static func number(_ text: String) throws(JSONFailure) -> JSONValue {
    guard text.utf8.contains(where: { ".eE".utf8.contains($0) }) else {
      guard let value = Int64(text) else {
        throw JSONFailure(sentence: "\(text.prefix(40)) does not fit a whole number of 64 bits.")
      }
      return .integer(value)
    }
    guard let value = Double(text), value.isFinite else {
      throw JSONFailure(sentence: "\(text.prefix(40)) does not fit a number of 64 bits.")
    }
    return .real(value)
  }
}

/// Why a text is no JSON value that could be taken unchanged.
package struct JSONFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// One sentence.
  package let sentence: String

  /// The sentence.
  package var description: String { sentence }
}

extension JSONValue: Encodable {
  package func encode(to encoder: any Encoder) throws {
    switch self {
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .boolean(let value): try value.encode(to: encoder)
    case .integer(let value): try value.encode(to: encoder)
    case .real(let value): try value.encode(to: encoder)
    case .string(let value): try value.encode(to: encoder)
    case .array(let values): try values.encode(to: encoder)
    case .object(let members):
      var container = encoder.container(keyedBy: MemberName.self)
      for member in members { try container.encode(member.value, forKey: MemberName(stringValue: member.name)) }
    }
  }
}

private struct MemberName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
