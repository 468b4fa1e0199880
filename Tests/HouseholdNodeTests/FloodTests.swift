import Foundation
import HouseholdNode
import HouseholdRecords
import HouseholdTransport
import HouseholdTrust
import Testing

/// Strangers without end: the household goes on, loses nothing, and has its memory back afterwards.
///
/// `HOUSEHOLD_FLOOD=2000` makes it the long run whose figures stand in Docs/ThreatModel.md.
@Suite(.serialized, .ownThread) struct FloodTests {
  /// What a stranger does with a connection.
  private enum Kind: CaseIterable {
    /// Says nothing.
    case silent
    /// Sends what is no TLS.
    case garbage
    /// Sends what begins like TLS.
    case halfTLS
    /// Sends the beginning of a handshake, byte by byte.
    case slow
    /// Finishes a handshake with a certificate of another household.
    case otherHousehold
    /// Comes as a guest, and proves nothing.
    case guest
  }

  /// The strangers and what they hold open.
  private final class Flood {
    private var plain: [(descriptor: Int32, rest: [UInt8])] = []
    private let loop: EventLoop
    private let strangers: LinkSet
    private let guests: LinkSet
    private let target: SocketAddress
    private let hello: [UInt8]
    private let heard = Heard()
    private(set) var made = 0

    init(against home: Home, other: Home) throws {
      target = try SocketAddress(parsing: home.address)
      loop = try EventLoop()
      let keys = try NodeKeys(DataDirectory(other.directory))
      let context = try TLSContext(
        identity: TLSIdentity(certificate: keys.device.der, privateKey: keys.key.privateKey()), applications: [],
        verification: AnyHost())
      var bounds = LinkBounds()
      (bounds.links, bounds.linksPerDevice) = (100_000, 100_000)
      strangers = LinkSet(loop: loop, context: context, bounds: bounds)
      let key = try KeyPair.generate()
      guests = LinkSet(
        loop: loop,
        context: try TLSContext(
          identity: TLSIdentity(
            certificate: GuestCertificate.make(for: key, now: SystemClock.now), privateKey: key.privateKey()),
          applications: [], verification: AnyHost()), bounds: bounds)
      let session = try TLSSession(context: context, dialling: .household)
      _ = try session.handshake()
      var bytes: [UInt8] = []
      session.takeOutput(into: &bytes)
      hello = bytes
    }

    /// All hang up.
    func end() async {
      for (descriptor, _) in plain { close(descriptor) }
      plain = []
      await strangers.closeAll("enough")
      await guests.closeAll("enough")
      loop.stop()
    }

    /// One connection more.
    func add(_ kind: Kind, random: inout SystemRandomNumberGenerator) throws {
      made += 1
      switch kind {
      case .silent: try open([], rest: [])
      case .garbage: try open((0..<2048).map { _ in .random(in: 0...255, using: &random) }, rest: [])
      case .halfTLS: try open(Array(hello.prefix(hello.count / 2)), rest: [])
      case .slow: try open([], rest: hello)
      case .otherHousehold: LinkDialer(links: strangers).dial([target], for: .household, owner: heard) { _ in }
      case .guest: LinkDialer(links: guests).dial([target], for: .pairing, owner: heard) { _ in }
      }
    }

    private func open(_ bytes: [UInt8], rest: [UInt8]) throws {
      let descriptor = try StrangerTests.connected(to: target.description, seconds: 1)
      if !bytes.isEmpty { _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
      plain.append((descriptor, rest))
    }

    /// The slow ones send one byte more; who was cut off long ago is let go.
    func drip() {
      for index in plain.indices where !plain[index].rest.isEmpty {
        let byte = [plain[index].rest.removeFirst()]
        if send(plain[index].descriptor, byte, 1, Int32(MSG_NOSIGNAL)) < 0 { plain[index].rest = [] }
      }
      let surplus = plain.count - 512
      guard surplus > 0 else { return }
      for (descriptor, _) in plain.prefix(surplus) { close(descriptor) }
      plain.removeFirst(surplus)
    }
  }

  /// What the household did meanwhile.
  private struct Meanwhile {
    var latencies: [Double] = []
    var peak = 0
    /// The ids of the notes that were written.
    var notes: [String] = []
  }

  /// Lets so many strangers come, and the household write and sync after every fifty.
  private func flood(
    _ count: Int, against ana: Home, with ben: Home, other: Home, named name: String
  ) async throws -> Meanwhile {
    var meanwhile = Meanwhile()
    var random = SystemRandomNumberGenerator()
    let kinds = Kind.allCases
    let flood = try Flood(against: ana, other: other)
    while flood.made < count {
      for _ in 0..<min(50, count - flood.made) { try flood.add(kinds[flood.made % kinds.count], random: &random) }
      flood.drip()
      let (writer, reader) = meanwhile.notes.count.isMultiple(of: 2) ? (ana, ben) : (ben, ana)
      let (id, written) = ("\(name)-\(meanwhile.notes.count)", Date())
      try writer.put("note", id, "title=meanwhile")
      try eventually("the household syncs meanwhile", seconds: 20) {
        try reader.sqlite("SELECT count(*) FROM note WHERE id = '\(id)'") == "1"
      }
      meanwhile.latencies.append(Date().timeIntervalSince(written))
      meanwhile.notes.append(id)
      meanwhile.peak = max(meanwhile.peak, try ana.residentKiB())
    }
    // A node that was away gets in while the strangers are still there.
    try ben.stop()
    try ben.start(peers: [ana])
    try eventually("a member gets in meanwhile") { try ana.peer("ben")["connected"] as? Bool == true }
    await flood.end()
    return meanwhile
  }

  @Test func `a flood of strangers of all kinds loses nothing, stops no sync, and gives the memory back`() async throws
  {
    let asked = ProcessInfo.processInfo.environment["HOUSEHOLD_FLOOD"].flatMap(Int.init)
    let count = asked ?? 300
    let place = try Place()
    let (ana, ben) = try place.pair()
    let other = place.home("other")
    try #require(try other.run("init", "--member", "eve", "--device", "d").code == 0)
    try ana.waitInSync()
    let pid = ana.pid
    // The first of each kind warm the allocator up.
    var notes = try await flood(Kind.allCases.count, against: ana, with: ben, other: other, named: "warm").notes
    let before = try ana.residentKiB()

    let begun = Date()
    let meanwhile = try await flood(count, against: ana, with: ben, other: other, named: "n")
    let seconds = Date().timeIntervalSince(begun)
    notes += meanwhile.notes

    #expect(ana.pid == pid && ana.isRunning)
    try eventually("the memory is given back") { try ana.residentKiB() < before + 8 << 10 }
    for home in [ana, ben] { #expect(try home.records("note").keys.sorted() == notes.sorted()) }
    #expect(try ana.sqlite("PRAGMA integrity_check") == "ok")
    #expect(meanwhile.peak < before + 48 << 10, "64 strangers and 48 guests take some MiB")
    guard asked != nil else { return }
    let after = try ana.residentKiB()
    _ = try await flood(count, against: ana, with: ben, other: other, named: "second")
    try eventually("the memory is given back again") { try ana.residentKiB() < after + 2 << 10 }
    let sorted = meanwhile.latencies.map { Int($0 * 1000) }.sorted()
    print(
      "flood: \(count) connections in \(Int(seconds)) s; KiB before \(before), peak \(meanwhile.peak), after",
      "\(after), after a second flood \(try ana.residentKiB()); from a write to the partner's file, median \(sorted[sorted.count / 2]) ms,",
      "longest \(sorted.last ?? 0) ms, of \(sorted.count)")
  }
}
