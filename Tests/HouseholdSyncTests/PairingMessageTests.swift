import HouseholdRecords
import HouseholdSync
import Testing

private let samples: [PairingMessage] = [
  .welcome(version: 1, salt: [UInt8](repeating: 7, count: 16)),
  .proof(mac: [UInt8](repeating: 6, count: 32)),
  .preview(mac: [UInt8](repeating: 5, count: 32), samplePreview),
  .refused(PairingRefusal(.wrong, "The code is wrong.", triesLeft: 2)),
  .request(signingRequest: [1, 2, 3], deviceName: "phone"),
  .complete(
    PairingCompletion(
      deviceCertificate: [1], shareCertificate: [2], entries: [[3], [4, 5]], addresses: ["a:1", "b:2"])),
  .stored, .committed,
  .abandon(sentence: "no"),
]

struct PairingMessageTests {
  @Test func `every message comes back as it was, under its own type`() throws {
    var types: Set<UInt8> = []
    for message in samples {
      let frame = PairingMessageCodec.encode(message)
      types.insert(frame.type)
      #expect(try PairingMessageCodec.decode(type: frame.type, payload: frame.payload) == message)
    }
    #expect(types == Set(PairingMessageCodec.FrameType.allCases.map(\.rawValue)))
  }

  @Test func `the bytes of the short messages are pinned`() {
    let pinned: [(Int, UInt8, String)] = [
      (0, 0x20, "01" + String(repeating: "07", count: 16)), (1, 0x21, String(repeating: "06", count: 32)),
      (3, 0x23, "0112" + hexadecimal("The code is wrong.".utf8) + "02"), (4, 0x24, "030102030570686f6e65"),
      (5, 0x60, "01010102" + "020103020405" + "0203613a3103623a32"), (6, 0x25, ""), (7, 0x26, ""),
      (8, 0x27, "026e6f"),
    ]
    for (index, type, hex) in pinned {
      let frame = PairingMessageCodec.encode(samples[index])
      #expect(frame.type == type && hexadecimal(frame.payload) == hex)
    }
  }

  @Test func `the largest preview fits into one control frame`() throws {
    let name = String(repeating: "n", count: Limits.nameBytes)
    var preview = samplePreview
    preview.householdName = name
    preview.inviterMember = name
    preview.shareCertificate = [UInt8](repeating: 1, count: Limits.certificateBytes)
    preview.recordCounts = (0..<Limits.typesPerSchema + 1).map { _ in
      PairingPreview.RecordCount(type: name, count: .max)
    }
    preview.memberNames = [String](repeating: name, count: Limits.membersInPreview + 1)

    let frame = PairingMessageCodec.encode(.preview(mac: [UInt8](repeating: 5, count: 32), preview))

    #expect(frame.payload.count <= Limits.controlFrameBytes)
    #expect(throws: Never.self) { try PairingMessageCodec.decode(type: frame.type, payload: frame.payload) }
  }

  @Test func `frames over their limits are refused`() {
    let long = PairingMessageCodec.encode(
      .request(signingRequest: [UInt8](repeating: 0, count: Limits.certificateBytes + 1), deviceName: "phone"))
    #expect(throws: DecodingViolation.overLimit) {
      try PairingMessageCodec.decode(type: long.type, payload: long.payload)
    }
    #expect(throws: DecodingViolation.overLimit) {
      try PairingMessageCodec.decode(type: 0x25, payload: [UInt8](repeating: 0, count: Limits.controlFrameBytes + 1))
    }
    #expect(throws: DecodingViolation.overLimit) {
      try PairingMessageCodec.decode(type: 0x60, payload: [UInt8](repeating: 0, count: Limits.messageBytes + 1))
    }
    let address = PairingMessageCodec.encode(
      .complete(
        PairingCompletion(
          deviceCertificate: [], shareCertificate: [], entries: [],
          addresses: [String(repeating: "a", count: Limits.addressBytes + 1)])))
    #expect(throws: DecodingViolation.overLimit) {
      try PairingMessageCodec.decode(type: address.type, payload: address.payload)
    }
    let sentence = PairingMessageCodec.encode(.abandon(sentence: String(repeating: "é", count: 2000)))
    #expect(throws: Never.self) { try PairingMessageCodec.decode(type: sentence.type, payload: sentence.payload) }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `garbage on either side ends the pairing and leaves nothing`(seed: UInt64) {
    var random = SystemlessRandom(state: seed)
    for _ in 0..<200 {
      let desk = PlainDesk()
      _ = desk.invite(1, sampleCode(42))
      let bench = PairingBench(desk, code: sampleCode(42))
      bench.answer = nil
      if Bool.random(using: &random) { bench.run() } else { bench.toHost(.opened) }
      let good = PairingMessageCodec.encode(samples.randomElement(using: &random)!)
      var payload = good.payload
      for _ in 0..<Int.random(in: 0...3, using: &random) where !payload.isEmpty {
        payload[Int.random(in: 0..<payload.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      payload.removeLast(Int.random(in: 0...payload.count, using: &random))
      let type = Bool.random(using: &random) ? good.type : UInt8.random(in: 0...255, using: &random)

      bench.toHost(.frame(type: type, payload: payload))
      bench.toGuest(.frame(type: type, payload: payload))

      #expect(bench.held == .nothing && desk.committed.isEmpty, "seed \(seed)")
    }
  }
}

/// A generator whose numbers follow from its seed (SplitMix64).
private struct SystemlessRandom: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }
}
