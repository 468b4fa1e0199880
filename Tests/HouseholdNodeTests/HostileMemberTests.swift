import Foundation
import HouseholdNode
import HouseholdRecords
import HouseholdReplica
import HouseholdSync
import HouseholdTransport
import HouseholdTrust
import Testing

/// A member's device with real keys that breaks the rules: the link closes with a sentence, and nothing is kept.
@Suite(.serialized, .ownThread) struct HostileMemberTests {
  /// A household of ana, ben, and eve, who has joined and has no node.
  final class Stage {
    let place: Place
    let ana: Home
    let ben: Home
    let eve: HostileMember
    let before: [String: Int]

    init() throws {
      place = try Place()
      (ana, ben) = try place.pair()
      let home = place.home("eve")
      try home.join(try ana.invite("eve"))
      eve = try HostileMember(home, against: ana)
      try ana.put("note", "n0", "title=before")
      before = try Self.counts(ana)
      let second = ben
      try eventually("ben has it") { try second.records("note")["n0"] != nil }
    }

    static func counts(_ home: Home) throws -> [String: Int] {
      let records = try #require(try home.status().report["records"] as? [String: Any])
      return try #require(records["byType"] as? [String: Int])
    }

    /// What the violation must have come to: a closed link, a named error, nothing stored, and sync that goes on.
    func expectRefusal(
      of what: String, on link: HostileLink, naming word: String, location: SourceLocation = #_sourceLocation
    ) throws {
      try eventually("the link closes after \(what)", seconds: 10, location: location) { link.heard.closed != nil }
      var told = ""
      let end = Date(timeIntervalSinceNow: 5)
      while !told.lowercased().contains(word.lowercased()), Date() < end {
        told = try ana.peer("eve")["lastError"] as? String ?? "nothing"
      }
      #expect(told.lowercased().contains(word.lowercased()), "\(what): \(told)", sourceLocation: location)
      #expect(try Self.counts(ana) == before, "\(what)", sourceLocation: location)
      #expect(ana.isRunning, "\(what)", sourceLocation: location)
    }

    func expectSyncGoesOn() throws {
      try ana.put("note", "n0", "title=after")
      try eventually("ana and ben still sync") { try ben.records("note")["n0"]?["title"] as? String == "after" }
      #expect(try ana.sqlite("PRAGMA integrity_check") == "ok")
    }
  }

  @Test func `what no frame or hello may be closes the link with a sentence`() async throws {
    let stage = try Stage()
    let hello = try stage.eve.hello()
    var ofAnother = hello
    ofAnother.household = HouseholdID(bytes: [UInt8](repeating: 7, count: 32))!
    var asAnother = hello
    asAnother.device = DeviceID(bytes: [UInt8](repeating: 7, count: 32))!
    var future = hello
    future.versions = 7...9
    let bytes = MessageCodec.encode(.hello(hello))
    var timeless = hello
    timeless.wall = Instant(milliseconds: .min)

    var link = try await stage.eve.dial()
    link.say(.hello(timeless))
    try eventually("status bears any clock") { try stage.ana.peer("eve")["clockOffsetMs"] as? Int == .min }
    link.link.close("that was all")
    link = try await stage.eve.dial()
    link.link.send(type: Message.Kind.hello.rawValue, payload: Array(bytes.dropLast(40)))
    try stage.expectRefusal(of: "half a hello", on: link, naming: "not valid")
    link = try await stage.eve.dial()
    link.say(.hello(ofAnother))
    try stage.expectRefusal(of: "a hello of another household", on: link, naming: "household")
    link = try await stage.eve.dial()
    link.say(.hello(asAnother))
    try stage.expectRefusal(of: "a hello as another device", on: link, naming: "device")
    link = try await stage.eve.dial()
    link.say(.hello(future))
    try stage.expectRefusal(of: "a hello of the future", on: link, naming: "version")
    link = try await stage.eve.dial()
    link.link.send(type: 0x3F, payload: [1, 2, 3])
    try stage.expectRefusal(of: "an unknown type", on: link, naming: "63")
    link = try await stage.eve.dial()
    link.link.send(type: 0x3F, flags: .ignorable, payload: [1, 2, 3])
    link.say(.hello(hello))
    link.say(.hello(hello))
    try stage.expectRefusal(of: "two hellos", on: link, naming: "hello")
    link = try await stage.eve.dial()
    link.say(link.batch([]))
    try stage.expectRefusal(of: "a batch before the hello", on: link, naming: "batch")

    try stage.expectSyncGoesOn()
  }

