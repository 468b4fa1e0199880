package import HouseholdRecords

/// Turns messages into canonical bytes and back: every message has one form, and any bytes are read or refused.
package enum MessageCodec {
  /// The flag of frames that a node may skip if it does not know their type (P2).
  package static let ignorableFlag: UInt8 = 0x02

  /// The payload of a message; its frame type is `message.kind.rawValue`.
  package static func encode(_ message: Message) -> [UInt8] {
    var writer = ByteWriter()
    switch message {
    case .hello(let hello): writer.hello(hello)
    case .use, .shareKeyWanted, .certificateWanted: break
    case .acknowledge(let acknowledgement):
      writer.varint(acknowledgement.bytes)
      writer.dependencies(acknowledgement.received)
    case .offer(let dependencies): writer.dependencies(dependencies)
    case .request(let request):
      writer.identifier(request.replica)
      writer.varint(request.first)
      writer.varint(request.last)
    case .ping(let ping):
      writer.varint(ping.number)
      writer.signed(ping.wall.milliseconds)
    case .pong(let pong):
      writer.varint(pong.number)
      writer.signed(pong.asked.milliseconds)
      writer.signed(pong.wall.milliseconds)
    case .goodbye(let goodbye):
      writer.varint(goodbye.code.number)
      writer.varint(goodbye.retryAfterMilliseconds)
      writer.text(bounded(goodbye.sentence, bytes: Limits.sentenceBytes))
    case .shareKey(let bytes), .certificate(let bytes): writer.data(bytes)
    case .membershipHave(let hashes): writer.heads(hashes)
    case .membership(let part):
      writer.flags([part.more])
      writer.varint(part.entries.count)
      for entry in part.entries { writer.data(entry) }
    case .have(let holdings): writer.holdings(holdings)
    case .subscribe(let subscription): writer.subscription(subscription)
    case .batch(let batch): writer.batch(batch)
    case .snapshotPage(let part): writer.snapshotPart(part)
    case .branchQuestion(let points):
      writer.varint(points.count)
      for point in points {
        writer.identifier(point.replica)
        writer.varint(point.sequence)
        writer.fixed(point.hashPrefix)
      }
    case .branchAnswer(let name):
      writer.identifier(name.replica)
      writer.varint(name.sequence)
    case .withheld(let list): writer.withheld(list)
    case .present(let list): writer.presences(list)
    }
    return writer.bytes
  }

  /// The message in a payload of this kind; throws on anything that is not exactly one canonical message.
  package static func decode(_ kind: Message.Kind, _ payload: [UInt8]) throws(DecodingViolation) -> Message {
    guard payload.count <= (kind.isData ? Limits.messageBytes : Limits.controlFrameBytes) else { throw .overLimit }
    var reader = ByteReader(payload)
    let decoded = try message(of: kind, from: &reader)
    try reader.finish()
    return decoded
  }

  private static func message(
    of kind: Message.Kind, from reader: inout ByteReader
  ) throws(DecodingViolation) -> Message {
    switch kind {
    case .hello: return .hello(try reader.hello())
    case .use: return .use
    case .acknowledge:
      let bytes = try reader.varint()
      guard bytes <= UInt64(Limits.queuedBytes) else { throw .overLimit }
      return .acknowledge(Acknowledgement(bytes: Int(bytes), received: try reader.dependenciesPart()))
    case .offer: return .offer(try reader.dependenciesPart())
    case .request:
      let request = ChangesetRequest(
        replica: try reader.identifier128(), first: try reader.sequence(), last: try reader.sequence())
      guard request.first <= request.last else { throw .malformed("a request ends before it begins") }
      return .request(request)
    case .ping: return .ping(Ping(number: try reader.varint(), wall: try reader.instant()))
    case .pong:
      return .pong(
        Pong(number: try reader.varint(), asked: try reader.instant(), wall: try reader.instant()))
    case .goodbye:
      let code = GoodbyeCode(number: try reader.varint())
      let retryAfter = try reader.varint()
      let sentence = try reader.text(limit: Limits.sentenceBytes)
      return .goodbye(Goodbye(code, retryAfterMilliseconds: retryAfter, sentence))
    case .shareKeyWanted: return .shareKeyWanted
    case .shareKey: return .shareKey(try reader.data(limit: Limits.shareKeyBytes))
    case .certificateWanted: return .certificateWanted
    case .certificate: return .certificate(try reader.data(limit: Limits.certificateBytes))
    case .membershipHave: return .membershipHave(try reader.hashes(limit: Limits.membershipEntries))
    case .membership:
      let more = try reader.flags(1)[0]
      var entries: [[UInt8]] = []
      for _ in 0..<(try reader.count(limit: Limits.membershipEntries)) {
        entries.append(try reader.data(limit: Limits.entryBytes))
      }
      return .membership(MembershipPart(entries: entries, more: more))
    case .have: return .have(try reader.holdings())
    case .subscribe: return .subscribe(try reader.subscription())
    case .batch: return .batch(try reader.batch())
    case .snapshotPage: return .snapshotPage(try reader.snapshotPart())
    case .branchQuestion:
      var points: [Dependency] = []
      for _ in 0..<(try reader.count(limit: Limits.branchPoints)) {
        points.append(
          Dependency(
            replica: try reader.identifier128(), sequence: try reader.sequence(), hashPrefix: try reader.fixed()))
        if points[0].replica != points[points.count - 1].replica { throw .malformed("a question is of two branches") }
      }
      if points.isEmpty { throw .malformed("a question names no changeset") }
      return .branchQuestion(points)
    case .branchAnswer:
      return .branchAnswer(ChangesetName(replica: try reader.identifier128(), sequence: try reader.varint()))
    case .withheld: return .withheld(try reader.withheld())
    case .present: return .present(try reader.presences())
    }
  }

  /// The text cut at a character so that it has at most this many bytes.
  static func bounded(_ text: String, bytes: Int) -> String {
    var text = text
    while text.utf8.count > bytes { text.removeLast() }
    return text
  }
}
