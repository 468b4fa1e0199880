import HouseholdRecords
import Testing

/// What compaction may have taken from one device and not from another counts at neither (D7, D9).
@Suite("Former lives")
struct FormerLivesTests {
  /// Who had seen which changeset, as (later, earlier).
  struct Seen: Coverage {
    var pairs: [(UInt8, UInt8)] = []

    func covers(_ later: ChangesetName, _ earlier: ChangesetName) -> Bool {
      pairs.contains { FormerLivesTests.name($0.0) == later && FormerLivesTests.name($0.1) == earlier }
    }
  }

  private static func name(_ replica: UInt8) -> ChangesetName {
    ChangesetName(replica: ReplicaID(bytes: [UInt8](repeating: replica, count: 16))!, sequence: 1)
  }

  private static func write(_ replica: UInt8, life: UInt64, _ value: CellValue, isWeak: Bool = false) -> Write {
    Write(name: name(replica), stamp: Stamp(rawValue: UInt64(replica)), life: life, isWeak: isWeak, value: value)
  }

  /// Written by 1 in life 1, which 2 ended; made again by 3, who knew of neither.
  private static func state(isWeak: Bool = false, endsAgain: Bool = false) -> RecordState {
    var ends = [write(2, life: 1, .alive(false)), write(3, life: 2, .alive(true))]
    if endsAgain { ends.append(write(4, life: 2, .alive(false))) }
    return RecordState(cells: [
      CellName.alive: ends,
      "note": [
        write(1, life: 1, .fields([.text("old")]), isWeak: isWeak), write(3, life: 2, .fields([.text("new")])),
      ],
    ])
  }

  private static func conflicts(_ state: RecordState, _ seen: Seen) throws -> [Write] {
    try state.conflicts(strategy: { _ in .merge }, coverage: seen).map(\.lost)
  }

  @Test func `an edit of a former life that its end has not seen is a conflict`() throws {
    #expect(try Self.conflicts(Self.state(), Seen()) == [Self.write(1, life: 1, .fields([.text("old")]))])
  }

  @Test(arguments: [[(2, 1)], [(3, 1)]] as [[(UInt8, UInt8)]])
  func `one that its end or the next life's beginning has seen counts for nothing`(pairs: [(UInt8, UInt8)]) throws {
    let seen = Seen(pairs: pairs)

    #expect(try Self.conflicts(Self.state(), seen) == [])
    #expect(try Self.state().withoutFormerLives(coverage: seen).cells["note"]?.map(\.life) == [2])
  }

  @Test func `a generated value of a former life counts for nothing, whoever has seen it`() throws {
    #expect(try Self.state(isWeak: true).withoutFormerLives(coverage: Seen()).cells["note"]?.map(\.life) == [2])
  }

  @Test func `it is the same when the later life has ended, too`() throws {
    let state = Self.state(endsAgain: true)
    let seen = Seen(pairs: [(2, 1), (4, 3)])

    #expect(!state.isAlive)
    #expect(try Self.conflicts(state, seen) == [])
    #expect(try state.withoutFormerLives(coverage: seen).cells["note"]?.map(\.life) == [2])
  }

  @Test func `the writes of the life of now all count`() throws {
    let state = RecordState(cells: [
      CellName.alive: [Self.write(2, life: 1, .alive(true))],
      "note": [Self.write(1, life: 1, .fields([.null]), isWeak: true), Self.write(2, life: 1, .fields([.text("x")]))],
    ])

    #expect(try state.withoutFormerLives(coverage: Seen(pairs: [(2, 1)])) == state)
  }
}
