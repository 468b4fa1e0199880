import Foundation
import HouseholdRecords
import HouseholdReplica
import HouseholdTrust
import Testing

@Suite("Cutoffs name changesets, not names: who forks his log after his removal gains nothing (D4, D5)")
struct ForkedCutoffTests {
  /// Cy's replica was copied after his first changeset; he wrote two more, and is removed by ann, who has all three.
  private final class Stage {
    let home: TestHousehold
    let copy: String
    let honest: [PackedChangeset]

    /// One whose changeset has a hash that others can well be below and above.
    static func make(removes: Bool = true) throws -> Stage {
      while true {
        let stage = try Stage(removes: removes)
        if try (0x20...0xDF).contains(hash(stage.honest[0]).bytes[0]) { return stage }
      }
    }

    private init(removes: Bool) throws {
      home = try TestHousehold("ann", "bo", "cy", "di")
      try home["cy"].put("category", "c1", [("note", .text("first"))])
      try home["cy"].seal()
      try home.settle("ann", "bo", "cy", "di")
      copy = home.folder.appending(path: "copy.sqlite").path
      try Replica.copy(home["cy"].path, to: copy)
      let known = try home["cy"].replica.vectors().received
      try home["cy"].put("category", "c2", [("note", .text("second"))])
      try home["cy"].seal()
      home["cy"].now = home["cy"].now.advanced(byMilliseconds: 60_000)
      try home["cy"].put("category", "c3", [("note", .text("third"))])
      try home["cy"].seal()
      honest = try Self.changesets(of: home["cy"].replica, beyond: known)
      #expect(honest.count == 2)
      try home.settle("ann", "bo", "cy")
      if removes { try home.remove("cy", by: "ann") }
    }

    static func hash(_ packed: PackedChangeset) throws -> ChangesetHash {
      OpenSSLCryptography().hashed(try Replica.unpack(packed).0.bytes)
    }

    static func changesets(of replica: Replica, beyond known: VersionVector) throws -> [PackedChangeset] {
      try replica.log(after: .start, skipping: known, limitBytes: .max).changesets.map(\.packed)
    }

    /// What the copy seals after the removal, so often until its first changeset would take the name or not.
    func forged(takingTheName: Bool, changesets count: Int) throws -> [PackedChangeset] {
      let kept = try Self.hash(honest[0])
      for attempt in 0..<64 {
        let path = home.folder.appending(path: "forged-\(takingTheName)-\(attempt).sqlite").path
        try FileManager.default.copyItem(atPath: copy, toPath: path)
        let replica = try Replica(path: path, cryptography: OpenSSLCryptography(), signer: home["cy"].key)
        let known = try replica.vectors().received
        let access = try RecordAccess(path: path, readOnly: false, cryptography: OpenSSLCryptography())
        defer {
          access.close()
          replica.close()
        }
        var now = home["cy"].now.advanced(byMilliseconds: 600_000 + Int64(attempt))
        for number in 0..<count {
          let type = try #require(access.schema.type("category"))
          _ = try access.put(type, "late-\(number)", [(name: "note", value: .text("late \(attempt)"))])
          _ = try replica.seal(now: now)
          now = now.advanced(byMilliseconds: 60_000)
        }
        let made = try Self.changesets(of: replica, beyond: known)
        if try (Self.hash(made[0]) < kept) == takingTheName { return made }
      }
      throw CancellationError()
    }

    func give(_ changesets: [PackedChangeset], to name: String) throws {
      _ = try home[name].replica.receive(changesets, from: home["cy"].key.device, token: nil, now: home[name].now)
    }

