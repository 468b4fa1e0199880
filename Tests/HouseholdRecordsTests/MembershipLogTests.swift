import HouseholdRecords
import Testing

struct MembershipLogTests {
  @Test func `the plain SHA-256 of these tests is the real one`() {
    #expect(
      hexadecimal(PlainCryptography().sha256(Array("abc".utf8)))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test func `entries come in any order and are given out with parents first`() throws {
    var home = MembershipHousehold()
    let genesis = home.begin()
    let bo = home.admit("Bo", on: "bo", by: "ann", after: [genesis])
    let cy = home.admit("Cy", on: "cy", by: "ann", after: [genesis])
    let name = home.write(
      "bo", after: [bo, cy], .rename(MembershipEntry.Rename(subject: .device(home.device("bo")), name: "Bo's")))
    var log = MembershipLog(household: home.household)

    let added = try log.add(home.entries.reversed() + home.entries, cryptography: home.cryptography)

    #expect(added.count == 6 && added.first == genesis && added.last == name)
    #expect(log.heads == [name])
    #expect(log.hashes.count == 6)
    #expect(log.isAncestor(genesis, of: name) && log.isAncestor(cy, of: name))
    #expect(!log.isAncestor(cy, of: bo) && !log.isAncestor(name, of: genesis) && !log.isAncestor(bo, of: bo))
    var other = MembershipLog(household: home.household)
    for bytes in log.entries() { _ = try other.add([bytes], cryptography: home.cryptography) }
    #expect(other.entries() == log.entries())
    #expect(log.entries(except: [genesis, bo]).count == 4)
    #expect(try log.add(home.entries, cryptography: home.cryptography).isEmpty)
  }

  /// Adds `bad` after a good entry and expects that neither is taken.
  private func expectRefused(_ bad: [UInt8], in home: MembershipHousehold, _ code: Violation.Code) throws {
    var log = try home.log()
    let before = log.entries()
    var good = home
    good.write(
      "ann", after: log.heads,
      .rename(MembershipEntry.Rename(subject: .device(home.device("ann")), name: "other")))

    let violation = #expect(throws: Violation.self) {
      _ = try log.add([good.entries.last!, bad], cryptography: home.cryptography)
    }

    #expect(violation?.code == code)
    #expect(log.entries() == before)
  }

  @Test func `an entry with a wrong signature is refused, and all that came with it`() throws {
    var home = MembershipHousehold()
    let genesis = home.begin()
    _ = home.admit("Bo", on: "bo", by: "ann", after: [genesis])
    let entry = MembershipEntry(
      author: home.device("ann"), parents: [genesis], at: Instant(milliseconds: 0),
      statement: .unknown(kind: 99, body: []))

    try expectRefused(home.signed(entry, key: home.key("bo")).bytes, in: home, .badMembership)
  }

  @Test func `an entry of an author who is not known from what it names is refused`() throws {
    var home = MembershipHousehold()
    let genesis = home.begin()
    _ = home.admit("Bo", on: "bo", by: "ann", after: [genesis])
    var copy = home
    copy.write("bo", after: [genesis], .unknown(kind: 99, body: []))
    try expectRefused(copy.entries.last!, in: home, .badMembership)

    copy.write("stranger", after: [genesis], .unknown(kind: 99, body: []))
    try expectRefused(copy.entries.last!, in: home, .badMembership)
  }

  @Test func `an entry without its parents is refused`() throws {
    var home = MembershipHousehold()
    let genesis = home.begin()
    var copy = home
    let lost = copy.write("ann", after: [genesis], .unknown(kind: 99, body: []))
    copy.write("ann", after: [lost], .unknown(kind: 99, body: []))

    try expectRefused(copy.entries.last!, in: home, .badMembership)
  }

  @Test func `a second genesis and one of another household are refused`() throws {
    var home = MembershipHousehold()
    _ = home.begin()
    var copy = home
    _ = copy.begin("Eve", on: "eve")
    try expectRefused(copy.entries.last!, in: home, .badMembership)

    var stranger = MembershipHousehold(share: "other")
    _ = stranger.begin()
    var log = MembershipLog(household: home.household)
    #expect(throws: Violation.self) { _ = try log.add(stranger.entries, cryptography: home.cryptography) }
    #expect(log.count == 0)
  }

  @Test func `a genesis must be signed with the share key`() throws {
    var home = MembershipHousehold()
    _ = home.begin()
    let entry = try SignedEntry(bytes: home.entries[0]).decoded()
    var log = MembershipLog(household: home.household)

    #expect(throws: Violation.self) {
      _ = try log.add([home.signed(entry, key: home.key("ann")).bytes], cryptography: home.cryptography)
    }
  }

  @Test func `bytes that are no entry, or too long, are refused`() throws {
    var home = MembershipHousehold()
    _ = home.begin()

    try expectRefused([1, 2, 3], in: home, .malformed)
    try expectRefused([UInt8](repeating: 1, count: Limits.entryBytes + 1), in: home, .overLimit)
  }

  @Test func `more heads than one entry can name are refused`() throws {
    var home = MembershipHousehold()
    let genesis = home.begin()
    for index in 0..<Limits.membershipHeads {
      home.write("ann", after: [genesis], .unknown(kind: 99, body: [UInt8(index)]))
    }
    var log = try home.log()
    #expect(log.heads.count == Limits.membershipHeads)

    home.write("ann", after: [genesis], .unknown(kind: 100, body: []))

    let violation = #expect(throws: Violation.self) {
      _ = try log.add(home.entries, cryptography: home.cryptography)
    }
    #expect(violation?.code == .overLimit)
  }

  @Test func `more entries than the limit are refused`() throws {
    var home = MembershipHousehold()
    let genesis = home.begin()
    // The count is looked at before any signature is, so these need none.
    for index in 0..<Limits.membershipEntries {
      let entry = MembershipEntry(
        author: home.device("ann"), parents: [genesis], at: Instant(milliseconds: Int64(index)),
        statement: .unknown(kind: 99, body: []))
      home.entries.append(MembershipEncoding.message(entry) + [UInt8](repeating: 0, count: 64))
    }
    var log = MembershipLog(household: home.household)

    let violation = #expect(throws: Violation.self) {
      _ = try log.add(home.entries, cryptography: home.cryptography)
    }

    #expect(violation?.code == .overLimit)
    #expect(log.count == 0)
  }
}
