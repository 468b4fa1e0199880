/// An object of a manifest whose keys are all known.
struct ManifestObject {
  private let line: Int
  private let values: [String: JSONTree]

  /// Refuses what is no object and every key that is not among `keys`.
  init(_ tree: JSONTree, keys: [String]) throws(SchemaManifestFailure) {
    line = tree.line
    guard case .object(let members) = tree.value else {
      throw SchemaManifestFailure(
        line: tree.line,
        sentence: "An object with \(keys.map(quoted).joined(separator: ", ")) is due, not \(tree.kind).")
    }
    var values: [String: JSONTree] = [:]
    for member in members {
      guard keys.contains(member.name) else {
        throw SchemaManifestFailure(
          line: member.value.line,
          sentence: "\(quoted(member.name)) is not known here\(nearest(to: member.name, among: keys)).")
      }
      values[member.name] = member.value
    }
    self.values = values
  }

  /// The value of a key that must be there.
  func required(_ key: String) throws(SchemaManifestFailure) -> ManifestValue {
    guard let value = optional(key) else { throw failure("\(quoted(key)) is missing.") }
    return value
  }

  /// The value of a key that may be left out.
  func optional(_ key: String) -> ManifestValue? { values[key].map { ManifestValue($0, key: key) } }

  /// A failure on the line of this object.
  func failure(_ sentence: String) -> SchemaManifestFailure { SchemaManifestFailure(line: line, sentence: sentence) }
}

/// One value of a manifest and the key under which it stands.
struct ManifestValue {
  let tree: JSONTree
  private let key: String

  init(_ tree: JSONTree, key: String) {
    self.tree = tree
    self.key = key
  }

  func text() throws(SchemaManifestFailure) -> String {
    guard case .string(let text) = tree.value else { throw failure("text") }
    return text
  }

  /// A whole number from 0.
  func count() throws(SchemaManifestFailure) -> UInt64 {
    guard case .number(let digits) = tree.value, let count = UInt64(digits) else {
      throw failure("a whole number that is not negative")
    }
    return count
  }

  func list() throws(SchemaManifestFailure) -> [ManifestValue] {
    guard case .array(let entries) = tree.value else { throw failure("a list") }
    return entries.map { ManifestValue($0, key: key) }
  }

  func texts() throws(SchemaManifestFailure) -> [String] {
    var texts: [String] = []
    for entry in try list() { texts.append(try entry.text()) }
    return texts
  }

  func members() throws(SchemaManifestFailure) -> [JSONTree.Member] {
    guard case .object(let members) = tree.value else { throw failure("an object") }
    return members
  }

  private func failure(_ due: String) -> SchemaManifestFailure {
    SchemaManifestFailure(line: tree.line, sentence: "\(quoted(key)) must be \(due), not \(tree.kind).")
  }
}
