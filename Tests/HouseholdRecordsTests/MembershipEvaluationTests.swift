import HouseholdRecords
import Testing

struct MembershipEvaluationTests {
  @Test func `the genesis makes an owner with an active device`() throws {
    var home = MembershipHousehold()
    let genesis = home.begin()

    let state = try home.state()

    #expect(state.members[home.member("Ann")]?.role == .owner)
    #expect(state.admits(home.device("ann")))
    #expect(state.heads == [genesis])
    #expect(state.genesis?.householdName == "Home")
  }

  @Test func `a join makes the member with the invited role, and uses up the invitation`() throws {
    var home = MembershipHousehold()
    let genesis = home.begin()
    let invite = home.invite("Bo", as: .readOnly, by: "ann", after: [genesis])
    let first = home.join("bo", with: invite, by: "ann")
    _ = home.join("eve", with: invite, by: "ann", after: [first])

    let state = try home.state()

    #expect(state.members[home.member("Bo")]?.role == .readOnly)
    #expect(state.member(of: home.device("bo"))?.name == "Bo")
    #expect(state.admits(home.device("bo")) && !state.admits(home.device("eve")))
    #expect(state.joins[invite] == first)
  }

  @Test func `of two concurrent joins with one invitation every replica takes the same`() throws {
    var home = MembershipHousehold()
    let invite = home.invite("Bo", by: "ann", after: [home.begin()])
    let a = home.join("bo", with: invite, by: "ann")
    let b = home.join("eve", with: invite, by: "ann")

    let state = try home.state()

    #expect(state.joins[invite] == min(a, b))
    #expect(state.devices.count == 2)
  }

  @Test func `a member may invite a device of his own and nobody else`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", by: "ann", after: [home.begin()])
    let tablet = home.admit("Bo", on: "tablet", as: .owner, by: "bo", after: [bo])
    _ = home.admit("Eve", on: "eve", by: "bo", after: [tablet])

    let state = try home.state()

