import Foundation
import HouseholdRecords
import HouseholdReplica
import HouseholdSync
import HouseholdTransport
import Testing

/// Who is called, where and when.
@Suite(.serialized, .ownThread) struct CallingTests {
  private typealias Stage = HostileMemberTests.Stage

  /// What came of ben's addresses, or an empty text.
  private func addresses(_ home: Home) throws -> [String: String] {
    let list = try home.peer("ben")["addresses"] as? [[String: Any]] ?? []
    return Dictionary(list.map { ($0["address"] as? String ?? "", $0["error"] as? String ?? "") }) { first, _ in first }
  }

  @Test func `another device at one of its addresses does not hide a device (P16)`() throws {
    let stage = try Stage()
    let (ana, ben) = (stage.ana, stage.ben)
    let answering = Answering([])
    let listener = try stage.eve.listen(answering)
    defer { listener.close() }
    try ben.stop()
    try ben.start(
      peers: [ana], words: ["--advertise", listener.address.description, "--advertise", ben.address],
      listen: ben.address)
    try eventually("ana knows both addresses") { try addresses(ana)[listener.address.description] != nil }

    // Her new port is known to nobody, so it is she who calls.
    try ana.stop()
    try ana.start()

    try eventually("she reaches ben") { try ana.peer("ben")["connected"] as? Bool == true }
    #expect(try addresses(ana)[listener.address.description] == "Another device answers here.")
    // The first call was one for ben.
    try eventually("eve is called where she was met") { answering.calls >= 2 }
  }

  @Test func `two devices that have each other's addresses now are both found (P16)`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    let kim = place.home("kim")
    try kim.join(try ana.invite("kim"))
    try kim.start(peers: [ana])
    try eventually("ana has met kim") { try ana.peer("kim")["connected"] as? Bool == true }
    for home in [ana, ben, kim] { try home.stop() }
    let (bens, kims) = (ben.address, kim.address)

    try ben.start(listen: kims)
    try kim.start(listen: bens)
    try ana.start()

    for member in ["ben", "kim"] {
      try eventually("ana reaches \(member)") { try ana.peer(member)["connected"] as? Bool == true }
    }
  }

  @Test func `an address that was given stays given when the device that was met there is removed`() throws {
    let place = try Place()
    let (ana, ben) = try place.pair()
    try ana.stop()
    try ana.start(peers: [ben])
    try ana.waitInSync()
    func unanswered() throws -> [String] {
      let findings = try ana.status().report["findings"] as? [[String: Any]] ?? []
      return findings.filter { $0["code"] as? String == "addressUnanswered" && $0["subject"] as? String == ben.address }
        .compactMap { $0["summary"] as? String }
    }
    #expect(try unanswered().isEmpty)

    try ana.json("remove", "ben", "--yes")

    try eventually("ana has called there again") {
      try unanswered().contains { $0.contains("belongs to the household no longer") }
    }
  }

  /// What a hostile member says until its session is in use; asks ana's node for that.
  private func opening(_ stage: Stage) async throws -> [Saying] {
    let link = try await stage.eve.dial()
    try link.getInUse()
    link.link.close("that was all")
    let hello = try stage.eve.hello()
    let ana = try #require(try stage.eve.replica.membership().devices.values.first { $0.name == "ana-laptop" }).id
    return [Saying(.hello(hello))] + (hello.device < ana ? [Saying(.use)] : [])
  }

  /// Lets ana's node know where eve's device is reached.
  private func introduce(_ stage: Stage, at address: SocketAddress) async throws {
    let link = try await stage.eve.dial()
    link.say(.hello(try stage.eve.hello(reachableAt: [address.description])))
    try eventually("the node greets") { !link.heard.all(.hello).isEmpty }
    link.link.close("that was all")
  }

  /// Has ana's node call eve's device, which says this to every call in use, and counts the calls.
  private func expectCalls(
    answeredBy answer: Saying, number: Int, naming word: String, location: SourceLocation = #_sourceLocation
  ) async throws -> Answering {
    let stage = try Stage()
    let answering = Answering(try await opening(stage) + [answer])
    let listener = try stage.eve.listen(answering)
    defer { listener.close() }
    try await introduce(stage, at: listener.address)

    try eventually("the node calls", seconds: 60, location: location) { answering.calls >= number }
    try eventually("status names it", seconds: 10, location: location) {
      (try stage.ana.peer("eve")["lastError"] as? String ?? "").contains(word)
    }
    for edit in 0..<2 {
      try stage.ana.put("note", "n0", "title=\(edit)")
      try await Task.sleep(for: .seconds(0.6))
    }

    #expect(answering.calls == number, sourceLocation: location)
    try stage.expectSyncGoesOn()
    return answering
  }

  @Test func `who breaks a rule is not called again before the goodbye's time is over, whatever is edited (P12, P14)`()
    async throws
  {
    let unknown = Saying(type: 0x3F, payload: [1, 2, 3])
    _ = try await expectCalls(answeredBy: unknown, number: 1, naming: "63")
  }

  @Test func `who breaks a rule of frames hears a goodbye, and is not called again before its time is over (P12)`()
    async throws
  {
    let frame = Saying(type: 0x3F, flags: FrameFlags(rawValue: 0x80), payload: [])

    let answering = try await expectCalls(answeredBy: frame, number: 1, naming: "flags")

    #expect(answering.goodbyes.map(\.code) == [.violation])
    #expect(answering.goodbyes.map(\.retryAfterMilliseconds) == [SyncTiming.retryAfterViolation])
  }

  @Test func `sessions that begin anew without end are told of, and given time (household 406231)`() async throws {
    let goodbye = Message.goodbye(Goodbye(.branches, "Other branches, again."))
    _ = try await expectCalls(
      answeredBy: Saying(goodbye), number: SyncTiming.restartsInARow + 1, naming: "Other branches")
  }

  @Test func `who breaks off before its session is in use is called ever more seldom (P14)`() async throws {
    let stage = try Stage()
    var hello = try stage.eve.hello()
    // With equal ones the node, if its device is the smaller, would use the link at once.
    hello.membershipHeads = [EntryHash(bytes: [UInt8](repeating: 7, count: 32))!]
    let answering = Answering([Saying(.hello(hello))], breaksOff: true)
    let listener = try stage.eve.listen(answering)
    defer { listener.close() }
    try await introduce(stage, at: listener.address)
    try eventually("the node calls") { answering.calls >= 1 }

    try await Task.sleep(for: .seconds(6.2))

    // After calls at 0, 1 and 3 seconds at the earliest the next one comes after 7.
    let times = answering.times
    #expect(times.count < 4 || times[3] - times[0] > .seconds(6.8))
  }
}
