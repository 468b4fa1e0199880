import FoundationEssentials

/// A value in a scenario file.
package indirect enum ScenarioJSON: Decodable, Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case list([ScenarioJSON])
  case object([String: ScenarioJSON])

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let boolean = try? container.decode(Bool.self) {
      self = .boolean(boolean)
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let real = try? container.decode(Double.self) {
      self = .real(real)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([ScenarioJSON].self) {
      self = .list(list)
    } else {
      self = .object(try container.decode([String: ScenarioJSON].self))
    }
  }

  /// A member of an object.
  package subscript(_ name: String) -> ScenarioJSON? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  /// The text, if it is one.
  package var text: String? { if case .text(let text) = self { text } else { nil } }

  /// The integer, if it is one.
  package var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }

  /// The boolean, if it is one.
  package var boolean: Bool? { if case .boolean(let boolean) = self { boolean } else { nil } }

  /// The elements; none if it is no list.
  package var elements: [ScenarioJSON] { if case .list(let list) = self { list } else { [] } }

  /// The members in the order of their names; none if it is no object.
  package var members: [(name: String, value: ScenarioJSON)] {
    guard case .object(let members) = self else { return [] }
    return members.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
  }
}
