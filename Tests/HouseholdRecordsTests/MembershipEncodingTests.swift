import HouseholdRecords
import Testing

/// One entry of every kind, with fixed contents.
private let samples: [(name: String, statement: MembershipEntry.Statement)] = [
  (
    "genesis",
    .genesis(
      MembershipEntry.Genesis(
        householdName: "Home", sharePublicKey: [1, 2, 3], member: member(0xA1), memberName: "Ann",
        device: MembershipEntry.DeviceDescription(name: "laptop", publicKey: [4, 5])))
  ),
  (
    "invite",
    .invite(
      MembershipEntry.Invite(
        invitation: InvitationID(bytes: [UInt8](repeating: 0x1F, count: 16))!, member: member(0xB2),
        memberName: "Bo", role: .readOnly, expiresAt: Instant(milliseconds: -5)))
  ),
  (
    "join",
    .join(
      MembershipEntry.Join(
        invite: EntryHash(bytes: [UInt8](repeating: 0x77, count: 32))!,
        device: MembershipEntry.DeviceDescription(name: "phone", publicKey: [6]), replaces: [cutoffs]))
  ),
  ("rename", .rename(MembershipEntry.Rename(subject: .device(device(0xD1)), name: "Küche"))),
  (
    "schema",
    .schema(
      Schema(
        name: "notes", version: 3,
        types: [
          RecordType(
            name: "note", fields: [FieldDefinition("title", .text), FieldDefinition("of", .reference, to: "note")],
            strategies: ["title": "max"])
        ]))
  ),
  ("role", .role(MembershipEntry.RoleChange(member: member(0xB2), role: .owner, cutoffs: [cutoffs]))),
  (
    "removal",
    .removal(MembershipEntry.Removal(subject: .member(member(0xB2)), reason: .left, cutoffs: [cutoffs]))
  ),
  (
    "dormancy",
    .dormancy(
      MembershipEntry.Dormancy(device: device(0xD1), isDormant: true, confirmed: cutoffs.through))
  ),
  (
    "fold",
    .fold(
      MembershipEntry.Fold(
        last: ChangesetName(replica: replica(0xEE), sequence: 7),
        hash: ChangesetHash(bytes: [UInt8](repeating: 0x66, count: 32))!))
  ),
  ("unknown", .unknown(kind: 300, body: [9, 8, 7])),
]

private func member(_ byte: UInt8) -> MemberID { MemberID(bytes: [UInt8](repeating: byte, count: 16))! }
private func device(_ byte: UInt8) -> DeviceID { DeviceID(bytes: [UInt8](repeating: byte, count: 32))! }
private func replica(_ byte: UInt8) -> ReplicaID { ReplicaID(bytes: [UInt8](repeating: byte, count: 16))! }
private let cutoffs = MembershipEntry.Cutoffs(
  device: device(0xD1),
  through: Dependencies([Dependency(replica: replica(0xEE), sequence: 2, hashPrefix: 0x0102_0304_0506_0708)]))

private func entry(_ statement: MembershipEntry.Statement) -> MembershipEntry {
  var parents = [EntryHash(bytes: [UInt8](repeating: 0x99, count: 32))!]
  if case .genesis = statement { parents = [] }
  return MembershipEntry(
    author: device(0xAA), parents: parents, at: Instant(milliseconds: 1_700_000_000_000), statement: statement)
}

/// What follows the part that all entries share: the kind and the body.
private let golden: [String: String] = [
  "genesis":
    "0104486f6d6503010203a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a103416e6e066c6170746f70020405",
  "invite":
    "021f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1fb2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b202426f0209",
  "join":
    "0377777777777777777777777777777777777777777777777777777777777777770570686f6e65010601d1d1d1"
    + "d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d101eeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
    + "ee020102030405060708",
  "rename":
    "0401d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1064bc3bc636865",
  "schema":
    "0501056e6f7465730301046e6f746502057469746c65047465787400026f66097265666572656e6365046e6f74"
    + "65000000056d6572676501057469746c65036d617800",
  "role":
    "06b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b20001d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1"
    + "d1d1d1d1d1d101eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee020102030405060708",
  "removal":
    "0700b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b20101d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1"
    + "d1d1d1d1d1d1d101eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee020102030405060708",
  "dormancy":
    "08d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d10101eeeeeeeeeeeeeeeeeeee"
    + "eeeeeeeeeeee020102030405060708",
  "fold":
    "09eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee07666666666666666666666666666666666666666666666666666666"
    + "6666666666",
  "unknown":
    "ac02090807",
]