  /// Has ana's node call eve's device, which says this to every call after its hello, and counts the calls.
  private func expectCalls(
    answeredBy type: UInt8, _ payload: [UInt8], number: Int, naming word: String,
    location: SourceLocation = #_sourceLocation
  ) async throws {
    let stage = try Stage()
    let hello = MessageCodec.encode(.hello(try stage.eve.hello()))
    let answering = Answering([(Message.Kind.hello.rawValue, hello), (type, payload)])
    let listener = try stage.eve.listen(answering)
    defer { listener.close() }
    let link = try await stage.eve.dial()
    link.say(.hello(try stage.eve.hello(reachableAt: [listener.address.description])))
    try eventually("the node greets") { !link.heard.all(.hello).isEmpty }
    link.link.close("that was all")

    try eventually("the node calls", seconds: 60, location: location) { answering.calls >= number }
    try eventually("status names it", seconds: 10, location: location) {
      (try stage.ana.peer("eve")["lastError"] as? String ?? "").contains(word)
    }
    for edit in 0..<4 {
      try stage.ana.put("note", "n0", "title=\(edit)")
      try await Task.sleep(for: .seconds(1))
    }

    #expect(answering.calls == number, sourceLocation: location)
    try stage.expectSyncGoesOn()
  }

  @Test func `who breaks a rule is not called again before the goodbye's time is over, whatever is edited (P12, P14)`()
    async throws
  {
    try await expectCalls(answeredBy: 0x3F, [1, 2, 3], number: 1, naming: "63")
  }

  @Test func `sessions that begin anew without end are told of, and given time (household 406231)`() async throws {
    let goodbye = Message.goodbye(Goodbye(.branches, "Other branches, again."))
    try await expectCalls(
      answeredBy: Message.Kind.goodbye.rawValue, MessageCodec.encode(goodbye), number: SyncTiming.restartsInARow + 1,
      naming: "Other branches")
  }

  @Test func `a frame over the limit is refused before memory is taken`() throws {
    let stage = try Stage()
    let before = try stage.ana.residentKiB()
    let share = stage.eve.directory.shareFolder
    for header: [UInt8] in [[0x7F, 0xFF, 0xFF, 0xFF, 0x44, 0], [0, 2, 0, 0, 1, 0], [0, 0, 0, 0, 0x44, 0xFF]] {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/openssl")
      process.arguments = [
        "s_client", "-quiet", "-connect", stage.ana.address, "-alpn", "household/1", "-cert", share + "/device.pem",
        "-key", share + "/device.key",
      ]
      let input = Pipe()
      process.standardInput = input
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      try input.fileHandleForWriting.write(contentsOf: Data(header + [UInt8](repeating: 1, count: 4096)))
      try eventually("the link closes") { !process.isRunning }
    }

    try eventually("status names it") { (try stage.ana.peer("eve")["lastError"] as? String ?? "").contains("frame") }
    #expect(try stage.ana.residentKiB() < before + 8 << 10)
    try stage.expectSyncGoesOn()
  }

