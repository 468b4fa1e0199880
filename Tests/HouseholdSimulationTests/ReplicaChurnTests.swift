import Foundation
import HouseholdRecords
import HouseholdReplica
import HouseholdSimulation
import HouseholdSync
import Testing

/// A device that is put back again and again goes on under a new replica id each time: the vectors grow, nothing else changes.
struct ReplicaChurnTests {
  /// How often it is put back, and how many changesets it seals each time. With 100 and 82 the headers, each with all that its
  /// author had seen, once were more than a page of a snapshot may hold, and nobody could join any more.
  private static let mints = number("HOUSEHOLD_CHURN") ?? 40
  private static let edits = number("HOUSEHOLD_CHURN_EDITS") ?? 10

  private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

  /// The greatest payload of each kind of message that was sent.
  private final class Sizes {
    var greatest: [Message.Kind: Int] = [:]
  }

  @Test func `after forty replica ids of one device a contact costs some kilobytes, and others can join (R8)`()
    throws
  {
    let world = try DiskFaultTests.world("A", "B")
    let (a, b) = (try #require(world["A"]), try #require(world["B"]))
    try DiskFaultTests.put(b, "n", "begin", in: world)
    try world.seal(b)
    try world.sync(a, b)
    let few = try time(20, a, b, in: world)
    let clock = ContinuousClock()
    for number in 1...Self.mints {
      try a.replica.mint(.restored, now: world.wall(a))
      // What is sealed together touches each record once.
      for record in 0..<Self.edits { try DiskFaultTests.put(a, "own \(record)", "\(number)", in: world) }
      try world.seal(a)
      guard number % 10 == 0 else { continue }
      try world.sync(a, b)
      try DiskFaultTests.put(number % 20 == 0 ? a : b, "n", "edit \(number)", in: world)
      try world.sync(a, b)
    }

    let sizes = Sizes()
    world.tamper = { type, payload in
      guard let kind = Message.Kind(rawValue: type) else { return }
      sizes.greatest[kind] = max(sizes.greatest[kind] ?? 0, payload.count)
    }
    let meeting = try clock.measure { try world.sync(a, b) }
    let many = try time(20, a, b, in: world)
    let joining = try clock.measure {
      let c = try world.add(World.Plan("C", needsSnapshot: true))
      try world.sync(a, c)
    }
    world.tamper = nil
    print("replicas \(Self.mints + 2): live edit \(few) before, \(many) now; meeting \(meeting), joining \(joining)")
    print(sizes.greatest.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key) \($0.value)" })

    let received = try a.replica.vectors().received
    #expect(received.entries.count >= Self.mints)
    #expect(received.excess(over: VersionVector()) >= UInt64(Self.mints * Self.edits))
    #expect(try a.access.conflicts(includingClosed: true).isEmpty, "each edit had seen the one before (no false order)")
    #expect(try #require(sizes.greatest[.have]) < 60 * (Self.mints + 100))
    #expect(try #require(sizes.greatest[.hello]) < 1000)
    for device in world.devices {
      let (its, first) = (try device.replica.vectors(), try a.replica.vectors())
      #expect(its.received == first.received && its.applied == first.applied, "\(device.name)")
      let texts = try DiskFaultTests.texts(device)
      #expect(texts.count == Self.edits + 1 && texts["n"] == .text("live 19"), "\(device.name)")
      #expect(texts.values.count { $0 == .text("\(Self.mints)") } == Self.edits, "\(device.name)")
    }
    #expect(world.faults.isEmpty)
  }

  @Test func `the headers of a snapshot find room on its first page, however many replicas there are (R8)`() {
    let tooMany = (1...450).first { replicas in
      let count = replicas * (1 + SnapshotRoom.recentHeaders(replicas: replicas))
      return count * SnapshotRoom.headerBytes(dependencies: replicas) > Limits.snapshotHeaderBytes
    }
    #expect(tooMany == nil)
    #expect(SnapshotRoom.recentHeaders(replicas: 10) == Limits.recentHeaders)
    #expect(SnapshotRoom.recentHeaders(replicas: 40) > 100)
    #expect(SnapshotRoom.recentHeaders(replicas: Limits.vectorEntries) == 0)
  }

  /// How long an edit takes to be sealed there and applied here, with the links as they are.
  private func time(
    _ count: Int, _ writer: SimulatedDevice, _ reader: SimulatedDevice, in world: World
  ) throws -> Duration {
    world.connect(writer, reader)
    defer { world.disconnectAll() }
    return try ContinuousClock().measure {
      for number in 0..<count {
        try DiskFaultTests.put(writer, "n", "live \(number)", in: world)
        try world.seal(writer)
        try world.sync(writer, reader)
      }
    } / count
  }
}
