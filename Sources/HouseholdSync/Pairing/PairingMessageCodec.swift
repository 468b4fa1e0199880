package import HouseholdRecords

/// Turns the messages of a pairing into frames and back.
package enum PairingMessageCodec {
  /// The types of the frames; `complete` may be several data frames, all others are one control frame.
  package enum FrameType: UInt8, Sendable, CaseIterable {
    case welcome = 0x20
    case proof = 0x21
    case preview = 0x22
    case refused = 0x23
    case request = 0x24
    case stored = 0x25
    case committed = 0x26
    case abandon = 0x27
    case complete = 0x60
  }

  /// The frame's type and payload.
  package static func encode(_ message: PairingMessage) -> (type: UInt8, payload: [UInt8]) {
    var writer = ByteWriter()
    let type = encode(message, to: &writer)
    return (type.rawValue, writer.bytes)
  }

  private static func encode(_ message: PairingMessage, to writer: inout ByteWriter) -> FrameType {
    switch message {
    case .welcome(let version, let salt):
      writer.varint(version)
      writer.raw(salt)
      return .welcome
    case .proof(let mac):
      writer.raw(mac)
      return .proof
    case .preview(let mac, let preview):
      writer.raw(mac)
      encode(preview, to: &writer)
      return .preview
    case .refused(let refusal):
      writer.byte(refusal.code.rawValue)
      writer.text(cut(refusal.sentence, Limits.sentenceBytes))
      writer.varint(min(max(refusal.triesLeft, 0), Limits.wrongTries))
      return .refused
    case .request(let signingRequest, let deviceName):
      writer.data(signingRequest)
      writer.text(deviceName)
      return .request
    case .complete(let completion):
      writer.data(completion.deviceCertificate)
      writer.data(completion.shareCertificate)
      writer.list(completion.entries) { writer, entry in writer.data(entry) }
      writer.list(Array(completion.addresses.prefix(Limits.addressesPerDevice))) { $0.text($1) }
      return .complete
    case .stored: return .stored
    case .committed: return .committed
    case .abandon(let sentence):
      writer.text(cut(sentence, Limits.sentenceBytes))
      return .abandon
    }
  }

  private static func encode(_ preview: PairingPreview, to writer: inout ByteWriter) {
    writer.identifier(preview.household)
    writer.text(preview.householdName)
    writer.data(preview.shareCertificate)
    writer.text(preview.inviterMember)
    writer.text(preview.inviterDevice)
    writer.identifier(preview.member)
    writer.text(preview.memberName)
    writer.role(preview.role)
    writer.byte(preview.isDeviceInvitation ? 1 : 0)
    writer.text(preview.schemaName)
    writer.list(Array(preview.recordCounts.prefix(Limits.typesPerSchema))) { writer, entry in
      writer.text(entry.type)
      writer.varint(entry.count)
    }
    writer.list(Array(preview.memberNames.prefix(Limits.membersInPreview))) { $0.text($1) }
  }

  /// The longest beginning of the text that fits.
  private static func cut(_ text: String, _ limit: Int) -> String {
    var text = text
    while text.utf8.count > limit { text.removeLast() }
    return text
  }

  /// The message of a frame; whatever the bytes are, this throws or returns.
  package static func decode(type: UInt8, payload: [UInt8]) throws(DecodingViolation) -> PairingMessage {
    guard let type = FrameType(rawValue: type) else { throw .unknownKind(type) }
    guard payload.count <= (type == .complete ? Limits.messageBytes : Limits.controlFrameBytes) else {
      throw .overLimit
    }
    var reader = ByteReader(payload)
    let message = try decode(type, from: &reader)
    try reader.finish()
    return message
  }

  private static func decode(
    _ type: FrameType, from reader: inout ByteReader
  ) throws(DecodingViolation) -> PairingMessage {
    switch type {
    case .welcome:
      return .welcome(version: try reader.varint(), salt: Array(try reader.raw(PairingMessage.saltBytes)))
    case .proof: return .proof(mac: Array(try reader.raw(PairingMessage.macBytes)))
    case .preview:
      return .preview(mac: Array(try reader.raw(PairingMessage.macBytes)), try preview(from: &reader))
    case .refused:
      let byte = try reader.byte()
      guard let code = PairingRefusal.Code(rawValue: byte) else { throw .unknownKind(byte) }
      let sentence = try reader.text(limit: Limits.sentenceBytes)
      let tries = try reader.varint()
      guard tries <= UInt64(Limits.wrongTries) else { throw .overLimit }
      return .refused(PairingRefusal(code, sentence, triesLeft: Int(tries)))
    case .request:
      return .request(
        signingRequest: try reader.data(limit: Limits.certificateBytes), deviceName: try reader.name())
    case .complete: return .complete(try completion(from: &reader))
    case .stored: return .stored
    case .committed: return .committed
    case .abandon: return .abandon(sentence: try reader.text(limit: Limits.sentenceBytes))
    }
  }

  private static func preview(from reader: inout ByteReader) throws(DecodingViolation) -> PairingPreview {
    var preview = PairingPreview(
      household: try reader.identifier256(), householdName: try reader.name(),
      shareCertificate: try reader.data(limit: Limits.certificateBytes), inviterMember: try reader.name(),
      inviterDevice: try reader.name(), member: try reader.identifier128(), memberName: try reader.name(),
      role: try reader.role(), isDeviceInvitation: try reader.flag(),
      schemaName: try reader.text(limit: Limits.nameBytes), recordCounts: [], memberNames: [])
    for _ in 0..<(try reader.count(limit: Limits.typesPerSchema)) {
      preview.recordCounts.append(
        PairingPreview.RecordCount(type: try reader.text(limit: Limits.nameBytes), count: try reader.varint()))
    }
    for _ in 0..<(try reader.count(limit: Limits.membersInPreview)) {
      preview.memberNames.append(try reader.name())
    }
    return preview
  }

  private static func completion(from reader: inout ByteReader) throws(DecodingViolation) -> PairingCompletion {
    var completion = PairingCompletion(
      deviceCertificate: try reader.data(limit: Limits.certificateBytes),
      shareCertificate: try reader.data(limit: Limits.certificateBytes), entries: [], addresses: [])
    for _ in 0..<(try reader.count(limit: Limits.membershipEntries)) {
      completion.entries.append(try reader.data(limit: Limits.entryBytes))
    }
    for _ in 0..<(try reader.count(limit: Limits.addressesPerDevice)) {
      completion.addresses.append(try reader.text(limit: Limits.addressBytes))
    }
    return completion
  }
}
