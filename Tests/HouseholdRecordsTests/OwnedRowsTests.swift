import HouseholdRecords
import Testing

@Suite("Owned sets: one form, one winner, whatever the order")
struct OwnedRowsTests {
  private func bytes(_ rows: OwnedRows) -> [UInt8] {
    var writer = ByteWriter()
    writer.rows(rows)
    return writer.bytes
  }

  private func decoded(_ bytes: [UInt8]) throws(DecodingViolation) -> OwnedRows {
    var reader = ByteReader(bytes)
    let rows = try reader.rows()
    try reader.finish()
    return rows
  }

  @Test func `a set has the bytes that were agreed on`() throws {
    let set = OwnedRows([
      ("s2", ["note": .text("é"), "amount_minor": .integer(-5)]),
      ("s1", ["amount_minor": .integer(150), "category": .null]),
    ])
    let golden = "020c616d6f756e745f6d696e6f72046e6f746502027331" + "01ac0200" + "027332" + "0109" + "0302c3a9"

    #expect(hexadecimal(bytes(set)) == golden)
    #expect(try decoded(bytes(set)) == set)
    #expect(bytes(.none) == [0, 0])
  }

  @Test func `a changeset with a set has the bytes that were agreed on, and reads back equal`() throws {
    let rows = OwnedRows([("s1", ["amount_minor": .integer(1)])])
    let changeset = Changeset(
      name: ChangesetName(replica: ReplicaID(bytes: [UInt8](repeating: 7, count: 16))!, sequence: 2),
      previous: ChangesetHash(bytes: [UInt8](repeating: 9, count: 32))!, origin: nil, stamp: Stamp(rawValue: 5),
      editedAt: Instant(milliseconds: 3), dependencyChanges: [], schemaVersion: 1, membershipHeads: nil,
      shapes: [Shape(type: "transaction", fields: ["split"])],
      operations: [Operation(kind: .set, shape: 0, id: "t1", life: 1, values: [], rows: rows)])
    let message = ChangesetEncoding.message(changeset)

    let operation = "0b7472616e73616374696f6e" + "01" + "0573706c6974" + "01" + "03" + "00" + "027431" + "01"
    #expect(
      hexadecimal(message).hasSuffix("01" + operation + "010c616d6f756e745f6d696e6f72" + "01" + "027331" + "0102"))
    let signed = SignedChangeset(bytes: message + [UInt8](repeating: 0, count: SignedChangeset.signatureBytes))
    #expect(try signed.decoded() == changeset)
  }

  @Test func `a row that is left out because another has its id leaves no field behind`() throws {
    let set = OwnedRows([("s1", ["a": .integer(1)]), ("s1", ["a": .integer(2), "b": .integer(3)])])

    #expect(set == OwnedRows([("s1", ["a": .integer(1)])]))
    #expect(try decoded(bytes(set)) == set)
  }

  @Test func `equal rows are one set, whatever fields the author's schema knows`() {
    let narrow = OwnedRows([("é", ["a": .integer(1)]), ("e\u{301}", ["a": .integer(2)])])
    let wide = OwnedRows([("e\u{301}", ["a": .integer(2), "b": .null]), ("é", ["b": .null, "a": .integer(1)])])

    #expect(narrow == wide)
    #expect(narrow.rows.count == 2)
    #expect(narrow.row("é")?.values == [.integer(1)])
  }

  @Test(arguments: [
    ("rows out of order", "0101610202733201020273310102", DecodingViolation.notSorted),
    ("a row twice", "0101610202733101020273310102", .notSorted),
    ("fields out of order", "02016201610102733101020102", .notSorted),
    ("a field that no row has", "010161010273 3100", .malformed("a set names a field that none of its rows has")),
    ("a count over the bound", "00a11f", .overLimit), ("too short", "0001", .truncated),
  ])
  func `what is not in the one form is refused`(what: String, hex: String, violation: DecodingViolation) {
    let digits = hex.filter { $0 != " " }
    let data = HouseholdRecords.bytes(hex: digits) ?? []
    #expect(throws: violation, "\(what)") { try decoded(data) }
  }

  @Test func `of concurrent sets the same one wins in any order, and the other is the conflict`() throws {
    let writes = (1...3).map { number in
      Write(
        name: ChangesetName(replica: ReplicaID(bytes: [UInt8](repeating: UInt8(number), count: 16))!, sequence: 1),
        stamp: Stamp(rawValue: UInt64(number % 3)), life: 1, isWeak: false,
        value: .rows(OwnedRows([("s\(number)", ["a": .integer(Int64(number))])])))
    }
    var outcomes: Set<RecordState> = []
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      var state = RecordState()
      for index in order { try state.merge(writes[index], cell: "split", coverage: Unseen()) }
      outcomes.insert(state)
    }
    let state = try #require(outcomes.first)
    #expect(outcomes.count == 1)
    #expect(state.shownSet(of: "split")?.rows.rows.map(\.id) == ["s2"])
    #expect(try state.conflicts(strategy: { _ in .merge }, coverage: Unseen()).map(\.lost) == [writes[0], writes[2]])
  }

  /// Nobody has seen anybody.
  private struct Unseen: Coverage {
    func covers(_ later: ChangesetName, _ earlier: ChangesetName) -> Bool { false }
  }
}
