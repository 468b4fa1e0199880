import HouseholdRecords
import Testing

@Suite("Of two devices of one member the one that was introduced earlier decides (decision 0012)")
struct MembershipSeniorityTests {
  /// Ann with her laptop, which founded the household, and her phone; Bo with an owner's device. All know all.
  private struct Story {
    var home = MembershipHousehold()
    var start: EntryHash

    init() {
      let phone = home.admit("Ann", on: "phone", by: "laptop", after: [home.begin("Ann", on: "laptop")])
      start = home.admit("Bo", on: "bo", as: .owner, by: "laptop", after: [phone])
    }

    /// Someone new, let in and made an owner by a device that knows nothing but this.
    mutating func letInEve(by device: String, after parents: [EntryHash]) -> EntryHash {
      home.setRole("Eve", .owner, by: device, after: [home.admit("Eve", on: "eve", by: device, after: parents)])
    }

    func belongs(_ device: String) throws -> Bool { try home.state().admits(home.device(device)) }

    /// The state, after it was found to be the same whatever comes first.
    func stateInAnyOrder() throws -> MembershipState {
      let expected = try home.state()
      let base = home.entries.prefix { SignedEntry(bytes: $0).hash(home.cryptography) != start }
      let concurrent = Array(home.entries.dropFirst(base.count + 1))
      var beginning = MembershipLog(household: home.household)
      _ = try beginning.add(Array(home.entries.prefix(base.count + 1)), cryptography: home.cryptography)
      try tryAll(beginning, concurrent, expected)
      return expected
    }

    /// Adds what is left one by one, in every order in which it can come.
    private func tryAll(_ log: MembershipLog, _ rest: [[UInt8]], _ expected: MembershipState) throws {
      if rest.isEmpty { #expect(MembershipEvaluation.state(of: log) == expected) }
      for (number, bytes) in rest.enumerated()
      where try SignedEntry(bytes: bytes).decoded().parents.allSatisfy({ log.entry($0) != nil }) {
        var (log, rest) = (log, rest)
        _ = try log.add([bytes], cryptography: home.cryptography)
        rest.remove(at: number)
        try tryAll(log, rest, expected)
      }
    }
  }

  @Test(arguments: [MembershipEntry.Removal.Reason.retired, .removed])
  func `who is let in by a device that had not heard of its end does not belong (R4)`(
    reason: MembershipEntry.Removal.Reason
  ) throws {
    var story = Story()
    _ = story.letInEve(by: "phone", after: [story.start])
    story.home.end("phone", reason, by: "laptop", after: [story.start])

    let state = try story.stateInAnyOrder()

    #expect(state.members[story.home.member("Eve")] == nil)
    #expect(!state.admits(story.home.device("eve")) && !state.admits(story.home.device("phone")))
    #expect(state.admits(story.home.device("laptop")))
  }

  @Test func `an end that is heard of late takes back what was judged before (R4)`() throws {
    var story = Story()
    _ = story.letInEve(by: "phone", after: [story.start])
    // The end becomes ready late: it has seen something by a younger owner.
    let name = story.home.write(
      "bo", after: [story.start], .rename(MembershipEntry.Rename(subject: .member(story.home.member("Bo")), name: "B")))
    story.home.end("phone", .retired, by: "laptop", after: [name])

    let state = try story.stateInAnyOrder()

    #expect(state.members[story.home.member("Eve")] == nil)
    #expect(state.members[story.home.member("Bo")]?.name == "B")
  }

  @Test func `what a device did without hearing of its end gives nobody a right (R4)`() throws {
    var story = Story()
    let eve = story.letInEve(by: "phone", after: [story.start])
    _ = story.home.remove("Bo", by: "eve", after: [eve])
    story.home.end("laptop", .removed, by: "eve", after: [eve])
    story.home.end("phone", .retired, by: "laptop", after: [story.start])

    let state = try story.stateInAnyOrder()

    #expect(state.admits(story.home.device("laptop")) && state.admits(story.home.device("bo")))
    #expect(state.members[story.home.member("Eve")] == nil)
  }

  @Test func `a younger device ends an older one, and takes back nothing that it did without hearing`() throws {
    var story = Story()
    _ = story.letInEve(by: "laptop", after: [story.start])
    story.home.end("laptop", .retired, by: "phone", after: [story.start])

    let state = try story.stateInAnyOrder()

    #expect(!state.admits(story.home.device("laptop")))
    #expect(state.admits(story.home.device("eve")))
  }

  @Test func `of two devices of one member that end each other the older stays`() throws {
    var story = Story()
    story.home.end("laptop", .removed, by: "phone", after: [story.start])
    story.home.end("phone", .removed, by: "laptop", after: [story.start])

    let state = try story.stateInAnyOrder()

    #expect(state.admits(story.home.device("laptop")) && !state.admits(story.home.device("phone")))
  }

