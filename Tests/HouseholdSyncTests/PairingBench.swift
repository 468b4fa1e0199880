import HouseholdRecords
import HouseholdSync

/// Mixes bytes so that different inputs give different outputs: what the machines need; the real functions are
/// HouseholdTrust's and are tested there.
struct PlainPairingCryptography: PairingCryptography {
  func pairingKey(code: [UInt8], salt: [UInt8]) -> [UInt8] { mix(code + [0] + salt) }
  func authenticationCode(key: [UInt8], message: [UInt8]) -> [UInt8] { mix(key + [1] + message) }
  func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool { a == b }

  private func mix(_ bytes: [UInt8]) -> [UInt8] {
    (0..<4).flatMap { lane in
      var state: UInt64 = 0x9E37_79B9_7F4A_7C15 &* UInt64(lane + 1)
      for byte in bytes {
        state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        state ^= state >> 29
      }
      return (0..<8).map { UInt8(truncatingIfNeeded: state >> UInt64(8 * $0)) }
    }
  }
}

/// The host's side of the world, in memory.
final class PlainDesk: PairingDesk {
  let salt = [UInt8](repeating: 7, count: PairingMessage.saltBytes)
  var states: [InvitationID: PairingInvitation.State] = [:]
  var keys: [InvitationID: [UInt8]] = [:]
  var tries: [InvitationID: Int] = [:]
  var reserved: Set<InvitationID> = []
  var prepared: [PairingCompletion] = []
  var committed: [PairingCompletion] = []
  var canCommit = true

  struct DiskFull: Error {}

  func invite(_ id: UInt8, _ code: InvitationCode) -> InvitationID {
    let invitation = InvitationID(bytes: [UInt8](repeating: id, count: 16))!
    states[invitation] = .open
    keys[invitation] = PlainPairingCryptography().pairingKey(code: code.secret, salt: salt)
    return invitation
  }

  func invitations() throws -> [PairingInvitation] {
    states.map { PairingInvitation(id: $0.key, key: keys[$0.key]!, state: $0.value) }.sorted { $0.id < $1.id }
  }

  func countWrongTry() throws -> Int {
    var left = 0
    for id in states.keys where states[id] == .open {
      tries[id, default: 0] += 1
      if tries[id]! >= Limits.wrongTries { states[id] = .locked }
      left = max(left, Limits.wrongTries - tries[id]!)
    }
    return left
  }

  func reserve(_ invitation: InvitationID) -> Bool { reserved.insert(invitation).inserted }
  func release(_ invitation: InvitationID) { reserved.remove(invitation) }

  func preview(of invitation: InvitationID) throws -> PairingPreview { samplePreview }

  func prepareJoin(
    signingRequest: [UInt8], deviceName: String, guestPublicKey: [UInt8], invitation: InvitationID
  ) throws -> PairingCompletion {
    guard signingRequest == guestPublicKey else { throw PairingRefusal(.unexpected, "Another key.") }
    let completion = PairingCompletion(
      deviceCertificate: [1] + signingRequest, shareCertificate: samplePreview.shareCertificate,
      entries: [[1], [2], Array(deviceName.utf8)], addresses: ["10.0.0.1:7411"])
    prepared.append(completion)
    return completion
  }

  func commitJoin(_ completion: PairingCompletion, invitation: InvitationID) throws {
    guard canCommit else { throw DiskFull() }
    committed.append(completion)
    states[invitation] = .used
  }
}

let samplePreview = PairingPreview(
  household: HouseholdID(bytes: [UInt8](repeating: 3, count: 32))!, householdName: "Home",
  shareCertificate: [4, 4, 4], inviterMember: "Ann", inviterDevice: "laptop",
  member: MemberID(bytes: [UInt8](repeating: 5, count: 16))!, memberName: "Bo", role: .member,
  isDeviceInvitation: false, schemaName: "budget",
  recordCounts: [PairingPreview.RecordCount(type: "note", count: 300)], memberNames: ["Ann", "Cy"])

/// A code that follows from a number.
func sampleCode(_ number: UInt64) -> InvitationCode {
  struct Fixed: RandomNumberGenerator {
    let bits: UInt64
    func next() -> UInt64 { bits }
  }
  var source = Fixed(bits: number << 4)
  return InvitationCode(from: &source)
}

