import HouseholdRecords
import HouseholdSync
import Testing

/// Gives the same 64 bits for ever.
private struct Fixed: RandomNumberGenerator {
  let bits: UInt64
  func next() -> UInt64 { bits }
}

private func code(_ bits: UInt64) -> InvitationCode {
  var source = Fixed(bits: bits << 4)
  return InvitationCode(from: &source)
}

struct PairingInvitationTests {
  @Test func `codes are twelve digits and a check character in groups of four`() {
    #expect(code(0).description == "0000-0000-0000-0")
    #expect(code(1).description == "0000-0000-0001-1")
    #expect(code(36).description == "0000-0000-0014-U")
    #expect(code(32).description == "0000-0000-0010-*")
    // 2^36 is 1 modulo 37 and 2^24 is 10.
    #expect(code(1 << 60 - 1).description == "ZZZZ-ZZZZ-ZZZZ-9")
    #expect(code(36).secret == Array("000000000014".utf8))
  }

  @Test func `a code is read in any case, with blanks and hyphens, and O, I and L forgiven`() throws {
    let known = code(0b00001_00000_00001 << 45 | 1234)

    for text in [known.description, known.characters, known.description.lowercased(), " \(known) \n"] {
      #expect(try InvitationCode(text) == known)
    }
    let forgiven = known.description.replacing("0", with: "o").replacing("1", with: "l")
    #expect(forgiven != known.description)
    #expect(try InvitationCode(forgiven) == known)
    #expect(try InvitationCode(forgiven.replacing("l", with: "I")) == known)
  }

  @Test func `the guest sees what is wrong with a code`() {
    #expect(throws: InvitationCode.Mistake.wrongLength(12)) { try InvitationCode("0000-0000-0000") }
    #expect(throws: InvitationCode.Mistake.wrongLength(0)) { try InvitationCode("") }
    #expect(throws: InvitationCode.Mistake.wrongLength(5000)) {
      try InvitationCode(String(repeating: "0", count: 5000))
    }
    #expect(throws: InvitationCode.Mistake.wrongCharacter("U")) { try InvitationCode("U000-0000-0000-0") }
    #expect(throws: InvitationCode.Mistake.wrongCharacter("é")) { try InvitationCode("0000-0000-0000-é") }
    #expect(throws: InvitationCode.Mistake.wrongCheckCharacter) { try InvitationCode("0000-0000-0001-0") }
  }

  @Test func `every single slip and every swap of neighbours is found by the check character`() throws {
    let known = code(0x0123_4567_89AB_CDE)
    let characters = Array(known.characters)
    for place in 0..<12 {
      for digit in "0123456789ABCDEFGHJKMNPQRSTVWXYZ" where digit != characters[place] {
        var typed = characters
        typed[place] = digit
        #expect(throws: InvitationCode.Mistake.wrongCheckCharacter) { try InvitationCode(String(typed)) }
      }
      if place > 0, characters[place] != characters[place - 1] {
        var typed = characters
        typed.swapAt(place, place - 1)
        #expect(throws: InvitationCode.Mistake.wrongCheckCharacter) { try InvitationCode(String(typed)) }
      }
    }
  }

  @Test func `a link comes back as it was`() throws {
    let household = try #require(HouseholdID(bytes: [UInt8](repeating: 0xAB, count: 32)))
    for bits: UInt64 in [0, 32, 33, 34, 35, 36, 1 << 60 - 1] {
      let link = InvitationLink(
        code: code(bits), addresses: ["[fe80::1%eth0]:7411", "küche.local:7411", "10.0.0.1:7411"],
        household: household)
      #expect(try InvitationLink(link.description) == link)
      #expect(link.description.utf8.allSatisfy { $0 < 128 })
    }
    let bare = InvitationLink(code: code(7))
    #expect(bare.description == "household://join/0000000000077")
    #expect(try InvitationLink(bare.description) == bare)
    #expect(
      InvitationLink(code: code(32), addresses: ["[::1]:7411"]).description
        == "household://join/000000000010%2A?a=%5B::1%5D:7411")
  }

  @Test func `unknown keys and other cases of the scheme do not disturb a link`() throws {
    let link = try InvitationLink("HouseHold://JOIN/0000-0000-0007-7/?z=1&a=x:1&flag&b=%zz&a=y:2#top")

    #expect(link == InvitationLink(code: code(7), addresses: ["x:1", "y:2"]))
  }

  @Test func `the guest sees what is wrong with a link`() {
    let start = "household://join/0000000000077"
    #expect(throws: InvitationLink.Mistake.notALink) { try InvitationLink("https://join/0000000000077") }
    #expect(throws: InvitationLink.Mistake.code(.wrongCheckCharacter)) {
      try InvitationLink("household://join/0000000000078")
    }
    for broken in ["?a=%4", "?a=%4g", "?a=%ff", "?a=", "?h=12", "?a=" + String(repeating: "a", count: 301)] {
      #expect(throws: InvitationLink.Mistake.broken) { try InvitationLink(start + broken) }
    }
    #expect(throws: InvitationLink.Mistake.tooLong) {
      try InvitationLink(start + "?" + String(repeating: "a=x:1&", count: Limits.addressesPerDevice + 1))
    }
    #expect(throws: InvitationLink.Mistake.tooLong) {
      try InvitationLink(start + "?z=" + String(repeating: "1", count: Limits.linkBytes))
    }
  }
}