    #expect(state.admits(home.device("tablet")))
    #expect(state.members[home.member("Bo")]?.role == .member)
    #expect(state.members[home.member("Eve")] == nil)
  }

  @Test func `a join by another device than the inviting one has no effect`() throws {
    var home = MembershipHousehold()
    let laptop = home.admit("Ann", on: "laptop", by: "ann", after: [home.begin()])
    let invite = home.invite("Bo", by: "ann", after: [laptop])
    _ = home.join("bo", with: invite, by: "laptop")

    #expect(try home.state().members.count == 1)
  }

  @Test func `a join retires the devices that it replaces, and they may do no more`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "old", by: "ann", after: [home.begin()])
    let invite = home.invite("Bo", by: "ann", after: [bo])
    let join = home.join("new", with: invite, by: "ann", replacing: ["old", "ann"])
    home.write("old", after: [join], .rename(MembershipEntry.Rename(subject: .member(home.member("Bo")), name: "X")))

    let state = try home.state()

    #expect(state.devices[home.device("old")]?.state == .retired)
    #expect(state.admits(home.device("new")))
    #expect(state.admits(home.device("ann")), "a device of someone else is not replaced")
    #expect(state.members[home.member("Bo")]?.name == "Bo")
  }

  @Test func `everyone renames what is his own, an owner everything`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", by: "ann", after: [home.begin()])
    let a = home.write(
      "bo", after: [bo], .rename(MembershipEntry.Rename(subject: .member(home.member("Ann")), name: "Fool")))
    let b = home.write(
      "bo", after: [a], .rename(MembershipEntry.Rename(subject: .member(home.member("Bo")), name: "Bob")))
    home.write(
      "ann", after: [b], .rename(MembershipEntry.Rename(subject: .device(home.device("bo")), name: "Bob's phone")))

    let state = try home.state()

    #expect(state.members.values.map(\.name).sorted() == ["Ann", "Bob"])
    #expect(state.devices[home.device("bo")]?.name == "Bob's phone")
  }

  @Test func `two members never have equal names, nor two devices of one member`() throws {
    var home = MembershipHousehold()
    let genesis = home.begin()
    let a = home.join("x", with: home.invite("B1", by: "ann", after: [genesis], name: "Ann"), by: "ann")
    let b = home.join("y", with: home.invite("B2", by: "ann", after: [a], name: "Ann"), by: "ann")
    _ = home.join("z", with: home.invite("Ann", by: "ann", after: [b]), by: "ann", name: "ann")

    let state = try home.state()

    #expect(state.members[home.member("Ann")]?.name == "Ann")
    #expect(state.members[home.member("B1")]?.name == "Ann 2")
    #expect(state.members[home.member("B2")]?.name == "Ann 3")
    #expect(state.devices[home.device("z")]?.name == "ann 2")
  }

  @Test func `the greatest schema version that is readable here and by an owner holds`() throws {
    var home = MembershipHousehold()
    var odd = FieldDefinition("b", .text)
    odd.type = "hologram"
    let bo = home.admit("Bo", on: "bo", by: "ann", after: [home.begin()])
    let two = home.write("ann", after: [bo], .schema(Schema(name: "two", version: 2, types: [])))
    let one = home.write("ann", after: [two], .schema(Schema(name: "one", version: 1, types: [])))
    let three = home.write(
      "ann", after: [one],
      .schema(Schema(name: "three", version: 3, types: [RecordType(name: "a", fields: [odd])])))
    let four = home.write(
      "ann", after: [three],
      .schema(Schema(name: "four", version: 4, types: [RecordType(name: "a", fields: [], strategy: "vote")])))
    home.write("bo", after: [four], .schema(Schema(name: "five", version: 5, types: [])))

    #expect(try home.state().schema.name == "two")
  }

  @Test func `what a removed member does after the removal or beside it has no effect`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", as: .owner, by: "ann", after: [home.begin()])
    let removal = home.remove("Bo", by: "ann", after: [bo])
    _ = home.admit("Eve", on: "eve", by: "bo", after: [bo])
    _ = home.admit("Fay", on: "fay", by: "bo", after: [removal])

    let state = try home.state()

    #expect(state.members[home.member("Bo")]?.state == .removed)
    #expect(!state.admits(home.device("bo")))
    #expect(state.members[home.member("Eve")] == nil && state.members[home.member("Fay")] == nil)
  }

  @Test func `of two owners who remove each other the older stays`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", as: .owner, by: "ann", after: [home.begin()])
    _ = home.remove("Ann", by: "bo", after: [bo])
    _ = home.remove("Bo", by: "ann", after: [bo])

    let state = try home.state()

    #expect(state.members[home.member("Ann")]?.state == .active)
    #expect(state.members[home.member("Bo")]?.state == .removed)
  }

  @Test func `of three owners in a chain of removals the oldest decides and the last is spared`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", as: .owner, by: "ann", after: [home.begin()])
    let cy = home.admit("Cy", on: "cy", as: .owner, by: "ann", after: [bo])
    // Ann's removal of Bo becomes ready late: it has seen a rename by Cy.
    let name = home.write(
      "cy", after: [cy], .rename(MembershipEntry.Rename(subject: .device(home.device("cy")), name: "c")))
    _ = home.remove("Bo", by: "ann", after: [name])
    _ = home.remove("Cy", by: "bo", after: [cy])
    _ = home.admit("Eve", on: "eve", by: "cy", after: [cy])

    let state = try home.state()

    #expect(state.members[home.member("Bo")]?.state == .removed)
    #expect(state.members[home.member("Cy")]?.state == .active)
    #expect(state.admits(home.device("eve")), "the act of Cy is not lost with the void removal of Cy")
  }

  @Test func `a circle of acts that void each other comes to an end`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", as: .owner, by: "ann", after: [home.begin()])
    let cy = home.admit("Cy", on: "cy", as: .owner, by: "ann", after: [bo])
    let demotion = home.setRole("Ann", .member, by: "cy", after: [cy])
    _ = home.remove("Cy", by: "bo", after: [cy])
    _ = home.remove("Bo", by: "ann", after: [demotion])

    let state = try home.state()

    #expect(state.members.values.contains { $0.role == .owner && $0.state == .active })
  }

  @Test func `a demoted owner keeps what is his own, and the last owner stays`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", as: .owner, by: "ann", after: [home.begin()])
    let demotion = home.setRole("Bo", .readOnly, by: "ann", after: [bo])
    home.write("bo", after: [bo], .rename(MembershipEntry.Rename(subject: .member(home.member("Bo")), name: "Bob")))
    home.write("bo", after: [bo], .rename(MembershipEntry.Rename(subject: .member(home.member("Ann")), name: "X")))
    let last = home.setRole("Ann", .member, by: "ann", after: [demotion])
    _ = home.remove("Ann", by: "ann", after: [last])

    let state = try home.state()

    #expect(state.members[home.member("Bo")]?.role == .readOnly)
    #expect(state.members[home.member("Bo")]?.name == "Bob")
    #expect(state.members[home.member("Ann")]?.role == .owner)
    #expect(state.members[home.member("Ann")]?.state == .active)
    #expect(state.members[home.member("Ann")]?.name == "Ann")
  }

  @Test func `someone removed comes back only by an invitation that knew of the removal`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", by: "ann", after: [home.begin()])
    let early = home.invite("Bo", by: "ann", after: [bo])
    let removal = home.remove("Bo", by: "ann", after: [early])
    let refused = home.join("b2", with: early, by: "ann", after: [removal])
    #expect(try !home.state().admits(home.device("b2")))

    let late = home.invite("Bo", as: .readOnly, by: "ann", after: [refused])
    _ = home.join("b3", with: late, by: "ann")

    let state = try home.state()
    #expect(state.admits(home.device("b3")) && !state.admits(home.device("bo")))
    #expect(state.members[home.member("Bo")]?.role == .readOnly)
  }

  @Test func `sleeping devices are admitted and wake by themselves`() throws {
    var home = MembershipHousehold()
    let bo = home.admit("Bo", on: "bo", by: "ann", after: [home.begin()])
    func dormancy(_ isDormant: Bool) -> MembershipEntry.Statement {
      .dormancy(
        MembershipEntry.Dormancy(device: home.device("bo"), isDormant: isDormant, confirmed: Dependencies()))
    }
    let (sleep, wake) = (dormancy(true), dormancy(false))
    let asleep = home.write("ann", after: [bo], sleep)
    #expect(try home.state().devices[home.device("bo")]?.state == .dormant)
    #expect(try home.state().admits(home.device("bo")))

    home.write("bo", after: [asleep], wake)

    #expect(try home.state().devices[home.device("bo")]?.state == .active)
  }

  @Test func `a new device takes the place of those of its name that belong, awake or asleep`() throws {
    var home = MembershipHousehold()
    let first = home.join("b1", with: home.invite("Bo", by: "ann", after: [home.begin()]), by: "ann", name: "laptop")
    let asleep = home.write(
      "ann", after: [first],
      .dormancy(MembershipEntry.Dormancy(device: home.device("b1"), isDormant: true, confirmed: Dependencies())))
    #expect(try home.state().devices(of: home.member("Bo"), named: "laptop") == [home.device("b1")])
    #expect(try home.state().devices(of: home.member("Ann"), named: "laptop").isEmpty)

    home.end("b1", .retired, by: "ann", after: [asleep])

    #expect(try home.state().devices(of: home.member("Bo"), named: "laptop").isEmpty)
  }

  @Test(arguments: 0..<24 as Range<UInt64>)
  func `any order of adding gives the same state`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let home = randomHousehold(&random)
    let expected = try home.state()
    #expect(expected.members.values.contains { $0.role == .owner && $0.state == .active })

    for _ in 0..<3 {
      var log = MembershipLog(household: home.household)
      let whole = try home.log()
      var rest = home.entries.shuffled(using: &random)
      // Entries arrive one by one, each as soon as what it names is there.
      while !rest.isEmpty {
        let next = try #require(
          rest.firstIndex { bytes in
            (try? SignedEntry(bytes: bytes).decoded().parents.allSatisfy { log.entry($0) != nil }) == true
          })
        _ = try log.add([rest.remove(at: next)], cryptography: home.cryptography)
      }

      #expect(log.entries() == whole.entries())
      #expect(MembershipEvaluation.state(of: log) == expected, "seed \(seed)")
    }
  }

  /// Devices that know different parts of the log write whatever comes to their mind.
  private func randomHousehold(_ random: inout SeededRandom) -> MembershipHousehold {
    var home = MembershipHousehold()
    let genesis = home.begin()
    let people = ["Ann", "Bo", "Cy", "Di"]
    var heads: [String: [EntryHash]] = [:]
    var tip = genesis
    for person in people.dropFirst() {
      tip = home.admit(person, on: person.lowercased(), as: .owner, by: "ann", after: [tip])
    }
    for person in people { heads[person.lowercased()] = [tip] }
    for step in 0..<25 {
      let author = people.randomElement(using: &random)!.lowercased()
      let target = people.randomElement(using: &random)!
      if Bool.random(using: &random) {
        // Learns what another device knows.
        heads[author] = Array(Set(heads[author]! + heads[target.lowercased()]!)).sorted()
        continue
      }
      let parents = heads[author]!
      let hash: EntryHash
      switch Int.random(in: 0..<7, using: &random) {
      case 0: hash = home.remove(target, by: author, after: parents)
      case 1, 2: hash = home.setRole(target, Role.allCases.randomElement(using: &random)!, by: author, after: parents)
      case 3: hash = home.admit(target, on: "\(target)\(step)", by: author, after: parents)
      case 4:
        hash = home.write(
          author, after: parents, .schema(Schema(name: "s\(step)", version: UInt64(step / 5), types: [])))
      default:
        hash = home.write(
          author, after: parents,
          .rename(MembershipEntry.Rename(subject: .member(home.member(target)), name: "name \(step % 3)")))
      }
      heads[author] = [hash]
    }
    return home
  }
}
