import Foundation
import HouseholdRecords
import HouseholdReplica
import HouseholdTrust

/// A household of real replicas in temporary files, whose devices exchange changesets without a network.
final class TestHousehold {
  /// One device: its key, its replica, and a connection as another program would have it.
  final class Device {
    let name: String
    let key: KeyPair
    let path: String
    private(set) var replica: Replica
    private(set) var access: RecordAccess
    /// This device's clock.
    var now = Instant(milliseconds: 1_772_442_000_000)

    init(name: String, key: KeyPair, path: String, replica: Replica) throws {
      self.name = name
      self.key = key
      self.path = path
      self.replica = replica
      access = try RecordAccess(path: path, readOnly: false, cryptography: OpenSSLCryptography())
    }

    /// Closes and opens the files, as a restart does.
    func restart() throws {
      access.close()
      replica.close()
      try reopen()
    }

    /// Opens files that were closed.
    func reopen() throws {
      replica = try Replica(path: path, cryptography: OpenSSLCryptography(), signer: key)
      access = try RecordAccess(path: path, readOnly: false, cryptography: OpenSSLCryptography())
    }

    func type(_ name: String) -> RecordType { access.schema.type(name)! }

    func put(_ type: String, _ id: String, _ fields: [(String, FieldValue)]) throws {
      _ = try access.put(self.type(type), id, fields.map { (name: $0.0, value: $0.1) })
    }

    func delete(_ type: String, _ id: String) throws { _ = try access.delete(self.type(type), id) }

    /// The fields of a record by name; nil if it does not show.
    func fields(_ type: String, _ id: String) throws -> [String: FieldValue]? {
      let definition = self.type(type)
      return try access.record(definition, id).map { shown in
        Dictionary(uniqueKeysWithValues: zip(definition.fields.map(\.name), shown.values))
      }
    }

    @discardableResult
    func seal() throws -> Bool { try replica.seal(now: now) }
  }

  let folder: URL
  let schema: Schema
  private(set) var devices: [Device] = []
  private let authority: ShareAuthority
  private let now = Instant(milliseconds: 1_772_442_000_000)

  init(_ names: String..., schema: Schema = TestHousehold.schema) throws {
    self.schema = schema
    folder = FileManager.default.temporaryDirectory.appending(path: "household-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    authority = try ShareAuthority.make(name: "Test household", now: now)
    for name in names { try add(name) }
  }

  deinit {
    do { try FileManager.default.removeItem(at: folder) } catch { print("left \(folder): \(error)") }
  }

  subscript(name: String) -> Device { devices.first { $0.name == name }! }

  /// Adds a device with a member of its own; it has an empty replica until it syncs.
  @discardableResult
  func add(_ name: String, needsSnapshot: Bool = false) throws -> Device {
    let key = try KeyPair.generate()
    var random = SecureRandom()
    let member = MemberID.random(from: &random)
    let description = MembershipEntry.DeviceDescription(name: "\(name)-laptop", publicKey: key.publicKey)
    var entries: [[UInt8]]
    if let owner = devices.first {
      let invite = try owner.replica.state(
        .invite(
          .init(
            invitation: .random(from: &random), member: member, memberName: name, role: .member, expiresAt: now)),
        at: now)
      _ = try owner.replica.state(.join(.init(invite: invite, device: description)), at: now)
      entries = try owner.replica.membershipEntries(except: [])
      for device in devices.dropFirst() { _ = try device.replica.addMembership(entries) }
    } else {
      let genesis = MembershipEntry(
        author: key.device, parents: [], at: now,
        statement: .genesis(
          .init(
            householdName: "Test household", sharePublicKey: authority.key.publicKey, member: member,
            memberName: name, device: description)))
      entries = [try SignedEntry(genesis) { try authority.key.signature(of: $0) }.bytes]
    }
    let path = folder.appending(path: "\(name).sqlite").path
    let replica = try Replica.create(
      path: path,
      identity: ReplicaIdentity(household: authority.certificate.household, member: member, device: key.device),
      entries: entries, nonce: .random(from: &random), incarnation: .random(from: &random),
      needsSnapshot: needsSnapshot, cryptography: OpenSSLCryptography(), signer: key)
    if devices.isEmpty { _ = try replica.state(.schema(schema), at: now) }
    let device = try Device(name: name, key: key, path: path, replica: replica)
    devices.append(device)
    return device
  }

  /// Copies a device's file, as a directory that is copied to another machine: the same device a second time.
  func copy(_ name: String, as copy: String) throws -> Device {
    let path = folder.appending(path: "\(copy).sqlite").path
    try Replica.copy(self[name].path, to: path)
    let device = try Device(
      name: copy, key: self[name].key, path: path,
      replica: Replica(path: path, cryptography: OpenSSLCryptography(), signer: self[name].key))
    device.now = self[name].now
    devices.append(device)
    return device
  }

  /// Delivers what `to` lacks of what `from` has.
  @discardableResult
  func pull(_ to: Device, from: Device) throws -> Reception {
    try from.seal()
    let known = try to.replica.vectors().received
    let slice = try from.replica.log(after: .start, skipping: known, limitBytes: .max)
    return try to.replica.receive(
      slice.changesets.map(\.packed), from: from.key.device,
      token: ChangeToken(incarnation: from.replica.incarnation, position: slice.next), now: to.now)
  }

  /// Exchanges both ways.
  func sync(_ a: String, _ b: String) throws {
    try pull(self[a], from: self[b])
    try pull(self[b], from: self[a])
    try pull(self[a], from: self[b])
  }

  /// The first difference between two devices' tables or digests; nil if there is none.
  func difference(_ a: String, _ b: String) throws -> String? {
    for type in schema.types {
      var rows: [[String: [FieldValue]]] = []
      for device in [self[a], self[b]] {
        var found: [String: [FieldValue]] = [:]
        try device.access.forEach(type) { found[$0.key.id] = $0.values }
        rows.append(found)
      }
      for id in Set(rows[0].keys).union(rows[1].keys).sorted() where rows[0][id] != rows[1][id] {
        return "\(type.name)/\(id): \(a) has \(String(describing: rows[0][id])), "
          + "\(b) has \(String(describing: rows[1][id]))"
      }
    }
    let digests = try [self[a], self[b]].map { try $0.replica.computeDigest() }
    if digests[0].applied == digests[1].applied, digests[0].bytes != digests[1].bytes {
      return "equal vectors, but digests \(hexadecimal(digests[0].bytes)) and \(hexadecimal(digests[1].bytes))"
    }
    return nil
  }

  /// A small schema with every kind of field.
  static let schema = Schema(
    name: "test", version: 1,
    types: [
      RecordType(
        name: "transaction",
        fields: [
          .init("date", .date), .init("amount_minor", .integer), .init("currency", .text), .init("payee", .text),
          .init("note", .text), .init("category", .reference, to: "category"),
        ], together: [["amount_minor", "currency"]]),
      RecordType(name: "category", fields: [.init("name", .text), .init("sort", .integer), .init("note", .text)]),
      RecordType(
        name: "sample",
        fields: [
          .init("text", .text), .init("integer", .integer), .init("real", .real), .init("boolean", .boolean),
          .init("date", .date), .init("timestamp", .timestamp), .init("bytes", .bytes), .init("json", .json),
        ]),
      RecordType(name: "letter", fields: ["a", "b", "c", "d", "e"].map { .init($0, .text) }),
      RecordType(
        name: "level", fields: [.init("high", .integer), .init("low", .integer)],
        strategies: ["high": "max", "low": "min"]),
    ])
}
