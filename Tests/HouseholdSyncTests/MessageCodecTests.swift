import HouseholdRecords
import HouseholdSync
import Testing

/// The bytes of every message, pinned; a change here is a new protocol version (P3).
struct MessageCodecTests {
  private static func id128<Kind>(_ byte: UInt8) -> Identifier128<Kind> {
    Identifier128(bytes: [UInt8](repeating: byte, count: 16))!
  }

  private static func id256<Kind>(_ byte: UInt8) -> Identifier256<Kind> {
    Identifier256(bytes: [UInt8](repeating: byte, count: 32))!
  }

  private static let vector = VersionVector([id128(1): 5, id128(2): 300])

  private static let dependencies = [
    Dependency(replica: id128(1), sequence: 5, hashPrefix: 6),
    Dependency(replica: id128(2), sequence: 300, hashPrefix: 7),
  ]

  static let samples: [Message] = [
    .hello(
      Hello(
        versions: 1...2, household: id256(1), device: id256(2), replica: id128(3), bootNonce: id128(4),
        membershipHeads: [id256(5)], schemaVersion: 6, wall: Instant(milliseconds: 1_700_000_000_000),
        programVersion: "1.0", addresses: ["[::1]:7411"])),
    .use,
    .acknowledge(Acknowledgement(bytes: 1000, received: dependencies)),
    .offer(dependencies),
    .request(ChangesetRequest(replica: id128(1), first: 2, last: 300)),
    .ping(Ping(number: 7, wall: Instant(milliseconds: -1))),
    .pong(Pong(number: 7, asked: Instant(milliseconds: -1), wall: Instant(milliseconds: 5))),
    .goodbye(Goodbye(.duplicate, retryAfterMilliseconds: 1000, "Bye.")),
    .goodbye(Goodbye(.unknown(99), "?")),
    .shareKeyWanted,
    .shareKey([1, 2, 3]),
    .certificateWanted,
    .certificate([4, 5, 6]),
    .membershipHave([id256(1), id256(2)]),
    .membership(MembershipPart(entries: [[1, 2, 3], []], more: true)),
    .have(
      Holdings(received: [Dependency(replica: id128(1), sequence: 5, hashPrefix: 6)], base: dependencies, digest: nil)),
    .have(
      Holdings(
        received: [], base: [],
        digest: StoreDigest(applied: vector, membershipHeads: [id256(5)], bytes: [1, 2]))),
    .subscribe(Subscription(number: 1, token: nil, received: [], snapshot: .none)),
    .subscribe(
      Subscription(
        number: 2, token: ChangeToken(bytes: [9, 9]), received: dependencies,
        snapshot: .resume(id256(7), cursor: [8]))),
    .subscribe(Subscription(number: 3, token: nil, received: [], snapshot: .fresh)),
    .batch(
      Batch(
        subscription: 1, more: true, token: ChangeToken(bytes: [9]), answers: nil,
        changesets: [PackedChangeset(bytes: [0, 1]), PackedChangeset(bytes: [1])])),
    .batch(
      Batch(
        subscription: 1, more: false, token: nil, answers: id128(3), changesets: [])),
    .snapshotPage(
      SnapshotPart(
        subscription: 1, id: id256(7), token: ChangeToken(bytes: [9]),
        page: SnapshotPage(cursor: [1], isLast: true, content: [2, 3]))),
    .withheld([
      Withheld(replica: id128(1), first: 7, reason: .held), Withheld(replica: id128(2), first: 300, reason: .rejected),
    ]),
    .withheld([]),
    .branchQuestion([
      Dependency(replica: id128(1), sequence: 7, hashPrefix: 0x0102_0304_0506_0708),
      Dependency(replica: id128(1), sequence: 300, hashPrefix: 9),
    ]),
    .branchAnswer(ChangesetName(replica: id128(2), sequence: 300)),
    .branchAnswer(ChangesetName(replica: id128(2), sequence: 0)),
    .present([
      Presence(device: id256(1), isLinked: true, confirmed: vector),
      Presence(device: id256(2), isLinked: false, confirmed: VersionVector()),
    ]),
  ]

