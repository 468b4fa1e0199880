import HouseholdRecords
import Testing

struct SchemaEncodingTests {
  /// The bytes of a schema of one type, whose strategies are these, in this order.
  private static func bytes(strategies: [(field: String, strategy: String)]) -> [UInt8] {
    let schema = Schema(
      name: "s", version: 1,
      types: [RecordType(name: "t", fields: [FieldDefinition("a", .integer), FieldDefinition("b", .integer)])])
    // The last two bytes count the strategies of the type and the built-in records: none.
    var writer = ByteWriter()
    writer.varint(strategies.count)
    for entry in strategies {
      writer.text(entry.field)
      writer.text(entry.strategy)
    }
    writer.varint(0)
    return SchemaEncoding.encode(schema).dropLast(2) + writer.bytes
  }

  @Test func `a schema has one form, in which no name stands twice (P3)`() throws {
    let right = Self.bytes(strategies: [("a", "max"), ("b", "min")])
    #expect(try SchemaEncoding.encode(SchemaEncoding.decode(right)) == right)

    for wrong in [[("b", "min"), ("a", "max")], [("a", "max"), ("a", "min")], [("e\u{301}", "max"), ("é", "min")]] {
      #expect(throws: DecodingViolation.self) {
        try SchemaEncoding.decode(Self.bytes(strategies: wrong.map { (field: $0.0, strategy: $0.1) }))
      }
    }
  }
}
