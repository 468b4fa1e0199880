/// A JSON text as it stands in a file: with lines, and numbers as they were written.
///
/// Unlike a decoder it keeps what a clear error needs: where a value stands, unknown keys, integers beyond 64 bits.
package struct JSONTree: Sendable {
  package indirect enum Value: Sendable {
    case null
    case boolean(Bool)
    /// A number in JSON's own spelling.
    case number(String)
    case string(String)
    case array([JSONTree])
    case object([Member])
  }

  /// A name and its value, in the order of the text.
  package struct Member: Sendable {
    package let name: String
    package let value: JSONTree
  }

  /// The physical line, from 1, on which the value begins.
  package let line: Int
  package let value: Value

  /// Reads one JSON text (RFC 8259) and nothing behind it.
  package static func read(_ bytes: [UInt8]) throws(JSONTreeFailure) -> JSONTree {
    var reader = JSONTreeReader(bytes: bytes)
    return try reader.readDocument()
  }

  /// The value of a member; nil if it is no object or has no such member.
  package subscript(_ name: String) -> JSONTree? {
    guard case .object(let members) = value else { return nil }
    return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// The kind in words, for sentences.
  package var kind: String {
    switch value {
    case .null: "null"
    case .boolean: "true or false"
    case .number: "a number"
    case .string: "text"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

/// Why a text is no JSON, and on which physical line.
package struct JSONTreeFailure: Error, Hashable, Sendable {
  package let line: Int
  /// The end of a sentence that begins with "line N: ".
  package let reason: String
}
