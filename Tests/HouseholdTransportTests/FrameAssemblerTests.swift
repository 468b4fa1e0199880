import HouseholdRecords
import HouseholdTransport
import Testing

/// A frame as it stands on the wire.
func frame(_ type: UInt8, _ flags: UInt8 = 0, _ payload: [UInt8] = []) -> [UInt8] {
  let count = UInt32(payload.count)
  return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + [type, flags] + payload
}

func header(_ type: UInt8, announcing count: UInt32) -> [UInt8] {
  [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + [type, 0]
}

@Suite struct FrameAssemblerTests {
  @Test func `messages come out the same however the bytes were cut`() throws {
    let bytes =
      frame(1) + frame(0x40, 2, [1, 2, 3]) + frame(0x41, 1, [4]) + frame(0x41, 1, [5, 6]) + frame(0x41, 0) + frame(2)
    let expected: [(UInt8, FrameFlags, [UInt8])] = [
      (1, [], []), (0x40, .ignorable, [1, 2, 3]), (0x41, [], [4, 5, 6]), (2, [], []),
    ]

    for first in 0...bytes.count {
      for second in first...bytes.count {
        var assembler = FrameAssembler()
        var messages: [InboundMessage] = []
        for piece in [bytes[..<first], bytes[first..<second], bytes[second...]] {
          messages += try assembler.receive(piece)
        }
        #expect(messages.count == expected.count)
        for (message, (type, flags, payload)) in zip(messages, expected) {
          #expect(message.type == type && message.flags == flags && message.payload == payload)
        }
        #expect(!assembler.isInside)
      }
    }
  }

  @Test(arguments: [UInt8(0x01), 0x3f, 0x40, 0xff])
  func `R8: a frame over the limit is refused at its header`(type: UInt8) throws {
    let limit = UInt32(type < 0x40 ? Limits.controlFrameBytes : Limits.dataFrameBytes)
    var fits = FrameAssembler()
    _ = try fits.receive(header(type, announcing: limit)[...])

    for count in [limit + 1, .max] {
      var assembler = FrameAssembler()
      #expect(throws: FrameViolation.frameTooLarge(type: type, bytes: Int(count))) {
        try assembler.receive(header(type, announcing: count)[...])
      }
    }
  }

  @Test func `R8: a message over the limit is refused before its last frame is taken`() throws {
    var assembler = FrameAssembler()
    let part = frame(0x40, 1, [UInt8](repeating: 7, count: Limits.dataFrameBytes))
    for _ in 0..<Limits.messageBytes / Limits.dataFrameBytes { _ = try assembler.receive(part[...]) }

    #expect(throws: FrameViolation.messageTooLarge(type: 0x40, limit: Limits.messageBytes)) {
      try assembler.receive(header(0x40, announcing: 1)[...])
    }
  }

  @Test func `broken frames are told apart`() {
    let cases: [([UInt8], FrameViolation)] = [
      (frame(1, 4), .unknownFlags(4)), (frame(1, 1), .emptyContinuation(type: 1)),
      (frame(0x40, 1, [1]) + frame(0x41, 0, [1]), .wrongContinuation(expected: 0x40, found: 0x41)),
    ]
    for (bytes, violation) in cases {
      var assembler = FrameAssembler()
      #expect(throws: violation) { try assembler.receive(bytes[...]) }
    }
  }
}

@Suite struct SocketAddressTests {
  @Test(
    arguments: [
      ("192.168.1.7:7411", "192.168.1.7", 7411), ("[::]:0", "::", 0), ("[fe80::1%eth0]:65535", "fe80::1%eth0", 65535),
      ("kitchen.local:1", "kitchen.local", 1), ("küche:80", "küche", 80),
    ] as [(String, String, UInt16)])
  func `an address is read and written back`(text: String, host: String, port: UInt16) throws {
    let address = try SocketAddress(parsing: text)

    #expect(address == SocketAddress(host: host, port: port))
    #expect(address.description == text)
  }

  @Test(arguments: [
    ("", SocketAddressError.missingHost("")), (":7411", .missingHost(":7411")), ("host", .missingPort("host")),
    ("host:", .missingPort("host:")), ("host:65536", .badPort("host:65536")), ("host:-1", .badPort("host:-1")),
    ("host:+1", .badPort("host:+1")), ("host:1x", .badPort("host:1x")), ("a b:1", .badHost("a b:1")),
    ("::1:7411", .bracketsMissing("::1:7411")), ("[::1:7411", .unclosedBracket("[::1:7411")),
    ("[::1]", .missingPort("[::1]")), ("[::1]7411", .missingPort("[::1]7411")), ("[host]:1", .badHost("[host]:1")),
  ])
  func `a wrong address is refused with the text quoted`(text: String, error: SocketAddressError) {
    #expect(throws: error) { try SocketAddress(parsing: text) }
    #expect(error.description.contains("\"\(text)\""))
  }
}