  @Test func `a device that another one takes the place of lets nobody in either`() throws {
    var story = Story()
    _ = story.letInEve(by: "phone", after: [story.start])
    let invite = story.home.invite("Ann", by: "laptop", after: [story.start])
    _ = story.home.join("new phone", with: invite, by: "laptop", name: "phone", replacing: ["phone"])

    let state = try story.stateInAnyOrder()

    #expect(state.members[story.home.member("Eve")] == nil)
    #expect(state.admits(story.home.device("new phone")))
  }

  @Test func `it is so for those who are no owners, and among their own devices only`() throws {
    var story = Story()
    let cy = story.home.admit("Cy", on: "c1", by: "laptop", after: [story.start])
    story.start = story.home.admit("Cy", on: "c2", by: "c1", after: [cy])
    story.home.end("c2", .retired, by: "c1", after: [story.start])
    _ = story.home.admit("Cy", on: "c3", by: "c2", after: [story.start])
    story.home.end("phone", .retired, by: "c1", after: [story.start])

    let state = try story.stateInAnyOrder()

    #expect(!state.admits(story.home.device("c3")) && !state.admits(story.home.device("c2")))
    #expect(state.admits(story.home.device("phone")))
  }

  @Test(arguments: [("laptop", "phone", false), ("phone", "laptop", true)])
  func `who leaves with one device leaves with all, and only younger ones lose what they did meanwhile`(
    leaving: String, other: String, stands: Bool
  ) throws {
    var story = Story()
    _ = story.letInEve(by: other, after: [story.start])
    story.home.write(
      leaving, after: [story.start],
      .removal(
        MembershipEntry.Removal(subject: .member(story.home.member("Ann")), reason: .left, cutoffs: [])))

    let state = try story.stateInAnyOrder()

    #expect(state.members[story.home.member("Ann")]?.state == .left)
    #expect(!state.admits(story.home.device(leaving)) && !state.admits(story.home.device(other)))
    #expect(state.admits(story.home.device("eve")) == stands)
  }

  @Test func `nobody makes an older device younger by letting it in again`() throws {
    var story = Story()
    let again = story.home.admit("Ann", on: "laptop", by: "phone", after: [story.start])
    story.home.end("laptop", .removed, by: "phone", after: [again])
    story.home.end("phone", .removed, by: "laptop", after: [again])

    let state = try story.stateInAnyOrder()

    #expect(state.admits(story.home.device("laptop")) && !state.admits(story.home.device("phone")))
  }

  @Test(arguments: 0..<32 as Range<UInt64>)
  func `any order of adding gives the same state where members have several devices (R4)`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var home = MembershipHousehold()
    var tip = home.begin("Ann", on: "Ann 0")
    for (device, member) in [("Ann 1", "Ann"), ("Bo 0", "Bo"), ("Bo 1", "Bo"), ("Ann 2", "Ann"), ("Cy 0", "Cy")] {
      tip = home.admit(member, on: device, as: .owner, by: "Ann 0", after: [tip])
    }
    let devices = ["Ann 0", "Ann 1", "Ann 2", "Bo 0", "Bo 1", "Cy 0"]
    var heads = Dictionary(uniqueKeysWithValues: devices.map { ($0, [tip]) })
    for step in 0..<24 {
      let author = devices.randomElement(using: &random)!
      let target = devices.randomElement(using: &random)!
      let parents = heads[author]!
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1, 2: heads[author] = Array(Set(parents + heads[target]!)).sorted()
      case 3, 4: heads[author] = [home.end(target, .retired, by: author, after: parents)]
      case 5: heads[author] = [home.admit(String(target.prefix(2)), on: "\(step)", by: author, after: parents)]
      case 6:
        let invite = home.invite("Ann", by: author, after: parents)
        heads[author] = [home.join("\(step)", with: invite, by: author, replacing: [target])]
      default:
        let member = target.hasPrefix("Ann") ? "Ann" : String(target.prefix(2))
        heads[author] = [home.setRole(member, Role.allCases.randomElement(using: &random)!, by: author, after: parents)]
      }
    }
    let expected = try home.state()
    #expect(expected.devices.keys.contains(where: expected.isOwner), "seed \(seed)")

    for _ in 0..<3 {
      var log = MembershipLog(household: home.household)
      var rest = home.entries.shuffled(using: &random)
      while !rest.isEmpty {
        let next = try #require(
          try rest.firstIndex { bytes in
            try SignedEntry(bytes: bytes).decoded().parents.allSatisfy { log.entry($0) != nil }
          })
        _ = try log.add([rest.remove(at: next)], cryptography: home.cryptography)
      }
      #expect(MembershipEvaluation.state(of: log) == expected, "seed \(seed)")
    }
  }
}