    func expectOnlyTheHonest(_ names: String..., location: SourceLocation = #_sourceLocation) throws {
      for name in names {
        for (id, note) in [("c1", "first"), ("c2", "second"), ("c3", "third")] {
          #expect(
            try home[name].fields("category", id)?["note"] == .text(note), "\(name) \(id)", sourceLocation: location)
        }
        for number in 0..<3 {
          #expect(try home[name].fields("category", "late-\(number)") == nil, "\(name)", sourceLocation: location)
        }
      }
    }
  }

  @Test(arguments: [true, false], [1, 2, 3])
  func `a branch made after the removal counts nowhere, whatever its name, and takes nothing away`(
    takingTheName: Bool, count: Int
  ) throws {
    let stage = try Stage.make()
    let forged = try stage.forged(takingTheName: takingTheName, changesets: count)

    // Ann and bo know the removal and all that counts; the forgery comes afterwards.
    try stage.home.tell("bo", from: "ann")
    for name in ["ann", "bo"] { try stage.give(forged, to: name) }
    try stage.expectOnlyTheHonest("ann", "bo")
    for name in ["ann", "bo"] { try stage.home[name].restart() }
    try stage.expectOnlyTheHonest("ann", "bo")

    // Di has the forgery before she hears of the removal, and what counts last.
    try stage.give(forged, to: "di")
    #expect(try stage.home["di"].fields("category", "late-0") != nil)
    try stage.home.tell("di", from: "ann")
    try stage.give(stage.honest, to: "di")
    try stage.expectOnlyTheHonest("di")
    try stage.home.settle("ann", "bo", "di")
    try stage.expectOnlyTheHonest("ann", "bo", "di")
    #expect(try stage.home.firstDifference("ann", "bo", "di") == nil)
  }

  @Test(arguments: [true, false])
  func `where the last one that counts has not come, another in its place does not stand for it`(
    takingTheName: Bool
  ) throws {
    let stage = try Stage.make()
    let forged = try stage.forged(takingTheName: takingTheName, changesets: 2)
    try stage.home.tell("di", from: "ann")

    try stage.give(forged, to: "di")
    for number in 0..<2 { #expect(try stage.home["di"].fields("category", "late-\(number)") == nil) }
    try stage.give(stage.honest, to: "di")

    try stage.expectOnlyTheHonest("di")
    try stage.give(forged, to: "ann")
    #expect(try stage.home.firstDifference("ann", "di") == nil)
  }

  @Test(arguments: [true, false])
  func `where the end of a branch has not come that counts, its beginning counts, and what it began from`(
    takingTheName: Bool
  ) throws {
    let stage = try Stage.make()
    let forged = try stage.forged(takingTheName: takingTheName, changesets: 3)
    try stage.give(forged, to: "di")
    try stage.give([stage.honest[0]], to: "di")
    #expect(try stage.home["di"].fields("category", "late-0") != nil)

    // The end is the third changeset of the replica, and another one has its place here.
    try stage.home.tell("di", from: "ann")
    for number in 0..<3 { #expect(try stage.home["di"].fields("category", "late-\(number)") == nil) }
    #expect(try stage.home["di"].fields("category", "c1")?["note"] == .text("first"))
    #expect(try stage.home["di"].fields("category", "c2")?["note"] == .text("second"))

    try stage.give(stage.honest, to: "di")
    try stage.expectOnlyTheHonest("di")
    try stage.give(forged, to: "ann")
    #expect(try stage.home.firstDifference("ann", "di") == nil)
  }

  @Test(arguments: [true, false])
  func `the beginning of a branch counts where only that is known, and where its end counts, under any name`(
    takingTheName: Bool
  ) throws {
    let stage = try Stage.make(removes: false)
    let known = try stage.forged(takingTheName: takingTheName, changesets: 3)
    try stage.give(known, to: "ann")
    // Di has the copy's branch only, longer than the other one, and not its end.
    try stage.give(Array(known.prefix(2)), to: "di")
    try stage.home.remove("cy", by: "ann")
    try stage.home.tell("di", from: "ann")
    for number in 0..<2 { #expect(try stage.home["di"].fields("category", "late-\(number)") != nil, "\(number)") }

    try stage.give([known[2]], to: "di")
    try stage.give(stage.honest, to: "di")
    #expect(try stage.home.firstDifference("ann", "di") == nil)
  }

  @Test func `a name of which nothing has come is no branch of a replica all of which is there`() throws {
    let stage = try Stage.make(removes: false)
    // Another replica of cy's, of which di has nothing, is longer than the first.
    try stage.home["cy"].replica.mint(.restored, now: stage.home["cy"].now)
    for number in 1...6 {
      try stage.home["cy"].put("category", "other", [("note", .text("\(number)"))])
      try stage.home["cy"].seal()
    }
    try stage.home.settle("ann", "cy")
    try stage.home.remove("cy", by: "ann")
    let late = try stage.forged(takingTheName: true, changesets: 3)
    try stage.give(stage.honest, to: "di")
    try stage.home.tell("di", from: "ann")
    try stage.give(late, to: "di")
    for number in 0..<3 { #expect(try stage.home["di"].fields("category", "late-\(number)") == nil, "\(number)") }
  }

  @Test(arguments: [true, false])
  func `who had seen a branch that does not count has not seen the one that does, though the other never comes`(
    takingTheName: Bool
  ) throws {
    let stage = try Stage.make()
    let forged = try stage.forged(takingTheName: takingTheName, changesets: 1)
    try stage.give(forged, to: "di")
    let di = stage.home["di"]
    let known = try di.replica.vectors().received
    try di.put("category", "c2", [("note", .text("di's"))])
    try di.seal()
    let edit = try Stage.changesets(of: di.replica, beyond: known)

    // Bo has cy's second changeset and not the other of that number, which di has seen.
    try stage.home.tell("bo", from: "ann")
    try stage.give(edit, to: "bo")
    #expect(try stage.home["bo"].access.conflicts(includingClosed: false).count == 1)

    try stage.home.tell("di", from: "ann")
    try stage.give(stage.honest, to: "di")
    for changesets in [forged, edit] { try stage.give(changesets, to: "ann") }
    try stage.give(forged, to: "bo")
    for name in ["ann", "bo", "di"] {
      #expect(try stage.home[name].access.conflicts(includingClosed: false).count == 1, "\(name)")
    }
    #expect(try stage.home.firstDifference("ann", "bo", "di") == nil)
  }

  @Test func `who had seen another branch had not seen the one that is here, also if that shows only later`() throws {
    let stage = try Stage.make(removes: false)
    let (home, late) = (stage.home, try stage.forged(takingTheName: true, changesets: 2))
    try home.makeOwner("di", by: "ann")
    try home.tell("di", from: "ann")
    try home.add("ed", needsSnapshot: true)
    try home.adoptSnapshot("ed", from: "di")
    // Bo writes into the copy's record, and has the third changeset of the other branch.
    let known = try home["bo"].replica.vectors().received
    try home["bo"].put("category", "late-0", [("note", .text("bo's"))])
    try home["bo"].seal()
    let edit = try Stage.changesets(of: home["bo"].replica, beyond: known)
    // Di knows the copy's second one, which counts; its third does not.
    try stage.give([late[0]], to: "di")
    try home.remove("cy", by: "di")
    try stage.give([late[1]], to: "di")
    try stage.give(edit, to: "di")

    try stage.give([late[0]], to: "ed")
    try home.tell("ed", from: "di")
    try stage.give(edit, to: "ed")
    #expect(try home["ed"].replica.vectors().applied[home["bo"].replica.replica] > 0)
    try stage.give([late[1]], to: "ed")

    for name in ["di", "ed"] {
      #expect(try home[name].access.conflicts(includingClosed: false).count == 1, "\(name)")
    }
    #expect(try home.firstDifference("di", "ed") == nil)
  }

  @Test(arguments: [true, false])
  func `branches that were known at the removal both count, and a third one does not`(takingTheName: Bool) throws {
    let stage = try Stage.make(removes: false)
    let known = try stage.forged(takingTheName: !takingTheName, changesets: 2)
    try stage.give(known, to: "ann")
    #expect(try stage.home["ann"].fields("category", "late-1") != nil)
    let before = try #require(try stage.home["ann"].fields("category", "late-0"))
    try stage.home.remove("cy", by: "ann")

    let third = try stage.forged(takingTheName: takingTheName, changesets: 3)
    for name in ["ann", "bo"] {
      try stage.home.tell(name, from: "ann")
      try stage.give(third, to: name)
    }
    try stage.home.tell("di", from: "ann")
    for changesets in [third, known, stage.honest] { try stage.give(changesets, to: "di") }
    try stage.give(known, to: "bo")

    for name in ["ann", "bo", "di"] {
      #expect(try stage.home[name].fields("category", "late-0") == before, "\(name)")
      #expect(try stage.home[name].fields("category", "late-2") == nil, "\(name)")
      #expect(try stage.home[name].fields("category", "c3")?["note"] == .text("third"), "\(name)")
    }
    #expect(try stage.home.firstDifference("ann", "bo", "di") == nil)
  }

  @Test(arguments: [true, false], [true, false])
  func `who had seen the end of a branch that does not count has seen its beginning, whenever the end comes`(
    takingTheName: Bool, bySnapshot: Bool
  ) throws {
    let stage = try Stage.make(removes: false)
    let branch = try stage.forged(takingTheName: takingTheName, changesets: 2)
    let (beginning, end) = ([branch[0]], [branch[1]])
    // Somebody writes over what the beginning wrote, and has seen the end; the owner has not, when cy is removed.
    try stage.give(branch, to: "bo")
    let name = bySnapshot ? "ed" : "bo"
    if bySnapshot {
      try stage.home.add("ed", needsSnapshot: true)
      try stage.home.adoptSnapshot("ed", from: "bo")
    }
    let writer = stage.home[name]
    let known = try writer.replica.vectors().received
    try writer.put("category", "late-0", [("note", .text("a person's"))])
    try writer.seal()
    let edit = try Stage.changesets(of: writer.replica, beyond: known)
    try stage.give(beginning, to: "ann")
    try stage.home.remove("cy", by: "ann")
    for device in ["bo", name, "di"] { try stage.home.tell(device, from: "ann") }

    // Nobody waits for what does not count.
    for changesets in [stage.honest, beginning, edit] { try stage.give(changesets, to: "di") }
    #expect(try stage.home["di"].fields("category", "late-0")?["note"] == .text("a person's"))
    #expect(try stage.home["di"].replica.vectors().applied == writer.replica.vectors().applied)
    if bySnapshot { try stage.home.adoptSnapshot("di", from: name) } else { try stage.give(end, to: "di") }

    #expect(try stage.home["di"].access.conflicts(includingClosed: false).isEmpty)
    #expect(try stage.home.firstDifference(name, "di") == nil)
    try stage.home.settle("ann", "bo", name, "di")
    #expect(try stage.home.firstDifference("ann", "bo", name, "di") == nil)
  }
}
