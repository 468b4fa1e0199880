import HouseholdBudget
import HouseholdRecords
import HouseholdReplica
import HouseholdSimulation
import HouseholdSync
import HouseholdTransport
import HouseholdTrust

/// A reader of bytes that a peer, a person or a file gives: whatever they are, it returns or throws.
package enum FuzzTarget: String, CaseIterable, Sendable {
  /// What joins the bytes of a link to messages; however they are cut, the messages are the same.
  case frames
  /// The message codec; the first byte is the type.
  case message
  /// The pairing codec; the first byte is the type.
  case pairing
  case changeset
  case membership
  case schema
  /// A snapshot page, unpacked.
  case snapshotPage
  /// The versions of a record's cells.
  case cells
  /// zstd and what is around it.
  case packed
  /// An invitation's link and its code.
  case invitation
  /// Certificates, signing requests and PEM.
  case certificate
  /// CSV and JSON files to import.
  case importFile
  /// A schema's manifest.
  case manifest

  /// Reads the bytes; throws ``NotCanonical`` if they were taken for something that is written in another way.
  package func take(_ bytes: [UInt8]) throws {
    do {
      guard let written = try read(bytes) else { return }
      if written != bytes { throw NotCanonical(target: self, bytes: bytes, written: written) }
    } catch let fault as NotCanonical {
      throw fault
    } catch {
      // Refused, as most bytes are.
    }
  }

  /// What the bytes are when they are written again; nil where there is more than one way to write.
  private func read(_ bytes: [UInt8]) throws -> [UInt8]? {
    switch self {
    case .frames: try readFrames(bytes)
    case .message:
      guard let kind = bytes.first.flatMap(Message.Kind.init(rawValue:)) else { return nil }
      return [kind.rawValue] + MessageCodec.encode(try MessageCodec.decode(kind, Array(bytes.dropFirst())))
    case .pairing:
      guard let type = bytes.first else { return nil }
      let message = try PairingMessageCodec.decode(type: type, payload: Array(bytes.dropFirst()))
      let written = PairingMessageCodec.encode(message)
      return [written.type] + written.payload
    case .changeset:
      let signed = SignedChangeset(bytes: bytes)
      return ChangesetEncoding.message(try signed.decoded()) + signed.signature
    case .membership:
      let entry = SignedEntry(bytes: bytes)
      return MembershipEncoding.message(try entry.decoded()) + entry.signature
    case .schema: return SchemaEncoding.encode(try SchemaEncoding.decode(bytes))
    case .snapshotPage: return try FuzzedEncodings.snapshotPage(bytes)
    case .cells: return try FuzzedEncodings.cells(bytes)
    case .packed: _ = try FuzzedEncodings.packed(bytes, limit: 1 << 20)
    case .invitation: try readInvitation(bytes)
    case .certificate: readCertificates(bytes)
    case .importFile: try readImport(bytes)
    case .manifest: _ = try SchemaManifest.read(bytes)
    }
    return nil
  }

  private func readFrames(_ bytes: [UInt8]) throws {
    var whole = FrameAssembler()
    var cut = FrameAssembler()
    var messages: [InboundMessage] = []
    let step = Int(bytes.first ?? 1) % 7 + 1
    for start in stride(from: 0, to: bytes.count, by: step) {
      messages += try cut.receive(bytes[start..<min(start + step, bytes.count)])
    }
    let expected = try whole.receive(bytes[...])
    if messages != expected { throw NotCanonical(target: self, bytes: bytes, written: []) }
  }

  private func readInvitation(_ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    guard InvitationLink.isLink(text) else {
      let code = try InvitationCode(text)
      if try InvitationCode(code.description) != code { throw NotCanonical(target: self, bytes: bytes, written: []) }
      return
    }
    let link = try InvitationLink(text)
    if try InvitationLink(link.description) != link { throw NotCanonical(target: self, bytes: bytes, written: []) }
  }

  private func readCertificates(_ bytes: [UInt8]) {
    func attempt(_ body: () throws -> Void) {
      do { try body() } catch {
        // Refused.
      }
    }
    attempt { _ = try ShareCertificate(der: bytes) }
    attempt { _ = try DeviceCertificate(der: bytes, sharePublicKey: FuzzSamples.sharePublicKey) }
    attempt { _ = try SigningRequest(der: bytes) }
    attempt { _ = try GuestCertificate.publicKey(of: bytes) }
    attempt { _ = try PEM.decoded(bytes, label: PEM.privateKey) }
    attempt { _ = try KeyPair(privateKey: bytes) }
    _ = OpenSSLCryptography().isValid(signature: bytes, message: [1], publicKey: FuzzSamples.sharePublicKey)
    _ = OpenSSLCryptography().isValid(signature: [UInt8](repeating: 1, count: 64), message: [1], publicKey: bytes)
  }

  private func readImport(_ bytes: [UInt8]) throws {
    let context = ImportContext(
      schema: BudgetSchema.schema, presence: { _ in .absent }, sha256: { OpenSSLCryptography().sha256($0) })
    _ = try ImportPlan.make(bytes: bytes, fileName: "fuzz", options: ImportOptions(), context: context)
  }
}

/// Bytes that were read and would be written in another way: two forms of one thing (P3).
package struct NotCanonical: Error, CustomStringConvertible {
  var target: FuzzTarget
  var bytes: [UInt8]
  var written: [UInt8]

  package var description: String {
    "\(target.rawValue) reads \(hexadecimal(bytes)) and writes \(hexadecimal(written))"
  }
}