  /// Changesets that eve may not send: what is wrong, the bytes, and a word of the sentence that is due.
  private static func forged(by eve: HostileMember) throws -> [(String, [UInt8], String)] {
    var random = SecureRandom()
    let nonce = ReplicaNonce.random(from: &random)
    func changeset(replica: ReplicaID? = nil, device: DeviceID? = nil, sequence: UInt64 = 1) throws -> Changeset {
      let device = device ?? eve.replica.identity.device
      return Changeset(
        name: ChangesetName(
          replica: replica ?? OpenSSLCryptography().replicaID(device: device, nonce: nonce), sequence: sequence),
        previous: sequence == 1 ? .zero : ChangesetHash(bytes: [UInt8](repeating: 3, count: 32))!,
        origin: sequence == 1 ? ReplicaOrigin(device: device, nonce: nonce) : nil, stamp: Stamp(rawValue: 1 << 20),
        editedAt: SystemClock.now, dependencyChanges: [], schemaVersion: try eve.replica.membership().schema.version,
        membershipHeads: try eve.hello().membershipHeads, shapes: [Shape(type: "note", fields: [])],
        operations: [Operation(kind: .delete, shape: 0, id: "n0", life: 1, values: [])])
    }
    let right = try SignedChangeset(try changeset(), signer: eve.keys.key)
    var flipped = right.bytes
    flipped[flipped.count - 1] ^= 1
    let other = try KeyPair.generate()
    let devices = try eve.replica.membership().devices.values
    let anasDevice = try #require(devices.first { $0.name == "ana-laptop" }).id
    return [
      ("a wrong signature", flipped, "signature"),
      ("another key's signature", try SignedChangeset(try changeset(), signer: other).bytes, "signature"),
      (
        "a changeset as ana's",
        try SignedChangeset(try changeset(device: anasDevice), signer: eve.keys.key).bytes, "signature"
      ),
      (
        "a replica that is not the device's",
        try SignedChangeset(
          try changeset(replica: ReplicaID(bytes: [UInt8](repeating: 9, count: 16))!), signer: eve.keys.key
        ).bytes,
        "replica"
      ),
      (
        "a stranger's device", try SignedChangeset(try changeset(device: other.device), signer: other).bytes, "admitted"
      ),
      (
        "a chain without its beginning", try SignedChangeset(try changeset(sequence: 5), signer: eve.keys.key).bytes,
        "5"
      ),
      ("no changeset at all", [1, 2, 3], "not valid"),
    ]
  }

  @Test func `changesets, entries and pages that are forged are not stored`() async throws {
    let stage = try Stage()
    let (eve, ana) = (stage.eve, stage.ana)
    var random = SecureRandom()

    for (what, bytes, word) in try Self.forged(by: eve) {
      let link = try await eve.dial()
      try link.getInUse()
      link.say(link.batch([bytes]))
      try stage.expectRefusal(of: what, on: link, naming: word)
    }
    var link = try await eve.dial()
    try link.getInUse()
    link.say(.membership(MembershipPart(entries: [[1, 2, 3]], more: false)))
    try stage.expectRefusal(of: "an entry that is none", on: link, naming: "membership")
    link = try await eve.dial()
    try link.getInUse()
    var entry = try eve.replica.sign(
      .invite(
        .init(
          invitation: .random(from: &random), member: .random(from: &random), memberName: "mallory", role: .owner,
          expiresAt: SystemClock.now)), at: SystemClock.now
    ).bytes
    entry[entry.count - 1] ^= 1
    link.say(.membership(MembershipPart(entries: [entry], more: false)))
    try stage.expectRefusal(of: "an entry with a wrong signature", on: link, naming: "signature")
    link = try await eve.dial()
    try link.getInUse()
    link.say(
      .snapshotPage(
        SnapshotPart(
          subscription: link.subscription, id: SnapshotID(bytes: [UInt8](repeating: 5, count: 32))!, token: nil,
          page: SnapshotPage(cursor: [1], isLast: true, content: [0, 1, 2]))))
    try stage.expectRefusal(of: "a page that nobody asked for", on: link, naming: "snapshot")
    #expect((try ana.json("members")["members"] as? [Any])?.count == 3)
    try stage.expectSyncGoesOn()
  }

  @Test func `endless offers of what does not exist neither fill the memory nor stop the node`() async throws {
    let stage = try Stage()
    let link = try await stage.eve.dial()
    try link.getInUse()
    let before = try stage.ana.residentKiB()
    var random = SystemRandomNumberGenerator()

    for _ in 0..<100 where link.heard.closed == nil {
      var dependencies: [Dependency] = []
      for _ in 0..<1900 {
        dependencies.append(
          Dependency(
            replica: .random(from: &random), sequence: .random(in: 1 ... .max >> 8, using: &random), hashPrefix: 1))
      }
      link.say(.offer(dependencies.sorted { $0.replica < $1.replica }))
    }

    try stage.expectSyncGoesOn()
    #expect(try stage.ana.residentKiB() < before + 24 << 10)
    #expect(stage.ana.isRunning)
  }
}