struct MembershipEncodingTests {
  @Test func `the bytes of every kind of entry are pinned`() {
    for sample in samples {
      let message = MembershipEncoding.message(entry(sample.statement))
      let shared = sample.name == "genesis" ? 1 + 32 + 1 + 6 : 1 + 32 + 1 + 32 + 6

      #expect(hexadecimal(message.dropFirst(shared)) == golden[sample.name], "\(sample.name)")
    }
  }

  @Test func `the beginning of every entry is version, author, parents and time`() {
    let message = MembershipEncoding.message(entry(.unknown(kind: 300, body: [])))

    let author = String(repeating: "aa", count: 32)
    let parent = String(repeating: "99", count: 32)
    #expect(hexadecimal(message) == "01" + author + "01" + parent + "80a0abfef962ac02")
  }

  @Test func `every kind of entry comes back as it was`() throws {
    for sample in samples {
      let signed = try SignedEntry(entry(sample.statement)) { _ in [UInt8](repeating: 5, count: 64) }

      #expect(try signed.decoded() == entry(sample.statement), "\(sample.name)")
      #expect(signed.signature == [UInt8](repeating: 5, count: 64))
      #expect(signed.message == MembershipEncoding.message(entry(sample.statement)))
    }
  }

  @Test func `a schema of a later encoding is kept as an unknown entry`() throws {
    var message = MembershipEncoding.message(entry(.unknown(kind: 5, body: [2, 0xFF, 0xFE])))
    message += [UInt8](repeating: 0, count: 64)

    let decoded = try SignedEntry(bytes: message).decoded()

    #expect(decoded.statement == .unknown(kind: 5, body: [2, 0xFF, 0xFE]))
    #expect(MembershipEncoding.message(decoded) + [UInt8](repeating: 0, count: 64) == message)
  }

  @Test func `an entry over a limit is neither signed nor read`() {
    let limits: [MembershipEntry.Statement] = [
      .rename(MembershipEntry.Rename(subject: .member(member(1)), name: String(repeating: "a", count: 129))),
      .rename(MembershipEntry.Rename(subject: .member(member(1)), name: "")),
      .unknown(kind: 99, body: [UInt8](repeating: 0, count: Limits.entryBytes)),
      .genesis(
        MembershipEntry.Genesis(
          householdName: "Home", sharePublicKey: [UInt8](repeating: 0, count: Limits.publicKeyBytes + 1),
          member: member(1), memberName: "Ann",
          device: MembershipEntry.DeviceDescription(name: "laptop", publicKey: [4]))),
    ]
    for statement in limits {
      #expect(throws: DecodingViolation.self) {
        try SignedEntry(entry(statement)) { _ in [UInt8](repeating: 5, count: 64) }
      }
      #expect(throws: DecodingViolation.self) {
        try SignedEntry(bytes: MembershipEncoding.message(entry(statement)) + [UInt8](repeating: 5, count: 64))
          .decoded()
      }
    }
    var crowded = entry(.unknown(kind: 99, body: []))
    crowded.parents = (0...Limits.membershipHeads).map {
      EntryHash(bytes: [UInt8](repeating: 0, count: 30) + [UInt8($0 >> 8), UInt8($0 & 255)])!
    }
    #expect(throws: DecodingViolation.overLimit) {
      try SignedEntry(bytes: MembershipEncoding.message(crowded) + [UInt8](repeating: 5, count: 64)).decoded()
    }
  }

  @Test func `damaged entries are refused or read as another one, and never twice the same`() throws {
    var random = SeededRandom(seed: 4)
    for sample in samples {
      let bytes = MembershipEncoding.message(entry(sample.statement)) + [UInt8](repeating: 5, count: 64)
      for _ in 0..<2000 {
        var damaged = bytes
        switch Int.random(in: 0..<3, using: &random) {
        case 0: damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        case 1: damaged.removeLast(Int.random(in: 1..<damaged.count, using: &random))
        default: damaged.insert(0x80, at: Int.random(in: 0..<damaged.count, using: &random))
        }
        guard let read = try? SignedEntry(bytes: damaged).decoded() else { continue }
        #expect(MembershipEncoding.message(read) == Array(damaged.dropLast(64)), "\(sample.name)")
      }
    }
  }
}