/// Two machines on one link, through real frames; the link dies after a given number of frames.
final class PairingBench {
  enum Guest: Equatable { case nothing, stored, active }

  let desk: PlainDesk
  var host: PairingHostMachine
  var guest: PairingGuestMachine
  var now = Tick(milliseconds: 0)
  /// What the guest's disk holds.
  var held = Guest.nothing
  var shown: [PairingPreview] = []
  var failures: [PairingFailure] = []
  var paired = 0
  var faults = 0
  /// The messages that arrived, in order.
  var arrived: [PairingMessage] = []
  /// What the person answers; nil lets the person think.
  var answer: PairingGuestMachine.Event? = .confirmed(signingRequest: [8, 8], deviceName: "phone")
  var storing: PairingGuestMachine.Event? = .stored
  /// How many frames the link carries before it dies.
  var life = Int.max
  private var isOpen = true
  private var queue: [(toHost: Bool, type: UInt8, payload: [UInt8])] = []

  init(
    _ desk: PlainDesk, code: InvitationCode, expecting household: HouseholdID? = nil,
    exporters: (host: UInt8, guest: UInt8) = (1, 1)
  ) {
    self.desk = desk
    let cryptography = PlainPairingCryptography()
    func channel(_ exporter: UInt8) -> PairingChannel {
      PairingChannel(
        exporter: [UInt8](repeating: exporter, count: 32), guestPublicKey: [8, 8], hostPublicKey: [9, 9])
    }
    host = PairingHostMachine(channel: channel(exporters.host), desk: desk, cryptography: cryptography)
    guest = PairingGuestMachine(
      code: code, expecting: household, channel: channel(exporters.guest), cryptography: cryptography)
  }

  /// Opens the link and runs until nothing moves.
  func run() {
    toGuest(.opened)
    toHost(.opened)
    drain()
  }

  func drain() {
    while !queue.isEmpty {
      guard isOpen else { return queue.removeAll() }
      guard arrived.count < life else { return die() }
      let frame = queue.removeFirst()
      if let message = try? PairingMessageCodec.decode(type: frame.type, payload: frame.payload) {
        arrived.append(message)
      }
      if frame.toHost {
        toHost(.frame(type: frame.type, payload: frame.payload))
      } else {
        toGuest(.frame(type: frame.type, payload: frame.payload))
      }
    }
  }

  /// The link is cut; both sides hear of it.
  func die() {
    isOpen = false
    queue.removeAll()
    toHost(.closed)
    toGuest(.closed)
  }

  func tick(_ milliseconds: Int64) {
    now = now.advanced(byMilliseconds: milliseconds)
    toHost(.tick)
    toGuest(.tick)
    drain()
  }

  func toHost(_ event: PairingHostMachine.Event) {
    for effect in host.handle(event, now: now) {
      switch effect {
      case .send(let message): enqueue(message, toHost: false)
      case .paired: paired += 1
      case .fault: faults += 1
      case .close: closeAfterQueue(byHost: true)
      }
    }
  }

  func toGuest(_ event: PairingGuestMachine.Event) {
    for effect in guest.handle(event, now: now) {
      switch effect {
      case .send(let message): enqueue(message, toHost: true)
      case .show(let preview):
        shown.append(preview)
        if let answer { toGuest(answer) }
      case .store:
        held = .stored
        if let storing { toGuest(storing) }
      case .activate: held = .active
      case .discard: held = .nothing
      case .fail(let failure): failures.append(failure)
      case .close: closeAfterQueue(byHost: false)
      }
    }
  }

  private func enqueue(_ message: PairingMessage, toHost: Bool) {
    let frame = PairingMessageCodec.encode(message)
    queue.append((toHost: toHost, type: frame.type, payload: frame.payload))
  }

  /// Delivers what the closing side had sent, then tells the other.
  private func closeAfterQueue(byHost: Bool) {
    guard isOpen else { return }
    isOpen = false
    let rest = queue.filter { $0.toHost != byHost }
    queue.removeAll()
    for frame in rest where arrived.count < life {
      if let message = try? PairingMessageCodec.decode(type: frame.type, payload: frame.payload) {
        arrived.append(message)
      }
      if frame.toHost {
        toHost(.frame(type: frame.type, payload: frame.payload))
      } else {
        toGuest(.frame(type: frame.type, payload: frame.payload))
      }
    }
    toHost(.closed)
    toGuest(.closed)
  }
}
