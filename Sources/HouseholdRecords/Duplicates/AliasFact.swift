/// The fact that two records of one type are one thing (design 2.7, D8).
///
/// Facts are records of a type of the engine's own, so they travel, merge and are dated like any record. Their id
/// follows from the pair: two devices that find the same two duplicates write the same fact.
package struct AliasFact: Hashable, Sendable {
  /// The type of the two records.
  package let type: String
  /// The id that comes first by its bytes.
  package let first: String
  package let second: String

  /// The fact about two ids in either order; nil if they are the same.
  package init?(type: String, _ a: String, _ b: String) {
    guard !a.hasSameBytes(as: b) else { return nil }
    self.type = type
    (first, second) = a.isBefore(b) ? (a, b) : (b, a)
  }

  /// The fact that a row of the type's table tells; nil if it tells none.
  package init?(row: [FieldValue]) {
    guard row.count == 3, let type = row[0].text, let a = row[1].text, let b = row[2].text else { return nil }
    self.init(type: type, a, b)
  }

  /// The row that tells this fact.
  package var row: [FieldValue] { [.text(type), .text(first), .text(second)] }

  /// The id of the record that holds the fact.
  package func id(_ cryptography: any Cryptography) -> String {
    var writer = ByteWriter()
    writer.text("household-alias/1")
    writer.text(type)
    writer.text(first)
    writer.text(second)
    return hexadecimal(cryptography.sha256(writer.bytes).prefix(16))
  }

  /// The name of the type of facts: no schema may have a type whose name begins like this.
  package static let typeName = "sync_alias"

  /// The type of facts; a fact is one cell.
  package static let recordType = RecordType(
    name: typeName,
    fields: [FieldDefinition("type", .text), FieldDefinition("first", .text), FieldDefinition("second", .text)],
    strategy: MergeStrategy.lastWriterWins.rawValue)
}
