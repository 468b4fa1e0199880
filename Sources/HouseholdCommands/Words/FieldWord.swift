/// A field and its value as they are typed: `FIELD=TEXT`, `FIELD=` for empty text, `FIELD:=JSON` for anything else.
package struct FieldWord: Hashable, Sendable {
  /// What a field was set to, before the schema has had its say.
  package enum Value: Hashable, Sendable {
    /// Text as typed.
    case text(String)
    /// No value.
    case null
    /// A whole number of 64 bits, exact.
    case integer(Int64)
    /// A number with a point or an exponent.
    case real(Double)
    /// `true` or `false`.
    case boolean(Bool)
    /// An object or an array: its checked text as typed.
    case json(String)
  }

  /// The name of the field.
  package let name: String
  /// Its value.
  package let value: Value

  /// Reads a word; one without `=` is a usage error that quotes it, bad JSON an error that names the field.
  package init(_ word: String) throws(CommandError) {
    guard let sign = word.utf8.firstIndex(of: UInt8(ascii: "=")), sign > word.utf8.startIndex else {
      throw Self.notAField(word)
    }
    let text = String(decoding: word.utf8[word.utf8.index(after: sign)...], as: UTF8.self)
    let last = word.utf8.index(before: sign)
    guard word.utf8[last] == UInt8(ascii: ":") else {
      name = String(decoding: word.utf8[..<sign], as: UTF8.self)
      value = .text(text)
      return
    }
    guard last > word.utf8.startIndex else { throw Self.notAField(word) }
    name = String(decoding: word.utf8[..<last], as: UTF8.self)
    do {
      value = try Self.value(of: JSONValue(parsing: text), text)
    } catch {
      throw CommandError(
        code: "badValue", message: "the value of the field \(quoted(name)) cannot be taken: \(error.sentence)",
        remedy: "After := comes one JSON value, such as null, true, -1250 or \"text\".")
    }
  }

  /// Whether a word looks like a field with a value, not like an id: a plain name before `=` or `:=`.
  package static func resembles(_ word: String) -> Bool {
    guard let sign = word.utf8.firstIndex(of: UInt8(ascii: "=")) else { return false }
    var name = word.utf8[..<sign]
    if name.last == UInt8(ascii: ":") { name = name.dropLast() }
    return !name.isEmpty
      && name.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      }
  }

  private static func value(of json: JSONValue, _ text: String) -> Value {
    switch json {
    case .null: .null
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .string(let value): .text(value)
    case .array, .object: .json(text)
    }
  }

  private static func notAField(_ word: String) -> CommandError {
    .usage(
      "\(quoted(word)) is no FIELD=VALUE.", remedy: "Write FIELD=TEXT, or FIELD:=JSON for null, numbers and booleans.",
      code: "notAField")
  }
}
