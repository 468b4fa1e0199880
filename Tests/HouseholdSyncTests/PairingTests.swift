import HouseholdRecords
import HouseholdSync
import Testing

struct PairingTests {
  let desk = PlainDesk()
  let code = sampleCode(42)

  private func refusals(_ bench: PairingBench) -> [PairingRefusal.Code] {
    bench.failures.compactMap { if case .refused(let refusal) = $0 { refusal.code } else { nil } }
  }

  @Test func `a guest with the code sees the household, confirms and is paired`() {
    let invitation = desk.invite(1, code)
    let bench = PairingBench(desk, code: code, expecting: samplePreview.household)

    bench.run()

    #expect(bench.shown == [samplePreview])
    #expect(bench.held == .active && bench.paired == 1 && bench.failures.isEmpty)
    #expect(desk.committed == desk.prepared && desk.committed.count == 1)
    #expect(desk.committed.first?.entries.last == Array("phone".utf8))
    #expect(desk.states[invitation] == .used)
    #expect(bench.arrived.count == 7)
    #expect(desk.reserved.isEmpty)
  }

  @Test func `the code finds its invitation among several`() {
    let first = desk.invite(1, sampleCode(1))
    let second = desk.invite(2, code)
    let bench = PairingBench(desk, code: code)

    bench.run()

    #expect(desk.states[second] == .used && desk.states[first] == .open)
  }

  @Test func `three wrong codes lock every open invitation`() {
    let first = desk.invite(1, code)
    let second = desk.invite(2, sampleCode(43))
    var left: [Int] = []
    for _ in 0..<3 {
      let bench = PairingBench(desk, code: sampleCode(1))
      bench.run()
      #expect(refusals(bench) == [.wrong] && bench.shown.isEmpty)
      if case .refused(let refusal)? = bench.failures.first { left.append(refusal.triesLeft) }
    }

    let right = PairingBench(desk, code: code)
    right.run()

    #expect(left == [2, 1, 0])
    #expect(desk.states[first] == .locked && desk.states[second] == .locked)
    #expect(refusals(right) == [.locked] && right.held == .nothing)
  }

  @Test(arguments: [
    (PairingInvitation.State.used, PairingRefusal.Code.used), (.expired, .expired), (.cancelled, .cancelled),
    (.locked, .locked),
  ])
  func `a closed invitation is refused with its reason, and not counted as a wrong try`(
    state: PairingInvitation.State, code refusal: PairingRefusal.Code
  ) {
    let invitation = desk.invite(1, code)
    let open = desk.invite(2, sampleCode(43))
    desk.states[invitation] = state
    let bench = PairingBench(desk, code: code)

    bench.run()

    #expect(refusals(bench) == [refusal])
    #expect(desk.tries[open] == nil && desk.committed.isEmpty)
  }

  @Test func `an invitation serves one link at a time`() {
    _ = desk.invite(1, code)
    let first = PairingBench(desk, code: code)
    first.answer = nil
    first.run()
    let second = PairingBench(desk, code: code)
    second.run()
    #expect(refusals(second) == [.busy])

    first.die()
    let third = PairingBench(desk, code: code)
    third.run()

    #expect(third.held == .active && first.held == .nothing)
  }

  @Test func `R8: of too many guests one that has proved nothing makes room, and one that has proved a code does not`()
  {
    _ = desk.invite(1, code)
    let proved = PairingBench(desk, code: code)
    proved.answer = nil
    proved.run()
    let channel = PairingChannel(exporter: [1], guestPublicKey: [2], hostPublicKey: [3])
    var silent = PairingHostMachine(channel: channel, desk: desk, cryptography: PlainPairingCryptography())
    _ = silent.handle(.opened, now: Tick(milliseconds: 0))

    let left = proved.host.handle(.crowded, now: Tick(milliseconds: 1))
    let gone = silent.handle(.crowded, now: Tick(milliseconds: 1))

    #expect(!proved.host.isUnproved && left.isEmpty)
    guard case .send(.refused(let refusal)) = gone.first else {
      Issue.record("\(gone)")
      return
    }
    #expect(refusal.code == .busy && gone.last == .close)
  }

  @Test func `a man in the middle, who has two links, gets nothing`() {
    _ = desk.invite(1, code)
    let bench = PairingBench(desk, code: code, exporters: (host: 1, guest: 2))

    bench.run()

    #expect(refusals(bench) == [.wrong])
    #expect(bench.shown.isEmpty && desk.prepared.isEmpty && bench.held == .nothing)
  }

  @Test func `a host that does not know the code is left before anything is shown`() {
    let bench = PairingBench(desk, code: code)
    bench.toGuest(.opened)
    for message: PairingMessage in [
      .welcome(version: 1, salt: desk.salt), .preview(mac: [UInt8](repeating: 0, count: 32), samplePreview),
    ] {
      let frame = PairingMessageCodec.encode(message)
      bench.toGuest(.frame(type: frame.type, payload: frame.payload))
    }

    #expect(bench.failures == [.notTheInviter] && bench.shown.isEmpty)
  }

  @Test func `a guest whose link names another household goes no further`() {
    _ = desk.invite(1, code)
    let bench = PairingBench(desk, code: code, expecting: .zero)

    bench.run()

    #expect(bench.failures == [.otherHousehold] && bench.shown.isEmpty && desk.prepared.isEmpty)
  }

  @Test func `a person who declines leaves the invitation open`() {
    let invitation = desk.invite(1, code)
    let bench = PairingBench(desk, code: code)
    bench.answer = .declined

    bench.run()

    #expect(bench.failures == [.declined] && bench.held == .nothing)
    #expect(desk.states[invitation] == .open && desk.reserved.isEmpty && desk.prepared.isEmpty)
  }

