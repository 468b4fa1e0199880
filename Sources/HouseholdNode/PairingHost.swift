internal import HouseholdRecords
internal import HouseholdSync
internal import HouseholdTransport

/// The pairing links of a node, each with its machine; on the replica's thread.
final class PairingHost: @unchecked Sendable {
  private let desk: InvitationDesk
  private let hostPublicKey: [UInt8]
  private let log: Log
  private var links: [LinkID: (link: Link, machine: PairingHostMachine)] = [:]
  /// Called when a guest has become a device of the household.
  var onPaired: () -> Void = {}

  init(desk: InvitationDesk, hostPublicKey: [UInt8], log: Log) {
    self.desk = desk
    self.hostPublicKey = hostPublicKey
    self.log = log
  }

  func opened(_ link: Link, identity: LinkIdentity) {
    let channel = PairingChannel(
      exporter: identity.exporter, guestPublicKey: identity.publicKey, hostPublicKey: hostPublicKey)
    let unproved = links.filter(\.value.machine.isUnproved).keys.sorted()
    if unproved.count >= Limits.unprovedGuests { handle(.crowded, on: unproved[0]) }
    links[link.id] = (link, PairingHostMachine(channel: channel, desk: desk, cryptography: PairingTrust()))
    handle(.opened, on: link.id)
  }

  func received(_ link: Link, _ message: InboundMessage) {
    handle(.frame(type: message.type, payload: message.payload), on: link.id)
    link.consumed(message.payload.count)
  }

  func closed(_ link: Link) {
    handle(.closed, on: link.id)
    links[link.id] = nil
  }

  /// Lets deadlines pass.
  func tick() {
    for id in links.keys.sorted() { handle(.tick, on: id) }
  }

  private func handle(_ event: PairingHostMachine.Event, on id: LinkID) {
    guard var entry = links[id] else { return }
    let effects = entry.machine.handle(event, now: EventLoop.now)
    links[id] = entry
    for effect in effects {
      switch effect {
      case .send(let message):
        let (type, payload) = PairingMessageCodec.encode(message)
        entry.link.send(type: type, payload: payload)
      case .paired:
        log.note("a device joined", [:])
        onPaired()
      case .fault(let text): log.problem("a pairing failed here", ["error": text])
      case .close: entry.link.close("the pairing is over")
      }
    }
  }
}
