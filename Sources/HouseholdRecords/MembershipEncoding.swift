/// The bytes of a membership entry: version, body, signature; hash and signature are over these bytes, which everyone
/// passes on unchanged (R7).
package struct SignedEntry: Hashable, Sendable {
  /// Version byte, body, and the 64 bytes of the signature.
  package let bytes: [UInt8]

  /// The length of an Ed25519 signature, in bytes.
  package static let signatureBytes = 64
  /// The version of the format, the first byte.
  package static let version: UInt8 = 1

  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// Encodes the entry and has it signed; what a peer would refuse is not signed here.
  ///
  /// - Parameter signature: gives the Ed25519 signature of a message: with the share key for the genesis, with the
  ///   author's device key for every other entry.
  /// - Throws: `DecodingViolation` if the entry breaks a limit or a rule of the format, or what `signature` throws.
  package init(_ entry: MembershipEntry, signature: (_ message: [UInt8]) throws -> [UInt8]) throws {
    let message = MembershipEncoding.message(entry)
    guard message.count + Self.signatureBytes <= Limits.entryBytes else { throw DecodingViolation.overLimit }
    _ = try MembershipEncoding.decode(message)
    let signature = try signature(message)
    precondition(signature.count == Self.signatureBytes, "an Ed25519 signature has 64 bytes")
    bytes = message + signature
  }

  /// What the signature is over.
  package var message: [UInt8] { Array(bytes.dropLast(Self.signatureBytes)) }

  /// The signature itself.
  package var signature: [UInt8] { Array(bytes.suffix(Self.signatureBytes)) }

  /// The entry's name for ever: SHA-256 of all its bytes.
  package func hash(_ cryptography: some Cryptography) -> EntryHash { cryptography.hashed(bytes) }

  /// The entry that the bytes hold; whatever they are, this throws or returns.
  package func decoded() throws(DecodingViolation) -> MembershipEntry {
    guard bytes.count <= Limits.entryBytes else { throw .overLimit }
    guard bytes.count > Self.signatureBytes else { throw .truncated }
    return try MembershipEncoding.decode(message)
  }
}

/// Turns a membership entry into canonical bytes and back.
///
/// Version, author, parents ascending, time, kind, then the body of that kind up to the end. A kind that is unknown
/// here, or a schema of an encoding that is unknown here, keeps its body as it is: it is passed on without effect.
package enum MembershipEncoding {
  private enum Kind {
    static let genesis: UInt64 = 1
    static let invite: UInt64 = 2
    static let join: UInt64 = 3
    static let rename: UInt64 = 4
    static let schema: UInt64 = 5
    static let role: UInt64 = 6
    static let removal: UInt64 = 7
    static let dormancy: UInt64 = 8
    static let fold: UInt64 = 9
  }

  /// Everything but the signature.
  package static func message(_ entry: MembershipEntry) -> [UInt8] {
    var writer = ByteWriter(capacity: 256)
    writer.byte(SignedEntry.version)
    writer.identifier(entry.author)
    writer.heads(entry.parents.sorted())
    writer.signed(entry.at.milliseconds)
    switch entry.statement {
    case .genesis(let genesis):
      writer.varint(Kind.genesis)
      writer.text(genesis.householdName)
      writer.data(genesis.sharePublicKey)
      writer.identifier(genesis.member)
      writer.text(genesis.memberName)
      writer.device(genesis.device)
    case .invite(let invite):
      writer.varint(Kind.invite)
      writer.identifier(invite.invitation)
      writer.identifier(invite.member)
      writer.text(invite.memberName)
      writer.role(invite.role)
      writer.signed(invite.expiresAt.milliseconds)
    case .join(let join):
      writer.varint(Kind.join)
      writer.identifier(join.invite)
      writer.device(join.device)
      writer.cutoffs(join.replaces)
    case .rename(let rename):
      writer.varint(Kind.rename)
      writer.subject(rename.subject)
      writer.text(rename.name)
    case .schema(let schema):
      writer.varint(Kind.schema)
      writer.raw(SchemaEncoding.encode(schema))
    case .role(let change):
      writer.varint(Kind.role)
      writer.identifier(change.member)
      writer.role(change.role)
      writer.cutoffs(change.cutoffs)
    case .removal(let removal):
      writer.varint(Kind.removal)
      writer.subject(removal.subject)
      writer.byte(removal.reason.rawValue)
      writer.cutoffs(removal.cutoffs)
    case .dormancy(let dormancy):
      writer.varint(Kind.dormancy)
      writer.identifier(dormancy.device)
      writer.byte(dormancy.isDormant ? 1 : 0)
      writer.dependencies(dormancy.confirmed.sorted)
    case .fold(let fold):
      writer.varint(Kind.fold)
      writer.identifier(fold.last.replica)
      writer.varint(fold.last.sequence)
      writer.identifier(fold.hash)
    case .unknown(let kind, let body):
      writer.varint(kind)
      writer.raw(body)
    }
    return writer.bytes
  }

  /// The entry of a message; throws unless the message is its one canonical form.
  fileprivate static func decode(_ message: [UInt8]) throws(DecodingViolation) -> MembershipEntry {
    var reader = ByteReader(message)
    let version = try reader.byte()
    guard version == SignedEntry.version else { throw .unknownKind(version) }
    let author: DeviceID = try reader.identifier256()
    let parents = try reader.heads()
    let at = Instant(milliseconds: try reader.signed())
    let kind = try reader.varint()
    guard (kind == Kind.genesis) == parents.isEmpty else {
      throw .malformed("the genesis names no other entry, and every other entry names one")
    }
    let statement = try statement(of: kind, from: &reader)
    try reader.finish()
    let entry = MembershipEntry(author: author, parents: parents, at: at, statement: statement)
    guard self.message(entry) == message else { throw .malformed("a membership entry is not in canonical form") }
    return entry
  }

  private static func statement(
    of kind: UInt64, from reader: inout ByteReader
  ) throws(DecodingViolation) -> MembershipEntry.Statement {
    switch kind {
    case Kind.genesis:
      return .genesis(
        MembershipEntry.Genesis(
          householdName: try reader.name(), sharePublicKey: try reader.data(limit: Limits.publicKeyBytes),
          member: try reader.identifier128(), memberName: try reader.name(), device: try reader.device()))
    case Kind.invite:
      return .invite(
        MembershipEntry.Invite(
          invitation: try reader.identifier128(), member: try reader.identifier128(), memberName: try reader.name(),
          role: try reader.role(), expiresAt: Instant(milliseconds: try reader.signed())))
    case Kind.join:
      return .join(
        MembershipEntry.Join(
          invite: try reader.identifier256(), device: try reader.device(), replaces: try reader.cutoffs()))
    case Kind.rename:
      return .rename(MembershipEntry.Rename(subject: try reader.subject(), name: try reader.name()))
    case Kind.schema:
      let body = Array(try reader.raw(reader.remaining))
      guard body.first == SchemaEncoding.version else { return .unknown(kind: kind, body: body) }
      return .schema(try SchemaEncoding.decode(body))
    case Kind.role:
      return .role(
        MembershipEntry.RoleChange(
          member: try reader.identifier128(), role: try reader.role(), cutoffs: try reader.cutoffs()))
    case Kind.removal:
      let subject = try reader.subject()
      let byte = try reader.byte()
      guard let reason = MembershipEntry.Removal.Reason(rawValue: byte) else { throw .unknownKind(byte) }
      return .removal(MembershipEntry.Removal(subject: subject, reason: reason, cutoffs: try reader.cutoffs()))
    case Kind.dormancy:
      return .dormancy(
        MembershipEntry.Dormancy(
          device: try reader.identifier256(), isDormant: try reader.flag(),
          confirmed: Dependencies(try reader.dependencies())))
    case Kind.fold:
      return .fold(
        MembershipEntry.Fold(
          last: ChangesetName(replica: try reader.identifier128(), sequence: try reader.sequence()),
          hash: try reader.identifier256()))
    case let kind:
      return .unknown(kind: kind, body: Array(try reader.raw(reader.remaining)))
    }
  }
}