  @Test func `a signing request for another key than the link's is refused`() {
    _ = desk.invite(1, code)
    let bench = PairingBench(desk, code: code)
    bench.answer = .confirmed(signingRequest: [6], deviceName: "phone")

    bench.run()

    #expect(refusals(bench) == [.unexpected] && bench.held == .nothing && desk.reserved.isEmpty)
  }

  /// Frames in order: welcome, proof, preview, request, complete, stored, committed.
  @Test(arguments: 0...7)
  func `a link that dies after any frame leaves no half pair`(frames: Int) {
    let invitation = desk.invite(1, code)
    let bench = PairingBench(desk, code: code)
    bench.life = frames

    bench.run()
    bench.die()

    // `stored` is on its way once the fifth frame has arrived.
    #expect(bench.held == (frames >= 5 ? .active : .nothing))
    #expect(desk.committed.count == (frames >= 6 ? 1 : 0))
    #expect(desk.states[invitation] == (frames >= 6 ? .used : .open))
    // A guest in force always holds a join that the host signed.
    #expect(bench.held != .active || desk.prepared.count == 1)
    #expect(desk.reserved.isEmpty)
  }

  @Test func `a guest that loses the link while it stores forgets what it stored`() {
    _ = desk.invite(1, code)
    let bench = PairingBench(desk, code: code)
    bench.storing = nil
    bench.run()
    #expect(bench.held == .stored)

    bench.die()
    bench.toGuest(.stored)

    #expect(bench.held == .nothing && bench.failures == [.linkLost] && desk.committed.isEmpty)
  }

  @Test func `a guest that cannot store says so, and nothing is committed`() {
    let invitation = desk.invite(1, code)
    let bench = PairingBench(desk, code: code)
    bench.storing = .storingFailed(sentence: "The disk is full.")

    bench.run()

    #expect(bench.held == .nothing && bench.failures == [.storing("The disk is full.")])
    #expect(desk.committed.isEmpty && desk.states[invitation] == .open && desk.reserved.isEmpty)
  }

  @Test func `a host that cannot commit falls silent, and the guest has its signed join`() {
    _ = desk.invite(1, code)
    desk.canCommit = false
    let bench = PairingBench(desk, code: code)

    bench.run()

    #expect(bench.held == .active && bench.faults == 1 && bench.paired == 0 && desk.reserved.isEmpty)
  }

  @Test func `a host that goes away by any word after stored does not undo the guest`() {
    for last: PairingMessage in [.abandon(sentence: "no"), .refused(PairingRefusal(.failed, "no")), .stored] {
      _ = desk.invite(1, code)
      let bench = PairingBench(desk, code: code)
      bench.storing = nil
      bench.run()
      bench.toGuest(.stored)
      let frame = PairingMessageCodec.encode(last)
      bench.toGuest(.frame(type: frame.type, payload: frame.payload))

      #expect(bench.held == .active)
    }
  }

  @Test func `a stranger who says nothing is sent away after thirty seconds`() {
    _ = desk.invite(1, code)
    let bench = PairingBench(desk, code: code)
    bench.toHost(.opened)
    #expect(bench.host.deadline == Tick(milliseconds: 30_000))
    bench.now = Tick(milliseconds: 29_999)
    bench.toHost(.tick)
    #expect(bench.host.deadline != nil)

    bench.now = Tick(milliseconds: 30_000)
    bench.toHost(.tick)

    #expect(bench.host.deadline == nil && desk.tries.isEmpty)
  }

  @Test func `a person has five minutes to decide`() {
    _ = desk.invite(1, code)
    let bench = PairingBench(desk, code: code)
    bench.answer = nil
    bench.run()
    bench.tick(299_999)
    #expect(bench.failures.isEmpty)

    bench.tick(1)
    bench.toGuest(.confirmed(signingRequest: [8, 8], deviceName: "phone"))

    #expect(bench.failures.count == 1 && desk.reserved.isEmpty && desk.prepared.isEmpty)
  }

  @Test func `messages out of order are refused by the host`() {
    let messages: [PairingMessage] = [
      .stored, .request(signingRequest: [8, 8], deviceName: "phone"), .committed,
      .welcome(version: 1, salt: desk.salt),
    ]
    for message in messages {
      let invitation = desk.invite(1, code)
      let bench = PairingBench(desk, code: code)
      bench.toHost(.opened)
      let frame = PairingMessageCodec.encode(message)
      let effects = bench.host.handle(.frame(type: frame.type, payload: frame.payload), now: bench.now)

      guard case .send(.refused(let refusal))? = effects.first else {
        Issue.record("not refused: \(message)")
        continue
      }
      #expect(refusal.code == .unexpected && effects.last == .close)
      #expect(bench.host.handle(.frame(type: frame.type, payload: frame.payload), now: bench.now).isEmpty)
      #expect(desk.states[invitation] == .open && desk.committed.isEmpty)
    }
  }

  @Test func `a second request on one link is refused and lets go of the invitation`() {
    _ = desk.invite(1, code)
    let bench = PairingBench(desk, code: code)
    bench.storing = nil
    bench.run()
    let frame = PairingMessageCodec.encode(.request(signingRequest: [8, 8], deviceName: "phone"))

    bench.toHost(.frame(type: frame.type, payload: frame.payload))

    #expect(desk.prepared.count == 1 && desk.reserved.isEmpty && desk.committed.isEmpty)
  }

  @Test func `a guest of another version of the pairing says so`() {
    let bench = PairingBench(desk, code: code)
    bench.toGuest(.opened)
    let frame = PairingMessageCodec.encode(.welcome(version: 2, salt: desk.salt))

    bench.toGuest(.frame(type: frame.type, payload: frame.payload))

    #expect(bench.failures == [.otherVersion])
  }
}