  /// Frame type and payload of each sample, `-` for none.
  static let golden = """
    1 010201010101010101010101010101010101010101010101010101010101010101010202020202020202020202020202020202020202\
    02020202020202020202020203030303030303030303030303030303040404040404040404040404040404040105050505050505050505\
    050505050505050505050505050505050505050505050680a0abfef96203312e30010a5b3a3a315d3a37343131
    2 -
    3 e807020101010101010101010101010101010105000000000000000602020202020202020202020202020202ac020000000000000007
    4 020101010101010101010101010101010105000000000000000602020202020202020202020202020202ac020000000000000007
    5 0101010101010101010101010101010102ac02
    6 0701
    7 07010a
    8 07e807044279652e
    8 6300013f
    9 -
    a 03010203
    b -
    c 03040506
    40 02010101010101010101010101010101010101010101010101010101010101010102020202020202020202020202020202020202020\
    20202020202020202020202
    41 01020301020300
    42 00010101010101010101010101010101010105000000000000000602010101010101010101010101010101010500000000000\
    0000602020202020202020202020202020202ac020000000000000007
    42 01000002010101010101010101010101010101010502020202020202020202020202020202ac0201050505050505050505050505050\
    5050505050505050505050505050505050505020102
    43 000100
    43 0702020909020101010101010101010101010101010105000000000000000602020202020202020202020202020202ac02000000000\
    000000707070707070707070707070707070707070707070707070707070707070707070108
    43 020300
    44 03010109020200010101
    44 04010303030303030303030303030303030300
    45 0301070707070707070707070707070707070707070707070707070707070707070701090101020203
    46 0201010101010101010101010101010101070102020202020202020202020202020202ac0202
    46 00
    47 020101010101010101010101010101010107010203040506070801010101010101010101010101010101ac020000000000000009
    48 02020202020202020202020202020202ac02
    48 0202020202020202020202020202020200
    49 02010101010101010101010101010101010101010101010101010101010101010101020101010101010101010101010101010105020\
    20202020202020202020202020202ac0202020202020202020202020202020202020202020202020202020202020202020000
    """.split(separator: "\n").map(String.init)

  @Test func `every message has the bytes that are pinned (P3)`() {
    for (index, message) in Self.samples.enumerated() {
      let bytes = MessageCodec.encode(message)
      let payload = bytes.isEmpty ? "-" : hexadecimal(bytes)
      let written = String(message.kind.rawValue, radix: 16) + " " + payload

      #expect(written == Self.golden[index], "\(message.kind)")
    }
  }

  @Test func `every message is read back (P3)`() throws {
    for message in Self.samples {
      #expect(try MessageCodec.decode(message.kind, MessageCodec.encode(message)) == message)
    }
    #expect(Set(Self.samples.map(\.kind)) == Set(Message.Kind.allCases))
  }

  @Test func `a message that is cut short or goes on is refused (P3)`() throws {
    for message in Self.samples {
      let bytes = MessageCodec.encode(message)
      for count in bytes.indices {
        #expect(throws: DecodingViolation.self) { try MessageCodec.decode(message.kind, Array(bytes[..<count])) }
      }
      #expect(throws: DecodingViolation.self) { try MessageCodec.decode(message.kind, bytes + [0]) }
    }
  }

  @Test func `whatever is read has one form only (fuzz, P3)`() {
    var random = SplitMix64(state: 1)
    for round in 0..<20_000 {
      let sample = Self.samples[random.below(Self.samples.count)]
      var bytes = MessageCodec.encode(sample)
      for _ in 0..<(1 + random.below(3)) where !bytes.isEmpty {
        bytes[random.below(bytes.count)] = UInt8(random.below(256))
      }
      if let message = try? MessageCodec.decode(sample.kind, bytes) {
        #expect(MessageCodec.encode(message) == bytes, "round \(round)")
      }
    }
  }

  @Test func `a control message over the limit of its frame is refused (R8)`() {
    let bytes = [UInt8](repeating: 0, count: Limits.controlFrameBytes + 1)

    #expect(throws: DecodingViolation.overLimit) { try MessageCodec.decode(.ping, bytes) }
  }

  @Test func `counts over their limits are refused before memory is taken (R8)`() {
    var writer = ByteWriter()
    writer.varint(Limits.membershipEntries + 1)

    #expect(throws: DecodingViolation.overLimit) { try MessageCodec.decode(.membershipHave, writer.bytes) }
  }

  @Test func `a vector of the most entries goes out in parts that fit (R8)`() {
    var vector = VersionVector()
    for index in 0..<Limits.vectorEntries {
      let bytes = [UInt8](repeating: 1, count: 14) + [UInt8(index >> 8), UInt8(index & 255)]
      vector[ReplicaID(bytes: bytes)!] = UInt64(Int64.max)
    }

    let parts = vector.parts.map { part in
      part.sorted.map { Dependency(replica: $0.replica, sequence: $0.sequence, hashPrefix: .max) }
    }

    #expect(parts.count == 3)
    #expect(parts.allSatisfy { MessageCodec.encode(.offer($0)).count <= Limits.controlFrameBytes })
    #expect(
      parts.allSatisfy {
        MessageCodec.encode(.acknowledge(Acknowledgement(bytes: 1 << 24, received: $0))).count
          <= Limits.controlFrameBytes
      })
  }

  @Test func `sentences are cut at a character`() throws {
    let long = String(repeating: "ä", count: Limits.sentenceBytes)
    let bytes = MessageCodec.encode(.goodbye(Goodbye(.silent, long)))

    guard case .goodbye(let goodbye) = try MessageCodec.decode(.goodbye, bytes) else { return }
    #expect(goodbye.sentence.utf8.count == Limits.sentenceBytes)
  }
}