extension ByteWriter {
  /// Owner 0, member 1, read-only 2.
  package mutating func role(_ role: Role) {
    switch role {
    case .owner: byte(0)
    case .member: byte(1)
    case .readOnly: byte(2)
    }
  }

  fileprivate mutating func device(_ device: MembershipEntry.DeviceDescription) {
    text(device.name)
    data(device.publicKey)
  }

  fileprivate mutating func subject(_ subject: MembershipEntry.Subject) {
    switch subject {
    case .member(let member):
      byte(0)
      identifier(member)
    case .device(let device):
      byte(1)
      identifier(device)
    }
  }

  fileprivate mutating func cutoffs(_ cutoffs: [MembershipEntry.Cutoffs]) {
    list(cutoffs.sorted { $0.device < $1.device }) { writer, cutoff in
      writer.identifier(cutoff.device)
      writer.dependencies(cutoff.through.sorted)
    }
  }
}

extension ByteReader {
  package mutating func role() throws(DecodingViolation) -> Role {
    switch try byte() {
    case 0: return .owner
    case 1: return .member
    case 2: return .readOnly
    case let byte: throw .unknownKind(byte)
    }
  }

  /// A byte that is 0 or 1.
  package mutating func flag() throws(DecodingViolation) -> Bool {
    switch try byte() {
    case 0: return false
    case 1: return true
    case let byte: throw .unknownKind(byte)
    }
  }

  /// A name of a household, member or device: not empty.
  package mutating func name() throws(DecodingViolation) -> String {
    let name = try text(limit: Limits.nameBytes)
    guard !name.isEmpty else { throw .malformed("a name is empty") }
    return name
  }

  fileprivate mutating func device() throws(DecodingViolation) -> MembershipEntry.DeviceDescription {
    MembershipEntry.DeviceDescription(name: try name(), publicKey: try data(limit: Limits.publicKeyBytes))
  }

  fileprivate mutating func subject() throws(DecodingViolation) -> MembershipEntry.Subject {
    switch try byte() {
    case 0: return .member(try identifier128())
    case 1: return .device(try identifier256())
    case let byte: throw .unknownKind(byte)
    }
  }

  fileprivate mutating func cutoffs() throws(DecodingViolation) -> [MembershipEntry.Cutoffs] {
    var list: [MembershipEntry.Cutoffs] = []
    for _ in 0..<(try count(limit: Limits.vectorEntries)) {
      let device: DeviceID = try identifier256()
      if let last = list.last, device <= last.device { throw .notSorted }
      list.append(MembershipEntry.Cutoffs(device: device, through: Dependencies(try dependencies())))
    }
    return list
  }
}
