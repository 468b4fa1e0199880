internal import HouseholdSync
internal import HouseholdTransport

/// Brings what happens on links, which is told on their thread, to the replica's thread.
final class LinkMailbox: LinkOwner {
  private let driver: SyncDriver
  private let pairing: PairingHost

  init(driver: SyncDriver, pairing: PairingHost) {
    self.driver = driver
    self.pairing = pairing
  }

  func linkOpened(_ link: Link, identity: LinkIdentity) {
    driver.loop.submit { [driver, pairing] in
      switch identity.application {
      case .household: driver.opened(link, identity: identity)
      case .pairing: pairing.opened(link, identity: identity)
      }
    }
  }

  func linkReceived(_ link: Link, message: InboundMessage) {
    driver.loop.submit { [driver, pairing] in
      switch link.identity?.application {
      case .pairing: pairing.received(link, message)
      case .household, nil: driver.received(link, message)
      }
    }
  }

  func linkClosed(_ link: Link, reason: LinkCloseReason) {
    driver.loop.submit { [driver, pairing] in
      switch link.identity?.application {
      case .pairing: pairing.closed(link)
      case .household, nil: driver.closed(link, reason: reason)
      }
    }
  }

  func lastWords(on link: Link, reason: LinkCloseReason) -> LastWords? {
    guard link.identity?.application == .household, let goodbye = Goodbye(reason) else { return nil }
    return LastWords(type: Message.Kind.goodbye.rawValue, payload: MessageCodec.encode(.goodbye(goodbye)))
  }
}
