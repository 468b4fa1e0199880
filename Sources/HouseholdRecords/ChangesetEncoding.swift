/// The bytes of a changeset: version, body, signature. Hash and signature are over these bytes, which every forwarder
/// passes on unchanged (R7).
package struct SignedChangeset: Hashable, Sendable {
  /// Version byte, body, and the 64 bytes of the signature.
  package let bytes: [UInt8]

  /// The length of an Ed25519 signature, in bytes.
  package static let signatureBytes = 64
  /// The version of the format, the first byte.
  package static let version: UInt8 = 1

  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// Encodes the changeset and signs it.
  package init(_ changeset: Changeset, signer: any DeviceSigner) throws {
    let message = ChangesetEncoding.message(changeset)
    bytes = message + (try signer.signature(of: message))
  }

  /// What the signature is over.
  package var message: [UInt8] { Array(bytes.dropLast(Self.signatureBytes)) }

  /// The signature itself.
  package var signature: [UInt8] { Array(bytes.suffix(Self.signatureBytes)) }

  /// The changeset that the bytes hold; whatever they are, this throws or returns.
  package func decoded() throws(DecodingViolation) -> Changeset {
    guard bytes.count <= Limits.changesetBytes else { throw .overLimit }
    guard bytes.count > Self.signatureBytes else { throw .truncated }
    return try ChangesetEncoding.decode(bytes[..<(bytes.count - Self.signatureBytes)])
  }
}

/// Turns a changeset into canonical bytes and back.
package enum ChangesetEncoding {
  private enum Flag {
    static let origin: UInt64 = 1
    static let heads: UInt64 = 2
    static let continues: UInt64 = 4
    static let known: UInt64 = 7
  }

  /// Everything but the signature.
  package static func message(_ changeset: Changeset) -> [UInt8] {
    var writer = ByteWriter(capacity: 256 + changeset.operations.count * 64)
    header(of: changeset, to: &writer)
    writer.varint(changeset.shapes.count)
    for shape in changeset.shapes {
      writer.text(shape.type)
      writer.varint(shape.fields.count)
      for field in shape.fields { writer.text(field) }
    }
    writer.varint(changeset.operations.count)
    for operation in changeset.operations {
      writer.byte(operation.kind.rawValue | (operation.isWeak ? 0x80 : 0))
      writer.varint(operation.shape)
      writer.text(operation.id)
      writer.varint(operation.life)
      for value in operation.values { writer.value(value) }
      if operation.kind == .set { writer.rows(operation.rows) }
    }
    return writer.bytes
  }

  private static func header(of changeset: Changeset, to writer: inout ByteWriter) {
    writer.byte(SignedChangeset.version)
    var flags: UInt64 = 0
    if changeset.origin != nil { flags |= Flag.origin }
    if changeset.membershipHeads != nil { flags |= Flag.heads }
    if changeset.continues { flags |= Flag.continues }
    writer.varint(flags)
    writer.identifier(changeset.name.replica)
    writer.varint(changeset.name.sequence)
    writer.identifier(changeset.previous)
    if let origin = changeset.origin {
      writer.identifier(origin.device)
      writer.identifier(origin.nonce)
    }
    writer.varint(changeset.stamp.rawValue)
    writer.signed(changeset.editedAt.milliseconds)
    writer.dependencies(changeset.dependencyChanges)
    writer.varint(changeset.schemaVersion)
    if let heads = changeset.membershipHeads { writer.heads(heads) }
  }

  fileprivate static func decode(_ bytes: ArraySlice<UInt8>) throws(DecodingViolation) -> Changeset {
    var reader = ByteReader(bytes)
    var changeset = try header(from: &reader)
    changeset.shapes = try shapes(from: &reader)
    changeset.operations = try operations(from: &reader, shapes: changeset.shapes)
    try reader.finish()
    return changeset
  }

  private static func header(from reader: inout ByteReader) throws(DecodingViolation) -> Changeset {
    let version = try reader.byte()
    guard version == SignedChangeset.version else { throw .unknownKind(version) }
    let flags = try reader.varint()
    guard flags & ~Flag.known == 0 else { throw .malformed("a changeset has unknown flags") }
    let name = ChangesetName(replica: try reader.identifier128(), sequence: try reader.sequence())
    let previous: ChangesetHash = try reader.identifier256()
    guard (flags & Flag.origin != 0) == (name.sequence == 1), (previous == .zero) == (name.sequence == 1) else {
      throw .malformed("only changeset 1 has an origin and no predecessor")
    }
    var origin: ReplicaOrigin?
    if flags & Flag.origin != 0 {
      origin = ReplicaOrigin(device: try reader.identifier256(), nonce: try reader.identifier128())
    }
    let stamp = Stamp(rawValue: try reader.varint())
    let editedAt = Instant(milliseconds: try reader.signed())
    let dependencies = try reader.dependencies()
    let schemaVersion = try reader.varint()
    let heads = flags & Flag.heads != 0 ? try reader.heads() : nil
    return Changeset(
      name: name, previous: previous, origin: origin, stamp: stamp, editedAt: editedAt,
      continues: flags & Flag.continues != 0, dependencyChanges: dependencies, schemaVersion: schemaVersion,
      membershipHeads: heads, shapes: [], operations: [])
  }

  private static func shapes(from reader: inout ByteReader) throws(DecodingViolation) -> [Shape] {
    var shapes: [Shape] = []
    for _ in 0..<(try reader.count(limit: 65_536)) {
      let type = try reader.text(limit: Limits.nameBytes)
      var fields: [String] = []
      for _ in 0..<(try reader.count(limit: Limits.fieldsPerType)) {
        let field = try reader.text(limit: Limits.nameBytes)
        if fields.contains(field) { throw .malformed("a shape names a field twice") }
        fields.append(field)
      }
      shapes.append(Shape(type: type, fields: fields))
    }
    return shapes
  }

  private static func operations(
    from reader: inout ByteReader, shapes: [Shape]
  ) throws(DecodingViolation) -> [Operation] {
    var operations: [Operation] = []
    let count = try reader.count(limit: Limits.operationsPerChangeset)
    operations.reserveCapacity(min(count, 16_384))
    for _ in 0..<count {
      let lead = try reader.byte()
      guard let kind = Operation.Kind(rawValue: lead & 0x7F) else { throw .unknownKind(lead) }
      let shape = try reader.varint()
      guard shape < UInt64(shapes.count) else { throw .malformed("an operation names a shape that is not there") }
      let fieldCount = shapes[Int(shape)].fields.count
      guard kind != .delete || fieldCount == 0 else { throw .malformed("a deletion writes fields") }
      guard kind != .set || fieldCount == 1 else { throw .malformed("a set is not the one field of its shape") }
      let id = try reader.text(limit: Limits.idBytes)
      let life = try reader.sequence()
      var values: [FieldValue] = []
      values.reserveCapacity(fieldCount)
      if kind != .set { for _ in 0..<fieldCount { values.append(try reader.value()) } }
      operations.append(
        Operation(
          kind: kind, isWeak: lead & 0x80 != 0, shape: Int(shape), id: id, life: life, values: values,
          rows: kind == .set ? try reader.rows() : .none))
    }
    return operations
  }
}
