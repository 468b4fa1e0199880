import HouseholdRecords
import Testing

@Suite("Records that are one thing")
struct RecordGroupTests {
  /// Nobody has seen anything of another replica.
  struct Apart: Coverage {
    func covers(_ later: ChangesetName, _ earlier: ChangesetName) -> Bool {
      later.replica == earlier.replica && later.sequence > earlier.sequence
    }
  }

  static func name(_ replica: UInt8, _ sequence: UInt64) -> ChangesetName {
    ChangesetName(replica: ReplicaID(bytes: [UInt8](repeating: replica, count: 16))!, sequence: sequence)
  }

  static func write(_ name: ChangesetName, _ stamp: UInt64, _ value: CellValue, weak: Bool = false) -> Write {
    Write(name: name, stamp: Stamp(rawValue: stamp), life: 1, isWeak: weak, value: value)
  }

  /// A record made by a replica with one name, alive or not.
  static func member(_ id: String, by replica: UInt8, stamp: UInt64, _ text: String?, isAlive: Bool = true)
    -> RecordGroup.Member
  {
    let made = name(replica, 1)
    let alive = write(made, stamp, .alive(isAlive))
    let value = write(made, stamp, .fields([text.map(FieldValue.text) ?? .null]), weak: text == nil)
    return RecordGroup.Member(id: id, state: RecordState(cells: [CellName.alive: [alive], "name": [value]]))
  }

  static func shown(_ group: RecordGroup) throws -> FieldValue? {
    group.combined(try group.entries(coverage: Apart())).winner(of: "name")?.value.values.first
  }

  @Test func `the smallest live id survives, a built-in one before all, in whatever order they are told`() throws {
    let members = [
      Self.member("b", by: 1, stamp: 1, "one"), Self.member("a", by: 2, stamp: 2, "two", isAlive: false),
      Self.member("é", by: 3, stamp: 3, "three"), Self.member("e\u{301}", by: 4, stamp: 9, "four"),
    ]
    for shift in members.indices {
      let order = Array(members[shift...] + members[..<shift])
      let group = try #require(RecordGroup(order) { _ in false })
      #expect(group.members.map { Array($0.id.utf8) } == ["b", "e\u{301}", "é", "a"].map { Array($0.utf8) })
      #expect(try Self.shown(group) == .text("four"))
      #expect(try #require(RecordGroup(order) { $0.hasSameBytes(as: "é") }).survivor.id.hasSameBytes(as: "é"))
    }
  }

  @Test func `of a group that is deleted whole the smallest id stands for it`() throws {
    let members = ["c", "b"].enumerated().map { index, id in
      Self.member(id, by: UInt8(index + 1), stamp: 5, id, isAlive: false)
    }
    let group = try #require(RecordGroup(members) { _ in false })

    #expect(group.survivor.id == "b")
    #expect(!group.isAlive)
  }

  @Test func `a name that somebody wrote goes before one that was left out, and null is no conflict`() throws {
    let members = [Self.member("a", by: 1, stamp: 9, nil), Self.member("b", by: 2, stamp: 1, "written")]
    let group = try #require(RecordGroup(members) { _ in false })
    let entries = try group.entries(coverage: Apart())

    #expect(try Self.shown(group) == .text("written"))
    #expect(group.conflicts(entries, strategy: { _ in .merge }, isSame: { $1 == $2 }).isEmpty)
  }

  @Test func `two members that one changeset wrote are told apart, and what the second had is not lost`() throws {
    let members = [Self.member("b", by: 1, stamp: 1, "second"), Self.member("a", by: 1, stamp: 1, "first")]
    let group = try #require(RecordGroup(members) { _ in false })
    let conflicts = group.conflicts(
      try group.entries(coverage: Apart()), strategy: { _ in .merge }, isSame: { $1 == $2 })

    #expect(try Self.shown(group) == .text("first"))
    #expect(conflicts.map(\.owner) == ["b"])
    #expect(conflicts.map(\.conflict.lost.value) == [.fields([.text("second")])])
  }

  @Test func `only so many live members compete, the first by their ids`() throws {
    let members = (0...Limits.competingDuplicates).map { index in
      Self.member("m\(1000 + index)", by: UInt8(index % 250 + 1), stamp: UInt64(index), "\(index)")
    }
    let group = try #require(RecordGroup(members.reversed()) { _ in false })

    #expect(group.competing.count == Limits.competingDuplicates)
    #expect(try Self.shown(group) == .text("\(Limits.competingDuplicates - 1)"))
  }

  @Test func `facts make the same groups in any order, and taking one back parts what hung on it`() {
    let facts = [("a", "b"), ("c", "d"), ("b", "c"), ("d", "a"), ("x", "y")]
    for shift in facts.indices {
      var groups = AliasGroups<String>()
      for (one, other) in facts[shift...] + facts[..<shift] { groups.join(one, other) }
      #expect(groups.group(of: "d") == ["a", "b", "c", "d"])
      groups.part("c", "b")
      #expect(groups.group(of: "b") == ["a", "b", "c", "d"])
      groups.part("a", "d")
      #expect(groups.group(of: "b") == ["a", "b"])
      #expect(groups.group(of: "d") == ["c", "d"])
      groups.part("x", "y")
      #expect(!groups.isMember("x"))
    }
  }

  @Test func `a key folds names, needs what it goes by, and takes null inside for a value of its own`() {
    let type = RecordType(
      name: "category",
      fields: [FieldDefinition("name", .text), FieldDefinition("group", .reference, to: "category_group")],
      unique: [UniqueRule(by: ["name"], within: ["group"])])
    func key(_ name: FieldValue, _ group: FieldValue) -> [UInt8]? {
      UniqueKey.bytes(of: [name, group], rule: type.unique[0], type: type)
    }

    #expect(key(.text(" CAFÉ"), .null) == key(.text("cafe\u{301}"), .null))
    #expect(key(.text("a"), .text("G")) != key(.text("a"), .text("g")))
    #expect(key(.text("a"), .null) != key(.text("a"), .text("")))
    #expect(key(.null, .text("g")) == nil)
  }
}
