import HouseholdNode
import HouseholdRecords
import HouseholdTransport
import Testing

/// What doctor makes of what it finds; pure.
struct DoctorTests {
  private let device = DeviceID(bytes: [UInt8](repeating: 1, count: 32))!
  private let other = DeviceID(bytes: [UInt8](repeating: 2, count: 32))!
  private let now = Instant(milliseconds: 1_800_000_000_000)
  private let day: Int64 = 86_400_000

  private func peer(_ addresses: [String], isConnected: Bool = false, through: String? = nil) -> NetworkCheck.Peer {
    NetworkCheck.Peer(
      device: device, name: "laptop of ben", addresses: addresses, isConnected: isConnected, through: through)
  }

  private func failures(_ checks: [DoctorCheck]) -> [String] {
    checks.filter { $0.state == .failed }.map(\.check)
  }

  @Test(
    arguments: [
      (DialObstacle.name, "nameUnknown"), (.refused, "refused"), (.noRoute, "noRoute"), (.timedOut, "timedOut"),
      (.tls, "tls"), (.other, "unreachable"),
    ])
  func `each obstacle has its own code and next step`(obstacle: DialObstacle, code: String) throws {
    let checks = NetworkCheck.judge(peer(["10.0.0.1:7411"]), ["10.0.0.1:7411": .failed(obstacle, "It failed.")])

    #expect(failures(checks) == [code])
    #expect(try #require(checks.first).remedy.isEmpty == false)
  }

  @Test func `one address that answers is enough, and an old one is only noted`() {
    let checks = NetworkCheck.judge(
      peer(["10.0.0.1:7411", "10.0.0.2:7411"]),
      [
        "10.0.0.1:7411": .failed(.timedOut, "It did not answer."),
        "10.0.0.2:7411": .hello(.init(device: device, program: "1")),
      ])

    #expect(failures(checks).isEmpty)
    #expect(checks.map(\.state) == [.passed, .information, .passed])
  }

  @Test func `of several addresses the one that got furthest tells why`() {
    let checks = NetworkCheck.judge(
      peer(["a:1", "b:1", "c:1"]),
      ["a:1": .failed(.name, "n"), "b:1": .failed(.refused, "r"), "c:1": .failed(.timedOut, "t")])

    #expect(checks.first?.check == "refused")
  }

  @Test func `another device at the address is not the peer`() {
    let checks = NetworkCheck.judge(peer(["a:1"]), ["a:1": .hello(.init(device: other, program: "1"))])

    #expect(failures(checks) == ["otherDevice"])
  }

  @Test func `a peer that answers in another version, or without a session, is told apart from one that is well`() {
    func found(_ greeting: AddressProbe.Greeting, lastError: String? = nil) -> [String] {
      var peer = peer(["a:1"])
      peer.lastError = lastError
      return failures(NetworkCheck.judge(peer, ["a:1": .hello(greeting)]))
    }
    let well = AddressProbe.Greeting(device: device, program: "2")

    #expect(found(well).isEmpty)
    #expect(found(well, lastError: "Its store failed.") == ["noSession"])
    #expect(found(.init(device: device, program: "2", isUnderstood: false)) == ["noCommonVersion"])
    #expect(found(.init(device: device, program: "2", knowsSameMembers: false, clockOffset: 86_400_000)).isEmpty)
  }

  @Test func `a peer that is connected, or there through another, is reached whatever its addresses say`() {
    let tried: [String: AddressProbe.Outcome] = ["a:1": .failed(.refused, "r")]

    #expect(failures(NetworkCheck.judge(peer(["a:1"], isConnected: true), tried)).isEmpty)
    #expect(failures(NetworkCheck.judge(peer(["a:1"], through: "hub"), tried)).isEmpty)
    #expect(failures(NetworkCheck.judge(peer([]), [:])) == ["noAddress"])
  }

  @Test func `a certificate near its end, past it, and not begun are told apart`() {
    func check(
      _ from: Int64, _ to: Int64, isDue: Bool = true, _ renewal: CertificateCheck.Renewal = .byOwner
    ) -> DoctorCheck {
      CertificateCheck.dates(
        from: now.advanced(byMilliseconds: from * day), to: now.advanced(byMilliseconds: to * day), isDue: isDue,
        renewal: renewal, now: now)
    }

    #expect(check(-1, 400).state == .passed && check(-1, 400).summary.contains("renewed when this device meets"))
    #expect(!check(-1, 400, isDue: false).summary.contains("renew"))
    #expect(check(-1, 29, .here).summary.contains("this device's node renews it"))
    #expect(check(-400, -1, .none).state == .information, "who belongs no longer has nothing to renew")
    #expect(check(-1, 29).check == "certificateNearEnd")
    #expect(check(-400, -1).check == "certificateExpired")
    #expect(check(1, 400).check == "certificateDates" && check(1, 400).state == .failed)
    for failed in [check(-1, 29), check(-400, -1), check(1, 400), check(-1, 29, .here)] {
      #expect(failed.remedy.hasSuffix(".") && !failed.remedy.contains("air this device"), "\(failed.remedy)")
    }
  }

  @Test func `a clock that differs from all others is ours`() {
    let hour: Int64 = 3_600_000

    let all = ClockCheck.run(now: now, offsets: [(peer: "a", milliseconds: hour), (peer: "b", milliseconds: hour)])
    let one = ClockCheck.run(now: now, offsets: [(peer: "a", milliseconds: hour), (peer: "b", milliseconds: 0)])

    #expect(all.map(\.subject) == ["this device"] && failures(all) == ["clockSkew"])
    #expect(one.map(\.subject) == ["a"] && failures(one) == ["clockSkew"])
    #expect(failures(ClockCheck.run(now: Instant(milliseconds: 1000), offsets: [])) == ["clockWrong"])
    #expect(failures(ClockCheck.run(now: now, offsets: [(peer: "a", milliseconds: 4 * 60_000)])).isEmpty)
    #expect(failures(ClockCheck.run(now: now, offsets: [(peer: "a", milliseconds: .min)])) == ["clockSkew"])
  }
}
